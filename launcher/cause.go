package launcher

import (
	"cmp"
	"slices"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

// simultaneous is how close two failures must be for the order in which we learnt of
// them to say nothing (the launch specification, "First failure decides").
const simultaneous = 2 * time.Millisecond

// oneLook is how close two failures are that we learnt of at the same moment: a machine
// that is too busy to run us may show us so what happened one after the other.
const oneLook = 20 * time.Microsecond

// order puts the failure that decides first and says how many, with it, came at the
// same time. reported is when a rank wrote its error file, zero if it did not. Among
// simultaneous failures the cause is the one whose error file is earliest, else one
// that died of a signal (we sent none of those), else the lowest rank; or rather, of
// those that we learnt of in one look, the first in the order of the kernel, which is
// then all that is known (proc.Child.At).
func order(faults []Fault, reported func(local int) time.Time) (ordered []Fault, same int) {
	ordered = slices.Clone(faults)
	if len(ordered) == 0 {
		return ordered, 0
	}
	slices.SortStableFunc(ordered, func(a, b Fault) int { return a.At.Compare(b.At) })
	first, looks := ordered[0].At, map[int]int{}
	for same < len(ordered) && ordered[same].At.Sub(first) <= simultaneous {
		f := ordered[same]
		looks[f.Local] = f.Rank
		if same > 0 && f.At.Sub(ordered[same-1].At) < oneLook {
			looks[f.Local] = looks[ordered[same-1].Local]
		}
		same++
	}
	slices.SortStableFunc(ordered[:same], func(a, b Fault) int {
		return cmp.Or(
			sooner(reported(a.Local), reported(b.Local)), signalFirst(a.Exit.Signal, b.Exit.Signal),
			looks[a.Local]-looks[b.Local], a.At.Compare(b.At), a.Rank-b.Rank,
		)
	})
	return ordered, same
}

// sooner compares two times of which either may not exist.
func sooner(a, b time.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case b.IsZero():
		return -1
	case a.IsZero():
		return 1
	}
	return a.Compare(b)
}

// signalFirst puts an end by a signal before one by code.
func signalFirst(a, b syscall.Signal) int {
	switch {
	case (a != 0) == (b != 0):
		return 0
	case a != 0:
		return -1
	}
	return 1
}

// reasonOf says why a worker ended. One that was asked to stop was stopped, however
// it then ended; but one whose end came before we asked, or at the same time as the
// first failure and not by our signal, failed by itself.
func (st *stepper) reasonOf(r rank) Reason {
	switch {
	case r.hung:
		return ReasonHang
	case r.asked != 0 && !r.ended.Before(r.askedAt) && !st.together(r):
		return ReasonStopped
	case st.lateEcho(r):
		return ReasonStopped
	case r.oom != "" && r.exit.Signal != 0:
		return ReasonOOM
	case r.exit.Signal != 0:
		return ReasonSignal
	default:
		return ReasonExit
	}
}

// together reports whether a rank failed at the time of the first failure.
func (st *stepper) together(r rank) bool {
	return len(st.faults) > 0 && !r.exit.OK() && r.exit.Signal != r.asked &&
		r.ended.Sub(st.faults[0].At) <= simultaneous
}

// hung is a rank that shows no progress: a failure, though its process lives. What
// its hook finds out comes before it is stopped.
func (st *stepper) hang(in inHang) {
	r := &st.ranks[in.local]
	if st.phase != phaseRunning || r.phase != rankRunning {
		return
	}
	r.hung = true
	st.faulted(Fault{
		Local: in.local, Rank: st.firstRank + in.local, Pid: r.pid, At: in.at, Silent: in.silent,
		Exit: proc.Exit{Code: 1}, // until it is known how it ends
	})
	st.do(doAbortSpawn{}, doDump{in.local}, doTimer{st.attempt, timerGrace, dumpPatience})
	st.phase = phaseGrace
}

// dumpPatience bounds what --on-hang and --hang-signal may take before the ladder.
const dumpPatience = 30 * time.Second

// settleHang notes how a hung rank ended after all. An exit with 0 is a failure all
// the same: it did not do its work.
func (st *stepper) settleHang(local int, exit proc.Exit) {
	if exit.OK() {
		exit = proc.Exit{Code: 1}
	}
	for i := range st.faults {
		if st.faults[i].Local == local {
			st.faults[i].Exit = exit
		}
	}
}
