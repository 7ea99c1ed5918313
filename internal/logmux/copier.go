package logmux

import (
	"errors"
	"io"
	"sync"
	"time"
)

// copier is one stream at work. One goroutine at a time calls take and, at last,
// finish; between them the timer may call tick.
type copier struct {
	Stream
	room     *room
	patience *patience   // shared by the streams that are read by the same readers
	unread   func() bool // whether the process has written what take was not called for

	mu       sync.Mutex // for what follows, and for changes of File
	lane     lane
	skipped  int       // lines that the console has not got and was not told of
	askAgain time.Time // when to try to tell, while there are such lines
	timer    *time.Timer
	over     bool
}

func (s Stream) copier(p *patience, r *room) *copier {
	c := &copier{Stream: s, room: r, patience: p, unread: func() bool { return false }}
	if s.To != nil {
		c.lane.policy = s.To.c.policy
		c.label(s.Prefix, s.Continuation)
	}
	return c
}

// label sets the prefixes, in colour where there is one.
func (c *copier) label(prefix, more string) {
	if c.To.color {
		prefix, more = Painted(prefix, c.Color), Painted(more, c.Color)
	}
	c.lane.prefix, c.lane.more = prefix, more
}

// copy reads r in the caller's goroutine.
func (c *copier) copy(r io.Reader) error {
	b := spare.Get().(*buffers)
	defer spare.Put(b)
	for {
		n, err := r.Read(b.in)
		if n > 0 {
			c.take(b, b.in[:n])
		}
		if err != nil {
			done := make(chan struct{})
			c.finish(func() { close(done) })
			<-done
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// take handles what was read.
func (c *copier) take(b *buffers, chunk []byte) {
	c.Pulse.beat()
	if c.Tail != nil {
		c.Tail.add(chunk)
	}
	c.keep(chunk)
	if c.To != nil && c.To.Gone() == nil {
		c.show(b, chunk)
	}
}

// keep writes to the file. One that fails is given up: what is said of it would be
// wrong, and the job must go on.
func (c *copier) keep(chunk []byte) {
	if c.File == nil {
		return
	}
	if _, err := c.File.Write(chunk); err != nil {
		c.mu.Lock()
		c.File = nil
		c.mu.Unlock()
		if c.FileLost != nil {
			c.FileLost(err)
		}
	}
}

// show brings a read to the console, batch by batch.
func (c *copier) show(b *buffers, chunk []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.Stamp != nil {
		prefix := c.Stamp(now)
		c.label(prefix, Continued(prefix))
	}
	l := &c.lane
	for l.text = b.out[:0]; len(chunk) > 0; l.clear() {
		if c.Raw {
			chunk = l.raw(chunk)
		} else {
			chunk = l.take(now, chunk)
		}
		if !l.empty() {
			c.deliver()
		}
	}
	b.out, l.text = l.text, nil
	c.rest()
}

// finish shows what stands behind the last line end, and how much was skipped, and then
// calls done. It holds no process, so it waits for the console for as long as that takes;
// not in the reader's goroutine where others must not wait with it.
func (c *copier) finish(done func()) {
	if c.To == nil || c.To.Gone() != nil {
		done()
		return
	}
	c.mu.Lock()
	c.over = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.lane.end()
	patient, nothing := c.holds() == 0, c.lane.empty() && c.skipped == 0
	c.mu.Unlock()
	switch {
	case !patient:
		// Also if there is nothing: a write may be on its way.
		go c.last(done)
	case nothing:
		done()
	default:
		c.last(done)
	}
}

// last has the stream's last turn.
func (c *copier) last(done func()) {
	c.To.c.enter(forever)
	c.mu.Lock()
	c.tellSkipped()
	text := c.compose()
	c.mu.Unlock()
	c.To.put(text)
	done()
}
