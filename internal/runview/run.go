package runview

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"lenslaunch/internal/rundir"
)

// Run is a run directory as the views see it.
type Run struct {
	rundir.Run
	Dir    string         // as the user named it
	Events []rundir.Event // those that tell more than run.json, in order of time
	Torn   error          // why not all could be read, nil
}

// Load reads a run directory. Events that cannot be read leave a report poorer and
// do not stop it.
func Load(dir string) (*Run, error) {
	run, err := rundir.Read(dir)
	if run == nil {
		return nil, err
	}
	// What some nodes wrote is worth showing although others' files cannot be read.
	r := &Run{Run: *run, Dir: filepath.Clean(dir), Torn: err}
	for e, err := range rundir.Events(dir) {
		if err != nil {
			r.Torn = errors.Join(r.Torn, err)
			break
		}
		if tells(e) {
			r.Events = append(r.Events, e)
		}
		if len(r.Events) > eventsKept {
			r.Events = slices.Delete(r.Events, 0, eventsKept/2)
		}
	}
	return r, nil
}

// eventsKept bounds the memory for events, of which the latest are kept. There are a
// few in an attempt.
const eventsKept = 20_000

// tells reports whether an event says what run.json does not.
func tells(e rundir.Event) bool {
	switch e.Kind {
	case rundir.SignalTaken, rundir.StopBegan, rundir.StopEscalated, rundir.RanksStuck, rundir.GuardGone, rundir.StepGone, rundir.EventsLost:
		return true
	}
	return false
}

// Live reports whether the run goes on, as far as can be told.
func (r *Run) Live() bool { return r.Outcome == "" || r.Outcome == rundir.OutcomeRunning }

// deciding is the attempt that a reader wants to know about: the latest that failed,
// else the latest; nil if there is none.
func (r *Run) deciding() *rundir.AttemptRecord {
	for i := len(r.Attempts) - 1; i >= 0; i-- {
		if r.Attempts[i].Cause != nil {
			return &r.Attempts[i]
		}
	}
	if len(r.Attempts) == 0 {
		return nil
	}
	return &r.Attempts[len(r.Attempts)-1]
}

// end is when the run ended, or the last thing that is known of it, or now.
func (r *Run) end(now time.Time) time.Time {
	if !r.Ended.IsZero() {
		return r.Ended
	}
	if r.Live() {
		return now
	}
	last := later(r.Started, r.Seen)
	for _, a := range r.Attempts {
		last = later(last, r.attemptEnd(a, now))
	}
	return last
}

// attemptEnd is the same of an attempt.
func (r *Run) attemptEnd(a rundir.AttemptRecord, now time.Time) time.Time {
	if !a.Ended.IsZero() {
		return a.Ended
	}
	if !over(a) {
		return now
	}
	last := a.Began
	for _, rank := range a.Ranks {
		last = later(later(last, rank.Started), rank.Ended)
	}
	if n := len(r.Attempts); n > 0 && r.Attempts[n-1].Name == a.Name {
		last = later(last, r.Seen) // its launcher lived at least as long
	}
	return last
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// parts are the nodes of the run as it is now: an earlier job of another size may have
// left its files.
func (r *Run) parts() []rundir.Run {
	return slices.DeleteFunc(slices.Clone(r.Parts), func(part rundir.Run) bool {
		return part.Nodes != r.Nodes || part.RunID != r.RunID
	})
}

// hosts are the machines of a run by node.
func (r *Run) hosts() map[int]string {
	hosts := map[int]string{r.Node: r.Launcher.Host}
	for _, part := range r.parts() {
		hosts[part.Node] = part.Launcher.Host
	}
	return hosts
}

// hostsOf are those of an attempt, clean: a job that was requeued may have moved.
func (r *Run) hostsOf(a rundir.AttemptRecord) map[int]string {
	hosts := map[int]string{}
	for _, part := range append(slices.Clone(r.Parts), r.Run) {
		for _, other := range part.Attempts {
			if other.Name == a.Name && other.UUID == a.UUID && other.Host != "" && hosts[part.Node] == "" {
				hosts[part.Node] = short(other.Host, 60)
			}
		}
	}
	return hosts
}

// verdict is the run in a few words: what a reader looks for first.
func (r *Run) verdict() string {
	switch {
	case r.Outcome == rundir.OutcomeSuccess:
		return "succeeded"
	case r.Outcome == rundir.OutcomeUnknown:
		return "ended without a word: its launcher is gone"
	case r.Live():
		return "running"
	}
	text := short(r.Outcome, 40)
	if r.Outcome == rundir.OutcomeSaved {
		text = "saved as asked, to be run again"
	}
	if n := len(r.Attempts); r.Outcome == rundir.OutcomeStopped && n > 0 && r.Attempts[n-1].Signal != "" {
		text += " by " + short(r.Attempts[n-1].Signal, 40)
	}
	if r.ExitCode != nil {
		text += fmt.Sprintf(", exit code %d", *r.ExitCode)
	}
	return text
}

// restarts counts the attempts behind the first.
func (r *Run) restarts() int { return max(len(r.Attempts)+r.Dropped-1, 0) }

// byTime orders by a time; what has none comes last.
func byTime(a, b time.Time) int {
	return cmp.Or(compareBool(a.IsZero(), b.IsZero()), a.Compare(b))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
