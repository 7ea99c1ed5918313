package launcher

import (
	"time"

	"lenslaunch/internal/guard"
	"lenslaunch/internal/proc"
)

// guardTries bounds how many guards a run starts: something that kills every guard
// would make the launcher do nothing else.
const guardTries = 20

// startGuard starts a guard and tells it what there is. A run without a guard goes on:
// it only leaves more behind if the launcher is killed.
func (e *effects) startGuard() {
	if !e.plan.Guard {
		return
	}
	e.guards++
	client, err := guard.Start(e.spawner)
	if err != nil {
		e.background(func() { e.answer(inGuardGone{at: time.Now(), cause: err.Error(), last: true}) })
		return
	}
	if r := e.plan.Traced.Recovery; len(r.Args) > 0 {
		_ = client.Last(guard.Command{Args: r.Args, Env: r.Env}) // one that does not take it is replaced
	}
	e.guard, e.guardGone = client, make(chan struct{})
	gone, last := e.guardGone, e.guards >= guardTries
	go e.caught(func() {
		exit, err := client.Child.Wait()
		client.Child.Reap()
		close(gone)
		cause := exit.String()
		if err != nil {
			cause = err.Error()
		}
		e.answer(inGuardGone{at: time.Now(), cause: cause, last: last})
	})
	e.tellGuard(e.current)
}

// tellGuard tells a guard of the attempt so far. A guard that does not take it is
// replaced when its end is seen.
func (e *effects) tellGuard(run *running) {
	// An attempt that is still being prepared has no process; its turn comes.
	if e.guard == nil || run == nil || !run.ready || run.trees == nil {
		return
	}
	a := run.trees.guarded([]proc.ID{e.guard.Child.ID})
	if run.private != "" {
		a.Remove = append(a.Remove, run.private)
	}
	if run.book != nil {
		a.Ledger = &guard.Entry{Dir: e.plan.LedgerDir, File: e.plan.LedgerName, UUID: run.attempt.UUID}
	}
	_ = e.guard.Attempt(a)
	for _, c := range run.children {
		if c != nil {
			_ = e.guard.Leader(c.ID)
		}
	}
	if run.trees.reaped != 0 {
		_ = e.guard.Reaped(run.trees.reaped)
	}
}

// exclude lists the processes below us that are not the attempt's.
func (e *effects) exclude() []proc.ID {
	if e.guard == nil {
		return nil
	}
	return []proc.ID{e.guard.Child.ID}
}

// dismissGuard ends the guard with the run. It has nothing to do any more, so a moment
// is enough; one that hangs is left to see the pipe end.
func (e *effects) dismissGuard() {
	if e.guard == nil {
		return
	}
	e.guard.Bye()
	select {
	case <-e.guardGone:
	case <-time.After(time.Second):
	}
	e.guard = nil
}
