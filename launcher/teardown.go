package launcher

import (
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"lenslaunch/internal/tree"
)

// Bounds of waiting for a console, after the last rank has gone.
const (
	drainTime = 30 * time.Second
	cutTime   = 500 * time.Millisecond // for what is still in pipes, when that is used up
	lastWords = time.Second            // then for the report
)

// drained is when output has been awaited long enough: at a normal end after
// drainTime, and where the run was told to end, with the time that it has to stop.
// Whoever told it kills it soon after.
func (e *effects) drained(now time.Time) time.Time {
	if e.stopped.IsZero() {
		return now.Add(drainTime)
	}
	return e.stopped.Add(e.plan.Stop.Kill)
}

// sweep ends what the attempt left behind, then drains its output.
func (e *effects) sweep(number int) {
	run := e.current
	for local := range run.children {
		e.kill(local)
	}
	run.finish()
	run.unobserve()
	e.until = e.drained(time.Now())
	run.sooner = make(chan time.Time, 1)
	finder, until := e.finder(run), e.until
	e.background(func() {
		in := inSwept{attempt: number, random: rand.Float64()}
		if run.trees != nil {
			in.left = run.trees.end(finder, func() { e.spawner.ReapOrphans() })
		}
		run.open = e.openInTime(run)
		in.unshown = e.drain(run, until)
		in.reported, _ = patiently(diskTime, func() map[int]time.Time { return run.reported(e.plan) })
		in.at = time.Now()
		e.answer(in)
	})
}

// hasten: the run is told to end, for the first time or again. If it is only waiting for
// its output, it now has as long as it would have to stop.
func (e *effects) hasten(at time.Time) {
	if !e.stopped.IsZero() {
		return
	}
	e.stopped = at
	until := e.drained(at)
	if !until.Before(e.until) {
		return
	}
	e.until = until
	if e.current != nil && e.current.sooner != nil {
		e.current.sooner <- until // has room: this is the only one
	}
}

// drain waits for the output that is still in pipes, until the time for it is over. A
// console that nobody reads may hold it for ever. It says what that has not taken.
func (e *effects) drain(run *running, until time.Time) Unshown {
	ended := make(chan int, 2)
	drain := func() {
		most := time.Until(until)
		// Not counted in running: it may be stuck.
		go e.caught(func() {
			ended <- run.mux.Drain(most)
		})
	}
	drain()
	over := time.NewTimer(time.Until(until) + cutTime)
	defer over.Stop()
	for {
		select {
		case until = <-run.sooner:
			drain()
			over.Reset(time.Until(until) + cutTime)
		case streams := <-ended:
			return run.drained(streams)
		case <-over.C:
			return run.drained(1) // one at least: it is stuck
		}
	}
}

// drained closes the ranks' files, and says what so many streams have left.
func (run *running) drained(streams int) Unshown {
	left := Unshown{Streams: streams}
	if streams > 0 {
		left.Bytes = run.mux.Unread()
	}
	// A write that the disk does not end holds its file.
	patiently(diskTime, run.closeLogs)
	return left
}

// closeLogs closes the ranks' files, and says nothing: what could not be written was told
// when it was.
func (run *running) closeLogs() struct{} {
	run.logsMu.Lock()
	defer run.logsMu.Unlock()
	for _, log := range run.logs {
		_ = log.Close()
	}
	run.logs = nil
	return struct{}{}
}

// finder describes the attempt's processes.
func (e *effects) finder(run *running) tree.Finder {
	if run.trees == nil {
		return tree.Finder{}
	}
	return run.trees.finder(run.children, e.exclude())
}

// reported is when ranks wrote their error files, by local rank.
func (run *running) reported(p *Plan) map[int]time.Time {
	if run.attempt.ErrorDir == "" {
		return nil
	}
	at := map[int]time.Time{}
	for local := range run.children {
		if info, err := os.Stat(errorFile(run.attempt.ErrorDir, p.World.Rank(local))); err == nil {
			at[local] = info.ModTime()
		}
	}
	return at
}

// close ends what is still held. Every goroutine has ended when it returns, but those
// that are stuck in a console.
func (e *effects) close() {
	close(e.done)
	e.cancel()
	for _, t := range e.timers {
		t.Stop()
	}
	e.front.take()
	e.release()
	e.running.Wait()
	e.dismissGuard()
	e.spawner.Close()
	e.lastEvents()
}

// lastEvents waits until every event is told, no longer than for output: a subscriber may
// be stuck in a console, and stays so until the process ends. A signal hurries it up.
func (e *effects) lastEvents() {
	told := e.teller.close()
	over := time.NewTimer(max(time.Until(e.until), lastWords))
	defer over.Stop()
	for {
		select {
		case <-told:
			return
		case <-over.C:
			return
		case sig := <-e.signals:
			if e.stopped.IsZero() && endsRun(sig.Number) && !slices.Contains(e.plan.Forward, sig.Number) {
				e.hasten(time.Now())
				over.Reset(max(time.Until(e.until), lastWords))
			}
		}
	}
}

// release gives back what the attempt holds.
func (e *effects) release() {
	if e.current == nil {
		return
	}
	if e.guard != nil {
		_ = e.guard.Over()
	}
	e.current.finish()
	e.current.unobserve()
	if e.current.port != nil {
		e.current.port.Close()
	}
	if e.current.private != "" {
		// What cannot be removed lies in the temp directory, named and private.
		_ = os.RemoveAll(e.current.private)
	}
	e.current = nil
}
