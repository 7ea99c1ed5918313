package launcher

import (
	"fmt"
	"time"

	"lenslaunch/internal/proc"
)

// Policy says when a failed attempt is followed by another one (the launch
// specification, "Restart" and the flags' table).
type Policy struct {
	MaxRestarts int           // restarts of this invocation
	Window      time.Duration // count only those of so long ago, 0: all of them
	Delay       time.Duration // before the first restart in a row
	DelayMax    time.Duration // bound of the doubled delays, and the life that ends a row
	RestartOn   ExitSet       // empty: every failure that NoRestartOn does not name
	NoRestartOn ExitSet       // fatal ends; stronger than RestartOn
	MinUptime   time.Duration // an attempt that fails sooner is a start-up failure
}

// Ended is what the policy needs to know of an attempt that failed.
type Ended struct {
	Cause  proc.Exit
	At     time.Time     // its end
	Uptime time.Duration // from the start of its first rank to the first failure
}

// Decision is what follows a failed attempt, and why.
type Decision struct {
	Restart bool
	Delay   time.Duration // before the next attempt
	Reason  string        // for the log and the report
}

// decide is the restart policy: a pure function of the failed attempts of this
// invocation, oldest first and at least one, and of a random number in [0, 1).
func (p Policy) decide(failed []Ended, random float64) Decision {
	last := failed[len(failed)-1]
	restarts := p.restarts(failed)
	switch {
	case p.MaxRestarts == 0:
		return Decision{Reason: "no restarts were asked for (--max-restarts 0)"}
	case p.NoRestartOn.Has(last.Cause):
		return Decision{Reason: fmt.Sprintf("%v is fatal by --no-restart-on %v", last.Cause, p.NoRestartOn)}
	case !p.RestartOn.Empty() && !p.RestartOn.Has(last.Cause):
		return Decision{Reason: fmt.Sprintf("%v is not in --restart-on %v", last.Cause, p.RestartOn)}
	case p.startupFailures(failed) >= 2:
		return Decision{Reason: fmt.Sprintf("two attempts in a row failed before --min-uptime %v", p.MinUptime)}
	case restarts >= p.MaxRestarts:
		return Decision{Reason: p.usedUp()}
	}
	return Decision{
		Restart: true,
		Delay:   p.delay(p.row(failed), random),
		Reason:  fmt.Sprintf("restart %d of %d", restarts+1, p.MaxRestarts),
	}
}

// restarts counts the restarts that there have been, within the window: a job that
// fails once a day is no crash loop.
func (p Policy) restarts(failed []Ended) int {
	n, last := 0, failed[len(failed)-1].At
	for _, f := range failed[:len(failed)-1] {
		if p.Window == 0 || last.Sub(f.At) < p.Window {
			n++
		}
	}
	return n
}

// startupFailures counts the latest attempts in a row that failed too soon.
func (p Policy) startupFailures(failed []Ended) int {
	n := 0
	for i := len(failed) - 1; i >= 0 && failed[i].Uptime < p.MinUptime; i-- {
		n++
	}
	return n
}

// row counts the failures since an attempt that lived long enough to be called
// healthy: only such an attempt resets the back-off (Supervisor#1189).
func (p Policy) row(failed []Ended) int {
	n := 1
	for i := len(failed) - 1; i > 0 && failed[i].Uptime < p.DelayMax; i-- {
		n++
	}
	return n
}

func (p Policy) usedUp() string {
	if p.MaxRestarts == 1 {
		return "the one restart is used up"
	}
	if p.Window > 0 {
		return fmt.Sprintf("all %d restarts within --restart-window %v are used up", p.MaxRestarts, p.Window)
	}
	return fmt.Sprintf("all %d restarts are used up", p.MaxRestarts)
}

// delay is min(max, Delay * 2^(k-1)) times a uniform 0.5 to 1, so that many jobs
// that failed together do not return together.
func (p Policy) delay(k int, random float64) time.Duration {
	d := p.Delay
	for i := 1; i < k && d < p.DelayMax; i++ {
		d *= 2
	}
	d = min(d, p.DelayMax)
	return time.Duration(float64(d) * (0.5 + random/2))
}
