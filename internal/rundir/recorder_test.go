package rundir

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lenslaunch/internal/proc"
)

// at is so many seconds after testTime.
func at(seconds int) time.Time { return testTime.Add(time.Duration(seconds) * time.Second) }

// recordRun is a run whose first attempt fails and is followed by one that is stopped.
func recordRun(t *testing.T, d *Dir) {
	t.Helper()
	r := NewRecorder(d)
	ranks := []RankInfo{{Rank: 0}, {Rank: 1, Local: 1}, {Rank: 2, Local: 2}}
	count := int64(4)
	r.AttemptPreparing(at(0))
	a := mustBegin(t, d, BeginInfo{UUID: "u0", At: at(1), Ranks: ranks})
	r.AttemptBegan(AttemptStart{At: at(1), Name: a.Name(), UUID: "u0", RestartCount: &count, Warnings: []string{"w"}})
	r.RankStarted(RankStart{At: at(2), Rank: 0, Pid: 100, Start: 77})
	r.RankStarted(RankStart{At: at(2), Rank: 1, Local: 1, Pid: 101})
	r.RankFailed(RankFailure{At: at(3), Rank: 2, Local: 2, Why: "no such file"})
	r.RanksStarted(at(3), 2)
	r.RankEnded(RankEnd{At: at(4), Rank: 1, Local: 1, Pid: 101, Exit: proc.Exit{Signal: syscall.SIGKILL}, Reason: "oom", Uptime: 2 * time.Second})
	r.RankFailed(RankFailure{At: at(4), Rank: 1, Local: 1, Pid: 101, Exit: proc.Exit{Signal: syscall.SIGKILL}, Why: "killed for memory", First: true})
	r.StopBegan(at(4), "SIGTERM, after 15s SIGKILL", 1)
	r.StopEscalated(at(19), syscall.SIGKILL, 1)
	r.RanksStuck(at(20), []int{100})
	r.RankEnded(RankEnd{At: at(21), Rank: 0, Pid: 100, Exit: proc.Exit{Code: 1}, Reason: "stopped", Uptime: 19 * time.Second})
	cause := CauseRecord{Rank: 1, Local: 1, Pid: 101, At: at(4), Reason: "oom", Why: "killed for memory", Stderr: []string{"MemoryError"}}
	cause.SetExit(proc.Exit{Signal: syscall.SIGKILL})

	// The next one is made before everything of this one is told.
	b := mustBegin(t, d, BeginInfo{Number: 1, UUID: "u1", At: at(23), Ranks: ranks[:1]})
	r.AttemptEnded(AttemptEnd{
		At: at(22), Outcome: OutcomeFailed, Cause: &cause, Simultaneous: 2, Failed: []int{1, 2}, Stopped: []int{0},
		Left: []LeftRecord{{Pid: 102, Program: "sh", Why: "uninterruptible"}}, Next: &NextRecord{Restart: true, Delay: time.Second, Reason: "restart 1 of 1"},
	})
	r.AttemptPreparing(at(23))
	r.AttemptBegan(AttemptStart{At: at(23), Name: b.Name(), Number: 1, UUID: "u1"})
	r.RankStarted(RankStart{At: at(24), Rank: 0, Pid: 200})
	r.GuardGone(at(25), "killed", true)
	r.SignalTaken(at(26), syscall.SIGTERM, "stop")
	r.RankEnded(RankEnd{At: at(27), Rank: 0, Pid: 200, Reason: "stopped"})
	r.AttemptEnded(AttemptEnd{At: at(28), Outcome: OutcomeStopped, Stopped: []int{0}, Signal: syscall.SIGTERM})
	r.RunEnded(RunEnd{At: at(29), Outcome: OutcomeStopped, Code: 143, Problem: "told to"})
	r.Close()
}

func TestRecorderWritesTheRun(t *testing.T) {
	d := newDir(t)
	recordRun(t, d)
	mustClose(t, d)
	zero, one, code := 0, 1, 143
	host := d.run.Launcher.Host
	want := &Run{
		RunID: "run-7", Ended: at(29), Outcome: OutcomeStopped, ExitCode: &code, Problem: "told to",
		Attempts: []AttemptRecord{
			{
				Name: "attempt-0", UUID: "u0", RunID: "run-7", Host: host, Began: at(1), Ended: at(22), Outcome: OutcomeFailed, Warnings: []string{"w"},
				Simultaneous: 2, Failed: []int{1, 2}, Stopped: []int{0}, Left: []LeftRecord{{102, "sh", "uninterruptible"}}, Next: &NextRecord{true, time.Second, "restart 1 of 1"},
				Cause: &CauseRecord{Rank: 1, Local: 1, Pid: 101, At: at(4), Signal: "SIGKILL", Reason: "oom", Why: "killed for memory", Stderr: []string{"MemoryError"}},
				Ranks: []RankRecord{
					{Rank: 0, Pid: 100, Start: 77, Started: at(2), Ended: at(21), ExitCode: &one, Reason: "stopped"},
					{Rank: 1, Local: 1, Pid: 101, Started: at(2), Ended: at(4), Signal: "SIGKILL", Reason: "oom"},
					{Rank: 2, Local: 2, Ended: at(3), Reason: ReasonSpawn},
				},
			},
			{
				Name: "attempt-1", Number: 1, UUID: "u1", RunID: "run-7", Host: host, Began: at(23), Ended: at(28), Outcome: OutcomeStopped, Stopped: []int{0}, Signal: "SIGTERM",
				Ranks: []RankRecord{{Rank: 0, Pid: 200, Started: at(24), Ended: at(27), ExitCode: &zero, Reason: "stopped"}},
			},
		},
	}
	ignore := cmpopts.IgnoreFields(Run{}, "Schema", "JobUUID", "Command", "Role", "Nodes", "WorldSize", "Ranks", "Started", "Launcher", "Seen", "Parts")
	if diff := cmp.Diff(want, mustRead(t, d.Path()), ignore); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRecorderWritesEvents(t *testing.T) {
	d := newDir(t)
	recordRun(t, d)
	events := slices.DeleteFunc(allEvents(t, d.Path()), func(ev Event) bool { return ev.Kind == RunBegan })
	var got []string
	for _, ev := range events {
		line, err := encodeLine(ev)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimPrefix(string(line), `{"time":"2026-03-01T12:00:`)
		_, rest, _ := strings.Cut(text, `,"event":"`)
		got = append(got, text[:2]+" "+strings.Replace(strings.TrimSpace(rest), `","node":0`, "", 1))
	}
	want := []string{
		`00 attempt_preparing}`,
		`01 attempt_began,"attempt":"attempt-0","number":0,"uuid":"u0","restart_count":4,"warnings":["w"]}`,
		`02 rank_started,"attempt":"attempt-0","rank":0,"local":0,"pid":100}`,
		`02 rank_started,"attempt":"attempt-0","rank":1,"local":1,"pid":101}`,
		`03 rank_failed,"attempt":"attempt-0","rank":2,"local":2,"reason":"spawn","message":"no such file"}`,
		`03 ranks_started,"attempt":"attempt-0","count":2}`,
		`04 rank_ended,"attempt":"attempt-0","rank":1,"local":1,"pid":101,"signal":"SIGKILL","reason":"oom","uptime_ns":2000000000}`,
		`04 rank_failed,"attempt":"attempt-0","rank":1,"local":1,"pid":101,"first":true,"signal":"SIGKILL","message":"killed for memory"}`,
		`04 stop_began,"attempt":"attempt-0","count":1,"message":"SIGTERM, after 15s SIGKILL"}`,
		`19 stop_escalated,"attempt":"attempt-0","count":1,"signal":"SIGKILL"}`,
		`20 ranks_stuck,"attempt":"attempt-0","pids":[100],"count":1}`,
		`21 rank_ended,"attempt":"attempt-0","rank":0,"local":0,"pid":100,"exit_code":1,"reason":"stopped","uptime_ns":19000000000}`,
		`22 attempt_ended,"attempt":"attempt-0","outcome":"failed","cause":{"rank":1,"local":1,"node":0,"pid":101,"at":"2026-03-01T12:00:04Z","signal":"SIGKILL","reason":"oom","why":"killed for memory","stderr":["MemoryError"]},` +
			`"simultaneous":2,"failed":[1,2],"stopped":[0],"left":[{"pid":102,"program":"sh","why":"uninterruptible"}],"next":{"restart":true,"delay_ns":1000000000,"reason":"restart 1 of 1"}}`,
		`23 attempt_preparing}`,
		`23 attempt_began,"attempt":"attempt-1","number":1,"uuid":"u1"}`,
		`24 rank_started,"attempt":"attempt-1","rank":0,"local":0,"pid":200}`,
		`25 guard_gone,"attempt":"attempt-1","message":"killed; no other will be started"}`,
		`26 signal_taken,"attempt":"attempt-1","signal":"SIGTERM","message":"stop"}`,
		`27 rank_ended,"attempt":"attempt-1","rank":0,"local":0,"pid":200,"exit_code":0,"reason":"stopped"}`,
		`28 attempt_ended,"attempt":"attempt-1","signal":"SIGTERM","outcome":"stopped","stopped":[0]}`,
		`29 run_ended,"exit_code":143,"message":"told to","outcome":"stopped"}`,
	}
	wantEqual(t, "events", got, want)
}

// An attempt without a directory has events and no record.
func TestRecorderWithoutADirectory(t *testing.T) {
	d := newDir(t)
	r := NewRecorder(d)
	r.AttemptBegan(AttemptStart{At: at(0), Number: 3})
	r.RankStarted(RankStart{At: at(1), Rank: 0, Pid: 1})
	r.AttemptEnded(AttemptEnd{At: at(2), Outcome: OutcomeSuccess})
	r.Close()
	mustClose(t, d)
	wantEqual(t, "attempts", len(mustRead(t, d.Path()).Attempts), 0)
	wantEqual(t, "events", kinds(allEvents(t, d.Path())), []string{RunBegan, AttemptBegan, RankStarted, AttemptEnded})
}

// A rank that nobody announced is recorded all the same.
func TestRecorderOfAnUnknownRank(t *testing.T) {
	d := newDir(t)
	a := mustBegin(t, d, BeginInfo{})
	r := NewRecorder(d)
	r.AttemptBegan(AttemptStart{At: at(0), Name: a.Name()})
	r.RankStarted(RankStart{At: at(1), Rank: 5, Local: 1, Pid: 9})
	r.Close()
	mustClose(t, d)
	wantEqual(t, "ranks", mustRead(t, d.Path()).Attempts[0].Ranks, []RankRecord{{Rank: 5, Local: 1, Pid: 9, Started: at(1)}})
}
