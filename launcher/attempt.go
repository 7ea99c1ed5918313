package launcher

import (
	"fmt"
	"strconv"

	"lenslaunch/detect"
	"lenslaunch/internal/ledger"
	"lenslaunch/internal/rundir"
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
	Name         string // of its directory in the run directory, empty: it has none
	ErrorDir     string // holds the ranks' error files, empty: none (lenslaunch env)
}

// label stands for the attempt in %a: what its directory is called, so that a name made
// of it is never used again, else its number.
func (a Attempt) label() string {
	if a.Name != "" {
		return rundir.Label(a.Name)
	}
	return strconv.Itoa(a.Number)
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
		Execution: detect.Execution(p.Env),
	}
	in.Slurm = in.Execution != ""
	if v, ok := semconv.Get(p.base, semconv.SlurmRestartCount); ok {
		in.Carrier = integer(v.AsString())
	}
	return in
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
	a.MasterPort = p.portOf(a)
	a.Name, err = p.attemptName(a)
	if err != nil {
		return Attempt{}, usage(fmt.Sprintf("cannot use --log-dir: %v", err), "give a directory that you own and can write")
	}
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
