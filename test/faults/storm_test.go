//go:build faults && linux

package faults

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/test/harness"
)

// pin puts this thread, and what is started from it, on one processor.
func pin(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	for cpu := range 1024 {
		if before.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.SchedSetaffinity(0, &before); err == nil {
			runtime.UnlockOSThread()
		}
	})
}

// Open MPI loses ranks that end before the last one is started (open-mpi/ompi#10586),
// containerd those that end before they are registered (containerd#1452): on one
// processor, every rank of a launch may do so. The launcher always returns, with the
// right code.
func TestEarlyExitStorm(t *testing.T) {
	const runs = 100
	for _, ranks := range []int{1, 8, 64, 512} {
		t.Run(strconv.Itoa(ranks), func(t *testing.T) {
			pin(t)
			dir, marker := t.TempDir(), harness.NewMarker()
			began := time.Now()
			for run := range runs {
				// In turn all succeed, and all fail.
				command, want := "/bin/true", 0
				if run%2 == 1 {
					command, want = "/bin/false", 1
				}
				out, err := harness.Launch{
					Args: []string{"--nproc", strconv.Itoa(ranks), "--", command}, Limit: 2 * time.Minute,
				}.Do(t.Context(), dir, marker)
				if err != nil {
					t.Fatalf("run %d: %v\n%s", run, err, out.Tail())
				}
				out.RequireCode(t, want)
				harness.RequireNothingLeft(t, marker)
			}
			t.Logf("%d ranks: %d runs in %v", ranks, runs, time.Since(began).Round(100*time.Millisecond))
		})
	}
}

// 512 ranks do not hold 512 threads of the launcher (issue 3: at most 16).
func TestThreadsOf512Ranks(t *testing.T) {
	s := newScene(t, ownTools(t), setting{})
	stdout := s.output()
	s.start(s.command(kind{}, stdout.w, "--nproc", "512", "--", "/bin/sh", "-c", "echo ready; exec sleep 600"))
	stdout.w.Close()
	for ready := 0; ready < 512; {
		if strings.HasSuffix(stdout.line(), " ready") {
			ready++
		}
	}
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(s.launcher.Process.Pid) + "/task")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("512 ranks: %d threads of the launcher", len(tasks))
	if len(tasks) > 16 {
		t.Errorf("%d threads, want at most 16", len(tasks))
	}
	s.signal(syscall.SIGTERM)
	s.requireEnd(143)
}

// output is the reading end of a launcher's stdout.
type output struct {
	t    testing.TB
	w    *os.File
	text chan string
}

func (s *scene) output() *output {
	s.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	o := &output{t: s, w: w, text: make(chan string)}
	go func() {
		defer r.Close()
		defer close(o.text)
		for sc := bufio.NewScanner(r); sc.Scan(); {
			select {
			case o.text <- sc.Text():
			case <-s.Context().Done():
			}
		}
	}()
	return o
}

// line waits for the next line.
func (o *output) line() string {
	o.t.Helper()
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	select {
	case line, ok := <-o.text:
		if ok {
			return line
		}
		o.t.Fatal("the launcher has closed its stdout")
	case <-timer.C:
		o.t.Fatalf("no line of output after %v", startLimit)
	}
	return ""
}

// rest reads to the end.
func (o *output) rest() (lines []string) {
	for line := range o.text {
		lines = append(lines, line)
	}
	return lines
}

// requireEnd waits for the launcher, which must end with the code and leave nothing.
func (s *scene) requireEnd(code int) {
	s.Helper()
	s.wait()
	alive, zombies := s.found(true)
	for _, p := range append(alive, zombies...) {
		s.Errorf("left: %v", p)
	}
	if groups := groupsOf(s.launchers); len(groups) > 0 {
		s.Errorf("left: control groups %v", groups)
	}
	if got := exitCode(s.launcher); got != code {
		s.Errorf("exit code %d, want %d", got, code)
	}
	if s.Failed() {
		s.Logf("stderr:\n%s", s.said())
	}
}

// ownTools are those for launchers of the test's own user.
func ownTools(t *testing.T) tools {
	t.Helper()
	helper, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return tools{launcher: harness.Binary(), helper: helper}
}
