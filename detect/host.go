package detect

import (
	"io/fs"
	"log/slog"
	"os"
	"time"
)

// Names that package semconv does not list: upstream's, and host.gpu.count, which
// Lens emits without a convention of its own.
const (
	HostGPUCount      = "host.gpu.count"      // int, GPUs that this process may use
	ProcessPid        = "process.pid"         // int, of the process that the resource describes
	ServiceName       = "service.name"        // string
	ServiceInstanceID = "service.instance.id" // string, "{run id}-rank{rank}"

	deploymentEnvironment     = "deployment.environment"      // as Lens writes it
	deploymentEnvironmentName = "deployment.environment.name" // upstream's name since 1.27
)

// A Host is what detectors may ask of the machine and the process, besides the
// environment. The zero value knows nothing, and then those attributes are absent.
type Host struct {
	// FS is the root of the file system; "proc/driver/nvidia" and
	// "var/run/secrets" are looked up in it. nil: an empty one.
	FS fs.FS
	// Hostname returns the host's name.
	Hostname func() (string, error)
	// Pid is this process. 0: not to be told.
	Pid int
	// Path is where nvidia-smi is looked for, in the form of PATH.
	Path string
	// GPULimit is how long nvidia-smi may take. 0: 5 seconds.
	GPULimit time.Duration
	// Log is told what was left out and why. nil: nobody is.
	Log *slog.Logger

	gpus *GPUSet // the answer of an earlier query
}

// SystemHost is the machine and the process that this runs in.
func SystemHost() Host {
	return Host{FS: os.DirFS("/"), Hostname: os.Hostname, Pid: os.Getpid(), Path: os.Getenv("PATH")}
}

// WithGPUs returns the host with the answer of a GPU query put in, so that no
// function here asks again: a hanging nvidia-smi costs a launch its limit once.
func (h Host) WithGPUs(set GPUSet) Host {
	h.gpus = &set
	return h
}

// files is FS, or an empty file system.
func (h Host) files() fs.FS {
	if h.FS == nil {
		return noFiles{}
	}
	return h.FS
}

func (h Host) log() *slog.Logger {
	if h.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return h.Log
}

type noFiles struct{}

func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
