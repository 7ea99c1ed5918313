package rundir

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// open opens a file of the directory that must be there.
func (d folder) open(name string, flags int) (*os.File, error) {
	// O_NONBLOCK: not to wait for the other end of a pipe that somebody put there.
	flags |= unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd(), name, flags, modeFile) })
	if err != nil {
		return nil, explain(d.path(name), err)
	}
	f, err := d.adopt(fd, name)
	if err == nil {
		err = d.owner.check(f)
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, err
	}
	return f, nil
}

// adopt makes a descriptor a file. It must be a regular one; those ignore O_NONBLOCK,
// but a worker that gets the descriptor would see the flag.
func (d folder) adopt(fd int, name string) (*os.File, error) {
	var stat unix.Stat_t
	err := unix.Fstat(fd, &stat)
	if err == nil && stat.Mode&unix.S_IFMT != unix.S_IFREG {
		err = fmt.Errorf("%s is no regular file", d.path(name))
	}
	if err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), d.path(name)), nil
}

// create makes a file that must not be there yet.
func (d folder) create(name string, flags int) (*os.File, error) {
	f, err := d.open(name, flags|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err := unix.Fchmod(int(f.Fd()), modeFile); err != nil { // the umask may have taken it all
		f.Close()
		return nil, err
	}
	return f, nil
}

// openOrCreate opens a file, and makes it where it is missing. One that is there keeps
// its mode: its user may have opened it to others.
func (d folder) openOrCreate(name string, flags int) (*os.File, error) {
	const tries = 10 // somebody removes and makes it all the time
	for range tries {
		f, err := d.open(name, flags)
		if !errors.Is(err, unix.ENOENT) {
			return f, err
		}
		if f, err = d.create(name, flags); !errors.Is(err, unix.EEXIST) {
			return f, err
		}
	}
	return nil, fmt.Errorf("%s comes and goes", d.path(name))
}

func (d folder) remove(name string) error {
	err := unix.Unlinkat(d.fd(), name, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

func (d folder) rename(from, to string) error {
	return unix.Renameat(d.fd(), from, d.fd(), to)
}

func (d folder) exists(name string) bool {
	var stat unix.Stat_t
	return unix.Fstatat(d.fd(), name, &stat, unix.AT_SYMLINK_NOFOLLOW) == nil
}

// named reports whether a name stands for an open file.
func (d folder) named(name string, f *os.File) bool {
	var named, open unix.Stat_t
	if unix.Fstatat(d.fd(), name, &named, unix.AT_SYMLINK_NOFOLLOW) != nil || unix.Fstat(int(f.Fd()), &open) != nil {
		return false
	}
	return named.Dev == open.Dev && named.Ino == open.Ino
}
