package proc

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// BecomeSubreaper makes this process the new parent of every descendant whose own
// parent ends, also of a daemon: none leaves the tree below us. Call it before the
// first child is started; its zombies are then ours to collect (ReapOrphans).
func BecomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot become the parent of orphaned processes: %w", err)
	}
	return nil
}

// ReapOrphans collects the zombies that became children of this process without
// being started by s, and returns how many it found. Call it on SIGCHLD.
//
// It waits for exactly those pids, never for "any child", whose status belongs to
// the one waiter of each Child. Children that others start in this process with
// os/exec look like orphans: they have to run inside Aside, and only one Spawner of
// a process may reap orphans.
func (s *Spawner) ReapOrphans() (reaped int) {
	// On the thread that starts children, so that none is between fork and
	// registration meanwhile.
	s.Do(func() { reaped = s.family.reapOthers() })
	return reaped
}

// Strangers returns the children that this process had already when s was made, as
// in `bash -c 'server & exec lenslaunch'`. They are nothing of ours to signal; only
// their zombies are collected, for want of anybody else who could.
func (s *Spawner) Strangers() []ID { return slices.Clone(s.family.strangers) }

// Aside runs f, which may start children with os/exec and wait for them. Orphans
// that end meanwhile are collected after it.
func (s *Spawner) Aside(f func()) {
	s.family.hold(1)
	defer func() {
		s.family.hold(-1)
		s.ReapOrphans()
	}()
	f()
}

// family is what is known of this process's children.
type family struct {
	strangers []ID
	finish    *finish

	mu    sync.Mutex // orders reaping an own child against reapOthers: a pid is free in between
	own   map[int]struct{}
	aside int // how many callers of Aside are at work
}

// newFamily looks for strangers. Where /proc is missing it finds none, and a launch
// goes on as well as it can; what ends processes later says that it cannot look.
func newFamily() *family {
	// The runtime once tries pidfds on a child of its own. Let it do so now, before
	// that child could be taken for an orphan.
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release() // there is nothing to lose
	}
	f := &family{own: map[int]struct{}{}, finish: newFinish()}
	if self, err := ReadStat(os.Getpid()); err == nil {
		_ = Walk(self.ID, func(st Stat) bool {
			f.strangers = append(f.strangers, st.ID)
			return false
		})
	}
	return f
}

// add registers an own child.
func (f *family) add(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.own[pid] = struct{}{}
}

// reap runs collect, which reaps the own child pid, and forgets the pid before
// anybody can take a new process with it for the child.
func (f *family) reap(pid int, collect func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	collect()
	delete(f.own, pid)
}

func (f *family) hold(by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.aside += by
}

// reapOthers collects zombies that are no own children.
func (f *family) reapOthers() (reaped int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.aside > 0 {
		return 0
	}
	// What cannot be listed now is found at the next SIGCHLD.
	pids, _ := system.adopted()
	for _, pid := range pids {
		if _, own := f.own[pid]; own {
			continue
		}
		if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); err == nil && got == pid {
			reaped++
		}
	}
	return reaped
}
