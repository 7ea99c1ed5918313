package screen

import (
	"errors"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a write may take.
const patience = time.Second

// Size is that of the terminal, 80 by 24 where it does not know.
func (s *Screen) Size() (columns, lines int) {
	columns, lines = 80, 24
	_ = s.control(func(fd int) error {
		size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil && size.Col > 0 && size.Row > 0 {
			columns, lines = int(size.Col), int(size.Row)
		}
		return err
	})
	return columns, lines
}

// Columns is the width of the terminal behind f, 0 if it is none.
func Columns(f *os.File) int {
	if f == nil {
		return 0
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	columns := 0
	_ = raw.Control(func(fd uintptr) {
		if size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ); err == nil {
			columns = int(size.Col)
		}
	})
	return columns
}

// Draw shows lines from the top; what has no room is left out. While the terminal is
// given back, nothing is drawn.
func (s *Screen) Draw(lines []string) error {
	if !s.held {
		return nil
	}
	_, height := s.Size()
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, line := range lines[:min(len(lines), height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line + "\x1b[K") // and clear what the last picture had behind it
	}
	b.WriteString("\x1b[J")
	return s.write(b.String())
}

// write waits only so long for a terminal that takes nothing (Ctrl-S): signals must be
// obeyed all the same, and the next picture is a whole one again.
func (s *Screen) write(text string) error {
	if err := s.file.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := s.file.WriteString(text)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}
