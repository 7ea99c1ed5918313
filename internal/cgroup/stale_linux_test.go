package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func nobody(int, uint64) bool { return false }

// Only what a dead launcher left is stale: dead by name and by lock.
func TestStale(t *testing.T) {
	g := group(t)
	p := parent(t)
	stale := func(alive func(int, uint64) bool) bool { return slices.Contains(Stale(p, alive), g.Path()) }
	if stale(nobody) {
		t.Error("a group that is held is stale: its launcher may be in another pid namespace")
	}
	pid, begun, _, _ := ParseGroupName(filepath.Base(g.Path()))
	g.held.Close() // as when its launcher ends
	if stale(func(p int, s uint64) bool { return p == pid && s == begun }) {
		t.Error("a group whose launcher lives is stale")
	}
	if !stale(nobody) {
		t.Error("a group that nobody holds is not stale")
	}
	if !stale(func(p int, s uint64) bool { return p == pid && s == begun+1 }) {
		t.Error("its pid is another process by now, and it is not stale")
	}
}

func TestStaleIgnoresOthers(t *testing.T) {
	g := group(t)
	sub, err := g.Sub("lenslaunch-not-a-name")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if got := Stale(&Parent{dir: g.Path()}, nobody); len(got) != 0 {
		t.Errorf("Stale = %v", got)
	}
	if got := Stale(&Parent{dir: filepath.Join(g.Path(), "absent")}, nobody); got != nil {
		t.Errorf("Stale of a group that is not there = %v", got)
	}
	// A directory of another file system is not even looked at.
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, GroupName(1, 2, 3)), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Stale(&Parent{dir: dir}, nobody); len(got) != 0 {
		t.Errorf("Stale = %v", got)
	}
}

// The whole way of the next launcher: find, open, kill, remove.
func TestStaleIsCleared(t *testing.T) {
	p := parent(t)
	dead, err := p.Create(GroupName(1, 1, os.Getpid())) // pid 1 began at another time
	if err != nil {
		t.Fatal(err)
	}
	_, all := start(t, dead, 1, "daemon")
	dead.Close() // the lock was not passed on to what was started
	for _, path := range Stale(p, func(pid int, start uint64) bool { return pid != 1 || start != 1 }) {
		g, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(g.Kill(), g.WaitEmpty(t.Context()), g.Remove()); err != nil {
			t.Error(err)
		}
		g.Close()
	}
	if !all[0].ended(wait) {
		t.Error("what the dead launcher left lives")
	}
	if _, err := os.Stat(dead.Path()); !errors.Is(err, unix.ENOENT) {
		t.Errorf("its group is left: %v", err)
	}
}
