package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Handle refers to exactly one process for as long as it is open, whoever gets the
// pid later. The process needs not be a child.
type Handle struct {
	ID
	pidfd *os.File // nil: every use compares the start time instead
}

// Hold opens a handle of exactly this process. The error is os.ErrProcessDone if
// it has ended (a zombie has), and EMFILE or ENFILE if there is no descriptor for
// it; Refer needs none.
func Hold(id ID) (*Handle, error) {
	fd, err := unix.PidfdOpen(id.Pid, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.EINVAL) {
		// Linux before 5.10 knows no such flag; or the pid is a thread's by now.
		if fd, err = unix.PidfdOpen(id.Pid, 0); err == nil {
			err = unix.SetNonblock(fd, true) // for the runtime poller
		}
	}
	switch {
	case err == nil:
	case Gone(err):
		return nil, fmt.Errorf("cannot hold %v: %w", id, os.ErrProcessDone)
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return nil, fmt.Errorf("cannot hold %v: %w", id, err)
	default:
		return Refer(id) // a kernel without pidfds, or a sandbox that refuses them
	}
	h := &Handle{ID: id, pidfd: os.NewFile(uintptr(fd), "pidfd")}
	// The process existed before the descriptor was opened. If it exists still, the
	// descriptor is its own.
	if err := id.check(); err != nil {
		h.Close()
		return nil, fmt.Errorf("cannot hold %v: %w", id, err)
	}
	return h, nil
}

// Refer makes a handle without a descriptor: it compares the start time before
// every use, which leaves an instant in which the pid could be given away, and its
// Wait looks again and again. It is for kernels before 5.3 and for when descriptors
// have run out. The error is os.ErrProcessDone if the process has ended.
func Refer(id ID) (*Handle, error) {
	if err := id.check(); err != nil {
		return nil, fmt.Errorf("cannot refer to %v: %w", id, err)
	}
	return &Handle{ID: id}, nil
}

// Close gives the descriptor back; the process is not touched.
func (h *Handle) Close() {
	if h.pidfd != nil {
		h.pidfd.Close()
	}
}

// Signal sends sig to the process. The error is os.ErrProcessDone once it has been
// reaped, and EPERM if it is not ours to signal.
func (h *Handle) Signal(sig syscall.Signal) error {
	err := h.send(sig)
	if errors.Is(err, unix.ESRCH) {
		err = os.ErrProcessDone
	}
	if err != nil {
		return fmt.Errorf("cannot send %s to %v: %w", SignalName(sig), h.ID, err)
	}
	return nil
}

func (h *Handle) send(sig syscall.Signal) error {
	if h.pidfd == nil {
		if err := h.check(); err != nil {
			return err
		}
		return unix.Kill(h.Pid, sig)
	}
	raw, err := h.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	if err := raw.Control(func(fd uintptr) { sent = unix.PidfdSendSignal(int(fd), sig, nil, 0) }); err != nil {
		return err
	}
	return sent
}

// Gone reports whether the process has ended; a zombie has.
func (h *Handle) Gone() bool {
	if h.pidfd != nil {
		gone := false
		raw, err := h.pidfd.SyscallConn()
		if err == nil && raw.Control(func(fd uintptr) { gone = readable(fd) }) == nil {
			return gone
		}
	}
	return Gone(h.check())
}

// Wait returns nil once the process has ended, or the context's error. Call it from
// one goroutine at a time; it holds no thread.
func (h *Handle) Wait(ctx context.Context) error {
	for !h.Gone() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if h.pidfd == nil || !h.park(ctx) {
			if err := pause(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// park waits in the runtime poller until the pidfd is readable or ctx is over. It
// returns false if the poller does not take it.
func (h *Handle) park(ctx context.Context) bool {
	raw, err := h.pidfd.SyscallConn()
	if err != nil || h.pidfd.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	// A deadline in the past wakes the reader below.
	stop := context.AfterFunc(ctx, func() { _ = h.pidfd.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = raw.Read(readable)
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// pause is the time between two looks at a process that cannot be polled.
func pause(ctx context.Context) error {
	const between = 10 * time.Millisecond
	timer := time.NewTimer(between)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
