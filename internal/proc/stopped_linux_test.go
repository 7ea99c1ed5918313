package proc

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// awaitStop returns the next stop of a child. SIGCHLD, which tells of it, is the whole
// process's; here a peek that blocks stands in for it.
func awaitStop(t *testing.T, c *Child) syscall.Signal {
	t.Helper()
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			failed = unix.Waitid(unix.P_PID, c.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
			if !errors.Is(failed, unix.EINTR) {
				return
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the child was not stopped")
	}
	if failed != nil {
		t.Fatal(failed)
	}
	sig, err := c.Stopped()
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func expectStopped(t *testing.T, c *Child, want syscall.Signal) {
	t.Helper()
	if got, err := c.Stopped(); got != want || err != nil {
		t.Errorf("stopped by %d, want %d (error %v)", got, want, err)
	}
}

// Each stop is told once, with its signal; one that is over is not told at all.
func TestStopped(t *testing.T) {
	s := spawner(t)
	c, _ := startReady(t, s, "hang")
	expectStopped(t, c, 0)
	for _, sig := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGSTOP, syscall.SIGTTOU} {
		if err := c.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if got := awaitStop(t, c); got != sig {
			t.Errorf("stopped by %v, want %v", got, sig)
		}
		expectStopped(t, c, 0)
		if err := c.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		expectStopped(t, c, 0)
	}
	endChild(t, c)
	if _, err := c.Stopped(); !errors.Is(err, ErrReaped) {
		t.Errorf("of a reaped child: %v", err)
	}
}

// A stop that nobody asked about before it was over is not told afterwards.
func TestStoppedAndContinuedMeanwhile(t *testing.T) {
	s := spawner(t)
	c, _ := startReady(t, s, "hang")
	if err := c.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, c.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	expectStopped(t, c, 0)
	endChild(t, c)
}

// Asking takes nothing away from the one who waits for the end.
func TestStoppedLeavesTheEnd(t *testing.T) {
	s := spawner(t)
	c, _ := startReady(t, s, "hang")
	if err := c.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	exit, err := c.Wait()
	if err != nil || exit.Signal != syscall.SIGKILL {
		t.Errorf("%v, %v", exit, err)
	}
	expectStopped(t, c, 0)
	c.Reap()
}

// A child that leads a session of its own has a group of its own as well.
func TestStartInASession(t *testing.T) {
	s := spawner(t)
	cmd := helper("hang")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c, err := s.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	st, err := ReadStat(c.Pid)
	if err != nil || st.Session != c.Pid || st.Group != c.Pid {
		t.Errorf("session %d, group %d, want %d (error %v)", st.Session, st.Group, c.Pid, err)
	}
	endChild(t, c)
}

func endChild(t *testing.T, c *Child) {
	t.Helper()
	if err := c.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if _, err := c.Wait(); err != nil {
		t.Error(err)
	}
	c.Reap()
}
