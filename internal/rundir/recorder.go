package rundir

import (
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

// Recorder turns what happens in a run into events and changes of run.json. Its methods
// are called one after the other, in the order of what happened. They keep what they are
// given and return at once: a goroutine of its own writes, also where the disk is that of
// another machine and does not answer. What cannot be written is told to Options.Warn.
//
// It may lag behind [Dir.Begin]: an attempt is the current one from AttemptBegan on, whatever
// was begun meanwhile.
type Recorder struct {
	dir   *Dir
	queue *queue

	attempt string // the goroutine's: name of the current one; empty: it has no directory
}

// NewRecorder records in a directory, until Close.
func NewRecorder(d *Dir) *Recorder { return &Recorder{dir: d, queue: newQueue()} }

// Close returns when everything is written, so it may not return at all. Nothing may be
// told afterwards.
func (r *Recorder) Close() { r.queue.close() }

// AttemptStart is the begin of an attempt; Name is that of [Attempt.Name], empty if
// Begin failed.
type AttemptStart struct {
	At           time.Time
	Name         string
	Number       int
	UUID         string
	RestartCount *int64
	Warnings     []string
}

// RankStart is a rank's process that runs.
type RankStart struct {
	At               time.Time
	Rank, Local, Pid int
	Start            uint64 // of the process, clock ticks since boot; 0: not known
}

// RankEnd is the end of a rank's process.
type RankEnd struct {
	At               time.Time
	Rank, Local, Pid int
	Exit             proc.Exit
	Reason           string // exit, signal, oom, hang, stopped
	Uptime           time.Duration
}

// RankFailure is an end that nobody asked for, or a start that did not happen.
type RankFailure struct {
	At               time.Time
	Rank, Local, Pid int // Pid 0: it could not be started
	Exit             proc.Exit
	Why              string // in words
	First            bool   // it decides
}

// AttemptEnd is the end of an attempt.
type AttemptEnd struct {
	At           time.Time
	Outcome      string
	Cause        *CauseRecord // of a failure; At, Node and exit see [CauseRecord.SetExit]
	Simultaneous int
	Failed       []int          // ranks, in order of time, the cause's first
	Stopped      []int          // ranks
	Signal       syscall.Signal // that told the launcher to stop, 0: none did
	Left         []LeftRecord
	Next         *NextRecord
}

// RunEnd is the end of a run.
type RunEnd struct {
	At      time.Time
	Outcome string
	Code    int    // exit code of the launcher
	Problem string // why it ended, if not for its workers
}

// event writes an event of the current attempt.
func (r *Recorder) event(ev Event) {
	ev.Attempt = r.attempt
	_ = r.dir.Event(ev)
}

// change changes the record of the current attempt. It may be gone: the oldest of very
// many are dropped.
func (r *Recorder) change(change func(*AttemptRecord)) func(*Run) {
	return func(run *Run) {
		for i := len(run.Attempts) - 1; i >= 0 && r.attempt != ""; i-- {
			if run.Attempts[i].Name == r.attempt {
				change(&run.Attempts[i])
				return
			}
		}
	}
}

// rank is the record of a rank, made where it is missing.
func (a *AttemptRecord) rank(rank, local, node int) *RankRecord {
	for i := range a.Ranks {
		if a.Ranks[i].Rank == rank {
			return &a.Ranks[i]
		}
	}
	a.Ranks = append(a.Ranks, RankRecord{Rank: rank, Local: local, Node: node})
	return &a.Ranks[len(a.Ranks)-1]
}

// changeRank changes the record of a rank, and waits for nothing.
func (r *Recorder) changeRank(rank, local int, change func(*RankRecord)) {
	node := r.dir.events.node
	_ = r.dir.Note(r.change(func(a *AttemptRecord) { change(a.rank(rank, local, node)) }))
}

// exited is an end as JSON says it: a code, or the name of a signal.
func exited(e proc.Exit) (code *int, signal string) {
	if e.Signal != 0 {
		return nil, proc.SignalName(e.Signal)
	}
	return &e.Code, ""
}

// SetExit fills in how the process ended.
func (c *CauseRecord) SetExit(e proc.Exit) { c.ExitCode, c.Signal = exited(e) }
