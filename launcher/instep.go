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

// echo reports whether a rank's unasked end may be the first sign of a stop that has
// not reached the launcher yet. What is below a wrapper that died so may be saving: it
// gets the time of a stop, as below a wrapper that the launcher asked.
func (st *stepper) echo(in inExited) bool {
	if !st.inStep || in.exit.Signal != syscall.SIGTERM {
		return false
	}
	st.mark(in.at, in.local, in.exit.Signal)
	st.ranks[in.local].rest = true
	st.do(doSignalRest{in.local, in.exit.Signal})
	return true
}

// forgive takes back what looked like failures. Slurm may send its signal to every
// process of the step (proctrack/linuxproc and pgid): a rank without a handler then
// dies of it before the launcher has heard of it. Such a rank was stopped, like those
// that the launcher asks.
func (st *stepper) forgive(in inSignal) {
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
	st.told = &Told{At: in.at, InStep: true}
	st.endRun(in.at)
}
