package cgroup

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Parent is our own group, below which groups can be made.
type Parent struct {
	dir string
}

// Path is the directory of our own group.
func (p *Parent) Path() string { return p.dir }

// Find finds our own version 2 group and proves that it serves: it makes a group
// there, clones a process into it and removes it. The error says in one line why
// it does not (none mounted, read-only, not ours to write, threaded, kernel too
// old); the launcher then does without. Call it before children are waited for by
// listing: for a moment there is one more.
func Find() (*Parent, error) {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("cannot use a control group: %w", err)
	}
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("cannot use a control group: %w", err)
	}
	places, err := Places(string(mountinfo), string(membership), "")
	if err != nil {
		return nil, fmt.Errorf("cannot use a control group: %w", err)
	}
	var first error
	for _, place := range places {
		err := prove(place)
		if err == nil {
			return &Parent{dir: place.Dir}, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, fmt.Errorf("cannot use a control group: %w", first)
}

// prove tries everything that an attempt will need.
func prove(place Place) error {
	if place.ReadOnly {
		return fmt.Errorf("%s is mounted read-only", place.Top)
	}
	if err := checkVersion2(place.Dir); err != nil {
		return err
	}
	start, err := ownStart()
	if err != nil {
		return err
	}
	// A name that Stale knows, should we be killed right here; the random number
	// keeps two calls at once apart.
	p := &Parent{dir: place.Dir}
	g, err := p.Create(GroupName(os.Getpid(), start, int(rand.Int32())))
	if err != nil {
		return err
	}
	defer g.Close()
	err = g.Probe()
	if errRemove := g.Remove(); err == nil {
		err = errRemove
	}
	return err
}

// checkVersion2 makes sure that a directory really is a version 2 group: another
// file system may be mounted over it.
func checkVersion2(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("cannot look at %s: %w", dir, err)
	}
	if st.Type != unix.CGROUP2_SUPER_MAGIC {
		return fmt.Errorf("%s is not a version 2 group: something else is mounted there", dir)
	}
	return nil
}

// ownStart is this process's start time, field 22 of its stat. The name in
// parentheses may hold blanks, so fields are counted from the last parenthesis.
func ownStart() (uint64, error) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return 0, errors.New("cannot read our start time: too few fields in /proc/self/stat")
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

// Create makes a group below our own. The name begins with Prefix; one that
// exists already is an error (os.ErrExist).
func (p *Parent) Create(name string) (*Group, error) {
	if !strings.HasPrefix(name, Prefix) || strings.Contains(name, "/") {
		return nil, fmt.Errorf("cannot make the group %q: its name must begin with %s and hold no slash", name, Prefix)
	}
	dir := filepath.Join(p.dir, name)
	if err := unix.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the group %s: %w", dir, err)
	}
	g, err := Open(dir)
	if err == nil {
		if err = g.hold(); err == nil {
			return g, nil
		}
		g.Close()
	}
	_ = unix.Rmdir(dir) // the first error is the one that matters
	return nil, err
}

// Probe proves that a process can be cloned into the group, which the right to
// make groups does not imply: our own group may be threaded (EOPNOTSUPP), its
// cgroup.procs not ours to write (EACCES), clone3 forbidden or too old. A child is
// born into the group and executes a file that cannot exist; that very error of
// its exec, which no clone returns, says that it was born.
func (g *Group) Probe() error {
	attr := &syscall.ProcAttr{Sys: &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}}
	_, err := syscall.ForkExec("/proc/self/exe/none", []string{"none"}, attr)
	why := ""
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return nil
	case errors.Is(err, syscall.EOPNOTSUPP):
		why = " (our own group is threaded)"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOENT):
		why = " (the subtree is not delegated to us)"
	case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.E2BIG):
		why = " (it needs Linux 5.7 and a seccomp filter that allows clone3)"
	}
	return fmt.Errorf("cannot start a process in the group %s: %w%s", g.path, err, why)
}
