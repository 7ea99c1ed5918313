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
		start   uint64      // clock ticks since boot, 0: not known
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
		oom     string // how the kernel killed it for memory, empty: it did not
	}

	// inStopped: the rank that reads the terminal was stopped, by Ctrl-Z or because it
	// did not have the foreground.
	inStopped struct {
		at      time.Time
		attempt int
		local   int
		signal  syscall.Signal
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
		from   string // who sent it, empty: not known
	}

	// inRestGone: nothing is left of the tree of a rank whose leader had died of the
	// stop signal.
	inRestGone struct {
		at      time.Time
		attempt int
		local   int
	}

	// inHang: a running rank has shown no progress for so long.
	inHang struct {
		at      time.Time
		attempt int
		local   int
		silent  time.Duration
	}

	// inDumped: the hook of a hung rank has finished.
	inDumped struct {
		at      time.Time
		attempt int
	}

	// inMoreTime: a rank that is stopping asks for more time from now on.
	inMoreTime struct {
		at      time.Time
		attempt int
		local   int
		extra   time.Duration
	}

	// inBug: a goroutine of the run panicked.
	inBug struct{ bug Bug }

	// inGuardGone: the guard process has ended; last: no other will be started.
	inGuardGone struct {
		at    time.Time
		cause string
		last  bool
	}

	// inHeadAwaited: the name of the head's pod does not resolve yet.
	inHeadAwaited struct {
		at      time.Time
		attempt int
		name    string
		cause   error
	}

	// inStepGone: Slurm's own process of the step, which started the launcher, has
	// ended.
	inStepGone struct {
		at  time.Time
		pid int
	}

	// inSwept: nothing of the attempt is left, or all that is left cannot be ended.
	inSwept struct {
		at      time.Time
		attempt int
		random  float64 // in [0, 1), for the restart delay
		left    []Left  // what could not be ended
		unshown Unshown // output that the console did not take

		reported map[int]time.Time // when ranks wrote their error files, by local rank
	}
)

func (inBegin) isInput()       {}
func (inPrepared) isInput()    {}
func (inStarted) isInput()     {}
func (inNotStarted) isInput()  {}
func (inSpawned) isInput()     {}
func (inExited) isInput()      {}
func (inStopped) isInput()     {}
func (inTimer) isInput()       {}
func (inSignal) isInput()      {}
func (inRestGone) isInput()    {}
func (inHang) isInput()        {}
func (inDumped) isInput()      {}
func (inMoreTime) isInput()    {}
func (inGuardGone) isInput()   {}
func (inSwept) isInput()       {}
func (inHeadAwaited) isInput() {}
func (inStepGone) isInput()    {}
func (inBug) isInput()         {}

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

	// doSignalRest sends a signal to what is left of a rank's tree after its leader,
	// and answers with inRestGone when nothing is left any more.
	doSignalRest struct {
		local  int
		signal syscall.Signal
	}

	// doDump runs the hook of a hung rank and answers with inDumped.
	doDump struct{ local int }

	// doAdopt reaps orphans that became ours.
	doAdopt struct{}

	// doSuspend stops the ranks and then the launcher itself (Ctrl-Z); doResume
	// continues the ranks when the launcher was continued.
	doSuspend struct{ group bool } // with the launcher's group: nobody else has told it
	doResume  struct{}

	// doGuard starts another guard.
	doGuard struct{}

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

	// doHasten: the run is told to end, and waits for its output no longer than it has
	// time to stop.
	doHasten struct{ at time.Time }

	// doTell publishes an Event.
	doTell struct{ event Event }
)

func (doPrepare) isAction()    {}
func (doSpawn) isAction()      {}
func (doAbortSpawn) isAction() {}
func (doSignal) isAction()     {}
func (doSignalRest) isAction() {}
func (doDump) isAction()       {}
func (doAdopt) isAction()      {}
func (doSuspend) isAction()    {}
func (doResume) isAction()     {}
func (doGuard) isAction()      {}
func (doReap) isAction()       {}
func (doKill) isAction()       {}
func (doTimer) isAction()      {}
func (doSweep) isAction()      {}
func (doHasten) isAction()     {}
func (doTell) isAction()       {}
