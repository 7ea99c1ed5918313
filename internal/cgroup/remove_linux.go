package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// How long Remove waits for dying processes, and how often it starts anew when
// groups appear below while it works.
const (
	removeWait  = 2 * time.Second
	removeTries = 10
)

// Remove removes the group and all groups below it. Processes that are dying are
// waited for by events, at most 2 s; the error then names who is left. A group
// that was removed already is no error. Close it separately.
func (g *Group) Remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeWait)
	defer cancel()
	for try := 1; ; try++ {
		err := g.rmdir()
		if err == nil || gone(err) {
			return nil
		}
		busy := errors.Is(err, unix.EBUSY)
		if busy && try < removeTries && g.WaitEmpty(ctx) == nil {
			continue
		}
		if pids, errPids := g.Pids(); busy && errPids == nil && len(pids) > 0 {
			return fmt.Errorf("cannot remove the group %s: still in it: pids %v", g.path, pids)
		}
		return fmt.Errorf("cannot remove the group %s: %w", g.path, err)
	}
}

// rmdir tries once. The kernel refuses to remove a group with processes or groups
// in it, so a wrong path could do no harm.
func (g *Group) rmdir() error {
	if err := removeBelow(g.dir); err != nil {
		return err
	}
	return unix.Rmdir(g.path)
}

// removeBelow removes the groups below a directory, the deepest first.
func removeBelow(dir *os.File) error {
	names, err := subdirs(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		sub, err := openAt(dir, name, unix.O_PATH|unix.O_DIRECTORY)
		if err == nil {
			err = removeBelow(sub)
			sub.Close()
		}
		if err == nil {
			err = control(dir, func(at int) error { return unix.Unlinkat(at, name, unix.AT_REMOVEDIR) })
		}
		if err != nil && !gone(err) {
			return err
		}
	}
	return nil
}
