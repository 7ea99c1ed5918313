package logmux

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// largePipe lets a process run on while others have their turn. Measured with 8
	// ranks on 2 CPUs: a fifth more throughput for a fifth less CPU time.
	largePipe = 512 << 10
	// growAt is a read that tells of a pipe that fills up: most of the 64 KiB that the
	// kernel gives it.
	growAt = 48 << 10
	// busyWithin is how soon after a read the next one tells of a process that goes on
	// writing: see readers.
	busyWithin = 10 * time.Millisecond
	// lastSweep bounds what is read from a pipe after its time is over. The process
	// may go on writing, and no pipe holds more.
	lastSweep = 1 << 20
)

// feed is a pipe and what becomes of its bytes. Its fields belong to the readers'
// mutex, but c, fd and swept to whoever made it busy.
type feed struct {
	token int32
	fd    int
	c     *copier
	ended func(error)
	busy  bool // somebody reads it
	grown bool
	last  time.Time // of reading
	swept int
}

// read reads once. n is 0 where there is nothing: err is then nil while the pipe is
// only empty, and io.EOF at its end.
func (f *feed) read(b []byte) (n int, empty bool, err error) {
	for {
		n, err = syscall.Read(f.fd, b)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return 0, true, nil
	case err != nil:
		return 0, false, fmt.Errorf("cannot read a pipe: %w", os.NewSyscallError("read", err))
	}
	return n, false, nil
}

// unread reports whether the pipe holds something, which is no silence.
func (f *feed) unread() bool {
	fds := []unix.PollFd{{Fd: int32(f.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return n > 0 && err == nil && fds[0].Revents&unix.POLLIN != 0
}

// pending is how many bytes the pipe holds.
func (f *feed) pending() int {
	n, err := unix.IoctlGetInt(f.fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// grow makes the pipe larger, once. The kernel may refuse: then it stays as it is.
func (f *feed) grow() {
	if f.grown || !f.c.room.take() {
		return
	}
	f.grown = true
	_, _ = unix.FcntlInt(uintptr(f.fd), unix.F_SETPIPE_SZ, largePipe)
}

// close ends the stream.
func (f *feed) close() {
	if f.grown {
		f.c.room.give()
	}
	// Nothing was written through it that could fail now.
	_ = unix.Close(f.fd)
}

// own takes the descriptor out of file, which is closed: the runtime's poller must not
// watch it, too. false: it is none that can be waited for, and file is as it was.
func own(file *os.File) (fd int, ok bool) {
	raw, err := file.SyscallConn()
	if err != nil {
		return 0, false
	}
	var mode unix.Stat_t
	failed := raw.Control(func(old uintptr) {
		if err = unix.Fstat(int(old), &mode); err != nil || mode.Mode&unix.S_IFMT == unix.S_IFREG {
			return
		}
		if fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			ok = true
		}
	})
	if failed != nil || !ok {
		return 0, false
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return 0, false
	}
	file.Close()
	return fd, true
}
