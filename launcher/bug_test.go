package launcher

import (
	"strings"
	"testing"
)

// A panic anywhere in a run is the loop's, with the place that it came from.
func TestBugInTheBackground(t *testing.T) {
	inputs := make(chan input)
	e := &effects{inputs: inputs, done: make(chan struct{})}
	l := loop{inputs: inputs, machine: &fakeMachine{}}
	e.background(func() { panic("no such state") })
	defer func() {
		bug, ok := recover().(Bug)
		if !ok || bug.String() != "no such state" || !strings.Contains(string(bug.Stack), "TestBugInTheBackground") {
			t.Errorf("recovered %v", bug)
		}
		e.running.Wait()
	}()
	l.step(<-inputs)
	t.Error("the loop goes on")
}

// One that comes after the end of the run is nobody's.
func TestBugAfterTheEnd(t *testing.T) {
	e := &effects{inputs: make(chan input), done: make(chan struct{})}
	close(e.done)
	e.background(func() { panic("no such state") })
	e.running.Wait()
}
