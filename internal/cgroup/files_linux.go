package cgroup

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Everything inside a group goes through a descriptor of its directory, not its
// path: a descriptor keeps meaning the same group if the name is removed and made
// again by somebody else; what is asked of a removed group fails (see gone).

// openAt opens a name in a directory. The descriptor is close-on-exec, follows no
// symbolic link, and is non-blocking, which lets the runtime poller wait for it.
func openAt(dir *os.File, name string, flags int) (*os.File, error) {
	var fd int
	err := control(dir, func(at int) (err error) {
		fd, err = ignoringEINTR(func() (int, error) {
			return unix.Openat(at, name, flags|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		})
		return err
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: filepath.Join(dir.Name(), name), Err: err}
	}
	return os.NewFile(uintptr(fd), filepath.Join(dir.Name(), name)), nil
}

// control runs f on a file's descriptor, which cannot be closed meanwhile.
func control(file *os.File, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

func ignoringEINTR(f func() (int, error)) (int, error) {
	for {
		if n, err := f(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// readAt reads a control file.
func readAt(dir *os.File, name string) (string, error) {
	f, err := openAt(dir, name, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), err
}

// writeAt writes to a control file; the kernel takes each write as one command.
func writeAt(dir *os.File, name, text string) error {
	f, err := openAt(dir, name, unix.O_WRONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// subdirs names the groups directly below.
func subdirs(dir *os.File) ([]string, error) {
	list, err := openAt(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY) // an O_PATH descriptor cannot be listed
	if err != nil {
		return nil, err
	}
	defer list.Close()
	entries, err := list.ReadDir(-1)
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// gone reports whether an error only says that the group was removed: its files
// are no longer found, or, if they were open, no longer answer.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV)
}
