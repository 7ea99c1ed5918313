package cli

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"lenslaunch/internal/signals"
	"lenslaunch/launcher"
	"lenslaunch/test/harness"
)

func TestFrom(t *testing.T) {
	key := signals.Sender{Kernel: true}
	for _, test := range []struct {
		signal syscall.Signal
		sender signals.Sender
		want   string
	}{
		{syscall.SIGINT, key, "the terminal"},
		{syscall.SIGQUIT, key, "the terminal"},
		{syscall.SIGTSTP, key, "the terminal"},
		{syscall.SIGHUP, key, "the terminal"},
		{syscall.SIGXCPU, key, "the kernel"},
		{syscall.SIGINT, signals.Sender{Pid: 7, Command: "bash", UID: 1000}, "pid 7 (bash, uid 1000)"},
		{syscall.SIGTERM, signals.Sender{}, "a process outside of this container (uid 0)"},
	} {
		if got := from(signals.Signal{Number: test.signal, Sender: test.sender}); got != test.want {
			t.Errorf("%v is from %q, want %q", test.signal, got, test.want)
		}
	}
}

// sendersAreKnown reports whether signals come with their sender on this system.
func sendersAreKnown() bool {
	return runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")
}

// pytorch#67538: a job that was ended says who did it; each signal has its own sender.
func TestListenNamesTheSender(t *testing.T) {
	defer goleak.VerifyNone(t)
	heard, stop := listen([]syscall.Signal{syscall.SIGUSR1})
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	ours := hear(t, heard)
	shell := exec.Command("sh", "-c", "kill -USR1 $PPID; read line; exit 0")
	stdin, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	theirs := hear(t, heard)
	stdin.Close()
	if err := shell.Wait(); err != nil {
		t.Error(err)
	}
	if !sendersAreKnown() {
		if ours.From+theirs.From != "" {
			t.Errorf("from %q and %q", ours.From, theirs.From)
		}
		return
	}
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	self := signals.Sender{Pid: os.Getpid(), UID: os.Getuid(), Command: string(name[:len(name)-1])}
	if ours.From != self.String() {
		t.Errorf("from %q, want %q", ours.From, self)
	}
	if other := (signals.Sender{Pid: shell.Process.Pid, UID: os.Getuid(), Command: "sh"}); theirs.From != other.String() {
		t.Errorf("from %q, want %q", theirs.From, other)
	}
}

// Where signals cannot be taken from the runtime they come as they do in any program.
func TestListenWithoutSenders(t *testing.T) {
	defer goleak.VerifyNone(t)
	if other, err := signals.Take(); err == nil {
		defer other.Close() // the only one that can
	}
	heard, stop := listen(nil)
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got, want := hear(t, heard), (launcher.Signal{Number: syscall.SIGTERM}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// SIGHUP that is ignored on entry stays ignored, also where it is to be passed on.
func TestListenLeavesIgnoredHangUps(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer harness.HeedHangUp() // Reset would leave it ignored, here and in what is started
	heard, stop := listen([]syscall.Signal{syscall.SIGHUP})
	defer stop()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
	}
	if got := hear(t, heard).Number; got != syscall.SIGTERM {
		t.Errorf("%v was not ignored", got)
	}
	if out, err := exec.Command("sh", "-c", "kill -HUP $$").CombinedOutput(); err != nil {
		t.Errorf("a child does not ignore it: %v %s", err, out)
	}
}
