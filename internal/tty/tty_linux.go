package tty

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Terminal is the controlling terminal of this process's session. It is not safe for
// concurrent use.
type Terminal struct {
	file  *os.File
	lent  int           // the group that has the foreground from us, 0: none
	modes *unix.Termios // as they were when it got it
	quiet *sigaction    // what SIGTTOU did before, nil: it is as it was
}

// Of returns the terminal behind f, if f is one and it controls this session.
func Of(f *os.File) (*Terminal, bool) {
	if f == nil {
		return nil, false
	}
	t := &Terminal{file: f}
	// A terminal of another session has no foreground group that we could change. Our
	// own group has no number if it was made outside of our pid namespace: what we
	// gave away we could not take back.
	if _, err := t.Foreground(); err != nil || unix.Getpgrp() == 0 {
		return nil, false
	}
	return t, true
}

// fd is the descriptor. File.Fd would switch it to blocking mode; the control
// connection does not.
func (t *Terminal) fd() int {
	fd := -1
	if raw, err := t.file.SyscallConn(); err == nil {
		// A closed file leaves -1, which the next call complains of.
		_ = raw.Control(func(v uintptr) { fd = int(v) })
	}
	return fd
}

// Foreground is the process group that has the terminal.
func (t *Terminal) Foreground() (int, error) {
	group, err := unix.IoctlGetInt(t.fd(), unix.TIOCGPGRP)
	if err != nil {
		return 0, fmt.Errorf("cannot ask for the terminal's foreground group: %w", err)
	}
	return group, nil
}

// Mine reports whether this process's group has the terminal.
func (t *Terminal) Mine() bool {
	group, err := t.Foreground()
	return err == nil && group == unix.Getpgrp()
}

// Give makes a process group of this session the foreground group. Call it only while
// the terminal is Mine.
func (t *Terminal) Give(group int) error {
	modes, err := unix.IoctlGetTermios(t.fd(), unix.TCGETS)
	if err == nil {
		err = t.hush()
	}
	if err == nil {
		err = unix.IoctlSetPointerInt(t.fd(), unix.TIOCSPGRP, group)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot give the terminal to process group %d: %w", group, err), t.unhush())
	}
	t.lent, t.modes = group, modes
	return nil
}

// Take brings the foreground back to this process's group and reports whether it has
// it. With restore the modes come back, too: a debugger that was killed leaves the
// terminal without echo.
func (t *Terminal) Take(restore bool) (bool, error) {
	group, err := t.Foreground()
	if err != nil {
		return false, err
	}
	if t.lent == 0 || group == unix.Getpgrp() {
		t.lent = 0
		return group == unix.Getpgrp(), t.unhush()
	}
	if group != t.lent && living(group) {
		return false, nil
	}
	if err := unix.IoctlSetPointerInt(t.fd(), unix.TIOCSPGRP, unix.Getpgrp()); err != nil {
		return false, fmt.Errorf("cannot take the terminal back: %w", err)
	}
	t.lent = 0
	if restore {
		if err = unix.IoctlSetTermios(t.fd(), unix.TCSETS, t.modes); err != nil {
			err = fmt.Errorf("cannot restore the terminal's modes: %w", err)
		}
	}
	return true, errors.Join(err, t.unhush())
}

// living reports whether a process group has members. Group 0 is one outside of our
// pid namespace.
func living(group int) bool {
	return group == 0 || !errors.Is(unix.Kill(-group, 0), unix.ESRCH)
}
