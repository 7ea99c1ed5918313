package rundir

import (
	"os"
	"sync"
	"time"
)

// saveEvery is how often changes that nobody waits for are written at most. Readers look
// about once a second; 512 ranks that start or end at once cost a few writes, not 512,
// and the processor time is theirs.
const saveEvery = 100 * time.Millisecond

// saver keeps a file equal to what it is to say, in a goroutine of its own. Changes
// that come while it writes go into the next write together.
type saver struct {
	mu      sync.Mutex
	changed *sync.Cond
	wanted  uint64      // changes so far
	urgent  uint64      // the last of them that somebody waits for
	tried   uint64      // changes that the last write had in it, whether it worked or not
	err     error       // of that write
	due     bool        // the last write is saveEvery ago
	pause   *time.Timer // makes it due; nil before the first write
	closing bool
	done    chan struct{}
}

// newSaver calls write after changes, never twice at once.
func newSaver(write func() error) *saver {
	s := &saver{due: true, done: make(chan struct{})}
	s.changed = sync.NewCond(&s.mu)
	go s.run(write)
	return s
}

func (s *saver) run(write func() error) {
	defer close(s.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for !s.ready() {
			s.changed.Wait()
		}
		// A write that failed is tried again with the next change, and at the end.
		if s.wanted == s.tried && s.err == nil {
			return
		}
		last, version := s.closing, s.wanted
		s.due = false
		s.mu.Unlock()
		err := write()
		s.mu.Lock()
		s.tried, s.err = version, err
		s.changed.Broadcast()
		if last && s.wanted == version {
			return
		}
		s.pause = time.AfterFunc(saveEvery, s.makeDue)
	}
}

// ready reports whether it is time to write, or to end.
func (s *saver) ready() bool {
	return s.closing || s.urgent > s.tried || s.due && s.wanted > s.tried
}

func (s *saver) makeDue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = true
	s.changed.Broadcast()
}

// note says that there was a change; urgent: somebody will wait for it.
func (s *saver) note(urgent bool) (version uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return 0, os.ErrClosed
	}
	s.wanted++
	if urgent {
		s.urgent = s.wanted
	}
	if s.ready() {
		s.changed.Broadcast()
	}
	return s.wanted, nil
}

// wait returns when a write with an urgent change in it was tried, and its error.
func (s *saver) wait(version uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.tried < version {
		s.changed.Wait()
	}
	return s.err
}

// close tries a last write if one is missing.
func (s *saver) close() error {
	s.mu.Lock()
	s.closing = true
	s.changed.Broadcast()
	s.mu.Unlock()
	<-s.done
	if s.pause != nil {
		s.pause.Stop()
	}
	return s.err // nobody else is left
}
