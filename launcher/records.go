package launcher

import (
	"slices"
	"syscall"

	"lenslaunch/internal/openwork"
	"lenslaunch/internal/rundir"
)

// hear enters what happens in the run directory. It waits for nothing.
func (d *RunDir) hear(e Event) {
	if d == nil {
		return
	}
	r := d.record
	switch e := e.(type) {
	case AttemptPreparing:
		r.AttemptPreparing(e.At)
	case AttemptBegan:
		r.AttemptBegan(rundir.AttemptStart{
			At: e.At, Name: e.Attempt.Name, Number: e.Attempt.Number, UUID: e.Attempt.UUID,
			RestartCount: e.Attempt.RestartCount, Warnings: e.Warnings,
		})
	case WorkerStarted:
		r.RankStarted(rundir.RankStart{At: e.At, Rank: e.Rank, Local: e.Local, Pid: e.Pid, Start: e.Start})
	case WorkersStarted:
		r.RanksStarted(e.At, e.Count)
	case WorkerEnded:
		r.RankEnded(rundir.RankEnd{At: e.At, Rank: e.Rank, Local: e.Local, Pid: e.Pid, Exit: e.Exit, Reason: string(e.Reason), Uptime: e.Uptime})
	case FaultFound:
		f := e.Fault
		r.RankFailed(rundir.RankFailure{At: f.At, Rank: f.Rank, Local: f.Local, Pid: f.Pid, Exit: f.Exit, Why: f.why(), First: e.First})
	case AttemptEnded:
		for _, w := range e.Open {
			r.RankDoing(w.Rank, Doing(w))
		}
		d.attemptEnded(e)
	case RunEnded:
		end := rundir.RunEnd{At: e.At, Outcome: string(e.Outcome), Code: e.Code}
		if e.Failure != nil {
			end.Problem = e.Failure.Error()
		}
		r.RunEnded(end)
	default:
		d.recordStop(e)
	}
}

// Doing is what a process had open when it went, as a run directory keeps it.
func Doing(w openwork.Work) rundir.DoingRecord {
	d := rundir.DoingRecord{At: w.End, Reason: w.Reason, Open: len(w.Open())}
	for _, s := range openwork.Doing(w.Spans) {
		d.Trace = s.TraceID.String()
		d.Spans = append(d.Spans, rundir.SpanRecord{Name: s.Name, ID: s.SpanID.String(), Started: s.Start})
	}
	return d
}

// recordStop enters what has to do with ends.
func (d *RunDir) recordStop(e Event) {
	r := d.record
	switch e := e.(type) {
	case SignalTaken:
		r.SignalTaken(e.At, e.Signal, e.what())
	case StopBegan:
		r.StopBegan(e.At, e.Ladder.String(), e.Alive)
	case StopEscalated:
		r.StopEscalated(e.At, e.Signal, e.Alive)
	case WorkersStuck:
		r.RanksStuck(e.At, e.Pids)
	case GuardGone:
		r.GuardGone(e.At, e.Cause, e.Last)
	case StepGone:
		r.StepGone(e.At, e.Pid)
	}
}

func (d *RunDir) attemptEnded(e AttemptEnded) {
	end := rundir.AttemptEnd{At: e.At, Outcome: string(e.Outcome), Simultaneous: e.Simultaneous, Stopped: e.Stopped, Signal: e.told()}
	for _, l := range e.Left {
		end.Left = append(end.Left, rundir.LeftRecord{Pid: l.Pid, Program: l.Command, Why: l.Why})
	}
	for _, f := range e.Faults {
		end.Failed = append(end.Failed, f.Rank)
	}
	if len(e.Faults) > 0 {
		end.Cause = causeRecord(e.Faults[0], e.Evidence)
		end.Next = &rundir.NextRecord{Restart: e.Next.Restart, Delay: e.Next.Delay, Reason: e.Next.Reason}
	}
	d.record.AttemptEnded(end)
}

// what says what followed, and who sent the signal where that is known.
func (e SignalTaken) what() string {
	if e.From == "" {
		return e.Action
	}
	return e.Action + "; from " + e.From
}

// told is the signal that ended the run, 0: none did.
func (e AttemptEnded) told() syscall.Signal {
	if e.Told == nil {
		return 0
	}
	return e.Told.Signal
}

func causeRecord(f Fault, v Evidence) *rundir.CauseRecord {
	c := &rundir.CauseRecord{
		Rank: f.Rank, Local: f.Local, Pid: f.Pid, At: f.At, Reason: string(f.reason()), Why: f.why(),
		Message: v.Message, Stderr: slices.Clone(v.Stderr), Unseen: v.Unseen,
	}
	if f.Cause != nil {
		c.Reason = rundir.ReasonSpawn
	} else {
		c.SetExit(f.Exit)
	}
	return c
}
