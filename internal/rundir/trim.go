package rundir

import "slices"

// run.json is written anew at every change, so it is bounded: a job that restarts for
// weeks must not spend its time on it. The newest attempts keep everything, older ones
// lose ranks and long texts, and the oldest are only counted. Events keep all.
const (
	keepAttempts = 1000
	keepWhole    = 100  // of those
	keepRanks    = 8192 // records in all, the newest attempt's in any case
	keepMessage  = 1 << 10
)

func (r *Run) trim() {
	if extra := len(r.Attempts) - keepAttempts; extra > 0 {
		r.Dropped += extra
		r.Attempts = slices.Delete(r.Attempts, 0, extra)
	}
	ranks := 0
	for i, whole := len(r.Attempts)-1, 0; i >= 0; i-- {
		a := &r.Attempts[i]
		ranks += len(a.Ranks)
		if whole++; whole == 1 || (whole <= keepWhole && ranks <= keepRanks) {
			continue
		}
		a.trim()
	}
}

func (a *AttemptRecord) trim() {
	if a.Trimmed {
		return
	}
	a.Trimmed, a.Ranks, a.Env, a.Warnings, a.Left = true, nil, nil, nil, nil
	if a.Cause != nil {
		short := *a.Cause
		short.Message, short.Stderr = clip(short.Message, keepMessage), nil
		a.Cause = &short
	}
	a.Failed, a.Stopped = cut(a.Failed), cut(a.Stopped)
}

// cut keeps the first few numbers of a list: those that came first.
func cut(list []int) []int { return list[:min(len(list), 16)] }

// clip bounds the texts of others in an event.
func (ev Event) clip() Event {
	ev.Message = clip(ev.Message, maxMessage)
	ev.Warnings = clipLines(ev.Warnings, maxStderr)
	ev.Cause = ev.Cause.clip()
	ev.Left = clipLeft(ev.Left)
	return ev
}

// clipLeft bounds a list of processes, whose programs name themselves.
func clipLeft(list []LeftRecord) []LeftRecord {
	var out []LeftRecord
	for _, l := range list[:min(len(list), maxStderr)] {
		l.Program, l.Why = clip(l.Program, maxLine), clip(l.Why, maxLine)
		out = append(out, l)
	}
	return out
}

func (c *CauseRecord) clip() *CauseRecord {
	if c == nil {
		return nil
	}
	short := *c
	short.Why = clip(c.Why, maxLine)
	short.Message = clip(c.Message, maxMessage)
	short.Stderr = clipLines(c.Stderr, maxStderr)
	return &short
}
