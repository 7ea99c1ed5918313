//go:build output

package output

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lenslaunch/test/harness"
)

// ranks of every job here.
const ranks = 8

// job is a run of ranks whose output somebody looks at.
type job struct {
	work
	mux   *mux // nil: the real launcher
	keep  bool // all \r
	extra []*os.File
}

// running is a job that was started.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	marker string
	peak   chan int64
}

// start begins a job with its output on stdout, which is closed here.
func (j job) start(t *testing.T, stdout *os.File) *running {
	t.Helper()
	r := &running{t: t, marker: harness.NewMarker(), stderr: new(bytes.Buffer)}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := append(harness.Environment(t.TempDir(), r.marker), j.entry(), "TERM=xterm", "NO_COLOR=1")
	switch {
	case j.mux != nil:
		r.cmd = exec.Command(self)
		env = append(env, j.mux.entry())
	default:
		args := []string{"--nproc", strconv.Itoa(ranks), "--state-dir", harness.StateDir(t)}
		if j.keep {
			args = append(args, "--keep-cr")
		}
		r.cmd = exec.Command(harness.Binary(), append(args, "--", self)...)
	}
	r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr, r.cmd.ExtraFiles = env, stdout, r.stderr, j.extra
	r.cmd.WaitDelay = time.Minute
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	r.peak = make(chan int64, 1)
	go func() { r.peak <- watchMemory(r.cmd.Process.Pid) }()
	return r
}

// watchMemory returns the most memory that a process had, in bytes, when it has ended.
// The figure that comes with a process's end is of no use: it counts what this process
// had when it started the other.
func watchMemory(pid int) (peak int64) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return peak
		}
		_, rest, found := strings.Cut(string(text), "VmHWM:")
		if !found {
			return peak // it has ended
		}
		var kib int64
		if _, err := fmt.Sscan(rest, &kib); err == nil {
			peak = max(peak, kib<<10)
		}
	}
}

// wait fails the test unless the job ends with the code and leaves nothing behind. It
// returns the most memory that the launcher had, in bytes.
func (r *running) wait(want int) int64 {
	r.t.Helper()
	late := time.AfterFunc(5*time.Minute, func() { _ = r.cmd.Process.Signal(syscall.SIGTERM) })
	defer late.Stop()
	err := r.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Errorf("cannot run the job: %v", err)
	}
	if code := r.cmd.ProcessState.ExitCode(); code != want {
		r.t.Errorf("exit code %d, want %d: %s", code, want, r.stderr)
	}
	harness.RequireNothingLeft(r.t, r.marker)
	peak := <-r.peak
	if peak == 0 {
		r.t.Error("the launcher's memory was not seen")
	}
	return peak
}

// canKeep reports whether the launcher knows --keep-cr. Until it does, what needs it
// runs with the package alone.
func canKeep(t *testing.T) bool {
	t.Helper()
	cmd := exec.Command(harness.Binary(), "--nproc", "1", "--keep-cr", "--dry-run", "--", "true")
	cmd.Env = harness.Environment(t.TempDir(), harness.NewMarker())
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "keep-cr") {
		t.Fatalf("cannot ask the launcher: %v: %s", err, out)
	}
	return err == nil
}
