package tree

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"lenslaunch/internal/proc"
)

// Sweep ends every process of the attempt by SIGKILL and returns when none is left,
// or when ctx is over: give it a deadline, since a process may be uninterruptible and
// a fork bomb may be faster. One look and one SIGKILL for all are done in any case.
//
// Processes are stopped before they are killed: the launcher's own children send
// SIGCHLD for being stopped, too. reap (nil: none) collects zombies of orphans that
// this process has adopted, as proc.Spawner.ReapOrphans does; own children are left to
// their waiters. The launcher, what is excluded, this process and its ancestors are
// never signalled.
func Sweep(ctx context.Context, f Finder, reap func()) Result {
	if reap == nil {
		reap = func() {}
	}
	s := &sweep{ctx: ctx, search: newSearch(f, whole), reap: reap, known: map[proc.ID]bool{}}
	defer s.close()
	for {
		quiet := s.freeze()
		if quiet && len(s.fresh) == 0 {
			break
		}
		s.kill()
		s.wait()
		if ctx.Err() != nil {
			break
		}
	}
	s.reap()
	return s.outcome()
}

type sweep struct {
	ctx    context.Context
	search *search
	reap   func()

	known    map[proc.ID]bool // met so far, whether held or gone
	fresh    []*proc.Handle   // stopped, to be killed
	killed   []*proc.Handle
	denied   []proc.ID // not ours to kill
	passes   int
	vanished int   // of the last pass
	unseen   error // what the last pass could not look at
	unheld   error // what was met and could not be held
}

// kill ends all that is stopped, children before their parents: the end of a parent
// may orphan the group of a stopped child, and the kernel continues such a group.
func (s *sweep) kill() {
	for _, h := range slices.Backward(s.fresh) {
		if err := h.Signal(syscall.SIGKILL); errors.Is(err, syscall.EPERM) {
			s.denied = append(s.denied, h.ID)
			h.Close()
			continue
		}
		s.killed = append(s.killed, h)
	}
	s.fresh = nil
}

// wait returns when all that was killed is gone or ctx is over. Zombies are collected
// all the while: the first process of a pid namespace ends only after them.
func (s *sweep) wait() {
	ended := make(chan struct{}, len(s.killed))
	for _, h := range s.killed {
		go func() {
			_ = h.Wait(s.ctx) // an end of ctx is told by outcome
			ended <- struct{}{}
		}()
	}
	for left := len(s.killed); left > 0; left-- {
		<-ended
		for len(ended) > 0 { // many end at once; they are reaped at once
			<-ended
			left--
		}
		s.reap()
	}
}

// outcome says what became of the processes.
func (s *sweep) outcome() Result {
	r := Result{Passes: s.passes, Err: errors.Join(s.unseen, s.unheld)}
	for _, h := range s.killed {
		if left, ok := leftNow(h.ID, false); ok {
			r.Left = append(r.Left, left)
		} else {
			r.Killed++
		}
	}
	for _, id := range s.denied {
		if left, ok := leftNow(id, true); ok {
			r.Left = append(r.Left, left)
		}
	}
	return r
}

func (s *sweep) close() {
	for _, h := range s.killed {
		h.Close()
	}
	s.search.close()
}
