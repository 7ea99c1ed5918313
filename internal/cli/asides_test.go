package cli

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/launcher"
)

// What is said before the run comes before its first event, in order; what is said later
// before the next one; and the rest at the end.
func TestAsidesComeInOrder(t *testing.T) {
	var got []string
	say := func(message string, args ...any) { got = append(got, message+fmt.Sprint(args...)) }
	a := &asides{}
	warn := a.warn(say)
	tell := func(name string) { a.before(func(launcher.Event) { say(name) })(launcher.RunEnded{}) }
	warn("why")
	warn("warning ", 1)
	tell("begin")
	tell("goes on")
	warn("telemetry")
	tell("end")
	warn("lost")
	a.later(func() { warn("and so") })
	a.end(time.Minute)
	if diff := cmp.Diff([]string{"why", "warning 1", "begin", "goes on", "telemetry", "end", "lost", "and so"}, got); diff != "" {
		t.Error(diff)
	}
}

// Whoever says something never waits, and the end does not wait for ever.
func TestAsidesThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		console := make(chan struct{})
		stuck := func() { <-console }
		a := &asides{}
		a.later(stuck)
		go a.before(func(launcher.Event) {})(launcher.RunEnded{})
		synctest.Wait()
		a.later(stuck)
		began := time.Now()
		a.end(lastAside)
		if waited := time.Since(began); waited != lastAside {
			t.Errorf("it waited %v, want %v", waited, lastAside)
		}
		close(console) // a bubble must end without goroutines
	})
}
