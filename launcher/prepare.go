package launcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"lenslaunch/internal/ledger"
	"lenslaunch/internal/logmux"
	"lenslaunch/internal/notify"
	"lenslaunch/internal/oom"
	"lenslaunch/internal/port"
	"lenslaunch/internal/proc"
	"lenslaunch/internal/rundir"
)

// Bounds of what an attempt waits for before it begins.
const (
	ledgerPatience = 10 * time.Second // for the lock: another launcher writes a few hundred bytes
	neighbours     = 3                // ports in a row: Megatron's in-process restart opens two more
)

// prepare counts the next attempt in the ledger and reserves its port, beside the
// loop, and answers with inPrepared.
func (e *effects) prepare(number int) {
	var last *port.Reservation
	if e.current != nil {
		last, e.current.port = e.current.port, nil
	}
	e.release()
	n := e.plan.World.LocalSize
	run := &running{
		number: number, children: make([]*proc.Child, n), tails: make([]*logmux.Tail, n),
		mux: &logmux.Mux{}, abort: make(chan struct{}), resting: map[int]bool{},
	}
	run.over, run.finish = context.WithCancel(e.ctx)
	if number == 1 {
		// Before the first rank, and waited for by nobody.
		e.startGuard()
		e.fence()
		e.gpus = newGPUMemory(e.ctx, e.plan, e.spawner.Aside)
	}
	// The loop's goroutine reads it only after the answer below has arrived.
	e.current = run
	e.background(func() {
		failure := e.begin(run, last)
		e.answer(inPrepared{at: time.Now(), attempt: number, err: failure})
	})
}

// begin fills in the attempt. The order matters: the ledger knows of the attempt
// before its first worker can exist.
func (e *effects) begin(run *running, last *port.Reservation) *Failure {
	if run.number > 1 && e.gpus != nil {
		if held := e.gpus.await(e.ctx, e.plan.GPURelease, e.spawner.Aside); held != "" {
			run.warnings = append(run.warnings, held)
		}
	}
	if failure := e.awaitHead(run); failure != nil {
		return failure
	}
	if failure := e.reserve(run, last); failure != nil {
		return failure
	}
	port := run.attempt.MasterPort
	if failure := e.enter(run); failure != nil {
		return failure
	}
	run.attempt.MasterPort = port
	e.house(run)
	var err error
	if run.trees, err = e.forest.plant(run.number, len(run.children), e.spawner.Strangers()); err != nil {
		return &Failure{Code: ExitInternal, Problem: err.Error()}
	}
	run.memory = oom.Watch("/")
	e.trace(run)
	return e.observe(run)
}

// house gives the attempt its directories: that in the run directory, where there is
// one, and a private one for what is left over. A job of weeks does not fail for want of
// a log or of an error message.
func (e *effects) house(run *running) {
	if d := e.console.Dir; d != nil {
		files, err := d.begin(e.plan, run.attempt, run.warnings)
		if err != nil {
			run.warnings = append(run.warnings, fmt.Sprintf("%v: this attempt's output is on the console only", err))
		} else {
			run.files, run.attempt.Name, run.attempt.ErrorDir = files, files.Name(), files.Path()
			e.forgetErrors(run)
		}
	}
	if run.files != nil && e.plan.Hang.Timeout == 0 {
		return // nothing is left over
	}
	dir, err := os.MkdirTemp(e.plan.tempDir(), "lenslaunch-errors-")
	if err != nil {
		run.warnings = append(run.warnings, fmt.Sprintf("cannot make a directory for the ranks' error files, so they have none: %v", err))
	}
	run.private = dir
	run.attempt.ErrorDir = cmp.Or(run.attempt.ErrorDir, dir)
}

// forgetErrors removes the error files of an earlier attempt in the same directory, as
// there is with several nodes: they would be taken for this one's.
func (e *effects) forgetErrors(run *running) {
	for local := range run.children {
		// What cannot be removed is not a rank's: the directory is ours.
		_ = os.Remove(errorFile(run.attempt.ErrorDir, e.plan.World.Rank(local)))
	}
}

// observe starts the attempt's monitor, where the run wants one.
func (e *effects) observe(run *running) *Failure {
	if !e.plan.watches() {
		return nil
	}
	sockets, err := notify.Directory()
	if err != nil {
		run.warnings = append(run.warnings, fmt.Sprintf("ranks cannot report by sd_notify: %v", err))
	}
	run.sockets = sockets
	run.monitor = newMonitor(e.plan.Config, run.number, run.private, sockets, e.inputs)
	e.background(run.monitor.run)
	return nil
}

// enter counts the attempt, in the ledger where the run has one.
func (e *effects) enter(run *running) *Failure {
	next := func(h ledger.History) (ledger.Attempt, error) {
		a, err := e.plan.count(e.history(h))
		a.UUID = e.plan.number(a).UUID
		return a, err
	}
	if e.plan.LedgerDir == "" {
		a, err := next(ledger.History{})
		if err != nil {
			return usage(err.Error(), "")
		}
		e.began = append(e.began, a)
		run.attempt = e.plan.number(a)
		return nil
	}
	book, err := ledger.Open(e.plan.LedgerDir, e.plan.LedgerName)
	if err != nil {
		return usage(err.Error(), "")
	}
	ctx, cancel := context.WithTimeout(e.ctx, ledgerPatience)
	defer cancel()
	earlier := int64(0)
	var dead []proc.ID
	a, err := book.Begin(ctx, func(h ledger.History) (ledger.Attempt, error) {
		earlier, dead = h.Len(), launchersKilled(h)
		return next(h)
	})
	var broken *ledger.FileError
	if err != nil && e.plan.StateDir == "" && e.ctx.Err() == nil && !errors.As(err, &broken) {
		e.goOnWithoutLedger(run, book, err)
		return e.enter(run)
	}
	if err != nil {
		return ledgerFailure(err, e.plan.StateDir)
	}
	e.began = append(e.began, a) // should the ledger be lost before the next one
	run.attempt = e.plan.number(a)
	run.attempt.Continued = run.number == 1 && earlier > 0
	run.book = book
	if run.number == 1 {
		run.warnings = append(run.warnings, e.forest.clear(e.ctx, dead)...)
	}
	return nil
}

// goOnWithoutLedger counts by what the ledger says, from now on in memory: a disk that is
// full can still be read, and no attempt may have the name of an earlier one.
func (e *effects) goOnWithoutLedger(run *running, book *ledger.Ledger, cause error) {
	if h, err := book.Read(); err == nil && len(e.began) == 0 {
		e.began = h.Attempts
	}
	e.plan.LedgerDir = ""
	if e.plan.RunDir != "" {
		e.console.Dir.Lost(cause)
		return
	}
	run.warnings = append(run.warnings, noLedger(cause))
}

// ledgerFailure says what to do about a ledger that cannot be used.
func ledgerFailure(err error, stateDir string) *Failure {
	var broken *ledger.FileError
	switch {
	case errors.As(err, &broken):
		return usage(err.Error(), "") // it says what to do about the file
	case stateDir != "":
		return usage(fmt.Sprintf("cannot keep the ledger of attempts in %s: %v", stateDir, err),
			"give a directory that you own and can write")
	}
	return usage(err.Error(), "")
}

// history is the ledger's, or this invocation's own where there is no ledger.
func (e *effects) history(h ledger.History) ledger.History {
	if e.plan.LedgerDir == "" {
		h.Attempts = e.began
	}
	return h
}

// reserve holds the port of rank 0's store while the attempt runs. Only the node of
// rank 0 can; the others are told where it is.
func (e *effects) reserve(run *running, last *port.Reservation) *Failure {
	fixed, failure := e.portAhead()
	if run.attempt.MasterPort = fixed; failure != nil || e.plan.World.NodeRank != 0 {
		return failure // last is nil, too
	}
	var err error
	if fixed != 0 {
		closePort(last)
		run.port, err = port.ReserveFixed(fixed, e.plan.portsInRow())
	} else {
		run.port, err = reserveNew(e.plan.PortRange, last)
	}
	if err != nil {
		var taken *port.InUseError
		if errors.As(err, &taken) {
			return e.plan.portTaken(err)
		}
		return &Failure{Code: ExitTryAgain, Problem: err.Error()}
	}
	run.attempt.MasterPort = run.port.Port()
	return nil
}

// reserveNew reserves ports other than those of the last attempt, which it gives back
// only then: a restart on the old one could meet its stale keys. A range that has no
// other port gives the old one again.
func reserveNew(r port.Range, last *port.Reservation) (*port.Reservation, error) {
	next, err := port.Reserve(r, neighbours)
	closePort(last)
	if err != nil && last != nil {
		return port.Reserve(r, neighbours)
	}
	return next, err
}

func closePort(r *port.Reservation) {
	if r != nil {
		r.Close()
	}
}

// ended completes what step knows of the end of an attempt, and enters it in the
// ledger. A ledger that cannot be written now changes no outcome: the attempt will
// show as ended unknown.
func (e *effects) ended(ev *AttemptEnded) {
	run := e.current
	if run == nil {
		return
	}
	ev.Attempt = run.attempt
	ev.Open, ev.OpenProblems = run.open.work, run.open.problems
	if len(ev.Faults) > 0 {
		// A disk that does not answer has no say in how a run goes on.
		first := ev.Faults[0]
		found, inTime := patiently(diskTime, func() Evidence { return e.evidence(run, first) })
		if !inTime {
			found.Stderr = []string{"(not known: the disk that has them does not answer)"}
		}
		ev.Evidence = found
	}
	if run.book != nil {
		ctx, cancel := context.WithTimeout(context.Background(), ledgerPatience)
		defer cancel()
		err := run.book.End(ctx, run.attempt.UUID, e.outcome(*ev))
		if err != nil && e.plan.StateDir == "" && e.plan.RunDir != "" {
			e.console.Dir.Lost(err)
			return
		}
		ev.LedgerProblem = err
	}
}

// outcome is an attempt's end as the ledger says it.
func (e *effects) outcome(ev AttemptEnded) string {
	switch {
	case len(ev.Faults) > 0:
		return fmt.Sprintf("failed: rank %d, %v", ev.Faults[0].Rank, ev.Faults[0].Exit)
	case ev.Told != nil && ev.Told.Signal == 0:
		return "stopped: the Slurm step has gone"
	case ev.Told != nil:
		return "stopped: " + proc.SignalName(ev.Told.Signal)
	}
	return string(ev.Outcome)
}

// evidence collects what the deciding rank said.
func (e *effects) evidence(run *running, f Fault) Evidence {
	var v Evidence
	if run.attempt.ErrorDir != "" {
		v.Message = readErrorFile(errorFile(run.attempt.ErrorDir, f.Rank))
	}
	switch tail := run.tails[f.Local]; {
	case tail != nil:
		v.Stderr = tail.Last()
	case run.files != nil:
		// It went to its file without us. One that cannot be read was not written.
		v.Stderr, _ = run.files.Tail(f.Rank, rundir.Err, tailLines)
		for i, line := range v.Stderr {
			v.Stderr[i] = strings.ToValidUTF8(line, "\uFFFD")
		}
	default:
		v.Unseen = f.Cause == nil
	}
	return v
}
