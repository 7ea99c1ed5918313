package cgroup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kill sends SIGKILL to every process of the group and of all groups below it,
// including those that are being forked: none escapes by forking. It does not wait
// for them to be gone (WaitEmpty). Whatever is cloned into the group afterwards is
// not killed.
func (g *Group) Kill() error {
	err := writeAt(g.dir, "cgroup.kill", "1")
	if errors.Is(err, unix.ENOENT) {
		// A kernel before 5.14, or the group is gone: then this does nothing.
		return g.killFrozen()
	}
	if err != nil && !gone(err) {
		return fmt.Errorf("cannot kill the processes of %s: %w", g.path, err)
	}
	return nil
}

// How long killFrozen waits for the kernel before it goes on, and how often.
const (
	freezeWait = 500 * time.Millisecond // an uninterruptible process cannot be frozen
	passWait   = 50 * time.Millisecond  // for the killed to disappear
	mostPasses = 100                    // not frozen, and they fork faster than we kill
)

// killFrozen does what cgroup.kill does: frozen processes cannot fork, so a pass
// over them is complete; SIGKILL ends them while they are frozen. If freezing
// takes too long it kills all the same, until a pass finds nobody new.
func (g *Group) killFrozen() error {
	if err := writeAt(g.dir, "cgroup.freeze", "1"); err == nil {
		defer func() { _ = writeAt(g.dir, "cgroup.freeze", "0") }() // whoever is left is not ours to keep frozen
		_ = g.awaitFor(freezeWait, func(events string) bool {
			n, ok := Field(events, "frozen")
			return !ok || n == 1 || isEmpty(events)
		})
	}
	var before []int
	for range mostPasses {
		now, err := g.Pids()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(now, func(pid int) bool { return !slices.Contains(before, pid) }) {
			return nil
		}
		if _, err := g.Signal(syscall.SIGKILL); err != nil {
			return err
		}
		before = now
		_ = g.awaitFor(passWait, isEmpty)
	}
	return fmt.Errorf("cannot kill the processes of %s: still new ones after %d passes", g.path, mostPasses)
}

func (g *Group) awaitFor(d time.Duration, done func(string) bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return g.await(ctx, done)
}
