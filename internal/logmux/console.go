package logmux

import (
	"io"
	"os"
	"sync/atomic"
	"time"
)

// forever is a wait without an end.
const forever time.Duration = -1

// console is the place where sinks of one file meet. Whoever has the turn owns the
// terminal's state and is the only one who writes; the turn goes to those who wait in
// the order in which they came.
type console struct {
	policy
	turn   chan struct{} // full: somebody has it
	steady bool          // a write never waits for a reader
	screen *screen       // nil: no terminal
	text   []byte        // what was composed last for a terminal, of the turn's owner
	timer  *time.Timer   // draws bars; of the turn's owner, nil: never needed
	first  *Sink         // the one that the timer draws through, of the turn's owner

	epoch   time.Time    // makes a monotonic reading fit an integer
	writing atomic.Int64 // when the current write began, 1 + ns after epoch; 0: there is none
}

func newConsole(w io.Writer, p policy) *console {
	c := &console{policy: p, turn: make(chan struct{}, 1), steady: isRegular(w), epoch: time.Now()}
	if p.live {
		c.screen = &screen{width: func() int { return columns(w) }}
	}
	return c
}

// enter waits for the turn, at most so long, and reports whether the caller has it.
func (c *console) enter(most time.Duration) bool {
	select {
	case c.turn <- struct{}{}:
		return true
	default:
	}
	if most == 0 {
		return false
	}
	if most < 0 {
		c.turn <- struct{}{}
		return true
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case c.turn <- struct{}{}:
		return true
	case <-timer.C:
		return false
	}
}

// leave ends the turn. s is a sink through which the terminal's timer may draw.
func (c *console) leave(s *Sink) {
	if c.screen != nil {
		c.first = s
		c.arm(time.Now())
	}
	<-c.turn
}

// compose is what makes a batch appear. The caller has the turn; the text is valid
// until it ends.
func (c *console) compose(now time.Time, who any, prefix, more string, b *batch) []byte {
	if c.screen == nil {
		return b.text
	}
	c.text = c.screen.add(c.text[:0], now, who, prefix, more, b)
	return c.text
}

// arm makes the timer fire when the screen has something to do.
func (c *console) arm(now time.Time) {
	due := c.screen.due()
	switch {
	case due.IsZero():
		if c.timer != nil {
			c.timer.Stop()
		}
	case c.timer == nil:
		c.timer = time.AfterFunc(due.Sub(now), c.tick)
	default:
		c.timer.Reset(due.Sub(now))
	}
}

// tick draws the bar whose time has come. Whoever has the turn now arms the timer
// again when it ends.
func (c *console) tick() {
	if !c.enter(0) {
		return
	}
	c.text = c.screen.tick(c.text[:0], time.Now())
	c.first.put(c.text)
}

// began and wrote tell of a write.
func (c *console) began(now time.Time) { c.writing.Store(1 + int64(now.Sub(c.epoch))) }

func (c *console) wrote() { c.writing.Store(0) }

// stuck reports whether a write has lasted at least so long.
func (c *console) stuck(now time.Time, most time.Duration) bool {
	since := c.writing.Load()
	return since != 0 && now.Sub(c.epoch)-time.Duration(since-1) >= most
}

// isRegular reports whether w is a file on a disk, which takes bytes at any time.
func isRegular(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}
