package runview

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/rundir"
)

// steps follows a run and does one step after the other, each when all that was there
// has been shown. It returns what each step brought, and the run at the end.
func (d *directory) steps(change func(*Logs), steps ...func()) ([][]string, *rundir.Run) {
	d.t.Helper()
	var out bytes.Buffer
	l := d.logs(&out)
	now := began()
	l.Now = func() time.Time { return now }
	if change != nil {
		change(l)
	}
	var brought [][]string
	take := func() {
		brought = append(brought, textLines(out.String()))
		out.Reset()
	}
	ctx, cancel := context.WithCancel(d.t.Context())
	defer cancel()
	run, err := l.Follow(ctx, func(context.Context, []string) {
		take()
		if len(steps) == 0 {
			cancel()
			return
		}
		steps[0]()
		steps = steps[1:]
		now = now.Add(barStep)
	})
	if err != nil {
		d.t.Fatal(err)
	}
	take()
	return brought, run
}

func TestFollow(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out", "a1\n")
	got, run := d.steps(nil,
		func() { d.add("attempt-0/rank-0.out", "a2\nhalf") },
		func() { d.add("attempt-0/rank-1.err", "b1\n") }, // a file that comes later
		func() { d.add("attempt-0/rank-0.out", " a line\n") },
		func() { d.add("attempt-0/rank-0.out", "no end"); d.end(rundir.OutcomeSuccess, ptr(0)) },
	)
	want := [][]string{{"[0] a1"}, {"[0] a2"}, {"[1] b1"}, {"[0] half a line"}, {"[0] no end"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if run.Outcome != rundir.OutcomeSuccess {
		t.Errorf("outcome %q", run.Outcome)
	}
}

func TestFollowGoesOverRestarts(t *testing.T) {
	d := newDirectory(t)
	d.save()
	got, _ := d.steps(nil,
		func() { d.begin("attempt-0"); d.add("attempt-0/rank-0.out", "a1\n") },
		func() { d.add("attempt-0/rank-0.out", "a2\n"); d.end(rundir.OutcomeFailed, nil) },
		func() { d.begin("attempt-1"); d.add("attempt-1/rank-0.out", "b1\n") },
		func() { d.add("attempt-1/rank-0.out", "b2\n"); d.end(rundir.OutcomeFailed, ptr(3)) },
	)
	want := [][]string{nil, {"[0] a1"}, {"[0] a2"}, {"--- attempt-1 began at 2025-03-04 05:07:07 UTC, after attempt-0 failed ---", "[0] b1"}, {"[0] b2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The one attempt that was asked for may end long before the run.
func TestFollowOneAttempt(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out", "a\n")
	d.end(rundir.OutcomeFailed, nil)
	d.begin("attempt-1")
	got, run := d.steps(func(l *Logs) { l.Attempt = "attempt-0" })
	if diff := cmp.Diff([][]string{{"[0] a"}}, got); diff != "" || run.Outcome != rundir.OutcomeRunning {
		t.Errorf("outcome %q (-want +got):\n%s", run.Outcome, diff)
	}
}

// Lines of which the times are known come in their order, also if they come together.
func TestFollowKeepsTheOrder(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	got, _ := d.steps(nil, func() {
		d.write("attempt-0/rank-0.out", "a1\na2\n")
		d.times("attempt-0/rank-0.out", mark{-3, 3}, mark{-1, 6})
		d.write("attempt-0/rank-1.out", "b1\n")
		d.times("attempt-0/rank-1.out", mark{-2, 3})
	})
	if diff := cmp.Diff([][]string{nil, {"[0] a1", "[1] b1", "[0] a2"}, nil}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A file that is rotated while it is read loses no line, whichever moment it is.
func TestFollowOverARotation(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	log := "attempt-0/rank-0.out"
	rotate := func(to string) {
		if err := os.Rename(filepath.Join(d.path, log), filepath.Join(d.path, log+to)); err != nil {
			t.Fatal(err)
		}
	}
	d.write(log, "a1\n")
	got, _ := d.steps(nil,
		func() { d.add(log, "a2\n"); rotate(".1") }, // between the two, and no new file yet
		func() { d.write(log, "a3\n") },
		func() { // twice
			d.add(log, "a4\n")
			if err := os.Rename(filepath.Join(d.path, log+".1"), filepath.Join(d.path, log+".3")); err != nil {
				t.Fatal(err)
			}
			rotate(".2")
			d.write(log+".1", "a5\n")
			d.write(log, "a6\n")
		},
		func() { // so often that what was read is gone
			for _, old := range []string{".1", ".2", ".3", ""} {
				if err := os.Remove(filepath.Join(d.path, log+old)); err != nil {
					t.Fatal(err)
				}
			}
			d.write(log+".1", "a8\n")
			d.write(log, "a9\n")
		},
		func() { d.add(log, "a10\n"); d.end(rundir.OutcomeSuccess, ptr(0)) },
	)
	want := [][]string{{"[0] a1"}, {"[0] a2"}, {"[0] a3"}, {"[0] a4", "[0] a5", "[0] a6"}, {"[0] a8", "[0] a9"}, {"[0] a10"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A progress bar that goes on is shown now and then, and its last state in any case.
func TestFollowAProgressBar(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	log := "attempt-0/rank-0.err"
	got, _ := d.steps(nil,
		func() { d.add(log, "\r 1%\r 2%\r 3") },
		func() {}, // nothing new is shown twice
		func() { d.add(log, "%\r 4%") },
		func() { d.add(log, "\r100%\n"); d.end(rundir.OutcomeSuccess, ptr(0)) },
	)
	want := [][]string{nil, {"[0]  2%"}, nil, {"[0]  3%"}, {"[0] 100%"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A reader who has seen enough ends it; that is no error.
func TestFollowUntilCancelled(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	if _, run := d.steps(nil); run.Outcome != rundir.OutcomeRunning {
		t.Errorf("outcome %q", run.Outcome)
	}
}

// A launcher that was killed changes no file: the run is read again all the same.
func TestFollowNoticesADeadLauncher(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out", "half")
	long := time.Now().Add(-24 * time.Hour)
	got, run := d.steps(nil,
		func() {
			for _, file := range []string{"run.lock"} {
				if err := os.Chtimes(filepath.Join(d.path, file), long, long); err != nil {
					t.Fatal(err)
				}
			}
		},
		func() {}, func() {}, func() {},
	)
	if run.Outcome != rundir.OutcomeUnknown || len(got) < 2 || len(got[len(got)-1]) != 1 {
		t.Errorf("outcome %q after %q", run.Outcome, got)
	}
}

func TestReaderReadsWhatHasChanged(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	now := began()
	r := reader{dir: d.path, now: func() time.Time { return now }}
	read := func() *rundir.Run {
		t.Helper()
		run, err := r.read()
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	first := read()
	if read() != first {
		t.Error("it is read again although nothing has changed")
	}
	d.begin("attempt-1")
	second := read()
	if second == first || len(second.Attempts) != 2 {
		t.Error("a change was not seen")
	}
	d.mkdir("node-1")
	d.write("node-1/run.json", `{"schema":1,"node":1,"nodes":2}`)
	third := read()
	if third == second {
		t.Error("a node that came was not seen")
	}
	if now = now.Add(readAgain); read() == third {
		t.Error("it is not read again after a while")
	}
}

func TestEndingOfARun(t *testing.T) {
	r := failedRun()
	if got := Ending(&r.Run, "d"); got != "run run-7 failed, exit code 3" {
		t.Error(got)
	}
}
