package runview

import (
	"testing"

	"lenslaunch/internal/rundir"
)

// The verdict says what somebody does next, whatever came before the last attempt.
func TestVerdict(t *testing.T) {
	failed := rundir.AttemptRecord{Name: "attempt-0", Outcome: rundir.OutcomeFailed, Cause: &rundir.CauseRecord{Rank: 3}}
	told := rundir.AttemptRecord{Name: "attempt-1", Outcome: rundir.OutcomeStopped, Signal: "SIGTERM"}
	tests := []struct {
		outcome  string
		code     int // -1: none
		attempts []rundir.AttemptRecord
		want     string
	}{
		{rundir.OutcomeSuccess, 0, nil, "succeeded"},
		{rundir.OutcomeFailed, 3, []rundir.AttemptRecord{failed}, "failed, exit code 3"},
		{rundir.OutcomeStopped, 143, []rundir.AttemptRecord{told}, "stopped by SIGTERM, exit code 143"},
		{rundir.OutcomeStopped, 143, []rundir.AttemptRecord{failed, told}, "stopped by SIGTERM, exit code 143"},
		{rundir.OutcomeStopped, 143, nil, "stopped, exit code 143"},
		{rundir.OutcomeSaved, 75, nil, "saved as asked, to be run again, exit code 75"},
		{rundir.OutcomeRunning, -1, nil, "running"},
		{"", -1, nil, "running"},
		{rundir.OutcomeUnknown, -1, nil, "ended without a word: its launcher is gone"},
		{"x\x1b[2Jy", -1, nil, "xy"},
	}
	for _, tt := range tests {
		r := &Run{Run: rundir.Run{Outcome: tt.outcome, Attempts: tt.attempts}}
		if tt.code >= 0 {
			r.ExitCode = &tt.code
		}
		if got := r.verdict(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.outcome, got, tt.want)
		}
	}
}

// A run that saved as asked has done its work so far; it is shown like one that has.
func TestSavedLooksLikeSuccess(t *testing.T) {
	class, symbol := outcomeStyle(rundir.OutcomeSaved)
	if wantClass, wantSymbol := outcomeStyle(rundir.OutcomeSuccess); class != wantClass || symbol != wantSymbol {
		t.Errorf("%s %s", class, symbol)
	}
	if !over(rundir.AttemptRecord{Outcome: rundir.OutcomeSaved}) {
		t.Error("it is not over")
	}
}
