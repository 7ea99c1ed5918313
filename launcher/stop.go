package launcher

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

const killSignal = syscall.SIGKILL

// signal is a signal to the launcher: it ends the run, is passed on, or is noted.
// Escalation is by time only: schedulers send SIGTERM two or three times within
// 20 ms (the cluster specification), so a second one never means "hurry".
func (st *stepper) signal(in inSignal) {
	if in.signal == st.save.Signal {
		st.saveRequest(in)
		return
	}
	if slices.Contains(st.forward, in.signal) {
		st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: "forward", From: in.from})
		st.pass(in)
		return
	}
	switch {
	case endsRun(in.signal):
		st.toldToEnd(in)
	case in.signal == syscall.SIGCHLD:
		st.do(doAdopt{})
	case in.signal == syscall.SIGTSTP:
		st.suspend(in, false)
	case in.signal == syscall.SIGCONT:
		st.resume(in)
	}
}

// endsRun reports whether a signal that is not passed on ends the run.
func endsRun(sig syscall.Signal) bool {
	switch sig {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}

// pass sends a signal on to every rank's leader.
func (st *stepper) pass(in inSignal) {
	for i, r := range st.ranks {
		if r.phase == rankRunning {
			st.do(doSignal{local: i, signal: in.signal})
		}
	}
	if st.phase == phaseRunning && !st.spawned {
		st.passed = append(st.passed, in)
	}
}

// passLate sends a new rank what was passed on after it had started and before that was
// known here. One that started later could be killed by it before its handler is there.
func (st *stepper) passLate(in inStarted) {
	for _, s := range st.passed {
		if !s.at.Before(in.at) {
			st.do(doSignal{local: in.local, signal: s.signal})
		}
	}
}

// toldToEnd stops the run without a restart. A run whose ranks have all exited 0
// is complete: the signal came too late to change it, but not to hurry it up.
func (st *stepper) toldToEnd(in inSignal) {
	complete := st.phase == phaseSweeping && len(st.faults) == 0
	st.do(doHasten{in.at})
	st.lift(in.at)
	if st.impatient(in) {
		st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: "kill at once", From: in.from})
		st.killAll(in.at)
		return
	}
	if st.told != nil || complete || st.phase == phaseDone {
		st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: "ignored: already ending", From: in.from})
		return
	}
	st.told = &Told{Signal: in.signal, At: in.at, InStep: st.inStep}
	st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: actionStop, From: in.from})
	st.forgive(in)
	st.endRun(in.at)
}

// endRun begins to stop what the run has, for the reason that st.told says.
func (st *stepper) endRun(at time.Time) {
	switch st.phase {
	case phasePreparing:
		st.do(doAbortSpawn{}) // it may wait for another node's name
	case phaseRunning, phaseGrace:
		st.do(doAbortSpawn{})
		if st.told.Signal == syscall.SIGQUIT && st.alive() > 0 {
			st.dumpFirst(at)
			return
		}
		st.stop(at, st.rules.told)
	case phaseStopping:
		st.extend(at)
	case phaseWaiting:
		st.finish(at, OutcomeStopped, st.told.Code(), nil)
	}
}

// quitTime is what ranks have for the stack dumps that SIGQUIT asks for, before the
// ladder begins: both signals at once could arrive in the other order.
const quitTime = time.Second

// dumpFirst passes SIGQUIT on. A rank that dies of it was stopped by it.
func (st *stepper) dumpFirst(at time.Time) {
	st.phase = phaseGrace
	for i, r := range st.ranks {
		if r.phase == rankRunning {
			st.mark(at, i, syscall.SIGQUIT)
			st.do(doSignal{local: i, signal: syscall.SIGQUIT})
		}
	}
	st.do(doTimer{st.attempt, timerGrace, quitTime})
}

// survivors is the ladder for what still runs: a run that was told to end gives it the
// time that goes with that.
func (st *stepper) survivors() Ladder {
	if st.told != nil {
		return st.rules.told
	}
	return st.rules.failed
}

// stop begins a ladder with its first signal to every leader that runs.
func (st *stepper) stop(at time.Time, ladder Ladder) {
	st.lift(at)
	st.phase = phaseStopping
	st.ladder, st.rung, st.begin = ladder, 1, at
	st.stopTold = st.alive() > 0
	if st.stopTold {
		st.tell(StopBegan{At: at, Ladder: ladder, Alive: st.alive()})
		st.askAll(at, ladder.Rungs[0].Signal)
	}
	st.nextRung(at)
	st.endIfOver()
}

// secondCtrlC is how long after the first Ctrl-C a second one is meant as such: a
// key that bounces, or two programs that pass one signal on, must not kill.
const secondCtrlC = 500 * time.Millisecond

// impatient reports whether a person at the terminal has pressed Ctrl-C again.
func (st *stepper) impatient(in inSignal) bool {
	return st.terminal && in.signal == syscall.SIGINT && st.phase == phaseStopping &&
		st.told != nil && st.told.Signal == syscall.SIGINT && in.at.Sub(st.told.At) >= secondCtrlC
}

// extend gives ranks that are being stopped because of a failure the time of a
// run that was told to end, if that is longer: they may be saving for it.
func (st *stepper) extend(at time.Time) {
	longer := st.rules.told.Kill + at.Sub(st.begin)
	if longer > st.ladder.Kill {
		st.ladder.Kill = longer
		st.nextRung(at)
	}
}

// moreTime is a rank that is saving and asks for more time to stop
// (EXTEND_TIMEOUT_USEC), up to --stop-timeout-max.
func (st *stepper) moreTime(in inMoreTime) {
	r := &st.ranks[in.local]
	if st.phase != phaseStopping || !r.busy() || r.killed {
		return
	}
	r.extra = max(r.extra, min(in.at.Sub(st.begin)+in.extra, st.stopMax))
	st.nextRung(in.at)
}

// patience is when SIGKILL comes to a rank, from the first stop signal.
func (st *stepper) patience(r rank) time.Duration { return max(st.ladder.Kill, r.extra) }

// climb sends what the ladder says now: the next signals, then SIGKILL.
func (st *stepper) climb(at time.Time) {
	past := at.Sub(st.begin)
	for st.rung < len(st.ladder.Rungs) && st.ladder.Rungs[st.rung].After <= past {
		sig := st.ladder.Rungs[st.rung].Signal
		st.rung++
		st.tell(StopEscalated{At: at, Signal: sig, Alive: st.busy()})
		st.askAll(at, sig)
	}
	late := 0
	for _, r := range st.ranks {
		if r.busy() && !r.killed && st.patience(r) <= past {
			late++
		}
	}
	if late > 0 {
		st.tell(StopEscalated{At: at, Signal: killSignal, Alive: late})
		for i, r := range st.ranks {
			if r.busy() && !r.killed && st.patience(r) <= past {
				st.kill(at, i)
			}
		}
		st.do(doTimer{st.attempt, timerPatient, st.killPatience})
	}
	st.nextRung(at)
	st.endIfOver()
}

// killAll is SIGKILL to everything at once.
func (st *stepper) killAll(at time.Time) {
	st.tell(StopEscalated{At: at, Signal: killSignal, Alive: st.busy()})
	for i, r := range st.ranks {
		if r.busy() && !r.killed {
			st.kill(at, i)
		}
	}
	st.do(doTimer{st.attempt, timerPatient, st.killPatience})
	st.endIfOver()
}

// nextRung starts the timer of the next thing the ladder does, if there is one.
func (st *stepper) nextRung(at time.Time) {
	past := at.Sub(st.begin)
	next := time.Duration(-1)
	sooner := func(d time.Duration) {
		if next < 0 || d < next {
			next = d
		}
	}
	if st.rung < len(st.ladder.Rungs) {
		sooner(st.ladder.Rungs[st.rung].After)
	}
	for _, r := range st.ranks {
		if r.busy() && !r.killed {
			sooner(st.patience(r))
		}
	}
	if next >= 0 {
		st.do(doTimer{st.attempt, timerLadder, max(0, next-past)})
	}
}

// giveUp stops waiting for processes that SIGKILL does not end: an endless wait
// would hide them, a report names them.
func (st *stepper) giveUp(at time.Time) {
	stuck := WorkersStuck{At: at}
	for i := range st.ranks {
		if r := &st.ranks[i]; r.phase == rankRunning && r.killed {
			stuck.Locals = append(stuck.Locals, i)
			stuck.Pids = append(stuck.Pids, r.pid)
			r.phase = rankEnded
			r.exit = proc.Exit{Signal: killSignal}
			if r.hung {
				st.settleHang(i, r.exit)
			}
		}
	}
	if len(stuck.Pids) == 0 {
		return
	}
	st.tell(stuck)
	st.endIfOver()
}

// askAll sends a signal of the ladder to everything that still has time.
func (st *stepper) askAll(at time.Time, sig syscall.Signal) {
	for i, r := range st.ranks {
		switch {
		case r.killed:
		case r.phase == rankRunning:
			st.ask(at, i, sig)
		case r.rest:
			st.do(doSignalRest{i, sig})
		}
	}
}

// ask sends a stop signal to a leader, never to its whole group: SIGTERM to
// data-loader workers would crash the rank before it can save.
func (st *stepper) ask(at time.Time, local int, sig syscall.Signal) {
	st.mark(at, local, sig)
	st.do(doSignal{local: local, signal: sig, wake: true})
}

// kill ends a rank's tree.
func (st *stepper) kill(at time.Time, local int) {
	st.mark(at, local, killSignal)
	st.ranks[local].killed, st.ranks[local].rest = true, false
	st.do(doKill{local})
}

// stopped handles the end of a leader that was asked to stop. One that died of the
// stop signal itself was a wrapper without a handler (`bash run.sh`): the real
// program below it gets the signal, and the rest of the time to save (ompi#3337).
// What a leader left behind that ended in any other way ends with it.
func (st *stepper) stopped(at time.Time, local int) {
	r := &st.ranks[local]
	if st.phase == phaseStopping && !r.killed && r.exit.Signal == r.asked {
		r.rest = true
		st.do(doSignalRest{local, r.asked})
		return
	}
	r.killed = true
	st.do(doKill{local})
}

// restGone is the end of the last process of such a tree.
func (st *stepper) restGone(local int) {
	r := &st.ranks[local]
	if !r.rest {
		return
	}
	r.rest = false
	st.do(doKill{local})
	st.endIfOver()
}

// mark notes that a rank's end is our doing from now on.
func (st *stepper) mark(at time.Time, local int, sig syscall.Signal) {
	r := &st.ranks[local]
	if r.asked == 0 {
		r.askedAt = at
	}
	r.asked = sig
}

// stoppedRanks lists the ranks (global) that we stopped and that had not failed.
func (st *stepper) stoppedRanks() []int {
	failed := map[int]bool{}
	for _, f := range st.faults {
		failed[f.Local] = true
	}
	var out []int
	for i, r := range st.ranks {
		if r.phase == rankEnded && r.asked != 0 && !failed[i] {
			out = append(out, st.firstRank+i)
		}
	}
	return out
}

// startExit is the end that a shell would report for a command that could not be
// started.
func startExit(cause error) proc.Exit {
	if errors.Is(cause, fs.ErrNotExist) {
		return proc.Exit{Code: ExitNotFound}
	}
	return proc.Exit{Code: ExitNotExecutable}
}
