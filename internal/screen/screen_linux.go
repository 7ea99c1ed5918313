package screen

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// What the terminal is told. The second screen comes with a cursor of its own; lines
// that are too long are cut and not continued.
const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
	leave = "\x1b[?7h\x1b[?25h\x1b[0m\x1b[?1049l"
)

// Screen is a terminal that was taken over. Draw, Suspend, Resume and Close belong to
// one goroutine.
type Screen struct {
	file  *os.File     // the terminal, opened anew
	modes unix.Termios // as they were
	held  bool         // it is ours now
	keys  chan Key
	done  chan struct{} // closed: nobody takes keys any more
	ended sync.WaitGroup
}

// Open takes over the terminal behind f. f itself is not used: modes of a descriptor
// that others share, such as non-blocking, stay as they are.
func Open(f *os.File) (*Screen, error) {
	name, err := terminal(f)
	if err != nil {
		return nil, err
	}
	// A file of its own can wait for input and for Close at once.
	file, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if errors.Is(err, os.ErrPermission) {
		// After su it belongs to somebody else, who has opened it for us.
		file, err = os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the terminal: %w", err)
	}
	s := &Screen{file: file, keys: make(chan Key), done: make(chan struct{})}
	if err := s.control(func(fd int) error {
		modes, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			s.modes = *modes
		}
		return err
	}); err != nil {
		file.Close()
		return nil, fmt.Errorf("cannot read the terminal's modes: %w", err)
	}
	if err := s.Resume(); err != nil {
		file.Close()
		return nil, err
	}
	s.ended.Go(s.read)
	return s, nil
}

// terminal is a name by which the terminal behind f can be opened.
func terminal(f *os.File) (string, error) {
	if f == nil {
		return "", ErrNoTerminal
	}
	name := ""
	raw, err := f.SyscallConn()
	if err != nil {
		return "", ErrNoTerminal
	}
	err = raw.Control(func(fd uintptr) {
		if _, err := unix.IoctlGetTermios(int(fd), unix.TCGETS); err == nil {
			name = "/proc/self/fd/" + strconv.Itoa(int(fd))
		}
	})
	if err != nil || name == "" {
		return "", ErrNoTerminal
	}
	return name, nil
}

// IsTerminal reports whether f is one.
func IsTerminal(f *os.File) bool {
	_, err := terminal(f)
	return err == nil
}

// control calls f with the descriptor.
func (s *Screen) control(f func(fd int) error) error {
	raw, err := s.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// Resume takes the terminal over again.
func (s *Screen) Resume() error {
	if s.held {
		return nil
	}
	modes := s.modes
	// Keys come one by one and unseen. Signals by keys, and what output becomes, stay.
	modes.Lflag &^= unix.ICANON | unix.ECHO
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	err := s.control(func(fd int) error { return unix.IoctlSetTermios(fd, unix.TCSETS, &modes) })
	if err != nil {
		return fmt.Errorf("cannot take over the terminal: %w", err)
	}
	s.held = true
	if err := s.write(enter); err != nil {
		return errors.Join(fmt.Errorf("cannot take over the terminal: %w", err), s.Suspend())
	}
	return nil
}

// Suspend gives the terminal back for a while. Without the foreground nothing is
// changed: the terminal is another's, and this process would be stopped for it.
func (s *Screen) Suspend() error {
	if !s.held {
		return nil
	}
	s.held = false
	if !s.foreground() {
		return nil
	}
	err := errors.Join(s.write(leave), s.control(func(fd int) error { return unix.IoctlSetTermios(fd, unix.TCSETS, &s.modes) }))
	if err != nil {
		return fmt.Errorf("cannot give the terminal back: %w", err)
	}
	return nil
}

// foreground reports whether the terminal is this process group's. One that does not
// control this session has no such group, and stops nobody.
func (s *Screen) foreground() bool {
	mine := true
	_ = s.control(func(fd int) error {
		if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil {
			mine = group == unix.Getpgrp()
		}
		return nil
	})
	return mine
}

// Close gives the terminal back for good. It may be called again.
func (s *Screen) Close() error {
	select {
	case <-s.done:
		return nil
	default:
	}
	close(s.done)
	err := s.Suspend()
	s.file.Close() // ends the read
	s.ended.Wait()
	return err
}

// Keys gives the keys as they are typed. It is closed when the terminal has gone.
func (s *Screen) Keys() <-chan Key { return s.keys }

// read passes keys on until the terminal is closed.
func (s *Screen) read() {
	defer close(s.keys)
	var text []byte
	buf := make([]byte, 64)
	for {
		n, err := s.file.Read(buf)
		if err != nil {
			return
		}
		var keys []Key
		keys, text = decode(append(text, buf[:n]...))
		for _, key := range keys {
			select {
			case s.keys <- key:
			case <-s.done:
				return
			}
		}
	}
}
