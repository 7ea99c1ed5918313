package logmux

import (
	"strconv"
	"time"
)

const (
	// brief is how long a stream whose patience is used up still waits for a console
	// that works: others may just have their turn.
	brief = 10 * time.Millisecond
	// tellEvery is how often a console that had lines skipped is tried again, while
	// the process is silent.
	tellEvery = time.Second
	// busyAgain is when the timer tries again to get the turn.
	busyAgain = 50 * time.Millisecond
)

// deliver shows the lane's batch, or skips it. A slow console meanwhile holds the
// process that wrote it.
func (c *copier) deliver() {
	c.Pulse.hold()
	defer c.Pulse.release()
	con := c.To.c
	if c.holds() == 0 {
		con.enter(forever)
		c.tellSkipped()
		c.To.put(c.compose())
		return
	}
	began := time.Now()
	wait := time.Duration(0)
	if !con.stuck(began, c.Holds) {
		wait = max(c.patience.left(began), brief)
	}
	if con.enter(wait) {
		c.tellSkipped()
		c.putWithin(wait - time.Since(began))
	} else {
		c.skipped += c.lane.skipped()
		c.askAgain = time.Now().Add(tellEvery)
	}
	end := time.Now()
	c.patience.spent(end, end.Sub(began))
}

func (c *copier) compose() []byte {
	return c.To.c.compose(time.Now(), &c.lane, c.lane.prefix, c.lane.more, &c.lane.batch)
}

// putWithin writes the batch, but waits for the console at most so long: then the
// text is the console's, which shows it when it goes on.
func (c *copier) putWithin(most time.Duration) {
	text := c.compose()
	done := make(chan struct{})
	go func() {
		c.To.put(text)
		close(done)
	}()
	timer := time.NewTimer(max(most, brief))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		c.lane.text = nil
	}
}

// tellSkipped puts the number of skipped lines before the batch.
func (c *copier) tellSkipped() {
	if c.skipped == 0 {
		return
	}
	lines := grouped(c.skipped) + " lines are in "
	if c.skipped == 1 {
		lines = "1 line is in "
	}
	c.lane.text = append([]byte(c.lane.prefix+lines+c.Where+"\n"), c.lane.text...)
	c.skipped = 0
}

// grouped writes a number as people read it: 12,400.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// rest is called when the stream goes back to its pipe: silence begins now.
func (c *copier) rest() {
	now := time.Now()
	c.lane.since = now
	c.arm(now)
}

// due is when tick has something to do, zero: not before the process writes again.
func (c *copier) due() time.Time {
	due := c.lane.due()
	if c.skipped > 0 && (due.IsZero() || c.askAgain.Before(due)) {
		return c.askAgain
	}
	return due
}

func (c *copier) arm(now time.Time) {
	due := c.due()
	switch {
	case due.IsZero():
	case c.timer == nil:
		c.timer = time.AfterFunc(due.Sub(now), c.tick)
	default:
		c.timer.Reset(due.Sub(now))
	}
}

// tick shows what silence makes worth showing.
func (c *copier) tick() {
	// The stream is at work: it arms the timer when it has done.
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	con, now := c.To.c, time.Now()
	if c.over || c.To.Gone() != nil {
		return
	}
	// Was it silent, or did nobody listen? What is unread may be the line's end.
	if c.unread() {
		c.lane.since = now
	}
	if due := c.due(); due.IsZero() || now.Before(due) {
		c.arm(now)
		return
	}
	if !con.enter(0) {
		again := busyAgain
		if con.stuck(now, tellEvery) {
			again = tellEvery
		}
		c.timer.Reset(again)
		return
	}
	c.lane.quiet(now)
	c.tellSkipped()
	text := c.compose()
	c.lane.batch = batch{}
	if c.holds() > 0 {
		go c.To.put(text)
	} else {
		c.Pulse.hold()
		c.To.put(text)
		c.Pulse.release()
	}
	c.arm(now)
}
