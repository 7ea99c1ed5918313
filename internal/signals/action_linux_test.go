//go:build amd64 || arm64

package signals

import (
	"errors"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/test/harness"
)

// Another address is all that changes, and only of what is taken: preemption, profiling,
// SIGCHLD and the rest are the runtime's as before, also the way back, which is the C
// library's in a program that has one.
func TestOnlyTheAddressChanges(t *testing.T) {
	c := notify(t, syscall.SIGTERM, syscall.SIGTSTP)
	want := actions(t)
	s, err := Take(syscall.SIGTERM, syscall.SIGTSTP)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGTSTP} {
		a := want[sig]
		a.handler = address()
		want[sig] = a
	}
	unexported := cmp.AllowUnexported(action{})
	if diff := cmp.Diff(want, actions(t), unexported); diff != "" {
		t.Errorf("while they are taken:\n%s", diff)
	}
	s.Close()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGTSTP} {
		a := want[sig]
		a.handler = want[syscall.SIGURG].handler
		want[sig] = a
	}
	if diff := cmp.Diff(want, actions(t), unexported); diff != "" {
		t.Errorf("afterwards:\n%s", diff)
	}
	signal.Stop(c)
}

// What the runtime needs itself stays its own, if somebody asks for it: a fault that
// nobody turns into a panic would come back for ever.
func TestFaultsStayPanics(t *testing.T) {
	own := []syscall.Signal{
		syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS,
		syscall.SIGSTKFLT, syscall.SIGABRT, syscall.SIGURG, syscall.SIGPROF, syscall.SIGPIPE,
	}
	notify(t, own...)
	before := actions(t)
	take(t, own...)
	if diff := cmp.Diff(before, actions(t), cmp.AllowUnexported(action{})); diff != "" {
		t.Error(diff)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	nothing := new(*int)
	**nothing = 1
}

// Signals that nobody asked the runtime for, that cannot be caught or that are ignored
// (nohup) stay so: a child process inherits them.
func TestNotTakenIsLeft(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer harness.HeedHangUp() // Reset would leave it ignored, here and in what is started
	before := actions(t)
	s, err := Take(syscall.SIGHUP, syscall.SIGTTIN, syscall.SIGKILL, syscall.SIGSTOP)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if diff := cmp.Diff(before, actions(t), cmp.AllowUnexported(action{})); diff != "" {
		t.Error(diff)
	}
	kill(t, syscall.SIGHUP)
	if out, err := exec.Command("sh", "-c", "kill -HUP $$").CombinedOutput(); err != nil {
		t.Errorf("a child does not ignore it: %v %s", err, out)
	}
}

func TestNoSuchSignal(t *testing.T) {
	c := notify(t, syscall.SIGUSR1)
	if _, err := Take(syscall.SIGUSR1, 65); !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("signal 65: %v", err)
	}
	kill(t, syscall.SIGUSR1)
	heard(t, c) // what was taken before the error was given back
}

// Child processes begin with the signals' default, like those of the runtime's handler.
func TestChildrenHaveTheDefault(t *testing.T) {
	take(t, syscall.SIGTERM, syscall.SIGTSTP)
	out, err := exec.Command("sh", "-c", "kill -TERM $$").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("%v %s", err, out)
	}
	status, err := exec.Command("cat", "/proc/self/status").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SigBlk", "SigIgn", "SigCgt"} {
		_, rest, _ := strings.Cut(string(status), name+":\t")
		digits, _, _ := strings.Cut(rest, "\n")
		mask, err := strconv.ParseUint(digits, 16, 64)
		if err != nil || mask&(1<<(syscall.SIGTERM-1)|1<<(syscall.SIGTSTP-1)) != 0 {
			t.Errorf("%s is %q, %v", name, digits, err)
		}
	}
}
