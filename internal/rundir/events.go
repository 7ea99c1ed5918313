package rundir

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"
)

// source is one events.jsonl of a run.
type source struct {
	lineReader
	waiting []Event   // read but not yet given out
	latest  time.Time // of those given out
	dry     bool      // there is nothing more
}

// sources are those of a run.
type sources struct {
	list     []*source
	problems []error
}

func openSources(dir string) (*sources, error) {
	list, err := parts(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read events: %w", err)
	}
	s := &sources{}
	for _, p := range list {
		p.path = filepath.Join(p.path, eventsName)
		s.list = append(s.list, &source{lineReader: lineReader{part: p}})
	}
	return s, nil
}

// fill reads on where nothing waits.
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
		s, err := openSources(dir)
		if err != nil {
			yield(Event{}, err)
			return
		}
		for ev, ok := s.next(); ok; ev, ok = s.next() {
			if !yield(ev, nil) {
				return
			}
		}
		if err := errors.Join(s.problems...); err != nil {
			yield(Event{}, err)
		}
	}
}
