package rundir

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"
)

// fallback is how often a directory is looked at that may change without telling:
// inotify does not see what another machine writes.
const fallback = time.Second

// source is one events.jsonl of a run.
type source struct {
	lineReader
	waiting []Event   // read but not yet given out
	latest  time.Time // of those given out
	dry     bool      // in this pass there is nothing more
}

// sources are those of a run. They are found anew: nodes come later.
type sources struct {
	dir      string
	list     []*source
	problems []error // of this pass
}

// find adds the sources that are new, and tells about their directories.
func (s *sources) find(added func(dir string)) error {
	list, err := parts(s.dir)
	if err != nil {
		return fmt.Errorf("cannot read events: %w", err)
	}
	known := map[string]bool{}
	for _, src := range s.list {
		known[src.path] = true
	}
	for _, p := range list {
		dir := p.path
		p.path = filepath.Join(dir, eventsName)
		if !known[p.path] {
			added(dir)
			s.list = append(s.list, &source{lineReader: lineReader{part: p}})
		}
	}
	return nil
}

// fill reads on where nothing waits, up to the end of the file as it is in this pass.
func (src *source) fill() error {
	for !src.dry && len(src.waiting) == 0 {
		events, more, err := src.read()
		src.waiting, src.dry = events, !more
		if err != nil {
			return fmt.Errorf("cannot read events: %w", err)
		}
	}
	return nil
}

// next takes the earliest event of all. Those of one file stay in their order, also
// where its clock was set back.
func (s *sources) next() (ev Event, ok bool) {
	var first *source
	for _, src := range s.list {
		if err := src.fill(); err != nil {
			s.problems = append(s.problems, err)
		}
		if len(src.waiting) > 0 && (first == nil || src.due().Before(first.due())) {
			first = src
		}
	}
	if first == nil {
		return Event{}, false
	}
	first.latest = first.due()
	ev, first.waiting = first.waiting[0], first.waiting[1:]
	return ev, true
}

// due is when the next event counts as having happened.
func (src *source) due() time.Time { return later(src.waiting[0].Time, src.latest) }

// Events yields the events of all nodes, in order of time as far as their clocks agree.
// Lines that are no events, as a crash leaves them, are passed over. An error comes last.
// Texts are as they were written: make them printable before showing them.
func Events(dir string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &sources{dir: dir}
		err := s.find(func(string) {})
		if err == nil {
			_, err = s.drain(yield)
		}
		if err != nil { // then the reader had not had enough
			yield(Event{}, err)
		}
	}
}

// drain gives out what there is; false: the reader wants no more.
func (s *sources) drain(yield func(Event, error) bool) (goOn bool, err error) {
	s.problems = nil
	for _, src := range s.list {
		src.dry = false
	}
	for {
		ev, ok := s.next()
		if !ok {
			return true, errors.Join(s.problems...)
		}
		if !yield(ev, nil) {
			return false, nil
		}
	}
}

// Follow yields what [Events] does and then every event that comes, until ctx is done.
// Live events are in order within a node. An error ends it.
func Follow(ctx context.Context, dir string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		w := NewWatcher(fallback)
		defer w.Close()
		w.Add(dir)
		follow(ctx, dir, w, yield)
	}
}

func follow(ctx context.Context, dir string, w *Watcher, yield func(Event, error) bool) {
	s := &sources{dir: dir}
	for {
		err := s.find(w.Add)
		goOn := true
		if err == nil {
			goOn, err = s.drain(yield)
		}
		if err != nil {
			yield(Event{}, err)
			return
		}
		if !goOn {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-w.C:
		}
	}
}
