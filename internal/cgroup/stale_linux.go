package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Stale lists the groups below our own that launchers left behind who are dead by
// both signs: alive(pid, start) denies the launcher in the name, and nobody holds
// the group's lock. The lock is needed because another pid namespace in the same
// group (a container that shares our control group) has pids that mean nothing
// here. The paths are for Open. A group that cannot be looked at is left alone.
func Stale(parent *Parent, alive func(pid int, start uint64) bool) []string {
	entries, err := os.ReadDir(parent.dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		pid, start, _, ok := ParseGroupName(e.Name())
		path := filepath.Join(parent.dir, e.Name())
		if ok && e.IsDir() && !alive(pid, start) && unheld(path) {
			out = append(out, path)
		}
	}
	return out
}

// hold locks the group's directory until Close or the end of this process. The
// lock belongs to a descriptor that no child inherits through its exec.
func (g *Group) hold() error {
	f, err := openAt(g.dir, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	// Not LOCK_NB: a look by unheld takes the lock for a moment.
	if err := flock(f, unix.LOCK_SH); err != nil {
		f.Close()
		return fmt.Errorf("cannot lock the group %s: %w", g.path, err)
	}
	g.held = f
	return nil
}

// unheld reports whether no living process holds the group.
func unheld(path string) bool {
	g, err := Open(path)
	if err != nil {
		return false
	}
	defer g.Close()
	f, err := openAt(g.dir, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return false
	}
	defer f.Close()
	return flock(f, unix.LOCK_EX|unix.LOCK_NB) == nil
}

func flock(f *os.File, how int) error {
	return control(f, func(fd int) error {
		for {
			if err := unix.Flock(fd, how); !errors.Is(err, unix.EINTR) {
				return err
			}
		}
	})
}
