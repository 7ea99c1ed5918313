package logmux

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// open makes the set and its readers.
func (r *readers) open() error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return err
	}
	r.set = os.NewFile(uintptr(fd), "pipes")
	raw, err := r.set.SyscallConn()
	if err != nil {
		r.set.Close()
		r.set = nil
		return err
	}
	r.feeds = map[int32]*feed{}
	for range min(max(2, runtime.GOMAXPROCS(0)), 4) {
		go r.work(raw)
	}
	return nil
}

// closeUnused ends the readers when there is nothing left to read.
func (r *readers) closeUnused() {
	if len(r.feeds) == 0 && r.set != nil {
		r.set.Close()
		r.set = nil
	}
}

// ctl changes how the set watches a pipe.
func (r *readers) ctl(op int, f *feed) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: f.token}
	failed := error(nil)
	raw, err := r.set.SyscallConn()
	if err == nil {
		err = raw.Control(func(set uintptr) { failed = unix.EpollCtl(int(set), op, f.fd, &event) })
	}
	if err != nil {
		return err
	}
	return failed
}
