package runview

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/rundir"
)

// update writes the golden files anew: go test ./internal/runview -update
var update = flag.Bool("update", false, "write golden files anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s has changed; if that is right, run this test with -update (-golden +now):\n%s", name, diff)
	}
}

func reportText(r *Run, now time.Time) string { return strings.Join(Report(r, now), "\n") + "\n" }

func TestReportOfAFailedRun(t *testing.T) {
	golden(t, "failed.golden", reportText(failedRun(), began().Add(time.Hour)))
}

// liveRun is failedRun in its third attempt, of which rank 4 has ended well.
func liveRun() *Run {
	r := failedRun()
	r.Outcome, r.Ended, r.ExitCode = rundir.OutcomeRunning, time.Time{}, nil
	r.Attempts[1].Next = &rundir.NextRecord{Restart: true, Delay: 2 * time.Second, Reason: "restart 2 of 3"}
	a := failedAttempt(2, began().Add(100*time.Second), time.Minute)
	a.Cause, a.Failed, a.Stopped, a.Ended, a.Outcome, a.Simultaneous = nil, nil, nil, time.Time{}, rundir.OutcomeRunning, 0
	for i := range a.Ranks {
		rank := &a.Ranks[i]
		rank.Ended, rank.ExitCode, rank.Signal, rank.Reason = time.Time{}, nil, "", ""
	}
	a.Ranks[4].ExitCode, a.Ranks[4].Ended = ptr(0), a.Began.Add(10*time.Second)
	r.Attempts = append(r.Attempts, a)
	return r
}

func TestReportOfALiveRun(t *testing.T) {
	golden(t, "live.golden", reportText(liveRun(), began().Add(200*time.Second)))
}

// A launcher that was killed wrote no end. The report says what is known and does not
// let the run go on for ever.
func TestReportOfALostRun(t *testing.T) {
	r := liveRun()
	r.Outcome, r.Seen = rundir.OutcomeUnknown, began().Add(130*time.Second)
	r.Attempts[2].Outcome = rundir.OutcomeUnknown
	golden(t, "lost.golden", reportText(r, began().Add(1000*time.Hour)))
}

func TestReportOfAStoppedRun(t *testing.T) {
	r := liveRun()
	r.Attempts = r.Attempts[2:]
	a := &r.Attempts[0]
	a.Outcome, a.Signal, a.Ended = rundir.OutcomeStopped, "SIGTERM", began().Add(130*time.Second)
	for i := range a.Ranks {
		if i != 4 {
			a.Stopped = append(a.Stopped, i)
			a.Ranks[i].Signal, a.Ranks[i].Reason, a.Ranks[i].Ended = "SIGTERM", "stopped", a.Ended
		}
	}
	a.Left = []rundir.LeftRecord{{Pid: 9, Program: "cp", Why: "uninterruptible sleep in nfs_wait"}}
	r.Outcome, r.Ended, r.ExitCode = rundir.OutcomeStopped, a.Ended, ptr(143)
	r.Events = []rundir.Event{{Kind: rundir.SignalTaken, Time: a.Ended.Add(-time.Second), Attempt: a.Name, Signal: "SIGTERM", Message: "stop"}}
	golden(t, "stopped.golden", reportText(r, began().Add(time.Hour)))
}

// Of a run that has hardly begun there is little to say.
func TestReportOfNothing(t *testing.T) {
	r := &Run{Dir: "d", Run: rundir.Run{Started: began()}}
	text := reportText(r, began().Add(time.Second))
	for _, want := range []string{"run d: running\n", "  so far      1.0s\n", "  attempts    0, 0 restarts\n", "\nno attempt has begun\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

func TestReportSaysWhatIsMissing(t *testing.T) {
	r := failedRun()
	r.Nodes, r.Problem, r.Torn = 3, "the port\nwas taken", errors.New("node-1: input/output error")
	r.Parts = []rundir.Run{{RunID: "run-7", Nodes: 3, Launcher: rundir.Launcher{Host: "a"}}, {RunID: "run-7", Nodes: 3, Node: 2, Launcher: rundir.Launcher{Host: "c"}},
		{RunID: "an earlier one", Nodes: 4, Node: 3}}
	text := reportText(r, began().Add(time.Hour))
	for _, want := range []string{
		"only 2 of 3 nodes have written here\n", "the run ended because: the port was taken\n", "not all of it could be read: node-1: input/output error\n",
		"8 on 3 nodes (a, c)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// hostile are texts of a worker that would like to be more than text.
func hostile() string {
	return "\x1b[2J\x1b]0;t\x07</pre><script>alert(1)</script>\"'><img src=http://x onerror=y>\u202E{{.}}\x00\xff"
}

// hostileRun has such texts wherever a text can be, many of them and long.
func hostileRun(ranks, attempts, times int) *Run {
	bad := strings.Repeat(hostile(), times)
	env := map[string]string{bad: bad}
	for i := range 200 {
		env["X"+strings.Repeat("y", i)] = bad
	}
	r := failedRun()
	r.RunID, r.JobUUID, r.Command.Program, r.Role, r.Outcome, r.Problem, r.Dir = bad, bad, bad, bad, bad, bad, bad
	r.Launcher.Host, r.Launcher.Version, r.Why = bad, bad, make([]string, 500)
	for i := range r.Why {
		r.Why[i] = bad
	}
	r.Torn = errors.New(bad)
	model, message := r.Attempts[0], strings.Repeat(bad, 200)
	r.Attempts, r.WorldSize = nil, ranks
	for n := range attempts {
		a := model
		a.Name, a.Number, a.UUID, a.Host, a.MasterAddr, a.Outcome, a.Signal = bad, n, bad, bad, bad, bad, bad
		a.Cause = &rundir.CauseRecord{Rank: 0, At: a.Began, Signal: bad, Reason: bad, Why: bad, Message: message}
		a.Next = &rundir.NextRecord{Restart: true, Reason: bad, Delay: 1 << 62}
		a.Warnings, a.Env, a.Left = r.Why, env, nil
		a.Ranks, a.Failed, a.Stopped = nil, nil, nil
		for i := range ranks {
			// Every rank ends in a way of its own, so that nothing can be grouped.
			a.Ranks = append(a.Ranks, rundir.RankRecord{Rank: i, Pid: i, Signal: string(rune('a'+i%26)) + string(rune('a'+i/26)) + bad, Reason: "x",
				Started: a.Began, Ended: a.Began.Add(time.Duration(i) * time.Minute), Env: env})
			a.Failed = append(a.Failed, 2*i)
			a.Left = append(a.Left, rundir.LeftRecord{Pid: i, Program: bad, Why: bad})
		}
		r.Attempts = append(r.Attempts, a)
	}
	return r
}

func TestReportIsPrintable(t *testing.T) {
	for _, line := range Report(hostileRun(40, 50, 3), began()) {
		if clean(line) != line || strings.ContainsAny(line, "\n") {
			t.Errorf("%q", line)
		}
	}
}
