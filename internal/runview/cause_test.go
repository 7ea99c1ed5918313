package runview

import (
	"strings"
	"testing"
	"time"

	"lenslaunch/internal/rundir"
)

func TestWhat(t *testing.T) {
	tests := []struct {
		cause rundir.CauseRecord
		want  string
	}{
		{rundir.CauseRecord{ExitCode: ptr(3)}, "exit code 3"},
		{rundir.CauseRecord{Signal: "SIGKILL", Reason: "oom", Why: "SIGKILL: killed by the kernel for memory, cgroup limit 8 GiB"},
			"SIGKILL: killed by the kernel for memory, cgroup limit 8 GiB"},
		{rundir.CauseRecord{Signal: "SIGSEGV", Why: "invalid memory access"}, "SIGSEGV: invalid memory access"},
		{rundir.CauseRecord{ExitCode: ptr(1), Why: "exit code 1"}, "exit code 1"},
		{rundir.CauseRecord{Reason: "spawn", Why: "permission denied"}, "could not be started: permission denied"},
		{rundir.CauseRecord{Why: "a\nb\x1b[2J"}, "a b"},
	}
	for _, tt := range tests {
		if got := what(tt.cause); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestCauseOf(t *testing.T) {
	r := failedRun()
	c, ok := r.causeOf(r.Attempts[0])
	if !ok {
		t.Fatal("no cause")
	}
	want := cause{
		headline: "rank 3 failed: exit code 3", where: "local rank 3 on gpu-01, pid 4103, attempt 0, after 39.0s",
		title: "the error it reported", text: r.Attempts[0].Cause.Message,
		effects: "rank 2 failed at the same time; rank 5 failed after it; ranks 1,4,6-7 stopped",
		next:    "restart 1 of 1 in 800ms", file: "runs/run-7/attempt-0/rank-3.err",
	}
	if c != want {
		t.Errorf("%+v\nwant %+v", c, want)
	}
	if _, ok := r.causeOf(rundir.AttemptRecord{}); ok {
		t.Error("a cause of nothing")
	}
}

func TestUnstartedCause(t *testing.T) {
	r := failedRun()
	a := r.Attempts[0]
	a.Cause = &rundir.CauseRecord{Rank: 3, Reason: "spawn", Why: "permission denied"}
	c, _ := r.causeOf(a)
	if c.headline != "rank 3 could not be started: permission denied" || strings.Contains(c.where, "pid") {
		t.Errorf("%+v", c)
	}
}

func TestEvidence(t *testing.T) {
	tests := []struct {
		cause                rundir.CauseRecord
		title, text, missing string
	}{
		{rundir.CauseRecord{Message: "a\x1b[1mb", Stderr: []string{"x"}}, "the error it reported", "ab", ""},
		{rundir.CauseRecord{Stderr: []string{"x", "y"}}, "its last lines of stderr", "x\ny", ""},
		{rundir.CauseRecord{Unseen: true}, "", "", "its stderr went straight to the console"},
		{rundir.CauseRecord{}, "", "", "it wrote nothing to stderr"},
	}
	for _, tt := range tests {
		title, text, missing := evidence(tt.cause)
		if title != tt.title || text != tt.text || missing != tt.missing {
			t.Errorf("%q, %q, %q", title, text, missing)
		}
	}
	if _, text, _ := evidence(rundir.CauseRecord{Message: strings.Repeat("x\n", 1<<20)}); len(text) > errorLimit+100 {
		t.Errorf("%d bytes", len(text))
	}
}

// What a directory says is foreign, also where numbers do not fit together.
func TestEffectsOfNonsense(t *testing.T) {
	for _, a := range []rundir.AttemptRecord{
		{Simultaneous: 5}, {Simultaneous: 5, Failed: []int{1}}, {Simultaneous: -1, Failed: []int{1, 2}}, {Failed: []int{1, 2, 3}, Simultaneous: 0},
	} {
		_ = effects(a)
	}
	if got := effects(rundir.AttemptRecord{Failed: []int{1, 2}, Simultaneous: -1}); got != "rank 2 failed after it" {
		t.Error(got)
	}
}

func TestSummary(t *testing.T) {
	failed := failedAttempt(0, began(), time.Minute)
	tests := []struct {
		attempt rundir.AttemptRecord
		want    string
	}{
		{failed, "failed: rank 3, exit code 3"},
		{rundir.AttemptRecord{}, "running"},
		{rundir.AttemptRecord{Outcome: rundir.OutcomeSuccess}, "success"},
		{rundir.AttemptRecord{Outcome: rundir.OutcomeStopped, Signal: "SIGTERM"}, "stopped by SIGTERM"},
		{rundir.AttemptRecord{Outcome: rundir.OutcomeSaved}, "saved"},
		{rundir.AttemptRecord{Outcome: rundir.OutcomeUnknown}, "no end recorded"},
	}
	for _, tt := range tests {
		if got := summary(tt.attempt); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestNext(t *testing.T) {
	tests := []struct {
		next *rundir.NextRecord
		want string
	}{
		{nil, ""}, {&rundir.NextRecord{Restart: true, Reason: "restart 1 of 3", Delay: 1500 * time.Millisecond}, "restart 1 of 3 in 1.5s"},
		{&rundir.NextRecord{Reason: "exit code 2 is fatal"}, "no restart: exit code 2 is fatal"},
	}
	for _, tt := range tests {
		if got := next(rundir.AttemptRecord{Next: tt.next}); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// A failure that was survived is not why a run ended.
func TestOccasion(t *testing.T) {
	r := failedRun()
	if got := r.occasion(r.Attempts[1]); got != "cause" {
		t.Error(got)
	}
	r.Outcome = rundir.OutcomeSuccess
	if got := r.occasion(r.Attempts[1]); got != "latest failure, in attempt-1" {
		t.Error(got)
	}
}
