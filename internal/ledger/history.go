package ledger

import (
	"slices"
	"time"
)

// Outcomes of an attempt without an end of its own. They are computed when the
// ledger is read and never written by [Ledger.Begin].
const (
	OutcomeRunning = "running" // its launcher still lives
	OutcomeUnknown = "unknown" // its launcher is gone and left no word
)

// Attempt is one entry: an attempt that was begun.
type Attempt struct {
	// Number is the attempt number within its scheduler execution, from 0:
	// TORCHELASTIC_RESTART_COUNT.
	Number int64 `json:"number"`
	// RestartCount is slurm.restart_count, nil where none is published.
	RestartCount *int64 `json:"restart_count,omitempty"`
	// UUID is nv.dl.run.uuid, unique in the ledger.
	UUID string `json:"uuid"`
	// Execution tells scheduler executions apart, such as the scheduler's own
	// restart count and the step id. Outside a scheduler it is empty.
	Execution string `json:"execution"`
	// Began is when the attempt was entered; Ended is zero as long as nobody
	// said that it ended.
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended,omitzero"`
	// Outcome is what [Ledger.End] was told, or one of the constants above.
	Outcome string `json:"outcome,omitempty"`
	// Launcher is the process that entered the attempt.
	Launcher Launcher `json:"launcher"`
}

// Launcher identifies a process beyond the reuse of its pid and beyond a
// reboot. Start is field 22 of /proc/PID/stat: clock ticks since the boot.
type Launcher struct {
	Pid   int    `json:"pid"`
	Start uint64 `json:"start_ticks"`
	Boot  string `json:"boot_id"`
}

// History is what a ledger holds about one job. The zero History is that of a
// job without attempts.
type History struct {
	Attempts []Attempt // oldest first
	Dropped  Dropped   // what stands for the attempts before them
}

// Dropped keeps the counts of attempts that are no longer listed, so that none
// of them is given out again.
type Dropped struct {
	Attempts     int64      `json:"attempts"`
	RestartCount *int64     `json:"restart_count,omitempty"` // the last one
	Executions   []Counting `json:"executions,omitempty"`    // least recently used first
}

// Counting is the next attempt number of one execution.
type Counting struct {
	Execution string `json:"execution"`
	Next      int64  `json:"next"`
}

// Bounds of a ledger's growth. An execution is forgotten only after keep other
// executions, none of which is listed any more either.
const keep = 10_000

// Len is the number of attempts ever begun.
func (h History) Len() int64 { return h.Dropped.Attempts + int64(len(h.Attempts)) }

// Last returns the attempt that was begun last.
func (h History) Last() (Attempt, bool) {
	if len(h.Attempts) == 0 {
		return Attempt{}, false
	}
	return h.Attempts[len(h.Attempts)-1], true
}

// LastRestartCount is the restart count of the last attempt that has one, or
// nil. Counts increase, so it is the largest.
func (h History) LastRestartCount() *int64 {
	for _, a := range slices.Backward(h.Attempts) {
		if a.RestartCount != nil {
			return a.RestartCount
		}
	}
	return h.Dropped.RestartCount
}

// NextNumber is the lowest attempt number of an execution that was never given
// out, nor any above it: 0 for an execution without attempts.
func (h History) NextNumber(execution string) int64 {
	next := int64(0)
	for _, c := range h.Dropped.Executions {
		if c.Execution == execution {
			next = max(next, c.Next)
		}
	}
	for _, a := range h.Attempts {
		if a.Execution == execution {
			next = max(next, a.Number+1)
		}
	}
	return next
}

// with returns the history with one more attempt. It does not change h.
func (h History) with(a Attempt) History {
	h.Attempts = append(slices.Clone(h.Attempts), a)
	for len(h.Attempts) > keep {
		h.Dropped = h.Dropped.with(h.Attempts[0])
		h.Attempts = h.Attempts[1:]
	}
	return h
}

func (d Dropped) with(a Attempt) Dropped {
	d.Attempts++
	if a.RestartCount != nil {
		d.RestartCount = a.RestartCount
	}
	c := Counting{Execution: a.Execution, Next: a.Number + 1}
	executions := make([]Counting, 0, len(d.Executions)+1)
	for _, other := range d.Executions {
		if other.Execution != a.Execution {
			executions = append(executions, other)
			continue
		}
		c.Next = max(c.Next, other.Next)
	}
	executions = append(executions, c)
	d.Executions = executions[max(0, len(executions)-keep):]
	return d
}
