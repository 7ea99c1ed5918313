package rundir

import (
	"fmt"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

// AttemptPreparing says that an attempt is about to be counted: there is none until it
// begins.
func (r *Recorder) AttemptPreparing(at time.Time) {
	r.queue.add(func() {
		r.attempt = ""
		r.event(Event{Time: at, Kind: AttemptPreparing})
	})
}

// AttemptBegan makes an attempt the current one.
func (r *Recorder) AttemptBegan(a AttemptStart) {
	r.queue.add(func() {
		r.attempt = a.Name
		r.event(Event{
			Time: a.At, Kind: AttemptBegan, Number: &a.Number, UUID: a.UUID, Restart: a.RestartCount, Warnings: a.Warnings,
		})
		_ = r.dir.Note(r.change(func(rec *AttemptRecord) { rec.Warnings = clipLines(a.Warnings, maxStderr) }))
	})
}

// RankStarted says that a rank's process runs.
func (r *Recorder) RankStarted(s RankStart) {
	r.queue.add(func() {
		r.event(Event{Time: s.At, Kind: RankStarted, Rank: &s.Rank, Local: &s.Local, Pid: s.Pid})
		r.changeRank(s.Rank, s.Local, func(rec *RankRecord) {
			rec.Pid, rec.Start, rec.Started = s.Pid, s.Start, utc(s.At)
		})
	})
}

// RanksStarted says that all ranks of this node, so many, were started.
func (r *Recorder) RanksStarted(at time.Time, count int) {
	r.queue.add(func() {
		r.event(Event{Time: at, Kind: RanksStarted, Count: count})
	})
}

// RankEnded says that a rank's process has ended.
func (r *Recorder) RankEnded(e RankEnd) {
	r.queue.add(func() {
		code, signal := exited(e.Exit)
		r.event(Event{
			Time: e.At, Kind: RankEnded, Rank: &e.Rank, Local: &e.Local, Pid: e.Pid,
			ExitCode: code, Signal: signal, Reason: e.Reason, Uptime: e.Uptime,
		})
		r.changeRank(e.Rank, e.Local, func(rec *RankRecord) {
			rec.Pid, rec.Ended, rec.ExitCode, rec.Signal, rec.Reason = e.Pid, utc(e.At), code, signal, e.Reason
		})
	})
}

// RankFailed says that a rank failed. The end of its process is an event of its own.
func (r *Recorder) RankFailed(f RankFailure) {
	r.queue.add(func() {
		ev := Event{
			Time: f.At, Kind: RankFailed, Rank: &f.Rank, Local: &f.Local, Pid: f.Pid, Message: f.Why, First: f.First,
		}
		if f.Pid == 0 {
			ev.Reason = ReasonSpawn
			r.changeRank(f.Rank, f.Local, func(rec *RankRecord) { rec.Reason, rec.Ended = ReasonSpawn, utc(f.At) })
		} else {
			ev.ExitCode, ev.Signal = exited(f.Exit)
		}
		r.event(ev)
	})
}

// SignalTaken says that the launcher received a signal, and what follows.
func (r *Recorder) SignalTaken(at time.Time, sig syscall.Signal, action string) {
	r.queue.add(func() {
		r.event(Event{Time: at, Kind: SignalTaken, Signal: proc.SignalName(sig), Message: action})
	})
}

// StopBegan says that so many ranks are asked to end. ladder says how: "SIGTERM, after
// 20s SIGKILL".
func (r *Recorder) StopBegan(at time.Time, ladder string, alive int) {
	r.queue.add(func() {
		r.event(Event{Time: at, Kind: StopBegan, Message: ladder, Count: alive})
	})
}

// StopEscalated says that so many ranks, which were still alive, got a later signal.
func (r *Recorder) StopEscalated(at time.Time, sig syscall.Signal, alive int) {
	r.queue.add(func() {
		r.event(Event{Time: at, Kind: StopEscalated, Signal: proc.SignalName(sig), Count: alive})
	})
}

// RanksStuck says that SIGKILL did not end these processes.
func (r *Recorder) RanksStuck(at time.Time, pids []int) {
	r.queue.add(func() {
		r.event(Event{Time: at, Kind: RanksStuck, Pids: pids, Count: len(pids)})
	})
}

// GuardGone says that the guard process has ended; last: there will be no other.
func (r *Recorder) GuardGone(at time.Time, cause string, last bool) {
	r.queue.add(func() {
		if last {
			cause = fmt.Sprintf("%s; no other will be started", cause)
		}
		r.event(Event{Time: at, Kind: GuardGone, Message: cause})
	})
}

// StepGone says that Slurm's own process of this step has ended, and ranks are stopped.
func (r *Recorder) StepGone(at time.Time, pid int) {
	r.queue.add(func() {
		r.event(Event{Time: at, Kind: StepGone, Pid: pid})
	})
}

// AttemptEnded says how an attempt ended.
func (r *Recorder) AttemptEnded(e AttemptEnd) {
	r.queue.add(func() {
		signal := ""
		if e.Signal != 0 {
			signal = proc.SignalName(e.Signal)
		}
		if e.Cause != nil {
			cause := *e.Cause
			cause.At, cause.Node = utc(cause.At), r.dir.events.node
			e.Cause = cause.clip()
		}
		e.Left = clipLeft(e.Left)
		r.event(Event{
			Time: e.At, Kind: AttemptEnded, Outcome: e.Outcome, Cause: e.Cause, Simultaneous: e.Simultaneous,
			Failed: e.Failed, Stopped: e.Stopped, Signal: signal, Left: e.Left, Next: e.Next,
		})
		r.dir.syncEvents()
		_ = r.dir.Update(r.change(func(a *AttemptRecord) {
			a.Ended, a.Outcome, a.Cause, a.Simultaneous = utc(e.At), e.Outcome, e.Cause, e.Simultaneous
			a.Failed, a.Stopped, a.Signal, a.Left, a.Next = e.Failed, e.Stopped, signal, e.Left, e.Next
		}))
	})
}

// RunEnded says how the run ended.
func (r *Recorder) RunEnded(e RunEnd) {
	r.queue.add(func() {
		r.attempt = "" // it is about all of them
		problem := clip(e.Problem, maxMessage)
		r.event(Event{Time: e.At, Kind: RunEnded, Outcome: e.Outcome, ExitCode: &e.Code, Message: problem})
		r.dir.syncEvents()
		_ = r.dir.Update(func(run *Run) {
			run.Ended, run.Outcome, run.ExitCode, run.Problem = utc(e.At), e.Outcome, &e.Code, problem
		})
	})
}
