package runview

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"lenslaunch/internal/rundir"
)

// errorLimit bounds what is shown of the text of an error, in bytes.
const errorLimit = 16 << 10

// cause is the failure that decided an attempt, in words.
type cause struct {
	headline string // "rank 3 failed: exit code 3"
	where    string // "local rank 3 on gpu-01, pid 4711, attempt 1, after 12.3s"
	title    string // of the text: "the error it reported"; empty: there is none
	text     string
	missing  string // why there is no text
	doing    string // "train (1m02s) > allreduce (1.9s)"; empty: not known
	effects  string // "ranks 0-2 stopped; rank 5 failed after it"
	next     string // "restart 1 of 3 in 1s"
	file     string // where its errors went
}

// causeOf puts the failure of an attempt into words; ok is false if there was none.
func (r *Run) causeOf(a rundir.AttemptRecord) (c cause, ok bool) {
	if a.Cause == nil {
		return cause{}, false
	}
	f := *a.Cause
	c.headline = fmt.Sprintf("rank %d failed: %s", f.Rank, what(f))
	if f.Reason == "spawn" {
		c.headline = fmt.Sprintf("rank %d %s", f.Rank, what(f))
	}
	c.where = r.place(a, f)
	c.title, c.text, c.missing = evidence(f)
	c.doing = doingOf(a, f.Rank)
	c.effects = effects(a)
	c.next = next(a)
	c.file = oneLine(filepath.Join(r.Dir, a.Name, source{f.Rank, rundir.Err}.file()))
	return c, true
}

// occasion says what a failure means to the run: a failure that was survived is not why
// a run ended.
func (r *Run) occasion(a rundir.AttemptRecord) string {
	if r.Outcome == rundir.OutcomeFailed && a.Name == r.Attempts[len(r.Attempts)-1].Name {
		return "cause"
	}
	return "latest failure, in " + label(a)
}

// what says how the rank failed and what that means: "SIGKILL: killed by the kernel
// for memory, ...".
func what(f rundir.CauseRecord) string {
	how, why := ending(f.ExitCode, f.Signal, f.Reason), short(f.Why, 400)
	switch {
	case why == "":
		return how
	case how == "" || strings.Contains(why, f.Signal) && f.Signal != "" || strings.Contains(why, how):
		return why
	}
	return how + ": " + why
}

func (r *Run) place(a rundir.AttemptRecord, f rundir.CauseRecord) string {
	parts := []string{fmt.Sprintf("local rank %d", f.Local)}
	if host := r.hostsOf(a)[f.Node]; host != "" {
		parts[0] += " on " + host
	}
	if f.Pid != 0 {
		parts = append(parts, fmt.Sprintf("pid %d", f.Pid))
	}
	parts = append(parts, fmt.Sprintf("attempt %d", a.Number))
	if !f.At.IsZero() && !a.Began.IsZero() {
		parts = append(parts, "after "+lasted(f.At.Sub(a.Began)))
	}
	return strings.Join(parts, ", ")
}

// evidence is what the rank said of its failure.
func evidence(f rundir.CauseRecord) (title, text, missing string) {
	switch {
	case f.Message != "":
		return "the error it reported", cleanText(f.Message), ""
	case len(f.Stderr) > 0:
		return "its last lines of stderr", cleanText(strings.Join(f.Stderr, "\n")), ""
	case f.Unseen:
		return "", "", "its stderr went straight to the console"
	}
	return "", "", "it wrote nothing to stderr"
}

// cleanText is the text of an error, of errorLimit at the most.
func cleanText(text string) string {
	return clipMiddle(clean(clipMiddle(text, 4*errorLimit)), errorLimit)
}

// effects says what the failure did to the others.
func effects(a rundir.AttemptRecord) string {
	var parts []string
	add := func(ranks []int, what string) {
		if len(ranks) > 0 {
			parts = append(parts, ranksWord(ranks)+what)
		}
	}
	if len(a.Failed) > 0 {
		same := min(max(a.Simultaneous, 1), len(a.Failed))
		add(a.Failed[1:same], " failed at the same time")
		add(a.Failed[same:], " failed after it")
	}
	add(a.Stopped, " stopped")
	return strings.Join(parts, "; ")
}

// next says what followed an attempt.
func next(a rundir.AttemptRecord) string {
	switch {
	case a.Next == nil:
		return ""
	case a.Next.Restart:
		return fmt.Sprintf("%s in %s", short(a.Next.Reason, 200), lasted(a.Next.Delay))
	}
	return "no restart: " + short(a.Next.Reason, 200)
}

// summary is an attempt in a few words.
func summary(a rundir.AttemptRecord) string {
	outcome := short(a.Outcome, 40)
	switch {
	case !over(a):
		return "running"
	case a.Cause != nil:
		return fmt.Sprintf("%s: rank %d, %s", outcome, a.Cause.Rank, ending(a.Cause.ExitCode, a.Cause.Signal, a.Cause.Reason))
	case a.Signal != "":
		return outcome + " by " + short(a.Signal, 40)
	case a.Outcome == rundir.OutcomeUnknown:
		return "no end recorded"
	}
	return outcome
}

// since is a time on the clock of an attempt: "+12.3s".
func since(at, began time.Time) string {
	if at.IsZero() || began.IsZero() {
		return "?"
	}
	return "+" + lasted(at.Sub(began))
}
