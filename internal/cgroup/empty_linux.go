package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Empty reports whether no process lives in the group or below it. Zombies do not
// count.
func (g *Group) Empty() (bool, error) {
	text, err := readAt(g.dir, "cgroup.events")
	if gone(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot ask whether %s is empty: %w", g.path, err)
	}
	return isEmpty(text), nil
}

func isEmpty(events string) bool {
	n, ok := Field(events, "populated")
	return ok && n == 0
}

// WaitEmpty returns nil once the group is empty, or the context's error. It goes
// by the kernel's notification and holds no thread. (The kernel delays the second
// of two notifications within 10 ms.)
func (g *Group) WaitEmpty(ctx context.Context) error {
	err := g.await(ctx, isEmpty)
	if err != nil {
		return fmt.Errorf("cannot wait for %s to be empty: %w", g.path, err)
	}
	return nil
}

// await returns once done holds for the text of cgroup.events.
//
// The file can be read at any time, but an epoll that asks for edges, as the
// runtime poller's does, sees one at each change. (inotify would do too, but a
// user has only 128 instances of it, and many launchers share a machine.) An edge
// that comes between a look and the wait is kept by the poller, so none is lost.
func (g *Group) await(ctx context.Context, done func(events string) bool) error {
	f, err := openAt(g.dir, "cgroup.events", unix.O_RDONLY)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var failed error
	buf := make([]byte, 256)
	look := func(fd uintptr) bool {
		n, err := ignoringEINTR(func() (int, error) { return unix.Pread(int(fd), buf, 0) })
		if err != nil && !gone(err) {
			failed = err
		}
		return err != nil || done(string(buf[:n]))
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	// Once before the context counts: what holds already is never an error.
	held := false
	if err := raw.Control(func(fd uintptr) { held = look(fd) }); err != nil || held {
		return errors.Join(err, failed)
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = raw.Read(look)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return context.Cause(ctx)
	}
	return errors.Join(err, failed)
}
