package launcher

import (
	"fmt"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/trace"

	"lenslaunch/internal/openwork"
	"lenslaunch/internal/proc"
)

// Event is a change of a run's state, published to subscribers in order. Log
// lines, spans and the final report are made of Events alone.
type Event interface{ isEvent() }

// Subscriber receives every Event of a run, one at a time, and cannot change the run:
// one that does not return is left behind when the run ends.
type Subscriber func(Event)

// Signal is one that the launcher has received.
type Signal struct {
	Number syscall.Signal
	From   string // who sent it, as a message names it; empty: not known
}

// Outcome is how an attempt or a run ended.
type Outcome string

const (
	OutcomeSuccess Outcome = "success" // every rank exited 0
	OutcomeFailed  Outcome = "failed"  // a rank failed
	OutcomeStopped Outcome = "stopped" // a signal to the launcher ended it
	OutcomeSaved   Outcome = "saved"   // every rank exited 0 after a save request: run it again
)

// actionStop is the Action of the signal that ends a run.
const actionStop = "stop"

// actionSave is the Action of a save request.
const actionSave = "save request"

// Left is a process of an attempt that outlived SIGKILL.
type Left struct {
	Pid     int // 0: what is left could not be looked for
	Command string
	Why     string // "uninterruptible sleep in nfs_wait", "not permitted"
}

// String is for logs and reports.
func (l Left) String() string {
	if l.Pid == 0 {
		return "not known, " + l.Why
	}
	return fmt.Sprintf("pid %d (%s): %s", l.Pid, onLine(l.Command), l.Why)
}

// Reason is why a worker ended (the telemetry specification, `lenslaunch.worker`).
type Reason string

const (
	ReasonExit    Reason = "exit"    // by itself, with a code
	ReasonSignal  Reason = "signal"  // by a signal that we did not send
	ReasonOOM     Reason = "oom"     // by the kernel, for want of memory
	ReasonHang    Reason = "hang"    // it showed no progress, and was stopped
	ReasonStopped Reason = "stopped" // because we asked or killed it
)

// Unshown is output that was waiting for a console when the time for it was over.
type Unshown struct {
	Streams int
	Bytes   int // at least
}

type (
	// AttemptPreparing: the attempt with this number within the invocation (from 1)
	// is about to be counted.
	AttemptPreparing struct {
		At     time.Time
		Number int
	}

	// AttemptBegan: identity and port are known, the ranks are about to start.
	AttemptBegan struct {
		At       time.Time
		Attempt  Attempt
		Warnings []string // what the attempt has to do without
	}

	// WorkerStarted: a rank's process runs.
	WorkerStarted struct {
		At          time.Time
		Local, Rank int
		Pid         int
		Start       uint64 // of the process, clock ticks since boot

		Span trace.SpanID // that it was told is its own; zero: none. Filled in by the machine
	}

	// WorkersStarted: every rank of the attempt was started.
	WorkersStarted struct {
		At    time.Time
		Count int
	}

	// WorkerEnded: a rank's process has ended.
	WorkerEnded struct {
		At          time.Time
		Local, Rank int
		Pid         int
		Exit        proc.Exit
		Reason      Reason
		Uptime      time.Duration
	}

	// FaultFound: a rank failed. First tells the one that decides from the others.
	FaultFound struct {
		Fault Fault
		First bool
	}

	// SignalTaken: the launcher received a signal, and what follows.
	SignalTaken struct {
		At     time.Time
		Signal syscall.Signal
		Action string // "stop" (actionStop), "forward", "ignored: already stopping", ...
		From   string // who sent it; empty: not known, or a rank's end told of it
	}

	// StopBegan: the stop ladder began.
	StopBegan struct {
		At     time.Time
		Ladder Ladder
		Alive  int
	}

	// StopEscalated: a later signal of the ladder, or SIGKILL, was sent.
	StopEscalated struct {
		At     time.Time
		Signal syscall.Signal
		Alive  int
	}

	// WorkersStuck: processes that SIGKILL did not end (uninterruptible sleep).
	WorkersStuck struct {
		At     time.Time
		Locals []int
		Pids   []int
	}

	// GuardGone: the guard process has ended before the launcher. Last: no other
	// will be started.
	GuardGone struct {
		At    time.Time
		Cause string
		Last  bool
	}

	// HeadAwaited: the name of the head's pod does not resolve yet, and is waited for.
	HeadAwaited struct {
		At    time.Time
		Name  string
		Cause error
	}

	// StepGone: the process of Slurm that ran this step has ended, so nobody answers
	// for the ranks any more: they are stopped.
	StepGone struct {
		At  time.Time
		Pid int
	}

	// AttemptEnded: nothing of the attempt is left.
	AttemptEnded struct {
		At           time.Time
		Outcome      Outcome
		Faults       []Fault // the first decides, the others follow in time; empty unless failed
		Simultaneous int     // so many of them came at the same time
		Stopped      []int   // ranks (global) that we stopped
		Told         *Told
		Left         []Left    // processes that could not be ended
		Unshown      Unshown   // output that the console did not take
		Began        time.Time // when its first rank started, zero if none did
		Next         Decision  // what follows a failure

		// Filled in by the machine:
		Attempt       Attempt
		Evidence      Evidence        // what the deciding rank said
		Open          []openwork.Work // what ranks had open when they went, and what could not be found out of it
		OpenProblems  []string
		LedgerProblem error // the end could not be entered, nil
	}

	// RunEnded is the last event.
	RunEnded struct {
		At       time.Time
		Outcome  Outcome
		Code     int
		Attempts int
		Failure  *Failure // the run ended for a reason other than its workers
	}
)

func (AttemptPreparing) isEvent() {}
func (AttemptBegan) isEvent()     {}
func (WorkerStarted) isEvent()    {}
func (WorkersStarted) isEvent()   {}
func (WorkerEnded) isEvent()      {}
func (FaultFound) isEvent()       {}
func (SignalTaken) isEvent()      {}
func (StopBegan) isEvent()        {}
func (StopEscalated) isEvent()    {}
func (WorkersStuck) isEvent()     {}
func (GuardGone) isEvent()        {}
func (AttemptEnded) isEvent()     {}
func (RunEnded) isEvent()         {}
func (HeadAwaited) isEvent()      {}
func (StepGone) isEvent()         {}
