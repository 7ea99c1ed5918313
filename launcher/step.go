package launcher

import (
	"time"
)

// step is the whole supervisor: what one input means for the run. It is pure: no
// clock, no process, no file; what must be done comes back as actions, in order.
func step(s state, in input) (state, []action) {
	st := stepper{state: s.clone()}
	switch in := in.(type) {
	case inBegin:
		st.prepare(in.at)
	case inSignal:
		st.signal(in)
	case inPrepared:
		if in.attempt == st.attempt {
			st.prepared(in)
		}
	case inStarted:
		if in.attempt == st.attempt {
			st.started(in)
		}
	case inNotStarted:
		if in.attempt == st.attempt {
			st.notStarted(in)
		}
	case inSpawned:
		if in.attempt == st.attempt {
			st.allSpawned(in)
		}
	case inExited:
		if in.attempt == st.attempt {
			st.exited(in)
		}
	case inTimer:
		if in.attempt == st.attempt {
			st.timer(in)
		}
	case inRestGone:
		if in.attempt == st.attempt {
			st.restGone(in.local)
		}
	case inHang:
		if in.attempt == st.attempt {
			st.hang(in)
		}
	case inDumped:
		if in.attempt == st.attempt && st.phase == phaseGrace {
			st.stop(in.at, st.survivors())
		}
	case inMoreTime:
		if in.attempt == st.attempt {
			st.moreTime(in)
		}
	case inStopped:
		st.frontStopped(in)
	case inSwept:
		if in.attempt == st.attempt {
			st.swept(in)
		}
	case inHeadAwaited, inStepGone, inGuardGone:
		st.outside(in)
	}
	return st.state, st.actions
}

// stepper is a state in the middle of a step, with the actions so far.
type stepper struct {
	state
	actions []action
}

func (st *stepper) do(a ...action) { st.actions = append(st.actions, a...) }
func (st *stepper) tell(e Event)   { st.do(doTell{e}) }

// prepare begins the next attempt.
func (st *stepper) prepare(at time.Time) {
	st.attempt++
	st.phase = phasePreparing
	st.ranks = make([]rank, st.rules.ranks)
	st.spawned, st.rung = false, 0
	st.begun, st.asked, st.faults, st.passed, st.echoing = time.Time{}, time.Time{}, nil, nil, false
	st.tell(AttemptPreparing{At: at, Number: st.attempt})
	st.do(doPrepare{st.attempt})
}

// prepared starts the ranks, unless the attempt cannot begin or a signal came
// meanwhile.
func (st *stepper) prepared(in inPrepared) {
	switch {
	case st.phase != phasePreparing:
	case in.err != nil && st.told == nil:
		st.finish(in.at, OutcomeFailed, in.err.Code, in.err)
	case in.err != nil:
		st.finish(in.at, OutcomeStopped, st.told.Code(), nil)
	case st.told != nil:
		// The ledger has begun the attempt, so it has to be ended too.
		st.spawned = true
		st.sweep()
	default:
		st.phase = phaseRunning
		st.do(doSpawn{st.attempt})
	}
}

// started notes a new worker; one that arrives after a stop began is asked at once.
func (st *stepper) started(in inStarted) {
	r := &st.ranks[in.local]
	r.phase, r.pid, r.started = rankRunning, in.pid, in.at
	if st.begun.IsZero() {
		st.begun = in.at
	}
	st.tell(WorkerStarted{At: in.at, Local: in.local, Rank: st.firstRank + in.local, Pid: in.pid, Start: in.start})
	st.passLate(in)
	if st.phase != phaseStopping {
		return
	}
	if !st.stopTold {
		st.stopTold = true
		st.tell(StopBegan{At: st.begin, Ladder: st.ladder, Alive: 1})
	}
	if in.at.Sub(st.begin) >= st.ladder.Kill {
		st.kill(in.at, in.local)
		return
	}
	st.ask(in.at, in.local, st.ladder.Rungs[st.rung-1].Signal)
	st.nextRung(in.at)
}

// notStarted is a failure that no restart can mend by itself: the exec or fork
// error is the cause.
func (st *stepper) notStarted(in inNotStarted) {
	st.ranks[in.local].phase = rankNever
	st.faulted(Fault{
		Local: in.local, Rank: st.firstRank + in.local, At: in.at, Cause: in.cause, Exit: startExit(in.cause),
	})
	st.react(in.at)
}

// allSpawned closes the launch: ranks that were never reached stay so.
func (st *stepper) allSpawned(in inSpawned) {
	st.spawned = true
	started := 0
	for i := range st.ranks {
		switch st.ranks[i].phase {
		case rankPending:
			st.ranks[i].phase = rankNever
		case rankRunning, rankEnded:
			started++
		}
	}
	if started == len(st.ranks) {
		st.tell(WorkersStarted{At: in.at, Count: started})
	}
	st.endIfOver()
}

// exited is the end of one worker.
func (st *stepper) exited(in inExited) {
	r := &st.ranks[in.local]
	if r.phase != rankRunning {
		return
	}
	r.phase, r.ended, r.exit, r.oom = rankEnded, in.at, in.exit, in.oom
	reason := st.reasonOf(*r)
	failed := reason != ReasonStopped && reason != ReasonHang && !in.exit.OK() && !st.interrupted(in)
	if reason == ReasonHang {
		st.settleHang(in.local, in.exit)
	}
	global := st.firstRank + in.local
	if failed {
		// Told before the end of the worker, so that whoever tells of the end knows
		// that it was a failure.
		st.faulted(Fault{Local: in.local, Rank: global, Pid: r.pid, Exit: in.exit, At: in.at, OOM: in.oom})
	}
	st.tell(WorkerEnded{
		At: in.at, Local: in.local, Rank: global, Pid: r.pid, Exit: in.exit, Reason: reason, Uptime: in.at.Sub(r.started),
	})
	switch {
	case r.asked != 0:
		st.stopped(in.at, in.local)
	case st.interrupted(in):
		// Ctrl-C went to the rank that has the terminal: the job was stopped by it.
		st.do(doReap{in.local})
		st.toldToEnd(inSignal{at: in.at, signal: in.exit.Signal})
	case failed && st.echo(in):
	default:
		st.do(doReap{in.local})
	}
	if failed {
		st.react(in.at)
	}
	st.endIfOver()
}

// faulted notes a failure; the first one decides.
func (st *stepper) faulted(f Fault) {
	first := len(st.faults) == 0
	st.faults = append(st.faults, f)
	st.tell(FaultFound{Fault: f, First: first})
}

// react stops the other ranks because of a failure, after the failure grace.
func (st *stepper) react(at time.Time) {
	if st.phase != phaseRunning {
		return
	}
	st.do(doAbortSpawn{})
	// A rank that is just being started may not have been seen yet: it has its grace, too.
	if st.echoing || st.grace > 0 && !st.over() {
		st.phase = phaseGrace
		st.do(doTimer{st.attempt, timerGrace, max(st.grace, st.echoGrace())})
		return
	}
	st.stop(at, st.survivors())
}

// endIfOver begins the sweep once no rank runs and none will start.
func (st *stepper) endIfOver() {
	if st.echoing {
		return
	}
	switch st.phase {
	case phaseRunning, phaseGrace, phaseStopping:
		if st.over() {
			st.sweep()
		}
	}
}

func (st *stepper) sweep() {
	st.phase = phaseSweeping
	st.do(doSweep{st.attempt})
}

// timer is the end of a delay.
func (st *stepper) timer(in inTimer) {
	switch {
	case in.kind == timerGrace && st.phase == phaseGrace:
		st.echoing = false
		st.stop(in.at, st.survivors())
	case in.kind == timerLadder && st.phase == phaseStopping && st.suspended.IsZero():
		st.climb(in.at)
	case in.kind == timerPatient && st.phase == phaseStopping:
		st.giveUp(in.at)
	case in.kind == timerRestart && st.phase == phaseWaiting:
		st.prepare(in.at)
	}
}

// swept ends the attempt and decides what follows.
func (st *stepper) swept(in inSwept) {
	if st.phase != phaseSweeping {
		return
	}
	faults, same := order(st.faults, func(local int) time.Time { return in.reported[local] })
	ended := AttemptEnded{At: in.at, Faults: faults, Simultaneous: same, Stopped: st.stoppedRanks(), Told: st.told, Began: st.begun, Left: in.left, Unshown: in.unshown}
	switch {
	case len(st.faults) == 0 && st.told == nil && st.saved():
		ended.Outcome = OutcomeSaved
		st.tell(ended)
		st.finish(in.at, OutcomeSaved, st.save.Code, nil)
	case len(st.faults) == 0 && st.told == nil:
		ended.Outcome = OutcomeSuccess
		st.tell(ended)
		st.finish(in.at, OutcomeSuccess, ExitOK, nil)
	case len(st.faults) == 0:
		ended.Outcome = OutcomeStopped
		st.tell(ended)
		st.finish(in.at, OutcomeStopped, st.told.Code(), nil)
	default:
		st.failedAttempt(ended, in)
	}
}

// failedAttempt applies the restart policy. A signal that came after a failure
// ends the run with its own code if a restart would have followed, because then it
// was the signal that ended the run.
func (st *stepper) failedAttempt(ended AttemptEnded, in inSwept) {
	cause := ended.Faults[0]
	uptime := time.Duration(0)
	if !st.begun.IsZero() {
		uptime = cause.At.Sub(st.begun)
	}
	st.failed = append(st.failed, Ended{Cause: cause.Exit, Uptime: uptime, At: in.at})
	ended.Outcome = OutcomeFailed
	ended.Next = st.policy.decide(st.failed, in.random)
	if ended.Next.Restart && len(in.left) > 0 {
		// Two attempts at once would fight for GPUs and memory.
		ended.Next = Decision{Reason: "not everything of this attempt is gone"}
	}
	if ended.Next.Restart && st.told != nil {
		ended.Outcome = OutcomeStopped
		ended.Next = Decision{Reason: "told to end"}
		st.tell(ended)
		st.finish(in.at, OutcomeStopped, st.told.Code(), nil)
		return
	}
	st.tell(ended)
	if !ended.Next.Restart {
		st.finish(in.at, OutcomeFailed, cause.Exit.ShellCode(), nil)
		return
	}
	st.phase = phaseWaiting
	st.do(doTimer{st.attempt, timerRestart, ended.Next.Delay})
}

func (st *stepper) finish(at time.Time, outcome Outcome, code int, failure *Failure) {
	st.phase, st.code = phaseDone, code
	st.tell(RunEnded{At: at, Outcome: outcome, Code: code, Attempts: st.attempt, Failure: failure})
}
