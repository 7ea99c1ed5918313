package runview

import (
	"container/heap"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// output is what the ranks of one attempt have written.
type output struct {
	dir     string
	streams map[source]*timed
}

func newOutput(dir, attempt string) *output {
	return &output{dir: filepath.Join(dir, attempt), streams: map[source]*timed{}}
}

// pass writes what has come since the last pass, in the order of time. After a final
// one nothing is left.
func (o *output) pass(p *printer, final bool) error {
	found, err := sources(o.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody needed the room
	}
	if err != nil {
		return err
	}
	now := p.Now()
	var ready queue
	for s, paths := range found {
		if p.Pick != nil && !p.Pick(s.rank) {
			continue
		}
		if o.streams[s] == nil {
			o.streams[s] = newTimed(o.dir, s, paths)
		}
		if err := ready.add(o.streams[s], final, now); err != nil {
			return err
		}
	}
	for len(ready) > 0 {
		t := heap.Pop(&ready).(*timed)
		p.line(t.source, t.head)
		if err := ready.add(t, final, now); err != nil {
			return err
		}
	}
	for _, t := range o.streams {
		if !final {
			t.showBar(p, now)
		}
	}
	return nil
}

// showBar shows the state of a progress bar that goes on, now and then.
func (t *timed) showBar(p *printer, now time.Time) {
	if now.Sub(t.barAt) < barStep {
		return
	}
	if state, ok := t.lines.bar(); ok && string(state) != t.barText {
		t.barAt, t.barText = now, string(state)
		p.line(t.source, piece{text: state})
	}
}

func (o *output) close() {
	for _, t := range o.streams {
		t.close()
	}
}

// queue holds the streams that have a next line, the earliest first.
type queue []*timed

// add puts a stream in if there is a next line of it.
func (q *queue) add(t *timed, final bool, now time.Time) error {
	ok, err := t.advance(final, now)
	if ok {
		heap.Push(q, t)
	}
	return err
}

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	if order := q[i].at.Compare(q[j].at); order != 0 {
		return order < 0
	}
	return q[i].compare(q[j].source) < 0
}

// Push and Pop are for container/heap.
func (q *queue) Push(x any) { *q = append(*q, x.(*timed)) }

func (q *queue) Pop() any {
	old := *q
	t := old[len(old)-1]
	*q = old[:len(old)-1]
	return t
}
