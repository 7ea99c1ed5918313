package openwork

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"lenslaunch/journal"
)

func TestLockBetweenProcesses(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "lock", dir)
	if f, err := Lock(dir); !errors.Is(err, ErrHeld) {
		t.Errorf("%v, %v", f, err)
	}
	if f, err := Await(over(), dir); !errors.Is(err, ErrHeld) {
		t.Errorf("%v, %v", f, err)
	}
	// Whoever waits has it when the other is killed.
	got := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		f, err := Await(ctx, dir)
		if err == nil {
			err = f.Close()
		}
		got <- err
	}()
	p.kill()
	if err := <-got; err != nil {
		t.Error(err)
	}
	// And a second one in this process is kept out as well.
	f, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrHeld) {
		t.Error(err)
	}
	f.Close()
}

func TestLockRefuses(t *testing.T) {
	if _, err := Lock(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrHeld) {
		t.Errorf("missing: %v", err)
	}
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := errors.Join(os.Mkdir(journal.Folder(dir), 0o700), os.Symlink(victim, filepath.Join(journal.Folder(dir), lockName))); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); err == nil || errors.Is(err, ErrHeld) || exists(t, victim) {
		t.Errorf("link: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Await(t.Context(), file); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("no directory: %v", err) // and it does not wait for what cannot be
	}
}

// Whoever held the lock removed it with the folder: to have the removed file's lock is to
// have nothing.
func TestRemovedLockIsNone(t *testing.T) {
	dir := t.TempDir()
	f, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := filepath.Join(journal.Folder(dir), lockName)
	if !isAt(f, path) {
		t.Error("a lock that is there is not")
	}
	if err := os.RemoveAll(journal.Folder(dir)); err != nil {
		t.Fatal(err)
	}
	if isAt(f, path) {
		t.Error("a removed lock is there")
	}
	second, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if isAt(f, path) || !isAt(second, path) {
		t.Error("the lock is that of the removed file")
	}
}

// Several take the lock and remove it with the folder, as a launcher at its end: at no time
// do two have it.
func TestLockIsExclusiveWhileItIsRemoved(t *testing.T) {
	dir := t.TempDir()
	var holders, taken atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 300 {
				f, err := Lock(dir)
				if errors.Is(err, ErrHeld) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 || !isAt(f, f.Name()) {
					t.Errorf("%d have the lock, its file is there: %v", n, isAt(f, f.Name()))
				}
				taken.Add(1)
				holders.Add(-1)
				_ = os.Remove(f.Name()) // the next may have it from here on
				_ = os.Remove(journal.Folder(dir))
				f.Close()
			}
		})
	}
	group.Wait()
	if taken.Load() == 0 {
		t.Error("nobody had the lock")
	}
}

// A journal is in use while its writer lives, and while a child that has the mapping does.
func TestInUse(t *testing.T) {
	make := func() string {
		path, err := journal.Create(t.TempDir(), journal.RankName("attempt-0", 0), journal.Header{Slots: 4})
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := make()
	if InUse(path) {
		t.Error("in use before anybody writes")
	}
	p := start(t, "write", path)
	if !InUse(path) {
		t.Error("not in use while its writer lives")
	}
	p.kill()
	if InUse(path) {
		t.Error("in use after its writer's end")
	}

	path = make()
	p = start(t, "fork", path)
	child, err := p.stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(child))
	if err != nil {
		t.Fatal(err)
	}
	ended, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ended)
	p.kill()
	if !InUse(path) {
		t.Error("not in use while a child of the writer lives")
	}
	p.stdin.Close() // ends the child
	for n := 0; n == 0; {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(ended), Events: unix.POLLIN}}, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			t.Fatal(err)
		}
		n = max(n, 0)
	}
	if InUse(path) {
		t.Error("in use after the child's end")
	}
	if InUse(path + ".missing") {
		t.Error("what is not there is in use")
	}
}
