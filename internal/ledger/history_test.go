package ledger

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// grow adds attempts without going through files.
func grow(t *testing.T, h History, count int, in func(i int) Inputs) History {
	t.Helper()
	for i := range count {
		a, err := Next(h, in(i))
		if err != nil {
			t.Fatal(err)
		}
		a.UUID, a.Began = testUUID(a.Execution, a.Number), testTime
		h.Attempts = append(h.Attempts, a)
		if len(h.Attempts) > keep {
			h.Attempts = h.Attempts[:keep]
			h = h.with(a)
		}
	}
	return h
}

// A loop that restarts for ever neither fills the disk nor counts anew.
func TestGrowthIsBounded(t *testing.T) {
	h := History{}
	for i := range keep {
		h.Attempts = append(h.Attempts, Attempt{
			Number: int64(i), RestartCount: n(int64(i)), UUID: testUUID("0", int64(i)), Began: testTime, Execution: "0",
		})
	}
	h = grow(t, h, 5, func(int) Inputs { return Inputs{Slurm: true, Execution: "0"} })
	if len(h.Attempts) != keep || h.Len() != keep+5 || h.Attempts[0].Number != 5 {
		t.Fatalf("%d listed, %d in all, the first is number %d", len(h.Attempts), h.Len(), h.Attempts[0].Number)
	}
	want := Dropped{Attempts: 5, RestartCount: n(4), Executions: []Counting{{"0", 5}}}
	if diff := cmp.Diff(want, h.Dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	a, err := Next(h, Inputs{Slurm: true, Execution: "0"})
	if err != nil || a.Number != keep+5 || *a.RestartCount != keep+5 {
		t.Errorf("next: %+v, %v", a, err)
	}
}

// An execution whose attempts are all dropped goes on where it was.
func TestDroppedExecutionKeepsItsCount(t *testing.T) {
	old := Attempt{Number: 6, RestartCount: n(20), UUID: testUUID("old", 6), Began: testTime, Execution: "old"}
	h := History{Dropped: Dropped{}.with(old)}
	if got := h.NextNumber("old"); got != 7 {
		t.Errorf("next number %d, want 7", got)
	}
	if got := h.LastRestartCount(); got == nil || *got != 20 {
		t.Errorf("last restart count %v, want 20", got)
	}
	if got := play(t, h, Inputs{Slurm: true, Execution: "old"}); got[0] != "21/7" {
		t.Errorf("next attempt %v", got)
	}
}

func TestDroppedForgetsTheLeastRecent(t *testing.T) {
	d := Dropped{}
	for i := range keep {
		d.Executions = append(d.Executions, Counting{fmt.Sprint(i), 1})
	}
	d = d.with(Attempt{Number: 3, Execution: "0"}) // used again: moves to the end
	d = d.with(Attempt{Number: 0, Execution: "new"})
	if len(d.Executions) != keep || d.Executions[0].Execution != "2" {
		t.Errorf("%d executions, the first is %+v", len(d.Executions), d.Executions[0])
	}
	tail := d.Executions[keep-2:]
	if diff := cmp.Diff([]Counting{{"0", 4}, {"new", 1}}, tail); diff != "" {
		t.Errorf("end of the list (-want +got):\n%s", diff)
	}
	if d.RestartCount != nil || d.Attempts != 2 {
		t.Errorf("dropped %+v", d.Attempts)
	}
}

// A number that falls behind in one execution does not lower its count.
func TestDroppedCountNeverFalls(t *testing.T) {
	d := Dropped{}.with(Attempt{Number: 9}).with(Attempt{Number: 2})
	if diff := cmp.Diff([]Counting{{"", 10}}, d.Executions); diff != "" {
		t.Errorf("executions (-want +got):\n%s", diff)
	}
}

func TestHistoryOfNothing(t *testing.T) {
	var h History
	if _, ok := h.Last(); ok || h.Len() != 0 || h.LastRestartCount() != nil || h.NextNumber("") != 0 {
		t.Errorf("the zero History is not empty")
	}
	h = h.with(Attempt{Number: 4})
	if last, ok := h.Last(); !ok || last.Number != 4 || h.Len() != 1 {
		t.Errorf("last %+v", last)
	}
}
