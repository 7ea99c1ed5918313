package launcher

import (
	"context"
	"syscall"
	"time"

	"lenslaunch/internal/tree"
)

// signalRest sends a stop signal to what is left of a rank's tree after its leader
// has died of it, and answers with inRestGone once nothing is left.
func (e *effects) signalRest(local int, sig syscall.Signal) {
	run := e.current
	if run.trees == nil {
		e.restGone(run, local)
		return
	}
	group := run.trees.ranks[local]
	if group == nil {
		e.signalRestByMark(run, local, sig)
		return
	}
	// A rank that left nothing behind is the common case.
	if empty, err := group.Empty(); err != nil || empty {
		e.restGone(run, local)
		return
	}
	_, _ = group.Signal(sig)
	if run.resting[local] {
		return // it is waited for already
	}
	run.resting[local] = true
	e.background(func() {
		ctx, cancel := context.WithCancel(e.ctx)
		defer cancel()
		stop := context.AfterFunc(run.over, cancel)
		defer stop()
		if group.WaitEmpty(ctx) == nil {
			e.answer(inRestGone{at: time.Now(), attempt: run.number, local: local})
		}
	})
}

// signalRestByMark does the same without a control group: processes below us that end
// raise SIGCHLD, and then checkRests looks again.
func (e *effects) signalRestByMark(run *running, local int, sig syscall.Signal) {
	run.resting[local] = true
	if tree.Signal(e.finder(run), local, sig) == 0 {
		e.restGone(run, local)
	}
}

// checkRests looks for trees that are waited for and have ended meanwhile.
func (e *effects) checkRests() {
	run := e.current
	// Nothing rests while an attempt is being prepared: its trees are not ours to read.
	if run == nil || len(run.resting) == 0 {
		return
	}
	for local := range run.resting {
		if run.trees.ranks[local] == nil && len(e.finder(run).FindRank(local)) == 0 {
			e.restGone(run, local)
		}
	}
}

func (e *effects) restGone(run *running, local int) {
	delete(run.resting, local)
	e.background(func() { e.answer(inRestGone{at: time.Now(), attempt: run.number, local: local}) })
}
