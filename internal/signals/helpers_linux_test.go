//go:build amd64 || arm64

package signals

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// patience is spent only by a test that fails.
const patience = time.Minute

// notify tells the runtime of signals, for one test.
func notify(t *testing.T, list ...syscall.Signal) chan os.Signal {
	t.Helper()
	c := make(chan os.Signal, 10)
	for _, sig := range list {
		signal.Notify(c, sig)
	}
	t.Cleanup(func() { signal.Stop(c) })
	return c
}

// take takes signals for one test, after the runtime was told of them.
func take(t *testing.T, list ...syscall.Signal) (*Source, chan os.Signal) {
	t.Helper()
	c := notify(t, list...)
	s, err := Take(list...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	// A test that fails must not wait for ever.
	if err := s.read.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return s, c
}

func next(t *testing.T, s *Source) Signal {
	t.Helper()
	sig, err := s.Next()
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// heard is the next signal that the runtime passes on.
func heard(t *testing.T, c <-chan os.Signal) os.Signal {
	t.Helper()
	select {
	case sig := <-c:
		return sig
	case <-time.After(patience):
		t.Fatal("the signal is lost")
		return nil
	}
}

func kill(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), sig); err != nil {
		t.Fatal(err)
	}
}

// shell starts a shell that sends signals to this process and lives until end.
func shell(t *testing.T, list ...syscall.Signal) (pid int, end func()) {
	t.Helper()
	script := ""
	for _, sig := range list {
		script += fmt.Sprintf("kill -%d %d; ", int(sig), os.Getpid())
	}
	cmd := exec.Command("sh", "-c", script+"read line; exit 0")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// actions are what the kernel does with each signal, as far as it tells: the C library's
// own (32 and 33) are hidden in some emulators.
func actions(t *testing.T) map[syscall.Signal]action {
	t.Helper()
	all := map[syscall.Signal]action{}
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		if a, err := get(sig); err == nil {
			all[sig] = a
		}
	}
	if len(all) < 60 {
		t.Fatalf("the kernel tells of %d signals", len(all))
	}
	return all
}
