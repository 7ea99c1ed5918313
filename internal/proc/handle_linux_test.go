package proc

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lenslaunch/test/nobody"
)

// holders are the two kinds of handles; they differ in how they are sure.
var holders = map[string]func(ID) (*Handle, error){"Hold": Hold, "Refer": Refer}

// A handle of somebody else's child: wait, signal, end, and after that.
func TestHandle(t *testing.T) {
	for name, hold := range holders {
		t.Run(name, func(t *testing.T) {
			s := spawner(t)
			c, line := startReady(t, s, "fork-hang")
			pid, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			st, err := ReadStat(pid)
			if err != nil {
				t.Fatal(err)
			}
			h, err := hold(st.ID)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			testWaitIsBounded(t, h)
			if err := h.Signal(0); err != nil || h.Gone() {
				t.Errorf("while it lives: %v, gone %v", err, h.Gone())
			}
			if err := h.Signal(syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			if err := h.Wait(t.Context()); err != nil || !h.Gone() {
				t.Errorf("Wait after SIGKILL: %v, gone %v", err, h.Gone())
			}
			_ = c.Signal(syscall.SIGKILL)
			if _, err := c.Wait(); err != nil {
				t.Error(err)
			}
			c.Reap()
		})
	}
}

// testWaitIsBounded ends a wait by its context; the handle is good for the next one.
func testWaitIsBounded(t *testing.T, h *Handle) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error)
	go func() { waited <- h.Wait(ctx) }()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("Wait of a cancelled context: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := h.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait beyond its deadline: %v", err)
	}
}

// A zombie is gone for a handle, and cannot be held; a reaped process takes no signal,
// whoever has its pid.
func TestHandleOfZombie(t *testing.T) {
	for name, hold := range holders {
		t.Run(name, func(t *testing.T) {
			s := spawner(t)
			c, _ := startReady(t, s, "hang")
			h, err := hold(c.ID)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			if err := c.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Wait(); err != nil {
				t.Fatal(err)
			}
			if !h.Gone() || h.Wait(t.Context()) != nil {
				t.Error("a zombie is not gone")
			}
			if _, err := hold(c.ID); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("a zombie can be held: %v", err)
			}
			c.Reap()
			if err := h.Signal(syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) || !h.Gone() {
				t.Errorf("signal to a reaped process: %v", err)
			}
		})
	}
}

// A stored pid is another process by now (golang/go#16028, nomad#23969).
func TestHandleOfRecycledPid(t *testing.T) {
	self, err := ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, hold := range holders {
		for _, id := range []ID{{self.Pid, self.Start - 1}, {self.Pid, self.Start + 1}, {1 << 30, 1}, {0, 0}, {-1, 0}} {
			if h, err := hold(id); err == nil || h != nil {
				t.Errorf("%s(%+v) = %v, %v", name, id, h, err)
			}
		}
	}
}

// Without descriptors nothing is said to have ended (launch specification: `ulimit -n`
// exhausted in the middle of a launch).
func TestHoldWithoutDescriptors(t *testing.T) {
	out, err := helper("no-descriptors").Output()
	if err != nil || strings.TrimSpace(string(out)) != "true true true" {
		t.Errorf("EMFILE from Hold and Refer, Alive: %s, %v", out, err)
	}
}

func TestHandleOfAnotherUser(t *testing.T) {
	if nobody.Rerun(t) {
		return
	}
	st, err := ReadStat(1)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Hold(st.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Signal(0); !errors.Is(err, syscall.EPERM) {
		t.Errorf("Signal: %v", err)
	}
}
