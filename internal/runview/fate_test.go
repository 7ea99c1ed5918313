package runview

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/rundir"
)

func TestFates(t *testing.T) {
	a := failedAttempt(0, began(), 1)
	want := []Fate{Succeeded, Stopped, FailedToo, FailedFirst, Stopped, FailedLater, Stopped, Stopped}
	if diff := cmp.Diff(want, fates(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFate(t *testing.T) {
	over := rundir.AttemptRecord{Outcome: rundir.OutcomeFailed}
	tests := []struct {
		name    string
		attempt rundir.AttemptRecord
		rank    rundir.RankRecord
		want    Fate
	}{
		{"not ended", rundir.AttemptRecord{}, rundir.RankRecord{Pid: 1}, Running},
		{"not ended, and said so", rundir.AttemptRecord{Outcome: rundir.OutcomeRunning}, rundir.RankRecord{Pid: 1}, Running},
		{"not ended, but the attempt", over, rundir.RankRecord{Pid: 1}, Lost},
		{"well", rundir.AttemptRecord{}, rundir.RankRecord{ExitCode: ptr(0)}, Succeeded},
		{"badly, before anybody said so", rundir.AttemptRecord{}, rundir.RankRecord{ExitCode: ptr(1)}, FailedLater},
		{"by a signal", over, rundir.RankRecord{Signal: "SIGSEGV"}, FailedLater},
		{"stopped, by its reason", over, rundir.RankRecord{Signal: "SIGTERM", Reason: "stopped"}, Stopped},
		{"could not be started", over, rundir.RankRecord{Reason: "spawn"}, Unstarted},
		{"the cause could not be started", rundir.AttemptRecord{Cause: &rundir.CauseRecord{Rank: 0}}, rundir.RankRecord{Reason: "spawn"}, FailedFirst},
		{"stopped with code 0", rundir.AttemptRecord{Stopped: []int{0}}, rundir.RankRecord{ExitCode: ptr(0)}, Stopped},
	}
	for _, tt := range tests {
		if got := fate(tt.attempt, tt.rank); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got.text().words, tt.want.text().words)
		}
	}
}

// While the survivors are being stopped nobody has recorded a cause yet: the earliest
// failure is shown as the first.
func TestFatesBeforeTheCauseIsKnown(t *testing.T) {
	at := func(s int) time.Time { return began().Add(time.Duration(s) * time.Second) }
	a := rundir.AttemptRecord{Ranks: []rundir.RankRecord{
		{Rank: 0, ExitCode: ptr(0), Ended: at(1)},
		{Rank: 1, Signal: "SIGTERM", Reason: "stopped", Ended: at(2)},
		{Rank: 2, ExitCode: ptr(1), Ended: at(5)},
		{Rank: 3, Signal: "SIGSEGV", Ended: at(3)},
		{Rank: 4, Pid: 9},
	}}
	want := []Fate{Succeeded, Stopped, FailedLater, FailedFirst, Running}
	if diff := cmp.Diff(want, fates(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a.Outcome = rundir.OutcomeUnknown // and its launcher was killed then
	want[4] = Lost
	if diff := cmp.Diff(want, fates(a)); diff != "" {
		t.Errorf("of a lost run (-want +got):\n%s", diff)
	}
}

// No two fates may differ in colour alone: not all readers see it.
func TestFatesDifferWithoutColour(t *testing.T) {
	var seen [3]map[string]bool
	for f := range Fate(fateKinds) {
		text := f.text()
		for i, part := range []string{text.class, text.symbol, text.words} {
			if seen[i][part] || part == "" {
				t.Errorf("%q is not %d's alone", part, f)
			}
			if seen[i] == nil {
				seen[i] = map[string]bool{}
			}
			seen[i][part] = true
		}
	}
}

func TestEnding(t *testing.T) {
	tests := []struct {
		code           *int
		signal, reason string
		want           string
	}{
		{nil, "", "", ""}, {ptr(3), "", "exit", "exit code 3"}, {nil, "SIGSEGV", "signal", "SIGSEGV"},
		{nil, "SIGKILL", "oom", "SIGKILL, out of memory"}, {nil, "SIGABRT", "hang", "SIGABRT, after it had hung"},
		{nil, "", "spawn", "could not be started"}, {nil, "SIG\x1b[31mX", "", "SIGX"},
	}
	for _, tt := range tests {
		if got := ending(tt.code, tt.signal, tt.reason); got != tt.want {
			t.Errorf("%v %q %q: %q, want %q", tt.code, tt.signal, tt.reason, got, tt.want)
		}
	}
}
