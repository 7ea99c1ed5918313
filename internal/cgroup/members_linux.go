package cgroup

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Pids lists the processes of the group and of all groups below it, in ascending
// order. Zombies are not members. It is a snapshot: they may have ended since.
func (g *Group) Pids() ([]int, error) {
	var pids []int
	if err := collect(g.dir, &pids); err != nil {
		return nil, fmt.Errorf("cannot list the processes of %s: %w", g.path, err)
	}
	slices.Sort(pids) // the kernel promises neither order nor uniqueness
	return slices.Compact(pids), nil
}

// collect adds the members of a group and of those below it.
func collect(dir *os.File, pids *[]int) error {
	text, err := readAt(dir, "cgroup.procs")
	switch {
	case err == nil:
		*pids = append(*pids, parsePids(text)...)
	case gone(err):
		return nil
	case errors.Is(err, unix.EOPNOTSUPP):
		// A threaded group that a worker made: its processes are listed by the
		// group above it.
	default:
		return err
	}
	names, err := subdirs(dir)
	if err != nil && !gone(err) {
		return err
	}
	for _, name := range names {
		sub, err := openAt(dir, name, unix.O_PATH|unix.O_DIRECTORY)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		err = collect(sub, pids)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// parsePids reads cgroup.procs. A process that our pid namespace does not show is
// listed as 0, which as an argument of kill would mean ourselves.
func parsePids(text string) []int {
	var pids []int
	for _, field := range strings.Fields(text) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Signal sends sig to every process of the group and of all groups below it, and
// tells how many took it. One that ended meanwhile is no error; of other errors
// (EPERM: it changed its user) the first is returned, after all were tried. A
// process that is born meanwhile may be missed: to end a tree use Kill.
func (g *Group) Signal(sig syscall.Signal) (sent int, err error) {
	pids, err := g.Pids()
	if err != nil {
		return 0, err
	}
	var first error
	// In pieces, so that the descriptors never come near the limit.
	for some := range slices.Chunk(pids, 128) {
		n, err := g.signal(some, sig)
		sent += n
		if first == nil {
			first = err
		}
	}
	return sent, first
}

// signal first pins each pid to a process by a pidfd and then looks whether that
// pid is a member: whatever was pinned, a process outside the group cannot pass,
// and one that ended in between cannot be hit under its old number.
func (g *Group) signal(pids []int, sig syscall.Signal) (sent int, first error) {
	pinned := make(map[int]int, len(pids))
	defer func() {
		for _, fd := range pinned {
			unix.Close(fd)
		}
	}()
	note := func(pid int, err error) {
		// EINVAL: the pid is a mere thread's by now.
		if err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EINVAL) && first == nil {
			first = fmt.Errorf("cannot signal pid %d in %s: %w", pid, g.path, err)
		}
	}
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err == nil {
			pinned[pid] = fd
		}
		note(pid, err)
	}
	members, err := g.Pids()
	if err != nil {
		return 0, err
	}
	for pid, fd := range pinned {
		if _, member := slices.BinarySearch(members, pid); !member {
			continue
		}
		err := unix.PidfdSendSignal(fd, sig, nil, 0)
		if err == nil {
			sent++
		}
		note(pid, err)
	}
	return sent, first
}
