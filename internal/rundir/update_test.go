package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
)

func TestOpenSaysWhoWrites(t *testing.T) {
	d := newDir(t)
	want := &Run{
		Schema: 1, RunID: "run-7", JobUUID: "6ba7b811-9dad-51d1-80b4-00c04fd430c8", Role: "trainer",
		Command: Command{Program: "python", Arguments: 2}, Nodes: 1, WorldSize: 2, Ranks: 2,
		Outcome: OutcomeRunning, Launcher: (Launcher{}).complete(), Attempts: []AttemptRecord{},
	}
	got := mustRead(t, d.Path())
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Run{}, "Started", "Seen", "Parts")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if since := time.Since(got.Started); since < 0 || since > time.Minute {
		t.Errorf("it was started at %v", got.Started)
	}
	events := allEvents(t, d.Path())
	wantEqual(t, "events", kinds(events), []string{RunBegan})
	wantEqual(t, "command", events[0].Command, &Command{Program: "python", Arguments: 2})
	wantEqual(t, "launcher", events[0].Launcher, &want.Launcher)
	for _, name := range []string{runName, eventsName} {
		if strings.Contains(content(t, d.Path()+"/"+name), "secret") {
			t.Errorf("%s tells an argument", name)
		}
	}
}

// The second launcher continues what the first one left, ended or not.
func TestContinuing(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(t, dir)
	d := mustOpen(t, o)
	mustBegin(t, d, BeginInfo{UUID: "a"})
	code := 3
	if err := d.Update(func(r *Run) {
		r.Ended, r.Outcome, r.ExitCode, r.Problem = testTime, OutcomeFailed, &code, "no luck"
	}); err != nil {
		t.Fatal(err)
	}
	started := mustRead(t, dir).Started
	mustClose(t, d)

	o.Run = RunInfo{RunID: "run-8", Command: []string{"bash"}}
	d = mustOpen(t, o)
	mustBegin(t, d, BeginInfo{UUID: "b"})
	r := mustRead(t, dir)
	wantEqual(t, "names", names(r), []string{"attempt-0", "attempt-1"})
	wantEqual(t, "run ids", []string{r.RunID, r.Attempts[0].RunID, r.Attempts[1].RunID}, []string{"run-8", "run-7", "run-8"})
	wantEqual(t, "invocations", []int{r.Invocation, r.Attempts[0].Invocation, r.Attempts[1].Invocation}, []int{1, 0, 1})
	wantEqual(t, "outcomes", []string{r.Outcome, r.Attempts[0].Outcome, r.Attempts[1].Outcome}, []string{OutcomeRunning, OutcomeUnknown, OutcomeRunning})
	wantEqual(t, "started", r.Started, started)
	if !r.Ended.IsZero() || r.ExitCode != nil || r.Problem != "" {
		t.Errorf("it has an end already: %+v", r)
	}
	wantEqual(t, "events", kinds(allEvents(t, dir)), []string{RunBegan, RunBegan})
}

func TestUpdateIsOnDisk(t *testing.T) {
	d := newDir(t)
	for i := range 5 {
		if err := d.Update(func(r *Run) { r.Problem = fmt.Sprint(i) }); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "problem", mustRead(t, d.Path()).Problem, fmt.Sprint(i))
	}
}

// Whoever reads while it is written gets a whole file, never an older one than before.
func TestReadersSeeWholeFiles(t *testing.T) {
	d := newDir(t)
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for i := range 50 {
			if err := d.Update(func(r *Run) { r.Invocation, r.Problem = i, strings.Repeat("x", 100*i) }); err != nil {
				t.Error(err)
			}
		}
	})
	last := 0
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		r := mustRead(t, d.Path())
		if len(r.Problem) != 100*r.Invocation || r.Invocation < last {
			t.Errorf("%d bytes beside %d, after %d", len(r.Problem), r.Invocation, last)
		}
		last = r.Invocation
	}
	wg.Wait()
	wantEqual(t, "last", last, 49)
}

// A write that fails leaves the old file, nothing beside it, and is told once; the
// change is not forgotten.
func TestRunOnAFullDisk(t *testing.T) {
	disk := &shortDisk{room: 100000, full: unix.ENOSPC}
	sys := realSystem()
	sys.write = disk.write
	var w warnings
	o := testOptions(t, t.TempDir())
	o.Warn = w.add
	d := mustOpenWith(t, o, sys)
	disk.set(10)
	for i := range 3 {
		err := d.Update(func(r *Run) { r.Role += fmt.Sprint(i) })
		if !errors.Is(err, unix.ENOSPC) {
			t.Errorf("the error is %v", err)
		}
	}
	wantEqual(t, "role", mustRead(t, o.Dir).Role, "trainer")
	wantEqual(t, "files", entries(t, o.Dir), []string{eventsName, runName})
	if list := w.all(); len(list) != 1 {
		t.Errorf("warned %d times: %v", len(list), list)
	} else {
		wantError(t, list[0], "cannot write", runName, "no space left on device", "has gaps from now on")
	}
	disk.set(100000)
	mustClose(t, d)
	wantEqual(t, "role", mustRead(t, o.Dir).Role, "trainer012")
}

func TestCloseSaysThatTheRecordIsIncomplete(t *testing.T) {
	disk := &shortDisk{room: 100000, full: unix.ENOSPC}
	sys := realSystem()
	sys.write = disk.write
	var w warnings
	o := testOptions(t, t.TempDir())
	o.Warn = w.add
	d := mustOpenWith(t, o, sys)
	disk.set(0)
	_ = d.Note(func(r *Run) { r.Role = "x" })
	wantError(t, d.Close(), "cannot complete the record in "+o.Dir, "no space left")
	wantError(t, d.Close(), "cannot complete the record in "+o.Dir)
}

// The run goes on when somebody removes its directory.
func TestDirectoryRemoved(t *testing.T) {
	var w warnings
	o := testOptions(t, t.TempDir()+"/run")
	o.Warn = w.add
	d := mustOpen(t, o)
	a := mustBegin(t, d, BeginInfo{})
	if err := os.RemoveAll(o.Dir); err != nil {
		t.Fatal(err)
	}
	if err := d.Update(func(*Run) {}); err == nil {
		t.Error("no error")
	}
	if _, err := a.Output(0, Out); err == nil {
		t.Error("no error")
	}
	if _, err := d.Begin(BeginInfo{}); err == nil {
		t.Error("no error")
	}
	_ = d.Close()
	wantEqual(t, "warnings", len(w.all()), 1)
}

func TestOpenRefusesAnUnusableRecord(t *testing.T) {
	tests := map[string]string{
		"empty":     "",
		"foreign":   `{"runs":[1,2]}`,
		"a list":    `[]`,
		"torn":      `{"schema":1,"run_id":"x","attempts":[{"name":"attem`,
		"newer":     `{"schema":2}`,
		"a trap":    `{"schema":1,"attempts":[{"name":"../../etc"}]}`,
		"two":       `{"schema":1}{"schema":1}`,
		"bad times": `{"schema":1,"started":"yesterday"}`,
		"bad ranks": `{"schema":1,"attempts":[{"name":"attempt-0","ranks":[{"rank":-1}]}]}`,
		"bad count": `{"schema":1,"invocation":-5}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, runName)
			mustWrite(t, path, text)
			_, err := Open(testOptions(t, dir))
			var broken *FileError
			if !errors.As(err, &broken) {
				t.Fatalf("the error is %v", err)
			}
			wantError(t, err, "cannot use "+path, "nothing was changed; move it away")
			wantEqual(t, "content", content(t, path), text)
			wantEqual(t, "files", entries(t, dir), []string{runName})
			if _, err := NextName(dir); !errors.As(err, &broken) {
				t.Errorf("NextName says %v", err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			mustOpen(t, testOptions(t, dir)) // the lock is free
		})
	}
}

// Fields that a newer launcher has added are no reason to stop.
func TestOpenTakesUnknownFields(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, filepath.Join(dir, runName), `{"schema":1,"mood":"good","invocation":4,"attempts":[{"name":"attempt-6","colour":"red"}]}`)
	d := mustOpen(t, testOptions(t, dir))
	wantEqual(t, "name", mustBegin(t, d, BeginInfo{}).Name(), "attempt-7")
	wantEqual(t, "invocation", mustRead(t, dir).Invocation, 5)
}

func TestManyUpdates(t *testing.T) {
	d := newDir(t)
	a := mustBegin(t, d, BeginInfo{})
	var wg sync.WaitGroup
	for rank := range 512 {
		wg.Go(func() {
			r := Recorder{dir: d, attempt: a.Name()}
			r.changeRank(rank, rank, func(rec *RankRecord) { rec.Pid = rank + 1 })
		})
	}
	wg.Wait()
	mustClose(t, d)
	ranks := mustRead(t, d.Path()).Attempts[0].Ranks
	sum := 0
	for _, r := range ranks {
		sum += r.Pid
	}
	wantEqual(t, "ranks and the sum of pids", []int{len(ranks), sum}, []int{512, 512 * 513 / 2})
}
