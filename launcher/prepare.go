package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"lenslaunch/internal/ledger"
	"lenslaunch/internal/logmux"
	"lenslaunch/internal/port"
	"lenslaunch/internal/proc"
)

// Bounds of what an attempt waits for before it begins.
const (
	ledgerPatience = 10 * time.Second // for the lock: another launcher writes a few hundred bytes
	neighbours     = 3                // ports in a row: Megatron's in-process restart opens two more
)

// prepare counts the next attempt in the ledger and reserves its port, beside the
// loop, and answers with inPrepared.
func (e *effects) prepare(number int) {
	e.release()
	n := e.plan.World.LocalSize
	run := &running{
		number: number, children: make([]*proc.Child, n), tails: make([]*logmux.Tail, n),
		mux: &logmux.Mux{}, abort: make(chan struct{}),
	}
	// The loop's goroutine reads it only after the answer below has arrived.
	e.current = run
	e.background(func() {
		failure := e.begin(run)
		e.answer(inPrepared{at: time.Now(), attempt: number, err: failure})
	})
}

// begin fills in the attempt. The order matters: the ledger knows of the attempt
// before its first worker can exist.
func (e *effects) begin(run *running) *Failure {
	if failure := e.reserve(run); failure != nil {
		return failure
	}
	port := run.attempt.MasterPort
	if failure := e.enter(run); failure != nil {
		return failure
	}
	run.attempt.MasterPort = port
	dir, err := os.MkdirTemp(e.plan.tempDir(), "lenslaunch-errors-")
	if err != nil {
		// A job of weeks does not fail for want of an error message.
		run.warnings = append(run.warnings, fmt.Sprintf("cannot make a directory for the ranks' error files, so they have none: %v", err))
	}
	run.attempt.ErrorDir = dir
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
	a, err := book.Begin(ctx, func(h ledger.History) (ledger.Attempt, error) {
		earlier = h.Len()
		return next(h)
	})
	var broken *ledger.FileError
	if err != nil && e.plan.StateDir == "" && e.ctx.Err() == nil && !errors.As(err, &broken) {
		run.warnings = append(run.warnings, noLedger(err))
		e.plan.LedgerDir = ""
		return e.enter(run)
	}
	if err != nil {
		return usage(err.Error(), "")
	}
	run.attempt = e.plan.number(a)
	run.attempt.Continued = run.number == 1 && earlier > 0
	run.book = book
	return nil
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
func (e *effects) reserve(run *running) *Failure {
	run.attempt.MasterPort = e.plan.MasterPort
	if e.plan.World.NodeRank != 0 {
		return nil
	}
	var err error
	if e.plan.MasterPort != 0 {
		run.port, err = port.ReserveFixed(e.plan.MasterPort, 1)
	} else {
		run.port, err = port.Reserve(e.plan.PortRange, neighbours)
	}
	if err != nil {
		var taken *port.InUseError
		if errors.As(err, &taken) {
			return &Failure{Code: ExitTryAgain, Problem: err.Error(), Hint: "end it, or leave --master-port out and a free port is reserved"}
		}
		return &Failure{Code: ExitTryAgain, Problem: err.Error()}
	}
	run.attempt.MasterPort = run.port.Port()
	return nil
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
	if len(ev.Faults) > 0 {
		ev.Evidence = e.evidence(run, ev.Faults[0])
	}
	if run.book != nil {
		ctx, cancel := context.WithTimeout(context.Background(), ledgerPatience)
		defer cancel()
		ev.LedgerProblem = run.book.End(ctx, run.attempt.UUID, e.outcome(*ev))
	}
}

// outcome is an attempt's end as the ledger says it.
func (e *effects) outcome(ev AttemptEnded) string {
	switch {
	case len(ev.Faults) > 0:
		return fmt.Sprintf("failed: rank %d, %v", ev.Faults[0].Rank, ev.Faults[0].Exit)
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
	if tail := run.tails[f.Local]; tail != nil {
		v.Stderr = tail.Last()
	} else {
		v.Unseen = f.Cause == nil
	}
	return v
}
