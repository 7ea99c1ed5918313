package launcher

import (
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

// input is something that happened. Every input says when, so that step needs no
// clock, and those of an attempt say which, so that a late one changes nothing.
type input interface{ isInput() }

type (
	// inBegin starts the run.
	inBegin struct{ at time.Time }

	// inPrepared: the ledger has counted the attempt and its port is reserved.
	inPrepared struct {
		at      time.Time
		attempt int
		err     *Failure // the attempt cannot begin
	}

	// inStarted: a rank runs.
	inStarted struct {
		at      time.Time
		attempt int
		local   int
		pid     int
		child   *proc.Child // for the effects; step does not look at it
	}

	// inNotStarted: a rank could not be started.
	inNotStarted struct {
		at      time.Time
		attempt int
		local   int
		cause   error
	}

	// inSpawned: no further rank of the attempt will start.
	inSpawned struct {
		at      time.Time
		attempt int
	}

	// inExited: a rank's process has ended and waits to be reaped.
	inExited struct {
		at      time.Time
		attempt int
		local   int
		exit    proc.Exit
	}

	// inTimer: a timer of the attempt ran out.
	inTimer struct {
		at      time.Time
		attempt int
		kind    timerKind
	}

	// inSignal: the launcher received a signal.
	inSignal struct {
		at     time.Time
		signal syscall.Signal
	}

	// inSwept: nothing of the attempt is left, or all that is left cannot be ended.
	inSwept struct {
		at      time.Time
		attempt int
		random  float64 // in [0, 1), for the restart delay
	}
)

func (inBegin) isInput()      {}
func (inPrepared) isInput()   {}
func (inStarted) isInput()    {}
func (inNotStarted) isInput() {}
func (inSpawned) isInput()    {}
func (inExited) isInput()     {}
func (inTimer) isInput()      {}
func (inSignal) isInput()     {}
func (inSwept) isInput()      {}

// timerKind names the timers of an attempt; at most one of each runs.
type timerKind int

const (
	timerGrace   timerKind = iota // failure grace is over
	timerLadder                   // the next rung of the stop ladder, or SIGKILL
	timerPatient                  // a killed process is still there
	timerRestart                  // the delay before a restart is over
)

// action is something that the loop does after a step.
type action interface{ isAction() }

type (
	// doPrepare takes the next attempt from the ledger and reserves its port.
	doPrepare struct{ attempt int }

	// doSpawn starts all ranks, in order of local rank.
	doSpawn struct{ attempt int }

	// doAbortSpawn keeps further ranks from being started.
	doAbortSpawn struct{}

	// doSignal sends a signal to a rank's leader.
	doSignal struct {
		local  int
		signal syscall.Signal
		wake   bool // continue it: a stopped process acts on no signal but KILL
	}

	// doReap collects the status of a rank that ended by itself, and leaves what it
	// started alone until the attempt ends.
	doReap struct{ local int }

	// doKill ends a rank's tree by SIGKILL and reaps the leader if it has ended.
	doKill struct{ local int }

	// doTimer starts a timer.
	doTimer struct {
		attempt int
		kind    timerKind
		after   time.Duration
	}

	// doSweep ends everything the attempt left, drains the output, and answers
	// with inSwept.
	doSweep struct{ attempt int }

	// doTell publishes an Event.
	doTell struct{ event Event }
)

func (doPrepare) isAction()    {}
func (doSpawn) isAction()      {}
func (doAbortSpawn) isAction() {}
func (doSignal) isAction()     {}
func (doReap) isAction()       {}
func (doKill) isAction()       {}
func (doTimer) isAction()      {}
func (doSweep) isAction()      {}
func (doTell) isAction()       {}
