package tty

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sigaction is the kernel's struct of that name. Where it has no restorer the mask
// comes earlier; what matters here is zero or copied as a whole.
type sigaction struct {
	handler  uintptr
	flags    uintptr
	restorer uintptr
	mask     uint64
}

const ignore = 1 // SIG_IGN

// hush makes writes to the terminal from the background harmless, until unhush. It
// goes past os/signal, which has no way back from Ignore to the default of a signal
// that stops a process.
func (t *Terminal) hush() error {
	if t.quiet != nil {
		return nil
	}
	before := new(sigaction)
	if err := setAction(&sigaction{handler: ignore}, before); err != nil {
		return err
	}
	t.quiet = before
	return nil
}

func (t *Terminal) unhush() error {
	if t.quiet == nil {
		return nil
	}
	before := t.quiet
	t.quiet = nil
	return setAction(before, nil)
}

// setAction sets what SIGTTOU does. The runtime has no handler of its own for it.
func setAction(to, before *sigaction) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGTTOU),
		uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(before)), unsafe.Sizeof(to.mask), 0, 0)
	if errno != 0 {
		return fmt.Errorf("cannot set what SIGTTOU does: %w", errno)
	}
	return nil
}
