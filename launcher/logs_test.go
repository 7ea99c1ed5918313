package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lenslaunch/detect"
	"lenslaunch/internal/logmux"
	"lenslaunch/internal/rundir"
)

// runOnce makes a run directory of an earlier run that had so many attempts.
func runOnce(t *testing.T, dir, runID string, attempts int) {
	t.Helper()
	d, err := rundir.Open(rundir.Options{Dir: dir, Run: rundir.RunInfo{RunID: runID}})
	if err != nil {
		t.Fatal(err)
	}
	for range attempts {
		if _, err := d.Begin(rundir.BeginInfo{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhereTheRunDirectoryIs(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, flag, want string }{
		{"none", "", ""},
		{"absolute", "/runs/x", "/runs/x"},
		{"relative to where the launcher is", "runs/x/", here + "/runs/x"},
		{"by run", "/runs/%i", "/runs/run-7"},
		{"by node", "/runs/%n", "/runs/1"},
		{"a percent sign", "/runs/50%%%i", "/runs/50%run-7"},
		{"a percent sign before a letter", "/runs/%%r", "/runs/%r"},
		{"what is no placeholder", "/runs/%d-100%", "/runs/%d-100%"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft(t, 2)
			d.World.Nodes, d.World.NodeRank, d.Logs.Dir = 2, 1, tt.flag
			d.Dir = "/" // --chdir is for the workers
			p := d.plan(t)
			if p.RunDir != tt.want {
				t.Errorf("run directory %q, want %q", p.RunDir, tt.want)
			}
			if got, set := worker(t, p, 0, Attempt{}).Set["LENSLAUNCH_RUN_DIR"]; got != tt.want || set != (tt.want != "") {
				t.Errorf("LENSLAUNCH_RUN_DIR=%q", got)
			}
		})
	}
}

// The directory is the run's: what differs between its ranks or attempts is no part of
// its name.
func TestPlaceholdersThatAreNotTheRuns(t *testing.T) {
	for _, flag := range []string{"/runs/%r", "/runs/%l", "/runs/%a", "/runs/%%%a", "/runs/%i/%a"} {
		d := newDraft(t, 2)
		d.Logs.Dir = flag
		if f := d.refused(t); f.Code != ExitUsage || !strings.Contains(f.Error(), "--log-dir") {
			t.Errorf("%s: %v", flag, f)
		}
	}
}

// A run that nobody named is the one whose directory it continues.
func TestUnnamedRunTakesTheDirectorysName(t *testing.T) {
	root := t.TempDir()
	runOnce(t, filepath.Join(root, "earlier"), "run-3", 1)
	broken := filepath.Join(root, "broken")
	if err := os.MkdirAll(broken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "run.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, runID, dir string
		want             string // empty: made up
	}{
		{"the directory's", "", root + "/earlier", "run-3"},
		{"its own", "run-8", root + "/earlier", "run-8"},
		{"no earlier run", "", root + "/new", ""},
		{"no run directory", "", "", ""},
		{"named after the run", "", root + "/%i", ""},
		{"a directory that is damaged", "", broken, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft(t, 1)
			d.RunID, d.Logs.Dir = tt.runID, tt.dir
			p := d.plan(t)
			switch {
			case tt.want == "" && (p.RunIDFrom != detect.Generated || p.RunID == ""):
				t.Errorf("run id %q from %s", p.RunID, p.RunIDFrom)
			case tt.want != "" && p.RunID != tt.want:
				t.Errorf("run id %q from %s, want %q", p.RunID, p.RunIDFrom, tt.want)
			}
			if made := tt.name == "named after the run"; made && p.RunDir != root+"/"+p.RunID {
				t.Errorf("run directory %q of run %q", p.RunDir, p.RunID)
			}
			// A run directory is where a run remembers, also one that nobody named.
			if (p.LedgerDir == "") != (p.RunDir == "" && tt.want == "") || p.RunDir != "" && p.LedgerDir != p.RunDir {
				t.Errorf("ledger in %q", p.LedgerDir)
			}
		})
	}
	if _, err := os.Stat(root + "/new"); err == nil {
		t.Error("a plan has made a directory")
	}
}

// --state-dir is somebody's wish; a run directory is only the default.
func TestStateDirectoryBesideARunDirectory(t *testing.T) {
	d := newDraft(t, 1)
	d.StateDir, d.Logs.Dir = t.TempDir(), t.TempDir()
	if p := d.plan(t); p.LedgerDir != d.StateDir {
		t.Errorf("ledger in %q, want %q", p.LedgerDir, d.StateDir)
	}
}

func TestNameOfTheNextAttempt(t *testing.T) {
	root := t.TempDir()
	runOnce(t, root+"/two", "run-7", 2)
	five := int64(5)
	tests := []struct {
		name, dir string
		nodes     int
		attempt   Attempt
		env       []string
		want      string
	}{
		{"no directory", "", 1, Attempt{Number: 4}, nil, ""},
		{"a new one", root + "/new", 1, Attempt{Number: 4}, nil, "attempt-0"},
		{"one that is continued", root + "/two", 1, Attempt{}, nil, "attempt-2"},
		{"several nodes", root + "/two", 2, Attempt{Number: 4}, nil, "attempt-4"},
		{"several nodes, a restart count", root + "/two", 2, Attempt{Number: 4, RestartCount: &five}, nil, "attempt-5"},
		{"a Slurm step", root + "/two", 2, Attempt{Number: 4}, []string{"SLURM_STEP_ID=3"}, "attempt-4-st3"},
		{"the first Slurm step", root + "/two", 2, Attempt{Number: 4}, []string{"SLURM_STEP_ID=0"}, "attempt-4"},
		{"the batch step", root + "/two", 2, Attempt{Number: 4}, []string{"SLURM_STEP_ID=4294967294"}, "attempt-4"},
		{"no number", root + "/two", 2, Attempt{Number: 4}, []string{"SLURM_STEP_ID=x"}, "attempt-4"},
		{"a step on one node", root + "/two", 1, Attempt{Number: 4}, []string{"SLURM_STEP_ID=3"}, "attempt-2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft(t, 1).with(tt.env...)
			d.World.Nodes, d.Logs.Dir = tt.nodes, tt.dir
			got, err := d.plan(t).attemptName(tt.attempt)
			if err != nil || got != tt.want {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// %a is what an attempt's directory is called, so that a name made of it is not used
// again.
func TestLabelOfAnAttempt(t *testing.T) {
	for _, tt := range []struct {
		attempt Attempt
		want    string
	}{
		{Attempt{Number: 2}, "2"},
		{Attempt{Number: 2, Name: "attempt-9"}, "9"},
		{Attempt{Number: 2, Name: "attempt-9-st1"}, "9-st1"},
	} {
		d := newDraft(t, 1)
		d.SetEnv = []EnvVar{{"NAME", "x-%a"}}
		if got := worker(t, d.plan(t), 0, tt.attempt).Set["NAME"]; got != "x-"+tt.want {
			t.Errorf("%+v: %q, want x-%s", tt.attempt, got, tt.want)
		}
	}
}

// What a run directory changes for who is shown: --tee chooses among those that are.
func TestOnConsole(t *testing.T) {
	only := func(want int) func(int) bool { return func(local int) bool { return local == want } }
	all := func(int, int) bool { return true }
	tests := []struct {
		name, dir string
		shown     func(local, rank int) bool
		tee       func(int) bool
		want      [3]bool
	}{
		{"everybody", "", all, nil, [3]bool{true, true, true}},
		{"everybody, with files", "/runs", all, nil, [3]bool{true, true, true}},
		{"one is teed", "/runs", all, only(1), [3]bool{false, true, false}},
		{"one is shown", "/runs", func(local, _ int) bool { return local == 2 }, nil, [3]bool{false, false, true}},
		{"one is shown, another is teed", "/runs", func(local, _ int) bool { return local == 2 }, only(1), [3]bool{}},
		{"tee is for files", "", all, only(1), [3]bool{true, true, true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft(t, 3)
			d.Logs, d.Output.Shown = Logs{Dir: tt.dir, Tee: tt.tee}, tt.shown
			p := d.plan(t)
			for local, want := range tt.want {
				if got := p.onConsole(Worker{Local: local, Rank: local}); got != want {
					t.Errorf("local rank %d: %v", local, got)
				}
			}
		})
	}
}

func TestLabelOfAStream(t *testing.T) {
	d := newDraft(t, 4)
	d.World.Nodes, d.World.NodeRank = 3, 2
	var err error
	if d.Output.Prefix, err = logmux.ParseTemplate("{host}/{node}/{local_rank}/{rank}/{attempt}/{role}/{run_id} "); err != nil {
		t.Fatal(err)
	}
	p := d.plan(t)
	var s logmux.Stream
	p.label(&s, Worker{Local: 1, Rank: 9}, Attempt{Number: 6})
	if want := "node-a/2/1/ 9/6/trainer/run-7 "; s.Prefix != want || s.Color != 10 {
		t.Errorf("prefix %q in colour %d, want %q", s.Prefix, s.Color, want)
	}
	if !strings.HasPrefix(s.Continuation, "node-a/2/1/ 9/6/trainer/run-7+") {
		t.Errorf("continuation %q", s.Continuation)
	}
	for _, mode := range []OutputMode{OutputPlain, OutputRank0, OutputNone} {
		d.Output.Mode = mode
		s = logmux.Stream{}
		d.plan(t).label(&s, Worker{Local: 1, Rank: 9}, Attempt{})
		if s.Prefix != "" || s.Color != 0 {
			t.Errorf("%s: prefix %q", mode, s.Prefix)
		}
	}
	// A host without a name has none in its prefix.
	d.Output.Mode, d.Facts.Host.Hostname = OutputPrefix, nil
	s = logmux.Stream{}
	d.plan(t).label(&s, Worker{}, Attempt{})
	if !strings.HasPrefix(s.Prefix, "/2/0/ 0/") {
		t.Errorf("prefix %q", s.Prefix)
	}
}
