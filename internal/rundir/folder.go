package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	modeFile   = 0o600
	modeFolder = 0o700
)

// folder is an open directory. What lies in it is reached through the descriptor, so
// nobody can put another directory in its place later.
type folder struct {
	*os.File
	owner owner
}

// path is for messages and for others: nothing here opens it again.
func (d folder) path(name string) string { return filepath.Join(d.Name(), name) }

func (d folder) fd() int { return int(d.Fd()) }

// makeFolder opens the directory of a run, and makes it and its parents where they are
// missing. Parents may be symbolic links, the directory itself must be none: in a place
// where all may write, the link would be somebody else's choice.
func makeFolder(path string) (folder, error) {
	path, err := filepath.Abs(path) // without a slash at the end, which would follow a link
	if err != nil {
		return folder{}, err
	}
	f, err := openFolder(unix.AT_FDCWD, path)
	if missing(err) {
		if err := makeParent(filepath.Dir(path)); err != nil {
			return folder{}, err
		}
		if _, err = mkdir(unix.AT_FDCWD, path); err == nil {
			f, err = openFolder(unix.AT_FDCWD, path)
		}
	}
	if err != nil {
		return folder{}, explain(path, err)
	}
	d := folder{File: os.NewFile(uintptr(f), path)}
	if d.owner, err = ownerOf(d); err != nil {
		d.Close()
		return folder{}, err
	}
	return d, nil
}

// missing reports whether it may help to make a directory: if a parent is no directory,
// that will be found out on the way.
func missing(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) }

func makeParent(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return explain(path, unix.ENOTDIR)
	}
	if !missing(err) {
		return explain(path, err)
	}
	if err := makeParent(filepath.Dir(path)); err != nil { // the root exists
		return err
	}
	_, err = mkdir(unix.AT_FDCWD, path)
	return explain(path, err)
}

// sub opens a directory below this one and makes it where it is missing; made tells.
func (d folder) sub(name string) (sub folder, made bool, err error) {
	if made, err = mkdir(d.fd(), name); err != nil {
		return folder{}, false, explain(d.path(name), err)
	}
	f, err := openFolder(d.fd(), name)
	if err != nil {
		return folder{}, made, explain(d.path(name), err)
	}
	sub = folder{File: os.NewFile(uintptr(f), d.path(name)), owner: d.owner}
	if err := sub.owner.check(sub.File); err != nil {
		sub.Close()
		return folder{}, made, err
	}
	return sub, made, nil
}

// mkdir makes a directory that only we can use. One that is there is left as it is:
// other nodes of the run make the same ones.
func mkdir(at int, name string) (made bool, err error) {
	_, err = retry(func() (struct{}, error) { return struct{}{}, unix.Mkdirat(at, name, modeFolder) })
	if errors.Is(err, unix.EEXIST) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, complete(at, name)
}

// complete gives a new directory the rights that a umask took from its owner. The
// set-group-ID bit, which makes a project's quota count, comes from the parent and stays.
func complete(at int, name string) error {
	var stat unix.Stat_t
	if err := unix.Fstatat(at, name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if stat.Mode&modeFolder == modeFolder {
		return nil
	}
	return unix.Fchmodat(at, name, uint32(stat.Mode)&unix.S_ISGID|modeFolder, 0) //nolint:unconvert // it has 16 bits on darwin
}

func openFolder(at int, name string) (int, error) {
	return retry(func() (int, error) {
		return unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
}

// explain says what is in the way where the error of a system call does not.
func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	if target, linkErr := os.Readlink(path); linkErr == nil && (errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR)) {
		return fmt.Errorf("%s is a symbolic link, to %s", path, target)
	}
	if errors.Is(err, unix.ENOTDIR) {
		return fmt.Errorf("%s is no directory", path)
	}
	var named *os.PathError
	if errors.As(err, &named) {
		err = named.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// retry repeats a system call that a signal interrupted.
func retry[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if !errors.Is(err, unix.EINTR) {
			return v, err
		}
	}
}
