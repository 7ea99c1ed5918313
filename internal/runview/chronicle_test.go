package runview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/rundir"
)

// told is a chronicle as lines.
func told(a rundir.AttemptRecord, list []entry) []string {
	var lines []string
	for _, e := range list {
		lines = append(lines, since(e.at, a.Began)+" "+e.who()+e.text)
	}
	return lines
}

func TestChronicle(t *testing.T) {
	r := failedRun()
	a := r.Attempts[0]
	a.Ranks[7].Started = a.Began.Add(5 * time.Second) // one that was late
	want := []string{
		"+0ms ranks 0-6 started",
		"+5.0s rank 7 started",
		"+29.0s rank 0 succeeded",
		"+39.0s rank 3 failed first: exit code 3",
		"+39.0s rank 2 failed at the same time: exit code 3",
		"+39.0s stopping 5 ranks: SIGTERM, after 15s SIGKILL",
		"+39.1s rank 5 failed after it: SIGABRT",
		"+39.3s ranks 1,4,6-7 stopped: SIGTERM",
		"+41.0s attempt ended: failed",
	}
	if diff := cmp.Diff(want, told(a, r.chronicle(a, 100))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Of very many entries the first and the last are told.
func TestChronicleIsBounded(t *testing.T) {
	r := failedRun()
	a := r.Attempts[0]
	for i := range 1000 {
		r.Events = append(r.Events, rundir.Event{Time: a.Began.Add(time.Duration(i) * time.Millisecond), Kind: fmt.Sprint("kind-", i), Attempt: a.Name})
	}
	list := told(a, r.chronicle(a, 20))
	if len(list) != 20 || !strings.Contains(list[0], "started") || !strings.Contains(list[19], "attempt ended") {
		t.Errorf("%d entries: %q", len(list), list)
	}
	if got := list[10]; !strings.HasSuffix(got, "… 989 more …") {
		t.Errorf("%q", got)
	}
}

// Ends that come one after the other for an hour are not one.
func TestEndsApart(t *testing.T) {
	a := rundir.AttemptRecord{Name: "attempt-0", Began: began(), Outcome: rundir.OutcomeSuccess}
	for i := range 4 {
		a.Ranks = append(a.Ranks, rundir.RankRecord{Rank: i, ExitCode: ptr(0), Ended: began().Add(time.Duration(i/2) * time.Hour)})
	}
	want := []string{"+0ms ranks 0-1 succeeded", "+1h00m ranks 2-3 succeeded"}
	if diff := cmp.Diff(want, told(a, ends(a))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSaid(t *testing.T) {
	tests := []struct {
		event rundir.Event
		want  string
	}{
		{rundir.Event{Kind: rundir.SignalTaken, Signal: "SIGTERM", Message: "stop"}, "the launcher received SIGTERM: stop"},
		{rundir.Event{Kind: rundir.SignalTaken, Signal: "SIGTERM"}, "the launcher received SIGTERM"},
		{rundir.Event{Kind: rundir.StopBegan, Message: "SIGTERM, after 15s SIGKILL", Count: 1}, "stopping 1 rank: SIGTERM, after 15s SIGKILL"},
		{rundir.Event{Kind: rundir.StopEscalated, Signal: "SIGKILL", Count: 3}, "3 ranks did not end in time: SIGKILL"},
		{rundir.Event{Kind: rundir.RanksStuck, Pids: []int{1, 2}}, "2 processes did not end even by SIGKILL"},
		{rundir.Event{Kind: rundir.GuardGone}, "the guard has ended"},
		{rundir.Event{Kind: rundir.EventsLost, Count: 2}, "2 events could not be written"},
		{rundir.Event{Kind: "of a later\x1b[2J version"}, "of a later version"},
	}
	for _, tt := range tests {
		if got := said(tt.event); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
