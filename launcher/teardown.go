package launcher

import (
	"math/rand/v2"
	"os"
	"time"

	"lenslaunch/internal/tree"
)

// drainTime bounds how long output is awaited after the last rank has gone.
const drainTime = 30 * time.Second

// sweep ends what the attempt left behind, then drains its output.
func (e *effects) sweep(number int) {
	run := e.current
	for local := range run.children {
		e.kill(local)
	}
	run.finish()
	run.unobserve()
	finder := e.finder(run)
	e.background(func() {
		in := inSwept{attempt: number, random: rand.Float64()}
		if run.trees != nil {
			in.left = run.trees.end(finder, func() { e.spawner.ReapOrphans() })
		}
		run.mux.Drain(drainTime)
		in.reported = run.reported(e.plan)
		in.at = time.Now()
		e.answer(in)
	})
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

// close ends what is still held. Every goroutine has ended when it returns.
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
	if e.current.attempt.ErrorDir != "" {
		// What cannot be removed lies in the temp directory, named and private.
		_ = os.RemoveAll(e.current.attempt.ErrorDir)
	}
	e.current = nil
}
