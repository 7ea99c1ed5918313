package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Group is a group that Create, Sub or Open returned. Its methods may be called
// from several goroutines. A group that somebody removed (the guard, a later
// launcher) is treated as empty, not as an error.
type Group struct {
	path string
	dir  *os.File // O_PATH
	held *os.File // the lock that tells Stale that we are alive; nil if not made by Create
}

// Open opens a group that another process made, such as the launcher that a guard
// outlives. The path must be absolute and end in a name with Prefix; neither it nor
// its parents may be symbolic links, and the file system must be version 2: so it
// cannot be led to a group that is not ours.
func Open(path string) (*Group, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || !strings.HasPrefix(filepath.Base(path), Prefix) {
		return nil, fmt.Errorf("cannot open the group %q: not an absolute path to a name that begins with %s", path, Prefix)
	}
	fd, err := openNoSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the group %s: %w", path, err)
	}
	dir := os.NewFile(uintptr(fd), path)
	var st unix.Statfs_t
	err = control(dir, func(fd int) error { return unix.Fstatfs(fd, &st) })
	if err == nil && st.Type != unix.CGROUP2_SUPER_MAGIC {
		err = errors.New("not a version 2 group")
	}
	if err != nil {
		dir.Close()
		return nil, fmt.Errorf("cannot open the group %s: %w", path, err)
	}
	return &Group{path: path, dir: dir}, nil
}

// openNoSymlinks opens a directory without following a link anywhere in its path.
func openNoSymlinks(path string) (int, error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := ignoringEINTR(func() (int, error) { return unix.Openat2(unix.AT_FDCWD, path, &how) })
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
		return fd, err
	}
	// Old container runtimes forbid openat2. The last name and the type of the
	// file system are still checked.
	return ignoringEINTR(func() (int, error) { return unix.Open(path, flags, 0) })
}

// Sub makes a group below this one, such as one per rank. A name that exists
// already is an error (os.ErrExist).
func (g *Group) Sub(name string) (*Group, error) {
	path := filepath.Join(g.path, name)
	if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
		return nil, fmt.Errorf("cannot make a group in %s: %q is not a name", g.path, name)
	}
	if err := control(g.dir, func(at int) error { return unix.Mkdirat(at, name, 0o755) }); err != nil {
		return nil, fmt.Errorf("cannot make the group %s: %w", path, err)
	}
	dir, err := openAt(g.dir, name, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, fmt.Errorf("cannot open the group just made: %w", err)
	}
	return &Group{path: path, dir: dir}, nil
}

// FD is a descriptor for SysProcAttr.CgroupFD, valid until Close.
func (g *Group) FD() int { return int(g.dir.Fd()) }

// Path is the group's directory.
func (g *Group) Path() string { return g.path }

// Close lets go of the descriptors; the group and its processes stay.
func (g *Group) Close() {
	g.dir.Close()
	if g.held != nil {
		g.held.Close()
	}
}
