package proc

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// si_code of SIGCHLD for a child that was stopped (asm-generic/siginfo.h).
const cldStopped = 5

// Stopped returns the signal that stopped the child, such as Ctrl-Z's, once for each
// time; 0 if it was not stopped since, or has been continued meanwhile. Ask on SIGCHLD.
func (c *Child) Stopped() (syscall.Signal, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return 0, ErrReaped
	}
	// What continued it is of no interest; asked for, it does not stay with the kernel.
	const stops = unix.WSTOPPED | unix.WCONTINUED | unix.WNOHANG
	for {
		var info siginfo
		err := unix.Waitid(unix.P_PID, c.Pid, (*unix.Siginfo)(unsafe.Pointer(&info)), stops, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD): // it has ended: no stop can come any more
			return 0, nil
		case err != nil:
			return 0, fmt.Errorf("cannot ask whether %v was stopped: %w", c.ID, err)
		case info.pid == 0: // nothing is new
			return 0, nil
		case info.code == cldStopped:
			return syscall.Signal(info.status), nil
		}
	}
}
