package runview

import (
	"slices"
	"strconv"

	"lenslaunch/internal/rundir"
)

// Fate is what became of a rank in an attempt.
type Fate int

// The order is that of interest: what a reader wants to see first comes first.
const (
	FailedFirst Fate = iota // its failure decided
	FailedToo               // at the same time, within what can be told apart
	FailedLater             // after it, and mostly because of it
	Unstarted               // it could not be started
	Lost                    // no end is recorded and nobody is left to record one
	Running                 // no end is recorded yet
	Stopped                 // the launcher ended it
	Succeeded               // exit code 0
	fateKinds   = iota
)

// fateText is how a fate is shown. No two differ in colour alone.
type fateText struct{ class, symbol, words string }

func (f Fate) text() fateText {
	return [fateKinds]fateText{
		FailedFirst: {"first", "✖", "failed first"},
		FailedToo:   {"too", "▲", "failed at the same time"},
		FailedLater: {"later", "△", "failed after it"},
		Unstarted:   {"unstarted", "○", "could not be started"},
		Lost:        {"lost", "?", "no end recorded"},
		Running:     {"running", "▶", "running"},
		Stopped:     {"stopped", "■", "stopped"},
		Succeeded:   {"succeeded", "✓", "succeeded"},
	}[f]
}

// failure reports whether a rank ended as nobody had asked it to.
func (f Fate) failure() bool { return f <= Unstarted }

// fates says of each rank record of an attempt what became of it.
func fates(a rundir.AttemptRecord) []Fate {
	list := make([]Fate, len(a.Ranks))
	for i, r := range a.Ranks {
		list[i] = fate(a, r)
	}
	return list
}

func fate(a rundir.AttemptRecord, r rundir.RankRecord) Fate {
	place := slices.Index(a.Failed, r.Rank)
	switch {
	case a.Cause != nil && a.Cause.Rank == r.Rank:
		return FailedFirst
	case place >= 0 && place < a.Simultaneous:
		return FailedToo
	case place >= 0:
		return FailedLater
	case slices.Contains(a.Stopped, r.Rank), r.Reason == "stopped":
		return Stopped
	case r.Reason == "spawn":
		return Unstarted
	case r.ExitCode != nil && *r.ExitCode == 0:
		return Succeeded
	case (r.ExitCode != nil || r.Signal != "") && foremost(a, r):
		return FailedFirst
	case r.ExitCode != nil, r.Signal != "":
		return FailedLater
	case over(a):
		return Lost
	}
	return Running
}

// foremost reports whether a rank is the first that failed as far as is known: while the
// others are being stopped, no cause is recorded yet.
func foremost(a rundir.AttemptRecord, r rundir.RankRecord) bool {
	if a.Cause != nil || r.Ended.IsZero() {
		return false
	}
	return !slices.ContainsFunc(a.Ranks, func(o rundir.RankRecord) bool {
		failed := o.Signal != "" || o.ExitCode != nil && *o.ExitCode != 0
		return failed && o.Reason != "stopped" && o.Ended.Before(r.Ended)
	})
}

// over reports whether nothing more will become of an attempt.
func over(a rundir.AttemptRecord) bool {
	return a.Outcome != "" && a.Outcome != rundir.OutcomeRunning
}

// ending says how a process ended: "exit code 3", "SIGKILL, out of memory".
func ending(code *int, signal, reason string) string {
	text := ""
	switch {
	case reason == "spawn":
		return "could not be started"
	case signal != "":
		text = short(signal, 40)
	case code != nil:
		text = "exit code " + strconv.Itoa(*code)
	default:
		return ""
	}
	switch reason {
	case "oom":
		text += ", out of memory"
	case "hang":
		text += ", after it had hung"
	}
	return text
}
