package launcher

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/proc"
	"lenslaunch/internal/rundir"
)

// t0 is when the runs of these tests began.
var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// after is so much later.
func after(d time.Duration) time.Time { return t0.Add(d) }

// recorded opens the run directory of a plan of two ranks and one attempt in it, tells it
// of what happened, and reads the record.
func recordOf(t *testing.T, events ...Event) (*rundir.Run, []rundir.Event) {
	t.Helper()
	d := newDraft(t, 2)
	d.Logs.Dir = t.TempDir()
	p := d.plan(t)
	dir := openRunDir(t, p, nil)
	a := p.number(countedAs(4))
	files, err := dir.begin(p, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Name = files.Name()
	dir.hear(AttemptPreparing{At: t0, Number: 1})
	dir.hear(AttemptBegan{At: t0, Attempt: a, Warnings: []string{"it has no ledger"}})
	for _, e := range events {
		dir.hear(e)
	}
	dir.Close()
	run, err := rundir.Read(p.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	var list []rundir.Event
	for e, err := range rundir.Events(p.RunDir) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return run, list
}

// openRunDir opens a plan's run directory. warn nil: nothing may fail.
func openRunDir(t *testing.T, p *Plan, warn func(error)) *RunDir {
	t.Helper()
	if warn == nil {
		warn = func(err error) { t.Errorf("told: %v", err) }
	}
	d, err := OpenRunDir(p, "1.2.3", warn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// rankFailure is a run whose rank 1 fails and whose rank 0 is stopped then.
func rankFailure() []Event {
	killed := proc.Exit{Signal: syscall.SIGSEGV}
	f := Fault{Local: 1, Rank: 1, Pid: 102, Exit: killed, At: after(time.Second)}
	return []Event{
		WorkerStarted{At: t0, Local: 0, Rank: 0, Pid: 101, Start: 7},
		WorkerStarted{At: t0, Local: 1, Rank: 1, Pid: 102, Start: 8},
		WorkersStarted{At: t0, Count: 2},
		WorkerEnded{At: f.At, Local: 1, Rank: 1, Pid: 102, Exit: killed, Reason: ReasonSignal, Uptime: time.Second},
		FaultFound{Fault: f, First: true},
		StopBegan{At: f.At, Ladder: Ladder{Rungs: []Rung{{Signal: syscall.SIGTERM}}, Kill: 15 * time.Second}, Alive: 1},
		StopEscalated{At: after(16 * time.Second), Signal: syscall.SIGKILL, Alive: 1},
		WorkerEnded{At: after(17 * time.Second), Local: 0, Rank: 0, Pid: 101, Exit: proc.Exit{Signal: syscall.SIGKILL}, Reason: ReasonStopped, Uptime: 17 * time.Second},
		AttemptEnded{
			At: after(18 * time.Second), Outcome: OutcomeFailed, Faults: []Fault{f}, Simultaneous: 1, Stopped: []int{0}, Began: t0,
			Left: []Left{{Pid: 103, Command: "nfsd", Why: "uninterruptible sleep"}},
			Next: Decision{Reason: "all restarts are used up"}, Evidence: Evidence{Stderr: []string{"boom"}},
		},
		RunEnded{At: after(19 * time.Second), Outcome: OutcomeFailed, Code: 139, Attempts: 1},
	}
}

// A run is recorded so that nothing has to be asked of its launcher.
func TestRecordOfAFailure(t *testing.T) {
	run, events := recordOf(t, rankFailure()...)
	code := 139
	want := rundir.Run{RunID: "run-7", Outcome: "failed", ExitCode: &code, Ended: after(19 * time.Second)}
	got := rundir.Run{RunID: run.RunID, Outcome: run.Outcome, ExitCode: run.ExitCode, Ended: run.Ended}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if run.Launcher.Version != "1.2.3" || run.Command.Arguments != 0 || run.WorldSize != 2 || len(run.Attempts) != 1 {
		t.Errorf("run %+v", run)
	}
	a := run.Attempts[0]
	if a.Number != 4 || a.Outcome != "failed" || !a.Ended.Equal(after(18*time.Second)) || a.UUID == "" || a.Simultaneous != 1 {
		t.Errorf("attempt %+v", a)
	}
	if diff := cmp.Diff([][]int{{1}, {0}}, [][]int{a.Failed, a.Stopped}); diff != "" {
		t.Errorf("failed, stopped (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"it has no ledger"}, a.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&rundir.CauseRecord{
		Rank: 1, Local: 1, Pid: 102, At: after(time.Second), Signal: "SIGSEGV", Reason: "signal",
		Why: "SIGSEGV: invalid memory access", Stderr: []string{"boom"},
	}, a.Cause); diff != "" {
		t.Errorf("cause (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]rundir.LeftRecord{{Pid: 103, Program: "nfsd", Why: "uninterruptible sleep"}}, a.Left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if a.Next == nil || a.Next.Restart || a.Next.Reason != "all restarts are used up" {
		t.Errorf("next %+v", a.Next)
	}
	checkRanks(t, a.Ranks)
	checkKinds(t, events, "run_began", "attempt_preparing", "attempt_began", "rank_started", "rank_started", "ranks_started",
		"rank_ended", "rank_failed", "stop_began", "stop_escalated", "rank_ended", "attempt_ended", "run_ended")
	if e := events[7]; !e.First || e.Attempt != "attempt-0" || e.Message != "SIGSEGV: invalid memory access" {
		t.Errorf("failure %+v", e)
	}
}

func checkRanks(t *testing.T, ranks []rundir.RankRecord) {
	t.Helper()
	for i := range ranks {
		ranks[i].Env = nil
	}
	if diff := cmp.Diff([]rundir.RankRecord{
		{Rank: 0, Local: 0, Pid: 101, Start: 7, Started: t0, Ended: after(17 * time.Second), Signal: "SIGKILL", Reason: "stopped"},
		{Rank: 1, Local: 1, Pid: 102, Start: 8, Started: t0, Ended: after(time.Second), Signal: "SIGSEGV", Reason: "signal"},
	}, ranks); diff != "" {
		t.Errorf("ranks (-want +got):\n%s", diff)
	}
}

func checkKinds(t *testing.T, events []rundir.Event, want ...string) {
	t.Helper()
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
}

// Every event of a run that says something of its own is in the record.
func TestRecordOfSingleEvents(t *testing.T) {
	tests := []struct {
		event Event
		kind  string
		says  func(rundir.Event) bool
	}{
		{SignalTaken{At: t0, Signal: syscall.SIGTERM, Action: actionStop}, rundir.SignalTaken,
			func(e rundir.Event) bool { return e.Signal == "SIGTERM" && e.Message == "stop" }},
		{StopBegan{At: t0, Ladder: Ladder{Rungs: []Rung{{Signal: syscall.SIGINT}, {Signal: syscall.SIGTERM, After: 5 * time.Second}}, Kill: 20 * time.Second}, Alive: 2}, rundir.StopBegan,
			func(e rundir.Event) bool {
				return e.Message == "SIGINT, after 5s SIGTERM, after 20s SIGKILL" && e.Count == 2
			}},
		{StopEscalated{At: t0, Signal: syscall.SIGKILL, Alive: 2}, rundir.StopEscalated,
			func(e rundir.Event) bool { return e.Signal == "SIGKILL" && e.Count == 2 }},
		{WorkersStuck{At: t0, Locals: []int{1}, Pids: []int{102}}, rundir.RanksStuck,
			func(e rundir.Event) bool { return slices.Equal(e.Pids, []int{102}) }},
		{GuardGone{At: t0, Cause: "SIGKILL"}, rundir.GuardGone,
			func(e rundir.Event) bool { return e.Message == "SIGKILL" }},
		{GuardGone{At: t0, Cause: "SIGKILL", Last: true}, rundir.GuardGone,
			func(e rundir.Event) bool { return strings.Contains(e.Message, "no other") }},
		{FaultFound{Fault: Fault{Local: 1, Rank: 1, At: t0, Cause: errors.New("no memory")}, First: true}, rundir.RankFailed,
			func(e rundir.Event) bool {
				return e.Reason == "spawn" && e.Message == "could not be started: no memory" && e.ExitCode == nil
			}},
		{RunEnded{At: t0, Outcome: OutcomeFailed, Code: 75, Failure: &Failure{Code: 75, Problem: "the port is taken"}}, rundir.RunEnded,
			func(e rundir.Event) bool { return *e.ExitCode == 75 && e.Message == "the port is taken" }},
	}
	for _, tt := range tests {
		_, events := recordOf(t, tt.event)
		if e := events[len(events)-1]; e.Kind != tt.kind || !tt.says(e) {
			t.Errorf("%T is recorded as %+v", tt.event, e)
		}
	}
}

// How a run ended, by its outcome: readers know the same words.
func TestRecordOfOutcomes(t *testing.T) {
	words := map[Outcome]string{
		OutcomeSuccess: rundir.OutcomeSuccess, OutcomeFailed: rundir.OutcomeFailed,
		OutcomeStopped: rundir.OutcomeStopped, OutcomeSaved: rundir.OutcomeSaved,
	}
	for outcome, want := range words {
		ended := AttemptEnded{At: t0, Outcome: outcome}
		if outcome == OutcomeStopped {
			ended.Told = &Told{Signal: syscall.SIGTERM, At: t0}
		}
		run, _ := recordOf(t, ended, RunEnded{At: t0, Outcome: outcome, Code: 1})
		if a := run.Attempts[0]; run.Outcome != want || a.Outcome != want || (a.Signal == "SIGTERM") != (outcome == OutcomeStopped) {
			t.Errorf("%s: run %s, attempt %s by %q", outcome, run.Outcome, a.Outcome, a.Signal)
		}
	}
}

// What decided, in a word, for those who count.
func TestReasonOfACause(t *testing.T) {
	tests := []struct {
		fault Fault
		want  string
		code  bool
	}{
		{Fault{Exit: proc.Exit{Code: 3}}, "exit", true},
		{Fault{Exit: proc.Exit{Signal: syscall.SIGABRT}}, "signal", false},
		{Fault{Exit: proc.Exit{Signal: syscall.SIGKILL}, OOM: "cgroup limit 8 GiB"}, "oom", false},
		{Fault{Exit: proc.Exit{Code: 1}, Silent: time.Minute}, "hang", true},
		{Fault{Exit: proc.Exit{Code: 126}, Cause: errors.New("x")}, "spawn", false},
	}
	for _, tt := range tests {
		c := causeRecord(tt.fault, Evidence{Message: "m", Unseen: true})
		if c.Reason != tt.want || (c.ExitCode != nil) != tt.code || c.Why == "" || c.Message != "m" || !c.Unseen {
			t.Errorf("%+v: %+v", tt.fault, c)
		}
	}
}

// What is recorded of a cause stays as it was then.
func TestCauseKeepsItsLines(t *testing.T) {
	v := Evidence{Stderr: []string{"a"}}
	c := causeRecord(Fault{Exit: proc.Exit{Code: 1}}, v)
	v.Stderr[0] = "changed"
	if c.Stderr[0] != "a" {
		t.Errorf("%q", c.Stderr)
	}
}

// A run without a directory records nothing, and says nothing about that.
func TestNoRunDirectory(t *testing.T) {
	var none *RunDir
	for _, e := range rankFailure() {
		none.hear(e)
	}
	none.Close()
}
