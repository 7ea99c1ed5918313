package launcher

import (
	"fmt"
	"strconv"
	"strings"

	"lenslaunch/detect"
	"lenslaunch/internal/ledger"
	"lenslaunch/semconv"
)

// Attempt is the identity of one attempt, the same on all its ranks (the identity
// specification, "The launcher owns the attempt").
type Attempt struct {
	Number       int    // TORCHELASTIC_RESTART_COUNT, LENSLAUNCH_ATTEMPT, lenslaunch.attempt
	UUID         string // nv.dl.run.uuid
	RestartCount *int64 // slurm.restart_count, nil: not published
	Continued    bool   // earlier invocations of this run are in the ledger
	MasterPort   int    // where rank 0's store listens, 0: not decided yet (lenslaunch env)
	ErrorDir     string // holds the ranks' error files, empty: none (lenslaunch env)
}

// number is the identity of an attempt with these numbers.
func (p *Plan) number(a ledger.Attempt) Attempt {
	n := int(a.Number)
	return Attempt{Number: n, UUID: detect.AttemptUUID(p.Env, p.RunID, n), RestartCount: a.RestartCount}
}

// counts is what the restart count depends on beside the ledger.
func (p *Plan) counts() ledger.Inputs {
	in := ledger.Inputs{
		Scheduler: integer(p.Env["SLURM_RESTART_COUNT"]),
		Declared:  integer(p.Env["LENSLAUNCH_RESTART_COUNT"]),
		Slurm:     p.Env["SLURM_JOB_ID"] != "",
		Execution: p.execution(),
	}
	if v, ok := semconv.Get(p.base, semconv.SlurmRestartCount); ok {
		in.Carrier = integer(v.AsString())
	}
	return in
}

// execution names the scheduler execution in which attempts are counted: a requeue
// and a step each begin a new one. Outside Slurm all invocations of a run are one.
func (p *Plan) execution() string {
	if p.Env["SLURM_JOB_ID"] == "" {
		return ""
	}
	restarts := int64(0)
	if n := integer(p.Env["SLURM_RESTART_COUNT"]); n != nil {
		restarts = *n
	}
	key := fmt.Sprintf("sr%d", restarts)
	if p.World.InStep {
		key += "/st" + strings.TrimSpace(p.Env["SLURM_STEP_ID"])
	}
	return key
}

// integer reads a whole number by the one rule of the conventions; nil if the text
// is none.
func integer(text string) *int64 {
	if n, ok := semconv.ParseInt(text); ok {
		return &n
	}
	return nil
}

// NextAttempt is the attempt that a run would begin now. It reads the ledger and
// writes nothing. MasterPort is 0 where only a reservation would decide it.
func (p *Plan) NextAttempt() (Attempt, error) {
	history := ledger.History{}
	if p.LedgerDir != "" {
		l, err := ledger.Open(p.LedgerDir, p.LedgerName)
		if err == nil {
			history, err = l.Read()
		}
		if err != nil {
			return Attempt{}, usage(err.Error(), "")
		}
	}
	next, err := p.count(history)
	if err != nil {
		return Attempt{}, usage(err.Error(), "")
	}
	a := p.number(next)
	a.MasterPort = p.MasterPort
	return a, nil
}

// count is the pure rule: from the history of one node, or from the environment
// alone where several nodes must agree without a message.
func (p *Plan) count(h ledger.History) (ledger.Attempt, error) {
	if p.World.Nodes > 1 {
		return ledger.Uncoordinated(p.counts()), nil
	}
	return ledger.Next(h, p.counts())
}

// name is a text such as "attempt 3".
func (a Attempt) name() string { return "attempt " + strconv.Itoa(a.Number) }
