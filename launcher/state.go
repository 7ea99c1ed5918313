package launcher

import (
	"slices"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

// phase is where a run stands; see the package comment for the picture.
type phase int

const (
	phaseNew       phase = iota
	phasePreparing       // ledger and port of the next attempt
	phaseRunning         // ranks are being started or run
	phaseGrace           // a rank failed; the others may still print their errors
	phaseStopping        // the stop ladder runs
	phaseSweeping        // all leaders have ended; what they left is being ended
	phaseWaiting         // delay before a restart
	phaseDone
)

// rules are the settings that the step function needs.
type rules struct {
	ranks        int // local ranks
	firstRank    int // global rank of local rank 0
	policy       Policy
	told         Ladder        // when told to end
	failed       Ladder        // when survivors are stopped because a rank failed
	grace        time.Duration // before that
	forward      []syscall.Signal
	save         Save
	stopMax      time.Duration // how far a rank may extend its time to stop
	killPatience time.Duration // how long after SIGKILL a process may still be there
	terminal     bool          // there is one: a second Ctrl-C kills
	foreground   int           // local rank that gets its foreground, -1: none
	inStep       bool          // this launcher is a task of a Slurm step
}

// state is everything that the loop remembers. step copies it; nothing else
// changes it.
type state struct {
	rules
	phase   phase
	attempt int // attempts begun by this invocation, from 1; timers carry it
	ranks   []rank
	spawned bool      // no further rank of this attempt will start
	begun   time.Time // when the attempt's first rank started, zero before
	ladder  Ladder    // the one that runs, in phaseStopping
	rung    int       // its next rung
	begin   time.Time // when it began

	stopTold bool // subscribers know that it has: a rank was there to be asked

	faults []Fault    // failures of this attempt, in order
	passed []inSignal // signals of this attempt that were passed on while ranks were being started
	asked  time.Time  // when this attempt was last asked to save, zero: it was not
	told   *Told      // the signal that ended the run, nil
	failed []Ended    // failed attempts of this invocation
	code   int        // in phaseDone

	echoing   bool      // a rank's end may be the first sign of a stop of the Slurm step
	suspended time.Time // since when the job is stopped to be continued later, zero: it is not
}

// rank is what is known of one local rank in the current attempt.
type rank struct {
	phase   rankPhase
	pid     int
	started time.Time
	ended   time.Time
	exit    proc.Exit
	asked   syscall.Signal // the latest signal that we sent to stop it, 0: none
	askedAt time.Time      // when the first one was sent
	extra   time.Duration  // from the first stop signal: it asked for more time to stop, 0
	rest    bool           // its leader has died of the stop signal, its tree lives
	killed  bool           // SIGKILL was sent to its tree
	hung    bool           // it showed no progress
	oom     string         // how the kernel killed it for memory, empty: it did not
}

// busy reports whether something of the rank still has time to end by itself.
func (r rank) busy() bool { return r.phase == rankRunning || r.rest }

type rankPhase int

const (
	rankPending rankPhase = iota
	rankRunning
	rankEnded
	rankNever // the attempt ended before it was started, or it could not be started
)

// Fault is the failure of one rank: an end that nobody asked for.
type Fault struct {
	Local int
	Rank  int // global
	Pid   int // 0 if it could not be started
	Exit  proc.Exit
	At    time.Time
	Cause error // why it could not be started, nil for a process that ended

	OOM    string        // how the kernel killed it for memory, empty: it did not
	Silent time.Duration // it hung: so long without progress, 0 otherwise
}

// Told is a signal that ends the run.
type Told struct {
	Signal syscall.Signal // 0: none, the Slurm step has gone
	At     time.Time
	InStep bool // of Slurm
}

// Code is the exit code of a run that was stopped by the signal. In a Slurm step it is
// the lowest that is a failure: srun returns the highest code of all tasks, and that
// must be the one of the node whose rank failed (the cluster specification).
func (t Told) Code() int {
	switch {
	case t.Signal == 0:
		return ExitTryAgain
	case t.InStep:
		return exitInStep
	}
	return exitSignalBase + int(t.Signal)
}

// clone copies what step may change.
func (s state) clone() state {
	s.ranks = slices.Clone(s.ranks)
	s.faults = slices.Clone(s.faults)
	s.passed = slices.Clone(s.passed)
	s.failed = slices.Clone(s.failed)
	return s
}

// alive is the number of ranks that were started and have not ended.
func (s state) alive() int {
	n := 0
	for _, r := range s.ranks {
		if r.phase == rankRunning {
			n++
		}
	}
	return n
}

// busy is the number of ranks of which something still runs.
func (s state) busy() int {
	n := 0
	for _, r := range s.ranks {
		if r.busy() {
			n++
		}
	}
	return n
}

// over reports whether every rank of the attempt has ended or will never start.
func (s state) over() bool { return s.spawned && s.busy() == 0 }
