package logmux

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	is := false
	control(w, func(fd int) {
		_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		is = err == nil
	})
	return is
}

// columns is how wide the terminal is now, 0 if it does not tell. Asking is cheaper
// than to follow SIGWINCH.
func columns(w io.Writer) int {
	n := 0
	control(w, func(fd int) {
		if size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err == nil {
			n = int(size.Col)
		}
	})
	return n
}

// awaitWritable waits until a file takes bytes again, and reports whether it could wait.
func awaitWritable(w io.Writer) bool {
	waited := false
	control(w, func(fd int) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		_, err := unix.Poll(fds, -1)
		waited = err == nil || err == unix.EINTR
	})
	return waited
}

// control runs f with the descriptor of a file, if w is one. File.Fd would switch it to
// blocking mode.
func control(w io.Writer, f func(fd int)) {
	file, ok := w.(*os.File)
	if !ok {
		return
	}
	if raw, err := file.SyscallConn(); err == nil {
		// A closed file is no terminal.
		_ = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}
