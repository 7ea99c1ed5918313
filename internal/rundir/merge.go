package rundir

import (
	"cmp"
	"slices"
	"time"
)

// merge makes one run of those that the nodes wrote, at least one. With a single
// one it is that.
func merge(runs []Run) *Run {
	all := latest(runs)
	all.Parts = slices.Clone(runs)
	for i := range all.Parts {
		all.Parts[i].Parts = nil
	}
	if len(runs) == 1 {
		return &all
	}
	all.Attempts, all.Dropped = mergeAttempts(runs), 0
	for _, r := range runs {
		all.Started = earliest(all.Started, r.Started)
		all.Dropped = max(all.Dropped, r.Dropped)
		all.Seen = later(all.Seen, r.Seen)
	}
	all.join(current(runs, all))
	return &all
}

// join makes the end of a run that of all its nodes.
func (r *Run) join(nodes []Run) {
	first := nodes[0]
	r.Node, r.Launcher, r.Outcome, r.Ranks = first.Node, first.Launcher, first.Outcome, 0
	r.Ended, r.ExitCode, r.Problem = time.Time{}, nil, ""
	running := false
	for _, n := range nodes {
		r.Ranks += n.Ranks
		r.Problem = cmp.Or(r.Problem, n.Problem)
		r.Outcome = worse(r.Outcome, n.Outcome)
		r.Ended = later(r.Ended, n.Ended)
		running = running || n.Ended.IsZero()
		if r.ExitCode == nil || *r.ExitCode == 0 {
			r.ExitCode = cmp.Or(n.ExitCode, r.ExitCode)
		}
	}
	if running {
		r.Ended, r.ExitCode = time.Time{}, nil
	}
}

// latest is the run whose launcher spoke for the directory last: where a job ran on one
// node first and then on several, the earlier files stay.
func latest(runs []Run) Run {
	return slices.MaxFunc(runs, func(a, b Run) int { return a.lastBegan().Compare(b.lastBegan()) })
}

func (r Run) lastBegan() time.Time {
	last := r.Started
	for _, a := range r.Attempts {
		last = later(last, a.Began)
	}
	return last
}

// current are the runs that belong to the same execution as the latest one.
func current(runs []Run, last Run) []Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool {
		return r.RunID != last.RunID || r.Nodes != last.Nodes
	})
}

// worse is the outcome of two nodes: what one of them did not finish is not finished.
func worse(a, b string) string {
	order := []string{OutcomeSuccess, OutcomeSaved, OutcomeStopped, OutcomeUnknown, OutcomeFailed, OutcomeRunning}
	if slices.Index(order, a) > slices.Index(order, b) {
		return a
	}
	return b
}

// mergeAttempts puts together what several nodes say of the same attempt.
func mergeAttempts(runs []Run) []AttemptRecord {
	type key struct {
		name, uuid string
		again      int // an attempt can be continued under its name
	}
	var all []AttemptRecord
	place := map[key]int{}
	for _, r := range runs {
		seen := map[key]int{}
		for _, a := range r.Attempts {
			k := key{name: a.Name, uuid: a.UUID}
			seen[k]++
			k.again = seen[k]
			if i, there := place[k]; there {
				all[i] = all[i].with(a)
				continue
			}
			place[k] = len(all)
			a.Ranks = slices.Clone(a.Ranks)
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b AttemptRecord) int { return a.Began.Compare(b.Began) })
	return all
}

// with adds what another node says. It does not change b.
func (a AttemptRecord) with(b AttemptRecord) AttemptRecord {
	a.Began = earliest(a.Began, b.Began)
	if a.Ended.IsZero() || b.Ended.IsZero() {
		a.Ended = time.Time{}
	} else {
		a.Ended = later(a.Ended, b.Ended)
	}
	a.Outcome = worse(a.Outcome, b.Outcome)
	// The failure that came first decides, and what its node knows goes with it.
	if b.Cause != nil && (a.Cause == nil || b.Cause.At.Before(a.Cause.At)) {
		a.Cause, a.Simultaneous, a.Next = b.Cause, b.Simultaneous, b.Next
		a.Failed = union(b.Failed, a.Failed)
	} else {
		a.Failed = union(a.Failed, b.Failed)
	}
	if a.Next == nil {
		a.Next = b.Next
	}
	a.Signal = cmp.Or(a.Signal, b.Signal)
	a.MasterAddr, a.MasterPort = cmp.Or(a.MasterAddr, b.MasterAddr), cmp.Or(a.MasterPort, b.MasterPort)
	a.Stopped = union(a.Stopped, b.Stopped)
	a.Left = slices.Concat(a.Left, b.Left)
	a.Warnings = union(a.Warnings, b.Warnings)
	a.Trimmed = a.Trimmed || b.Trimmed
	a.Ranks = slices.Concat(a.Ranks, b.Ranks)
	slices.SortStableFunc(a.Ranks, func(x, y RankRecord) int { return cmp.Compare(x.Rank, y.Rank) })
	return a
}

// union is first, and what second has besides.
func union[T comparable](first, second []T) []T {
	all := slices.Clone(first)
	for _, v := range second {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
