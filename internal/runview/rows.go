package runview

import (
	"slices"
	"time"

	"lenslaunch/internal/rundir"
)

// row is a line of an attempt's timeline: a rank, or ranks that fared alike.
type row struct {
	ranks    []int
	fate     Fate
	how      string // "exit code 3", empty: nothing to add to the fate
	from, to time.Time
	pid      int    // of the only rank, else 0
	host     string // of all of them, else empty
}

// separately is how many ranks an attempt may have for each to get a row of its own.
const separately = 32

// rows are the lines of an attempt's timeline, and how many ranks found no place on
// them. Large attempts are grouped: the ranks that failed first stand alone.
func (r *Run) rows(a rundir.AttemptRecord, now time.Time, most int) (list []row, left int) {
	hosts := r.hostsOf(a)
	all := fates(a)
	for i, rank := range a.Ranks {
		one := row{
			ranks: []int{rank.Rank}, fate: all[i], how: ending(rank.ExitCode, rank.Signal, rank.Reason),
			from: rank.Started, to: rank.Ended, pid: rank.Pid, host: hosts[rank.Node],
		}
		if one.fate == Unstarted || one.fate == Succeeded { // their words say it
			one.how = ""
		}
		if one.to.IsZero() && !one.from.IsZero() {
			one.to = r.attemptEnd(a, now)
		}
		list = add(list, one, len(a.Ranks) > separately)
	}
	if len(a.Ranks) > separately {
		slices.SortStableFunc(list, func(a, b row) int { return int(a.fate - b.fate) })
	}
	for len(list) > most {
		left += len(list[len(list)-1].ranks)
		list = list[:len(list)-1]
	}
	return list, left
}

// add appends a rank to the row of its like, or as a row.
func add(list []row, one row, group bool) []row {
	i := slices.IndexFunc(list, func(r row) bool { return r.fate == one.fate && r.how == one.how })
	if !group || i < 0 || one.fate == FailedFirst {
		return append(list, one)
	}
	r := &list[i]
	r.ranks, r.pid = append(r.ranks, one.ranks...), 0
	if r.host != one.host {
		r.host = ""
	}
	if r.from.IsZero() || one.from.Before(r.from) && !one.from.IsZero() {
		r.from = one.from
	}
	r.to = later(r.to, one.to)
	return list
}
