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
	if slices.Contains(st.forward, in.signal) {
		st.forwardSignal(in)
		return
	}
	switch in.signal {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT:
		st.toldToEnd(in)
	}
}

func (st *stepper) forwardSignal(in inSignal) {
	st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: "forward"})
	for i, r := range st.ranks {
		if r.phase == rankRunning {
			st.do(doSignal{local: i, signal: in.signal})
		}
	}
}

// toldToEnd stops the run without a restart. A run whose ranks have all exited 0
// is complete: the signal came too late to change it.
func (st *stepper) toldToEnd(in inSignal) {
	complete := st.phase == phaseSweeping && len(st.faults) == 0
	if st.told != nil || complete || st.phase == phaseDone {
		st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: "ignored: already ending"})
		return
	}
	st.told = &Told{Signal: in.signal, At: in.at}
	st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: "stop"})
	// SIGQUIT asks for stack dumps: the ranks get it first.
	if in.signal == syscall.SIGQUIT {
		for i, r := range st.ranks {
			if r.phase == rankRunning {
				st.do(doSignal{local: i, signal: syscall.SIGQUIT})
			}
		}
	}
	switch st.phase {
	case phaseRunning, phaseGrace:
		st.do(doAbortSpawn{})
		st.stop(in.at, st.rules.told)
	case phaseStopping:
		st.extend(in.at)
	case phaseWaiting:
		st.finish(in.at, OutcomeStopped, st.told.Code(), nil)
	}
}

// stop begins a ladder with its first signal to every leader that runs.
func (st *stepper) stop(at time.Time, ladder Ladder) {
	st.phase = phaseStopping
	st.ladder, st.rung, st.begin = ladder, 1, at
	if st.alive() > 0 {
		st.tell(StopBegan{At: at, Ladder: ladder, Alive: st.alive()})
		st.askAll(at, ladder.Rungs[0].Signal)
	}
	st.nextRung(at)
	st.endIfOver()
}

// extend gives ranks that are being stopped because of a failure the time of a
// run that was told to end, if that is longer: they may be saving for it.
func (st *stepper) extend(at time.Time) {
	if st.killed {
		return
	}
	longer := st.rules.told.Kill + at.Sub(st.begin)
	if longer > st.ladder.Kill {
		st.ladder.Kill = longer
		st.nextRung(at)
	}
}

// climb sends what the ladder says now: the next signals, then SIGKILL.
func (st *stepper) climb(at time.Time) {
	past := at.Sub(st.begin)
	for st.rung < len(st.ladder.Rungs) && st.ladder.Rungs[st.rung].After <= past {
		sig := st.ladder.Rungs[st.rung].Signal
		st.rung++
		st.tell(StopEscalated{At: at, Signal: sig, Alive: st.alive()})
		st.askAll(at, sig)
	}
	if past < st.ladder.Kill {
		st.nextRung(at)
		return
	}
	if st.killed {
		return
	}
	st.killed = true
	st.tell(StopEscalated{At: at, Signal: killSignal, Alive: st.alive()})
	for i := range st.ranks {
		if st.ranks[i].phase == rankRunning {
			st.kill(at, i)
		}
	}
	st.do(doTimer{st.attempt, timerPatient, st.killPatience})
}

// nextRung starts the timer of the next thing the ladder does.
func (st *stepper) nextRung(at time.Time) {
	next := st.ladder.Kill
	if st.rung < len(st.ladder.Rungs) {
		next = min(next, st.ladder.Rungs[st.rung].After)
	}
	st.do(doTimer{st.attempt, timerLadder, next - at.Sub(st.begin)})
}

// giveUp stops waiting for processes that SIGKILL does not end: an endless wait
// would hide them, a report names them.
func (st *stepper) giveUp(at time.Time) {
	stuck := WorkersStuck{At: at}
	for i := range st.ranks {
		if st.ranks[i].phase == rankRunning {
			stuck.Locals = append(stuck.Locals, i)
			stuck.Pids = append(stuck.Pids, st.ranks[i].pid)
			st.ranks[i].phase = rankEnded
			st.ranks[i].exit = proc.Exit{Signal: killSignal}
		}
	}
	st.tell(stuck)
	st.spawned = true
	st.endIfOver()
}

func (st *stepper) askAll(at time.Time, sig syscall.Signal) {
	for i := range st.ranks {
		if st.ranks[i].phase == rankRunning {
			st.ask(at, i, sig)
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
	st.do(doKill{local})
}

// mark notes that a rank's end is our doing from now on.
func (st *stepper) mark(at time.Time, local int, sig syscall.Signal) {
	r := &st.ranks[local]
	if r.asked == 0 {
		r.askedAt = at
	}
	r.asked = sig
}

// stoppedRanks lists the ranks (global) that were asked to stop.
func (st *stepper) stoppedRanks() []int {
	var out []int
	for i, r := range st.ranks {
		if r.phase == rankEnded && r.asked != 0 {
			out = append(out, st.firstRank+i)
		}
	}
	return out
}

// reasonOf says why a worker ended. One that was asked to stop was stopped, however
// it then ended; one whose end we only learnt of after asking was not.
func reasonOf(r rank) Reason {
	switch {
	case r.asked != 0 && !r.ended.Before(r.askedAt):
		return ReasonStopped
	case r.exit.Signal != 0:
		return ReasonSignal
	default:
		return ReasonExit
	}
}

// startExit is the end that a shell would report for a command that could not be
// started.
func startExit(cause error) proc.Exit {
	if errors.Is(cause, fs.ErrNotExist) {
		return proc.Exit{Code: ExitNotFound}
	}
	return proc.Exit{Code: ExitNotExecutable}
}
