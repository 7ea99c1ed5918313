package launcher

import (
	"math/rand/v2"
	"os"
	"time"

	"lenslaunch/internal/tree"
)

// Bounds of waiting for a console, after the last rank has gone.
const (
	drainTime = 30 * time.Second
	lastWords = time.Second // for the report, when the time for output is used up
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
	finder, until := e.finder(run), e.until
	e.background(func() {
		in := inSwept{attempt: number, random: rand.Float64()}
		if run.trees != nil {
			in.left = run.trees.end(finder, func() { e.spawner.ReapOrphans() })
		}
		in.unshown = run.drain(until)
		in.reported = run.reported(e.plan)
		in.at = time.Now()
		e.answer(in)
	})
}

// drain waits for the console and closes the ranks' files. It says what the console did
// not take.
func (run *running) drain(until time.Time) Unshown {
	left := Unshown{Streams: run.mux.Drain(time.Until(until))}
	if left.Streams > 0 {
		left.Bytes = run.mux.Unread()
	}
	run.logsMu.Lock()
	defer run.logsMu.Unlock()
	for _, log := range run.logs {
		// What cannot be written has been told when it was.
		_ = log.Close()
	}
	run.logs = nil
	return left
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
	e.teller.close(max(time.Until(e.until), lastWords))
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
