package tree

import (
	"errors"
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
	// have left a child. But on a busy machine something vanishes always.
	doubtTime   = 200 * time.Millisecond
	doubtPasses = 10
)

// freeze stops what it finds until a deep pass finds nothing new, which it reports,
// or until passes or time are used up.
func (s *sweep) freeze() (quiet bool) {
	began := time.Now()
	for n := range freezePasses {
		quiet := s.pass(false) == 0 && s.pass(true) == 0
		doubt := !s.search.rooted && s.vanished > 0 && (n < doubtPasses || time.Since(began) < doubtTime)
		if quiet && !doubt {
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
	h, err := hold(id)
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

// hold does without a descriptor where there is none left. (Hold needs two at once
// and so leaves one, with which /proc can be read.)
func hold(id proc.ID) (*proc.Handle, error) {
	h, err := proc.Hold(id)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return proc.Refer(id)
	}
	return h, err
}
