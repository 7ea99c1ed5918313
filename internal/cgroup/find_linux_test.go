package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Find leaves nothing behind, and two at once do not disturb each other.
func TestFindTwice(t *testing.T) {
	p := parent(t)
	errs := make(chan error)
	for range 4 {
		go func() {
			again, err := Find()
			if err == nil && again.Path() != p.Path() {
				err = fmt.Errorf("found %s, and before %s", again.Path(), p.Path())
			}
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(p.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), fmt.Sprintf("%s%d-", Prefix, os.Getpid())) {
			t.Errorf("%s is left over", e.Name())
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	p := parent(t)
	for _, name := range []string{"", "job", "..", "lenslaunch-/x", "../lenslaunch-1"} {
		if g, err := p.Create(name); err == nil {
			t.Errorf("%q was made", g.Path())
			_ = g.Remove()
		}
	}
	g := group(t)
	if _, err := p.Create(filepath.Base(g.Path())); !errors.Is(err, os.ErrExist) {
		t.Errorf("the same name again: %v", err)
	}
	if _, err := os.Stat(g.Path()); err != nil {
		t.Errorf("the collision harmed the first: %v", err)
	}
	nowhere := &Parent{dir: filepath.Join(g.Path(), "absent")}
	if _, err := nowhere.Create(uniqueName(t)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("below a group that is not there: %v", err)
	}
}

func TestSub(t *testing.T) {
	g := group(t)
	for _, name := range []string{"", ".", "..", "a/b", "/a"} {
		if _, err := g.Sub(name); err == nil {
			t.Errorf("%q was made", name)
		}
	}
	sub, err := g.Sub("rank-0")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if sub.Path() != filepath.Join(g.Path(), "rank-0") {
		t.Errorf("Path = %s", sub.Path())
	}
	if _, err := g.Sub("rank-0"); !errors.Is(err, os.ErrExist) {
		t.Errorf("the same name again: %v", err)
	}
	if _, err := g.Sub("cgroup.procs"); !errors.Is(err, os.ErrExist) {
		t.Errorf("the name of a control file: %v", err)
	}
}

// A guard must not be led astray by the path that it was given.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	ordinary := filepath.Join(dir, "lenslaunch-1-2-3")
	if err := os.Mkdir(ordinary, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"", "lenslaunch-1-2-3", "/", "/sys", ordinary, ordinary + "/", ordinary + "/../lenslaunch-1-2-3", filepath.Join(dir, "lenslaunch-absent"),
	} {
		if g, err := Open(path); err == nil {
			g.Close()
			t.Errorf("%q was opened", path)
		}
	}
	g := group(t)
	direct, indirect := filepath.Join(dir, "lenslaunch-link"), filepath.Join(dir, "parent")
	if err := errors.Join(os.Symlink(g.Path(), direct), os.Symlink(filepath.Dir(g.Path()), indirect)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{direct, filepath.Join(indirect, filepath.Base(g.Path()))} {
		if g, err := Open(path); err == nil {
			g.Close()
			t.Errorf("%s was followed", path)
		}
	}
	sub, err := g.Sub("rank-0")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if _, err := Open(sub.Path()); err == nil {
		t.Error("a group without our prefix was opened")
	}
}

// What the guard does: another descriptor of the same group ends it.
func TestOpenAndKill(t *testing.T) {
	g := group(t)
	_, all := start(t, g, 3, "grandchild")
	guard, err := Open(g.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	if err := guard.Kill(); err != nil {
		t.Fatal(err)
	}
	waitEmpty(t, guard)
	if err := guard.Remove(); err != nil {
		t.Error(err)
	}
	for _, p := range all {
		if !p.ended(wait) {
			t.Errorf("pid %d lives", p.pid)
		}
	}
}

// A descriptor goes on meaning the group that it was opened for, also if another
// one gets the name.
func TestNameUsedAgain(t *testing.T) {
	p := parent(t)
	g := group(t)
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	second, err := p.Create(filepath.Base(g.Path()))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	_, other := start(t, second, 1, "hang")
	if err := g.Kill(); err != nil {
		t.Errorf("Kill of the removed group: %v", err)
	}
	if n, err := g.Signal(syscall.SIGKILL); n != 0 || err != nil {
		t.Errorf("Signal of the removed group = %d, %v", n, err)
	}
	if other[0].ended(0) {
		t.Error("a process of the group with the same name was killed")
	}
	if err := errors.Join(second.Kill(), second.Remove()); err != nil {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	g := group(t)
	opened, err := Open(g.Path())
	if err != nil {
		t.Fatal(err)
	}
	opened.Close()
	opened.Close() // harmless
	if opened.FD() != -1 {
		t.Errorf("FD after Close = %d", opened.FD())
	}
	_, errPids := opened.Pids()
	_, errEmpty := opened.Empty()
	for _, err := range []error{opened.Kill(), opened.Probe(), opened.Remove(), opened.WaitEmpty(t.Context()), errPids, errEmpty} {
		if err == nil {
			t.Error("a closed group works")
		}
	}
}
