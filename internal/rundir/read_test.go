package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// writeRun puts a record where a node would.
func writeRun(t *testing.T, dir string, r Run) {
	t.Helper()
	text, err := encodeRun(&r)
	if err != nil {
		t.Fatal(err)
	}
	mustMkdir(t, dir)
	mustWrite(t, filepath.Join(dir, runName), string(text))
}

func TestReadWithoutARun(t *testing.T) {
	_, err := Read(filepath.Join(t.TempDir(), "none"))
	wantError(t, err, "cannot read run directory")
	dir := t.TempDir()
	mustMkdir(t, dir+"/node-0")
	_, err = Read(dir)
	wantError(t, err, "cannot read run directory "+dir+": it has no run.json")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is no fs.ErrNotExist")
	}
}

func TestReadOneNode(t *testing.T) {
	dir := t.TempDir()
	want := fullRun()
	writeRun(t, dir, want)
	got := mustRead(t, dir)
	want.Attempts[0].Outcome = OutcomeUnknown
	want.Attempts[0].Ranks = nil
	parts := got.Parts
	got.Parts = nil
	got.Attempts[0].Ranks = nil
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantEqual(t, "parts", len(parts), 1)
}

// The run is what can be read; the error is about the rest.
func TestReadPartly(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir+"/node-0", fullRun())
	mustMkdir(t, dir+"/node-1")
	mustMkdir(t, dir+"/node-2")
	mustWrite(t, dir+"/node-2/"+runName, "{")
	r, err := Read(dir)
	wantError(t, err, "cannot read "+dir+"/node-2/"+runName, "it is no record of a run")
	if r == nil || len(r.Parts) != 1 || r.RunID != "run-7" {
		t.Errorf("the run is %+v", r)
	}
	mustWrite(t, dir+"/node-0/"+runName, "{")
	if r, err := Read(dir); r != nil || err == nil || strings.Count(err.Error(), "cannot read") != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Others' directories are no nodes.
func TestReadOtherDirectories(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, fullRun())
	for _, name := range []string{"node-", "node-x", "node-01", "node--1", "node-+1", "nodes", "node-1 "} {
		writeRun(t, filepath.Join(dir, name), Run{RunID: "trap"})
	}
	mustWrite(t, dir+"/node-7", "a file")
	wantEqual(t, "parts", len(mustRead(t, dir).Parts), 1)
}

// A run without an end goes on if its launcher does.
func TestView(t *testing.T) {
	me := (Launcher{}).complete()
	gone := me
	gone.Start++
	far := Launcher{Pid: 1, Start: 2, Host: "node9", Boot: "b", PidNS: "n"}
	now := time.Now()
	tests := []struct {
		name     string
		launcher Launcher
		silent   time.Duration
		ended    bool
		want     [3]string // run, attempt of an earlier launcher, of this one
	}{
		{"here", me, time.Hour, false, [3]string{OutcomeRunning, OutcomeUnknown, OutcomeRunning}},
		{"gone", gone, 0, false, [3]string{OutcomeUnknown, OutcomeUnknown, OutcomeUnknown}},
		{"far", far, time.Minute, false, [3]string{OutcomeRunning, OutcomeUnknown, OutcomeRunning}},
		{"far and silent", far, time.Hour, false, [3]string{OutcomeUnknown, OutcomeUnknown, OutcomeUnknown}},
		{"here, but ended", me, 0, true, [3]string{OutcomeFailed, OutcomeUnknown, OutcomeUnknown}},
	}
	for _, tt := range tests {
		r := Run{Launcher: tt.launcher, Invocation: 1, Attempts: []AttemptRecord{{Name: "attempt-0"}, {Name: "attempt-1", Invocation: 1}, {Name: "attempt-2", Outcome: "x"}}}
		if tt.ended {
			r.Ended, r.Outcome = now, OutcomeFailed
		}
		v := r.view(now.Add(-tt.silent), now)
		wantEqual(t, tt.name, [3]string{v.Outcome, v.Attempts[0].Outcome, v.Attempts[1].Outcome}, tt.want)
		wantEqual(t, "a known one", v.Attempts[2].Outcome, "x")
		wantEqual(t, "seen", v.Seen, now.Add(-tt.silent))
	}
}

// node is what one of two nodes wrote of an attempt.
func node(k int, change func(*Run)) Run {
	r := Run{
		Schema: Schema, RunID: "run-7", Nodes: 2, Node: k, WorldSize: 4, Ranks: 2, Started: testTime.Add(time.Duration(k)),
		Launcher: Launcher{Pid: 10 + k, Host: fmt.Sprintf("host%d", k)}, Outcome: OutcomeSuccess, Ended: testTime.Add(time.Hour + time.Duration(k)), ExitCode: new(int),
		Attempts: []AttemptRecord{{
			Name: "attempt-0", UUID: "u", Began: testTime.Add(time.Duration(k)), Ended: testTime.Add(time.Minute + time.Duration(k)), Outcome: OutcomeSuccess,
			MasterPort: 29500 * (1 - k), Warnings: []string{"same"},
			Ranks: []RankRecord{{Rank: 2 * k, Node: k}, {Rank: 2*k + 1, Local: 1, Node: k}},
		}},
	}
	if change != nil {
		change(&r)
	}
	return r
}

func TestMergeNodes(t *testing.T) {
	r := merge([]Run{node(0, nil), node(1, nil)})
	wantEqual(t, "run", []any{r.Nodes, r.Node, r.WorldSize, r.Ranks, r.Outcome, *r.ExitCode, r.Launcher.Pid, len(r.Parts)}, []any{2, 0, 4, 4, OutcomeSuccess, 0, 10, 2})
	wantEqual(t, "times", []time.Time{r.Started, r.Ended}, []time.Time{testTime, testTime.Add(time.Hour + 1)})
	wantEqual(t, "attempts", names(r), []string{"attempt-0"})
	a := r.Attempts[0]
	wantEqual(t, "attempt", []any{a.Began, a.Ended, a.MasterPort, a.Outcome}, []any{testTime, testTime.Add(time.Minute + 1), 29500, OutcomeSuccess})
	wantEqual(t, "warnings", a.Warnings, []string{"same"})
	for i, rank := range a.Ranks {
		wantEqual(t, "rank", rank, RankRecord{Rank: i, Local: i % 2, Node: i / 2})
	}
	wantEqual(t, "ranks of a part", len(r.Parts[0].Attempts[0].Ranks), 2)
}

func TestMergeOutcomes(t *testing.T) {
	five := 5
	fail := func(rank int, at time.Duration, next string) func(*Run) {
		return func(r *Run) {
			a := &r.Attempts[0]
			a.Outcome, a.Cause = OutcomeFailed, &CauseRecord{Rank: rank, At: testTime.Add(at)}
			a.Failed, a.Next, a.Simultaneous = []int{rank}, &NextRecord{Reason: next}, 1
			r.Outcome, r.ExitCode = OutcomeFailed, &five
		}
	}
	running := func(r *Run) {
		r.Outcome, r.Ended, r.ExitCode = OutcomeRunning, time.Time{}, nil
		r.Attempts[0].Outcome, r.Attempts[0].Ended = OutcomeRunning, time.Time{}
	}
	stopped := func(r *Run) {
		r.Outcome, r.Attempts[0].Outcome, r.Attempts[0].Signal, r.Attempts[0].Stopped = OutcomeStopped, OutcomeStopped, "SIGTERM", []int{2}
	}
	tests := []struct {
		name        string
		first, then func(*Run)
		outcome     string
		code        int // -1: none yet
		cause       int // rank, -1: none
		failed      []int
		next        string
	}{
		{"one failed", nil, fail(3, 5, "b"), OutcomeFailed, 5, 3, []int{3}, "b"},
		{"the other failed first", fail(0, 9, "a"), fail(3, 5, "b"), OutcomeFailed, 5, 3, []int{3, 0}, "b"},
		{"this one failed first", fail(0, 1, "a"), fail(3, 5, "b"), OutcomeFailed, 5, 0, []int{0, 3}, "a"},
		{"one goes on", fail(0, 1, "a"), running, OutcomeRunning, -1, 0, []int{0}, "a"},
		{"one was stopped", nil, stopped, OutcomeStopped, 0, -1, nil, ""},
		{"failed and stopped", fail(0, 1, "a"), stopped, OutcomeFailed, 5, 0, []int{0}, "a"},
		{"one has saved", nil, func(r *Run) { r.Outcome, r.Attempts[0].Outcome = OutcomeSaved, OutcomeSaved }, OutcomeSaved, 0, -1, nil, ""},
		{"saved and stopped", func(r *Run) { r.Outcome, r.Attempts[0].Outcome = OutcomeSaved, OutcomeSaved }, stopped, OutcomeStopped, 0, -1, nil, ""},
		{"one is unknown", nil, func(r *Run) { r.Outcome, r.Attempts[0].Outcome = OutcomeUnknown, OutcomeUnknown }, OutcomeUnknown, 0, -1, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := merge([]Run{node(0, tt.first), node(1, tt.then)})
			a := r.Attempts[0]
			code, cause, next := -1, -1, ""
			if r.ExitCode != nil {
				code = *r.ExitCode
			}
			if a.Cause != nil {
				cause = a.Cause.Rank
			}
			if a.Next != nil {
				next = a.Next.Reason
			}
			wantEqual(t, "outcomes, code, cause, next", []any{r.Outcome, a.Outcome, code, cause, next}, []any{tt.outcome, tt.outcome, tt.code, tt.cause, tt.next})
			wantEqual(t, "failed", a.Failed, tt.failed)
			if tt.code == -1 && !(r.Ended.IsZero() && a.Ended.IsZero()) {
				t.Error("it has an end")
			}
		})
	}
}

// A job that ran on one node first, and then on two, has all attempts, and is what it
// was last.
func TestMergeAfterAnotherSize(t *testing.T) {
	alone := Run{
		Schema: Schema, RunID: "run-6", Nodes: 1, WorldSize: 2, Ranks: 2, Started: testTime.Add(-time.Hour), Outcome: OutcomeFailed, Problem: "old",
		Attempts: []AttemptRecord{{Name: "attempt-0", UUID: "old", Began: testTime.Add(-time.Hour)}, {Name: "attempt-1", UUID: "older", Began: testTime.Add(-30 * time.Minute)}},
	}
	r := merge([]Run{alone, node(0, nil), node(1, nil)})
	wantEqual(t, "run", []any{r.RunID, r.Nodes, r.Ranks, r.Outcome, r.Problem}, []any{"run-7", 2, 4, OutcomeSuccess, ""})
	wantEqual(t, "attempts", names(r), []string{"attempt-0", "attempt-1", "attempt-0"})
	wantEqual(t, "ranks", []int{len(r.Attempts[0].Ranks), len(r.Attempts[2].Ranks)}, []int{0, 4})
	wantEqual(t, "started", r.Started, testTime.Add(-time.Hour))
}

// The same attempt twice, continued under its name: first with first, second with
// second.
func TestMergeRepeatedAttempts(t *testing.T) {
	twice := func(r *Run) {
		again := r.Attempts[0]
		again.Began = again.Began.Add(2 * time.Minute)
		r.Attempts = append(r.Attempts, again)
	}
	r := merge([]Run{node(0, twice), node(1, twice)})
	wantEqual(t, "attempts", names(r), []string{"attempt-0", "attempt-0"})
	for _, a := range r.Attempts {
		wantEqual(t, "ranks", len(a.Ranks), 4)
	}
}

func FuzzRun(f *testing.F) {
	r := fullRun()
	text, err := encodeRun(&r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"schema":1,"attempts":[{"name":"attempt-0","ranks":[{"rank":5}]},{"name":"attempt-0"}]}`))
	f.Add([]byte(`{"schema":1,"attempts":null,"command":{"program":"\u001b"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r Run
		if decodeRun(text, &r) != nil {
			return
		}
		for _, a := range r.Attempts {
			if filepath.Base(a.Name) != a.Name || !strings.HasPrefix(a.Name, attemptPrefix) {
				t.Errorf("an attempt is called %q", a.Name)
			}
		}
		viewed := r.view(time.Time{}, testTime)
		all := merge([]Run{viewed, viewed, {Schema: Schema}})
		if len(all.Attempts) > len(r.Attempts) {
			t.Errorf("%d attempts became %d", len(r.Attempts), len(all.Attempts))
		}
		// What was read can be continued, and stays readable.
		r.enter(Options{Nodes: 1}, testTime)
		r.trim()
		text, err := encodeRun(&r)
		if err != nil {
			return // a year that has no RFC 3339
		}
		var again Run
		if err := decodeRun(text, &again); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	})
}
