package runview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lenslaunch/internal/rundir"
)

// entry is something that happened in an attempt.
type entry struct {
	at    time.Time
	ranks []int // whom it happened to, nil: the attempt
	fate  Fate  // of these ranks; meaningless without
	text  string
}

// together is how near to each other the starts or ends of ranks are one entry.
const together = time.Second

// chronicle tells an attempt in the order of time, most entries at the most: the
// earliest and the latest.
func (r *Run) chronicle(a rundir.AttemptRecord, most int) []entry {
	list := append(starts(a), ends(a)...)
	for _, e := range r.Events {
		if e.Attempt == a.Name {
			list = append(list, entry{at: e.Time, text: said(e)})
		}
	}
	if over(a) && !a.Ended.IsZero() {
		list = append(list, entry{at: a.Ended, text: "attempt ended: " + short(a.Outcome, 40)})
	}
	slices.SortStableFunc(list, entry.compare)
	if len(list) > most {
		left := len(list) - most + 1
		middle := entry{at: list[most/2].at, text: fmt.Sprintf("… %d more …", left)}
		list = slices.Concat(list[:most/2], []entry{middle}, list[most/2+left:])
	}
	return list
}

// starts groups the starts of ranks.
func starts(a rundir.AttemptRecord) []entry {
	var started []rundir.RankRecord
	for _, r := range a.Ranks {
		if !r.Started.IsZero() {
			started = append(started, r)
		}
	}
	slices.SortStableFunc(started, func(a, b rundir.RankRecord) int { return a.Started.Compare(b.Started) })
	var list []entry
	for i, r := range started {
		if i > 0 && r.Started.Sub(list[len(list)-1].at) < together {
			last := &list[len(list)-1]
			last.ranks = append(last.ranks, r.Rank)
			continue
		}
		list = append(list, entry{at: r.Started, ranks: []int{r.Rank}, fate: Running})
	}
	for i := range list {
		list[i].text = "started"
	}
	return list
}

// ends groups the ends of ranks that ended alike.
func ends(a rundir.AttemptRecord) []entry {
	var ended []entry
	for i, f := range fates(a) {
		r := a.Ranks[i]
		if f == Running || f == Lost || r.Ended.IsZero() && f != Unstarted {
			continue
		}
		at := r.Ended
		if f == FailedToo && a.Cause != nil {
			at = later(at, a.Cause.At) // within what can be told apart, the cause is first
		}
		ended = append(ended, entry{at: at, ranks: []int{r.Rank}, fate: f, text: howEnded(f, r)})
	}
	slices.SortStableFunc(ended, func(a, b entry) int { return byTime(a.at, b.at) })
	var list []entry
	for _, e := range ended {
		// The latest of its kind: between ends of one kind there may be others.
		i := len(list) - 1
		for i >= 0 && (list[i].fate != e.fate || list[i].text != e.text) {
			i--
		}
		if i >= 0 && e.at.Sub(list[i].at) < together {
			list[i].ranks = append(list[i].ranks, e.ranks...)
			continue
		}
		list = append(list, e)
	}
	return list
}

// howEnded is the end of a rank: "failed first: exit code 3".
func howEnded(f Fate, r rundir.RankRecord) string {
	words, how := f.text().words, ending(r.ExitCode, r.Signal, r.Reason)
	if how == "" || f == Succeeded || f == Unstarted {
		return words
	}
	return words + ": " + how
}

// said puts an event into words.
func said(e rundir.Event) string {
	signal, message := short(e.Signal, 40), short(e.Message, 200)
	switch e.Kind {
	case rundir.SignalTaken:
		return strings.TrimSuffix("the launcher received "+signal+": "+message, ": ")
	case rundir.StopBegan:
		return "stopping " + count(e.Count, "rank") + ": " + message
	case rundir.StopEscalated:
		return count(e.Count, "rank") + " did not end in time: " + signal
	case rundir.RanksStuck:
		return count(len(e.Pids), "process") + " did not end even by SIGKILL"
	case rundir.GuardGone:
		return strings.TrimSuffix("the guard has ended: "+message, ": ")
	case rundir.StepGone:
		return "the Slurm step has gone: its slurmstepd has ended"
	case rundir.EventsLost:
		return count(e.Count, "event") + " could not be written"
	}
	return short(e.Kind, 40)
}

// compare orders by time. Of what happened at once, the failure that decided is told
// first.
func (e entry) compare(other entry) int {
	if order := byTime(e.at, other.at); order != 0 || len(e.ranks) == 0 || len(other.ranks) == 0 {
		return order
	}
	return int(e.fate - other.fate)
}

// who is the subject of an entry: "ranks 0-7 ".
func (e entry) who() string {
	if len(e.ranks) == 0 {
		return ""
	}
	return ranksWord(e.ranks) + " "
}
