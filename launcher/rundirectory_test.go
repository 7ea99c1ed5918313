package launcher

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/rundir"
)

func TestOpenRunDir(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("file", "")
	write("broken/run.json", "{")
	write("foreign/run.json", `{"schema":99}`)
	if err := os.Symlink(root+"/elsewhere", root+"/link"); err != nil {
		t.Fatal(err)
	}
	held, err := rundir.Open(rundir.Options{Dir: root + "/held"})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	tests := []struct{ name, dir, says string }{
		{"held", "held", "pid " + itoa(os.Getpid())},
		{"damaged", "broken", "run.json"},
		{"of a later version", "foreign", "run.json"},
		{"a symbolic link", "link", "symbolic link"},
		{"a file", "file", "no directory"},
		{"below a file", "file/run", "no directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft(t, 1)
			d.Logs.Dir = filepath.Join(root, tt.dir)
			dir, err := OpenRunDir(d.plan(t), "", func(err error) { t.Errorf("told: %v", err) })
			var failure *Failure
			if dir != nil || !errors.As(err, &failure) || failure.Code != ExitUsage {
				t.Fatalf("%v, %v; want a usage error", dir, err)
			}
			if text := failure.Error(); !strings.Contains(text, tt.says) || strings.Contains(text, "\n") {
				t.Errorf("%q, want one line with %q", text, tt.says)
			}
		})
	}
}

func TestRunWithoutADirectory(t *testing.T) {
	dir, err := OpenRunDir(newDraft(t, 1).plan(t), "", nil)
	if dir != nil || err != nil {
		t.Errorf("%v, %v", dir, err)
	}
}

// A secret that somebody gave to the ranks, in whatever way, is nowhere in the record,
// and neither are the arguments.
func TestNoSecretIsRecorded(t *testing.T) {
	const secret = "hunter2"
	d := newDraft(t, 2).with("TOKEN="+secret, "PYTHONUNBUFFERED="+secret)
	d.Logs.Dir = t.TempDir()
	d.Command = append(d.Command, "--password", secret)
	d.SetEnv = []EnvVar{{"API_KEY", secret}, {"PLACE", "%r-" + secret}}
	d.UnsetEnv = []string{"TOKEN"}
	p := d.plan(t)
	dir := openRunDir(t, p, nil)
	files, err := dir.begin(p, p.number(countedAs(0)), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir.hear(AttemptBegan{At: t0, Attempt: Attempt{Name: files.Name()}})
	for _, e := range rankFailure() {
		dir.hear(e)
	}
	dir.Close()
	for _, name := range []string{"run.json", "events.jsonl"} {
		text, err := os.ReadFile(filepath.Join(p.RunDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), secret) {
			t.Errorf("%s has the secret: %s", name, text)
		}
		info, err := os.Stat(filepath.Join(p.RunDir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// What is alike for all ranks is recorded once.
func TestRecordedEnvironment(t *testing.T) {
	p := newDraft(t, 2).plan(t)
	a := p.number(countedAs(3))
	list, alike := p.recorded(a)
	if alike["WORLD_SIZE"] != "2" || alike["LENSLAUNCH_ATTEMPT"] != "3" || alike["RANK"] != "" {
		t.Errorf("alike: %v", alike)
	}
	for i, r := range list {
		want := map[string]string{"RANK": itoa(i), "LOCAL_RANK": itoa(i), "ROLE_RANK": itoa(i)}
		if diff := cmp.Diff(want, r.Env); diff != "" || r.Rank != i || r.Local != i {
			t.Errorf("rank %d (-want +got):\n%s", i, diff)
		}
	}
	one := newDraft(t, 1).plan(t)
	if list, alike := one.recorded(a); len(list[0].Env) != 0 || alike["RANK"] != "0" {
		t.Errorf("of one rank: %v, %v", list, alike)
	}
}

// Nodes that do not talk to each other name their attempt alike, and it is continued.
func TestAttemptsOfSeveralNodes(t *testing.T) {
	root := t.TempDir()
	var paths []string
	for node := range 2 {
		d := newDraft(t, 1)
		d.Logs.Dir, d.World.Nodes, d.World.NodeRank, d.World.MasterPort = root, 2, node, 4000
		p := d.plan(t)
		dir := openRunDir(t, p, nil)
		files, err := dir.begin(p, p.number(countedAs(2)), nil)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, files.Path())
	}
	if want := root + "/attempt-2"; paths[0] != want || paths[1] != want {
		t.Errorf("%q, want twice %q", paths, want)
	}
}

// The first problem is told, and it alone; whoever finds it out waits for nobody.
func TestProblemsAreToldOnce(t *testing.T) {
	reading := make(chan struct{})
	told := make(chan error, 10)
	d := newDraft(t, 1)
	d.Logs.Dir = t.TempDir()
	dir := openRunDir(t, d.plan(t), func(err error) {
		<-reading // of a console that nobody reads
		told <- err
	})
	dir.outputLost(3, os.ErrClosed) // its attempt is over: no problem
	dir.outputLost(4, errors.New("no space left on device"))
	dir.Lost(errors.New("another one"))
	close(reading)
	dir.Close()
	if err := <-told; !strings.Contains(err.Error(), "output of rank 4: no space left") || !strings.Contains(err.Error(), d.Logs.Dir) {
		t.Errorf("told %v", err)
	}
	dir.Lost(errors.New("too late"))
	if len(told) != 0 {
		t.Errorf("told again: %v", <-told)
	}
}

// A console that nobody reads does not keep a run from its end.
func TestCloseBesideAConsoleThatNobodyReads(t *testing.T) {
	reading := make(chan struct{})
	d := newDraft(t, 1)
	d.Logs.Dir = t.TempDir()
	dir := openRunDir(t, d.plan(t), func(error) { <-reading })
	dir.outputLost(0, errors.New("no space left on device"))
	dir.Close() // it returns
	close(reading)
	<-dir.told
}

// Closing twice is as good as once: what was recorded is complete after the first.
func TestCloseTwice(t *testing.T) {
	d := newDraft(t, 1)
	d.Logs.Dir = t.TempDir()
	p := d.plan(t)
	dir := openRunDir(t, p, nil)
	dir.hear(RunEnded{At: t0, Outcome: OutcomeSuccess})
	dir.Close()
	dir.Close()
	dir.hear(RunEnded{At: t0, Outcome: OutcomeFailed})
	var run rundir.Run
	text, err := os.ReadFile(p.RunDir + "/run.json")
	if err == nil {
		err = json.Unmarshal(text, &run)
	}
	if err != nil || run.Outcome != rundir.OutcomeSuccess {
		t.Errorf("outcome %q, %v", run.Outcome, err)
	}
}

func TestPatiently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if v, ok := patiently(time.Minute, func() int { return 7 }); v != 7 || !ok || !time.Now().Equal(began) {
			t.Errorf("%d, %v after %v", v, ok, time.Since(began))
		}
		hold := make(chan struct{})
		if v, ok := patiently(time.Minute, func() int { <-hold; return 7 }); v != 0 || ok || time.Since(began) != time.Minute {
			t.Errorf("%d, %v after %v", v, ok, time.Since(began))
		}
		close(hold) // and what was too late ends
		if v, ok := patiently(0, func() int { <-time.After(time.Second); return 7 }); v != 0 || ok {
			t.Errorf("without time: %d, %v", v, ok)
		}
		<-time.After(2 * time.Second) // for what was left behind
	})
}
