package ledger

import (
	"errors"
	"math"
)

// Inputs is what the restart count of a new attempt depends on beside the
// history. A nil number means: not set, or not a valid integer.
type Inputs struct {
	// Carrier is slurm.restart_count in the carrier that the launcher
	// inherited.
	Carrier *int64
	// Scheduler is SLURM_RESTART_COUNT.
	Scheduler *int64
	// Declared is LENSLAUNCH_RESTART_COUNT. It counts outside Slurm.
	Declared *int64
	// Slurm says that the launcher runs in a Slurm job.
	Slurm bool
	// Execution is the key of this scheduler execution, see [Attempt].
	Execution string
}

// errExhausted needs a count near 2^63 in the environment: a mistake there.
var errExhausted = errors.New("cannot count this attempt: the restart count or attempt number before it is the largest possible: check SLURM_RESTART_COUNT, LENSLAUNCH_RESTART_COUNT and slurm.restart_count in OTEL_RESOURCE_ATTRIBUTES")

// Next returns the numbers of the attempt after those in h: Number,
// RestartCount and Execution; the rest is for the caller to fill. It is a pure
// function and errs only where a count would overflow.
//
// The restart count is max(base, last + 1), base being the larger of what was
// inherited and what the scheduler says, last that of the attempt before. It
// is strictly increasing over the attempts of a job. The attempt number counts
// within one execution. Source: the identity specification, which has the
// example 2, 3, 4; 5; 6.
func Next(h History, in Inputs) (Attempt, error) {
	a := Uncoordinated(in)
	if in.Slurm {
		a.Number = 0 // each execution begins at 0, whatever is declared
	}
	a.Number = max(a.Number, h.NextNumber(in.Execution))
	if a.Number == math.MaxInt64 {
		return Attempt{}, errExhausted // there must be a next one
	}
	if last := h.LastRestartCount(); last != nil && a.RestartCount != nil {
		if *last == math.MaxInt64 {
			return Attempt{}, errExhausted
		}
		a.RestartCount = number(max(*a.RestartCount, *last+1))
	}
	return a, nil
}

// Uncoordinated returns the numbers of an attempt on several nodes that do not
// talk to each other: every node computes the same from the environment alone,
// without a ledger.
func Uncoordinated(in Inputs) Attempt {
	a := Attempt{Number: count(in.Declared), Execution: in.Execution}
	base := max(count(in.Carrier), count(in.Scheduler))
	switch {
	case in.Slurm:
		// Slurm leaves its variable unset before the first requeue: that is 0,
		// and it is published.
		a.RestartCount = &base
	case in.Declared != nil:
		a.RestartCount = number(max(base, count(in.Declared)))
	case in.Carrier != nil:
		a.RestartCount = &base
	}
	return a
}

// count reads an input. There is no restart below the first.
func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return max(0, *n)
}

func number(n int64) *int64 { return &n }
