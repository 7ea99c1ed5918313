package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestAttemptNames(t *testing.T) {
	for name, n := range map[string]int64{
		"attempt-0": 0, "attempt-17": 17, "attempt-2-st1": 2, "attempt-0-st12": 0, "attempt-9223372036854775806": 1<<63 - 2,
	} {
		got, ok := number(name)
		if got != n || !ok || !IsAttempt(name) {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
	}
	for _, name := range []string{
		"", "attempt", "attempt-", "attempt--1", "attempt-+1", "attempt-01", "attempt-1-st0", "attempt-1-st", "attempt-1-st01", "attempt-1-stx", "attempt-1-st1-st2",
		"Attempt-1", "attempt-1/..", "../attempt-1", "attempt-1 ", "attempt-1\n", "attempt-9223372036854775807", "attempt-99999999999999999999", "attempt-٣", "latest",
	} {
		if IsAttempt(name) {
			t.Errorf("%q is taken for an attempt's name", name)
		}
	}
}

func TestUncoordinatedName(t *testing.T) {
	tests := []struct {
		count int64
		step  int
		want  string
	}{{0, 0, "attempt-0"}, {3, 0, "attempt-3"}, {3, 2, "attempt-3-st2"}, {-1, -1, "attempt-0"}}
	for _, tt := range tests {
		wantEqual(t, "name", UncoordinatedName(tt.count, tt.step), tt.want)
		if !IsAttempt(tt.want) {
			t.Errorf("%s is no name", tt.want)
		}
	}
}

func TestBegin(t *testing.T) {
	d := newDir(t)
	count := int64(4)
	a := mustBegin(t, d, BeginInfo{
		Number: 1, UUID: "u", RestartCount: &count, MasterAddr: "127.0.0.1", MasterPort: 29500, At: testTime,
		Ranks:    []RankInfo{{Rank: 1, Local: 1, Env: map[string]string{"RANK": "1", "SECRET": "s"}}, {Rank: 0}},
		Env:      map[string]string{"MASTER_PORT": "29500", "SECRET": "s"},
		Warnings: []string{"w"},
	})
	wantEqual(t, "name, label, path", []string{a.Name(), Label(a.Name()), a.Path()}, []string{"attempt-0", "0", filepath.Join(d.Path(), "attempt-0")})
	wantEqual(t, "mode", mode(t, a.Path()), os.ModeDir|0o700)
	host, _ := os.Hostname()
	wantEqual(t, "record", mustRead(t, d.Path()).Attempts, []AttemptRecord{{
		Name: "attempt-0", Number: 1, RunID: "run-7", UUID: "u", RestartCount: &count, Host: host, MasterAddr: "127.0.0.1", MasterPort: 29500,
		Began: testTime, Outcome: OutcomeRunning, Warnings: []string{"w"}, Env: map[string]string{"MASTER_PORT": "29500"},
		Ranks: []RankRecord{{}, {Rank: 1, Local: 1, Env: map[string]string{"RANK": "1"}}},
	}})
}

// A number is one more than the highest that was used, whatever has become of those.
func TestNumbersAreNeverUsedAgain(t *testing.T) {
	dir := t.TempDir()
	check := func(d *Dir, want string) {
		t.Helper()
		next, err := NextName(dir)
		if err != nil {
			t.Fatal(err)
		}
		a := mustBegin(t, d, BeginInfo{})
		wantEqual(t, "name, and as foretold", []string{a.Name(), next}, []string{want, want})
		link, err := os.Readlink(filepath.Join(dir, latestName))
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "latest", link, want)
	}
	d := mustOpen(t, testOptions(t, dir))
	check(d, "attempt-0")
	check(d, "attempt-1")
	// Its user cleans up.
	if err := os.RemoveAll(filepath.Join(dir, "attempt-1")); err != nil {
		t.Fatal(err)
	}
	check(d, "attempt-2")
	mustClose(t, d)
	d = mustOpen(t, testOptions(t, dir))
	check(d, "attempt-3")
	// A crash between the directory and the record, or somebody's file.
	mustMkdir(t, filepath.Join(dir, "attempt-4"))
	mustMkdir(t, filepath.Join(dir, "attempt-5"))
	check(d, "attempt-6")
	mustClose(t, d)
	// A run on several nodes came between.
	mustMkdir(t, filepath.Join(dir, "attempt-7-st1"))
	d = mustOpen(t, testOptions(t, dir))
	check(d, "attempt-7")
	if _, err := d.Begin(BeginInfo{Name: "attempt-20-st3"}); err != nil {
		t.Fatal(err)
	}
	check(d, "attempt-21")
}

func TestNextNameOfNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	name, err := NextName(dir)
	if err != nil || name != "attempt-0" {
		t.Errorf("%s, %v", name, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it was made")
	}
}

func TestBeginWithAFileInTheWay(t *testing.T) {
	d := newDir(t)
	mustWrite(t, d.Path()+"/attempt-0", "")
	_, err := d.Begin(BeginInfo{})
	wantError(t, err, "cannot begin an attempt in "+d.Path(), "attempt-0 is no directory")
}

func TestBeginRefusesOtherNames(t *testing.T) {
	d := newDir(t)
	for _, name := range []string{"..", "attempt-1/../../x", "x", "attempt-01"} {
		_, err := d.Begin(BeginInfo{Name: name})
		wantError(t, err, fmt.Sprintf("%q is no name of an attempt", name))
	}
	wantEqual(t, "directory", entries(t, d.Path()), []string{eventsName, runName})
}

// Nodes that do not talk to each other meet in one directory, also again after a
// restart of the same count.
func TestSeveralNodes(t *testing.T) {
	dir := t.TempDir()
	for again := range 2 {
		for node := range 2 {
			o := testOptions(t, dir)
			o.Node, o.Nodes, o.Run.WorldSize = node, 2, 4
			d := mustOpen(t, o)
			if _, err := d.Begin(BeginInfo{}); err == nil {
				t.Error("a number was given without a word to the other nodes")
			}
			a := mustBegin(t, d, BeginInfo{Name: UncoordinatedName(3, 1), UUID: "u", Ranks: []RankInfo{{Rank: 2 * node}, {Rank: 2*node + 1, Local: 1}}})
			f, err := a.Output(2*node, Out)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(f, "again %d\n", again)
			f.Close()
			wantEqual(t, "path", a.Path(), filepath.Join(dir, "attempt-3-st1"))
			wantEqual(t, "label", Label(a.Name()), "3-st1")
			if real, err := filepath.EvalSymlinks(filepath.Join(d.NodePath(), latestName)); err != nil || filepath.Base(real) != a.Name() {
				t.Errorf("latest is %s, %v", real, err)
			}
			mustClose(t, d)
		}
	}
	wantEqual(t, "directory", entries(t, dir), []string{"attempt-3-st1", "node-0", "node-1"})
	wantEqual(t, "node's directory", entries(t, dir+"/node-1"), []string{eventsName, latestName, runName})
	wantEqual(t, "output", content(t, dir+"/attempt-3-st1/rank-2.out"), "again 0\nagain 1\n")
	r := mustRead(t, dir)
	wantEqual(t, "names", names(r), []string{"attempt-3-st1", "attempt-3-st1"})
	for _, a := range r.Attempts {
		var got []int
		for _, rank := range a.Ranks {
			got = append(got, rank.Node, rank.Rank)
		}
		wantEqual(t, "nodes and ranks", got, []int{0, 0, 0, 1, 1, 2, 1, 3})
	}
}

// Something else in the place of the link costs the link only.
func TestLatestInTheWay(t *testing.T) {
	for what, prepare := range map[string]func(path string) error{
		"file":           func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"link":           func(path string) error { return os.Symlink("/nowhere", path) },
		"directory":      func(path string) error { return os.Mkdir(path, 0o700) },
		"full directory": func(path string) error { return os.MkdirAll(path+"/x", 0o700) },
	} {
		t.Run(what, func(t *testing.T) {
			var w warnings
			o := testOptions(t, t.TempDir())
			o.Warn = w.add
			d := mustOpen(t, o)
			path := filepath.Join(o.Dir, latestName)
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			mustBegin(t, d, BeginInfo{})
			mustBegin(t, d, BeginInfo{})
			if link, err := os.Readlink(path); err == nil {
				wantEqual(t, "latest", link, "attempt-1")
				wantEqual(t, "warnings", len(w.all()), 0)
			} else {
				wantEqual(t, "warnings", len(w.all()), 1)
			}
			wantEqual(t, "attempts", len(mustRead(t, o.Dir).Attempts), 2)
		})
	}
}

// A job that restarts for weeks does not run out of descriptors.
func TestOldAttemptsAreClosed(t *testing.T) {
	d := newDir(t)
	var list []*Attempt
	for range 5 {
		list = append(list, mustBegin(t, d, BeginInfo{}))
	}
	for i, a := range list {
		f, err := a.Output(0, Out)
		if (err == nil) != (i >= 3) {
			t.Errorf("attempt %d: %v", i, err)
		}
		if err == nil {
			f.Close()
		}
	}
	list[4].Close()
	if _, err := list[4].Output(0, Out); err == nil {
		t.Error("a closed attempt opens files")
	}
	list[4].Close()
}
