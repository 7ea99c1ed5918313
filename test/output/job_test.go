//go:build output

package output

import (
	"bytes"
	"cmp"
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
	dir   string   // its run directory, empty: none
	few   int      // ranks, 0: as many as there are
	limit int      // of the size of files, in blocks of 512 bytes, 0: none
	flags []string // more of the launcher's
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
	command := j.command(t)
	r.cmd = exec.Command(command[0], command[1:]...)
	r.cmd.Env = append(harness.Environment(t.TempDir(), r.marker), j.entry(), "TERM=xterm", "NO_COLOR=1")
	r.cmd.Stdout, r.cmd.Stderr = stdout, r.stderr
	r.cmd.WaitDelay = time.Minute
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	r.peak = make(chan int64, 1)
	go func() { r.peak <- watchMemory(r.cmd.Process.Pid) }()
	return r
}

func (j job) command(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var command []string
	if j.limit > 0 {
		command = []string{"sh", "-c", `ulimit -f "$1"; shift; exec "$@"`, "sh", strconv.Itoa(j.limit)}
	}
	command = append(command, harness.Binary(), "--nproc", strconv.Itoa(cmp.Or(j.few, ranks)), "--output", "prefix")
	if j.dir != "" {
		command = append(command, "--log-dir", j.dir)
	} else {
		command = append(command, "--state-dir", harness.StateDir(t))
	}
	return append(append(command, j.flags...), "--", self)
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
