package launcher

import (
	"slices"
	"syscall"
	"time"
)

// What is different in a Slurm step (the cluster specification, "Slurm: signals and
// codes").

// outside is news of processes that are no ranks: another node's head, who started
// this launcher, its guard.
func (st *stepper) outside(in input) {
	switch in := in.(type) {
	case inHeadAwaited:
		if in.attempt == st.attempt {
			st.tell(HeadAwaited{At: in.at, Name: in.name, Cause: in.cause})
		}
	case inStepGone:
		st.stepGone(in)
	case inGuardGone:
		st.tell(GuardGone{At: in.at, Cause: in.cause, Last: in.last})
		if !in.last {
			st.do(doGuard{})
		}
	}
}

// echoTime is how far apart the two signals of one stop may come. Slurm sends them
// one after the other in a loop over the processes of the step.
const echoTime = time.Second

// echoWait is how long the launcher waits for its own signal after a rank has died of
// one. Slurm signals children before their parents.
const echoWait = 250 * time.Millisecond

// echoGrace is that time while it is waited, else 0.
func (st *stepper) echoGrace() time.Duration {
	if st.echoing {
		return echoWait
	}
	return 0
}

// echo reports whether a rank's unasked end may be the first sign of a stop that has
// not reached the launcher yet; that is waited for a moment. What is below a wrapper that
// died so may be saving: it gets the time of a stop, as below one that the launcher asked.
func (st *stepper) echo(in inExited) bool {
	if !st.inStep || in.exit.Signal != syscall.SIGTERM {
		return false
	}
	st.mark(in.at, in.local, in.exit.Signal)
	st.ranks[in.local].rest = true
	st.echoing = st.echoing || st.phase == phaseRunning
	st.do(doSignalRest{in.local, in.exit.Signal})
	return true
}

// lateEcho is the same for a rank whose end is told after the launcher's own signal, but
// came before it.
func (st *stepper) lateEcho(r rank) bool {
	return st.inStep && st.told != nil && st.told.Signal != 0 && r.exit.Signal == st.told.Signal && st.told.At.Sub(r.ended) <= echoTime
}

// forgive takes back what looked like failures. Slurm may send its signal to every
// process of the step (proctrack/linuxproc and pgid): a rank without a handler then
// dies of it before the launcher has heard of it. Such a rank was stopped, like those
// that the launcher asks.
func (st *stepper) forgive(in inSignal) {
	st.echoing = false
	if !st.inStep || len(st.faults) == 0 {
		return
	}
	own := slices.ContainsFunc(st.faults, func(f Fault) bool {
		return f.Exit.Signal != in.signal || in.at.Sub(f.At) > echoTime
	})
	if own {
		return
	}
	st.faults = nil
}

// stepGone is the end of the process that ran this step (slurmstepd). To Slurm the
// step is over and its GPUs are free: another job may get them, so the ranks must end.
func (st *stepper) stepGone(in inStepGone) {
	if st.phase == phaseDone {
		return
	}
	st.tell(StepGone{At: in.at, Pid: in.pid})
	complete := st.phase == phaseSweeping && len(st.faults) == 0
	st.do(doHasten{in.at})
	st.lift(in.at)
	if st.told != nil || complete {
		return
	}
	st.echoing = false
	st.told = &Told{At: in.at, InStep: true}
	st.endRun(in.at)
}
