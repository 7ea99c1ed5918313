package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"lenslaunch/internal/proc"
)

// freezer is a group of the first version's freezer: a frozen process does not take
// even SIGKILL. (In the second version it does.)
type freezer struct {
	t   *testing.T
	dir string
}

// newFreezer makes a group, or skips the test where that cannot be done.
func newFreezer(t *testing.T) *freezer {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 10 || !strings.Contains(","+fields[len(fields)-1]+",", ",freezer,") {
			continue
		}
		dir := filepath.Join(fields[4], fmt.Sprintf("lenslaunch-test-%d-%d", os.Getpid(), now(t)))
		err := os.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, os.ErrNotExist) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		f := &freezer{t: t, dir: dir}
		t.Cleanup(f.remove)
		return f
	}
	t.Skip("no freezer of control groups version 1")
	return nil
}

func (f *freezer) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *freezer) freeze(id proc.ID) {
	f.t.Helper()
	f.write("cgroup.procs", strconv.Itoa(id.Pid))
	f.write("freezer.state", "FROZEN")
	for state := ""; state != "FROZEN"; runtime.Gosched() { // the kernel tells no other way
		text, err := os.ReadFile(filepath.Join(f.dir, "freezer.state"))
		if err != nil {
			f.t.Fatal(err)
		}
		state = strings.TrimSpace(string(text))
	}
}

func (f *freezer) thaw() {
	f.t.Helper()
	f.write("freezer.state", "THAWED")
}

// remove runs after the stage is cleared, or before: then its process is thawed first.
func (f *freezer) remove() {
	_ = os.WriteFile(filepath.Join(f.dir, "freezer.state"), []byte("THAWED"), 0o600)
	for err := os.Remove(f.dir); errors.Is(err, fs.ErrExist) || isBusy(err); err = os.Remove(f.dir) {
		runtime.Gosched()
	}
}

func isBusy(err error) bool { return err != nil && strings.Contains(err.Error(), "busy") }

// now is the time on the clock of processes' start times.
func now(t *testing.T) uint64 {
	t.Helper()
	ticks, err := proc.Now()
	if err != nil {
		t.Fatal(err)
	}
	return ticks
}
