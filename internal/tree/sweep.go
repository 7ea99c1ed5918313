package tree

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

// The bounds of freezing. What still forks then is killed while it does; what it
// leaves is found by the next round.
const (
	freezePasses = 200
	freezeTime   = time.Second
	// Without a launcher, what vanishes while it is looked at may have been ours and
	// have left a child. On a busy machine something vanishes always: not for long.
	doubtTime = 200 * time.Millisecond
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
	s := &sweep{ctx: ctx, search: newSearch(f, whole), reap: reap, known: map[proc.ID]bool{}, spare: spareFiles()}
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
	spare  []*os.File

	known    map[proc.ID]bool // met so far, whether held or gone
	fresh    []*proc.Handle   // stopped, to be killed
	killed   []*proc.Handle
	denied   []proc.ID // not ours to kill
	passes   int
	vanished int   // of the last pass
	unseen   error // what the last pass could not look at
	unheld   error // what was met and could not be held
}

// freeze stops what it finds until a deep pass finds nothing new, which it reports,
// or until passes or time are used up.
func (s *sweep) freeze() (quiet bool) {
	began := time.Now()
	for range freezePasses {
		quiet := s.pass(false) == 0 && s.pass(true) == 0
		if quiet && (s.search.rooted || s.vanished == 0 || time.Since(began) > doubtTime) {
			return true
		}
		if s.ctx.Err() != nil || time.Since(began) > freezeTime {
			break
		}
	}
	s.pass(true)
	return false
}

// pass looks once and returns how many processes were new.
func (s *sweep) pass(deep bool) (found int) {
	s.passes++
	s.vanished, s.unseen = s.search.pass(deep, func(st proc.Stat) {
		if !s.known[st.ID] {
			s.known[st.ID] = true
			found++ // also if it has gone by now: it may have forked
			s.stop(st.ID)
		}
	})
	s.reap()
	return found
}

// stop keeps a process from forking and takes hold of it.
func (s *sweep) stop(id proc.ID) {
	h, err := s.hold(id)
	if err != nil {
		if !proc.Gone(err) {
			s.unheld = errors.Join(s.unheld, err)
		}
		return
	}
	// One that may not be stopped may not be killed either: kill will tell.
	_ = h.Signal(syscall.SIGSTOP)
	s.fresh = append(s.fresh, h)
}

// hold does without a descriptor where there is none left.
func (s *sweep) hold(id proc.ID) (*proc.Handle, error) {
	h, err := proc.Hold(id)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		closeAll(s.spare)
		s.spare = nil
		return proc.Refer(id)
	}
	return h, err
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
	closeAll(s.spare)
	s.search.close()
}

// spareFiles keeps a few descriptors, for reading /proc when processes to be held
// have used up all others.
func spareFiles() []*os.File {
	const spare = 4
	var files []*os.File
	for range spare {
		if f, err := os.Open(os.DevNull); err == nil {
			files = append(files, f)
		}
	}
	return files
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
