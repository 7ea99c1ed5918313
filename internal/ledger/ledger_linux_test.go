package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// begin enters the next attempt for the inputs and returns "sr/te".
func begin(t *testing.T, l *Ledger, in Inputs) string {
	t.Helper()
	a, err := l.Begin(t.Context(), func(h History) (Attempt, error) {
		a, err := Next(h, in)
		a.UUID = testUUID(in.Execution, a.Number)
		return a, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d/%d", *a.RestartCount, a.Number)
}

// The example of the identity specification, every invocation a new Ledger.
func TestExampleOverInvocations(t *testing.T) {
	dir := t.TempDir()
	first := mustOpen(t, dir)
	base2 := Inputs{Carrier: n(2), Slurm: true, Execution: "0"}
	got := []string{begin(t, first, base2), begin(t, first, base2), begin(t, first, base2)}
	got = append(got, begin(t, mustOpen(t, dir), base2))
	got = append(got, begin(t, mustOpen(t, dir), Inputs{Carrier: n(2), Scheduler: n(3), Slurm: true, Execution: "3"}))
	if diff := cmp.Diff([]string{"2/0", "3/1", "4/2", "5/3", "6/0"}, got); diff != "" {
		t.Errorf("restart count/attempt number (-want +got):\n%s", diff)
	}
	uuids := map[string]bool{}
	for _, a := range mustRead(t, first).Attempts {
		uuids[a.UUID] = true
	}
	if len(uuids) != 5 {
		t.Errorf("%d different attempt UUIDs", len(uuids))
	}
}

func TestBeginAndEnd(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	if h := mustRead(t, l); h.Len() != 0 {
		t.Fatalf("a new ledger has %+v", h)
	}
	now := testTime
	l.now = func() time.Time { now = now.Add(time.Minute); return now }
	a := mustBegin(t, l)
	want := Attempt{RestartCount: n(0), UUID: testUUID("0", 0), Execution: "0", Began: testTime.Add(time.Minute), Launcher: a.Launcher}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("begun (-want +got):\n%s", diff)
	}
	if a.Launcher.Pid != os.Getpid() || a.Launcher.Start == 0 || len(a.Launcher.Boot) != 36 {
		t.Errorf("launcher %+v", a.Launcher)
	}
	want.Outcome = OutcomeRunning
	if diff := cmp.Diff([]Attempt{want}, mustRead(t, l).Attempts); diff != "" {
		t.Errorf("while it runs (-want +got):\n%s", diff)
	}
	if err := l.End(t.Context(), a.UUID, "failed: rank 3"); err != nil {
		t.Fatal(err)
	}
	want.Ended, want.Outcome = testTime.Add(2*time.Minute), "failed: rank 3"
	if diff := cmp.Diff([]Attempt{want}, mustRead(t, mustOpen(t, dir)).Attempts); diff != "" {
		t.Errorf("after its end (-want +got):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(dir, testFile))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestEndErrors(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	if err := l.End(t.Context(), testUUID("0", 0), "failed"); !errors.Is(err, ErrNoAttempt) {
		t.Errorf("without a ledger: %v", err)
	}
	a := mustBegin(t, l)
	for _, bad := range []string{"", OutcomeRunning} {
		if err := l.End(t.Context(), a.UUID, bad); err == nil || !strings.Contains(err.Error(), "no outcome") {
			t.Errorf("outcome %q: %v", bad, err)
		}
	}
	if err := l.End(t.Context(), a.UUID, "succeeded"); err != nil {
		t.Fatal(err)
	}
	// The first word stands: a guard that comes late does not rewrite history.
	err := l.End(t.Context(), a.UUID, "failed")
	if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), `"succeeded"`) {
		t.Errorf("second end: %v", err)
	}
	if last, _ := mustRead(t, l).Last(); last.Outcome != "succeeded" {
		t.Errorf("outcome %q", last.Outcome)
	}
	if err := l.End(t.Context(), testUUID("0", 9), "failed"); !errors.Is(err, ErrNoAttempt) {
		t.Errorf("unknown attempt: %v", err)
	}
}

// Whatever a caller computes, two attempts never get the same names.
func TestBeginRefusesWhatWasGivenOut(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	mustBegin(t, l)
	for name, test := range map[string]struct {
		change func(*Attempt)
		want   string
	}{
		"UUID":          {func(a *Attempt) { a.UUID = testUUID("0", 0) }, "belongs to attempt 0"},
		"no UUID":       {func(a *Attempt) { a.UUID = "" }, `UUID is ""`},
		"number":        {func(a *Attempt) { a.Number = 0 }, "1 is the next"},
		"restart count": {func(a *Attempt) { a.RestartCount = n(0) }, "restart count is 0, after 0"},
		"negative":      {func(a *Attempt) { a.Number = -1 }, "number is -1"},
	} {
		_, err := l.Begin(t.Context(), func(h History) (Attempt, error) {
			a, err := nextTest(h)
			test.change(&a)
			return a, err
		})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), testFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h := mustRead(t, l); h.Len() != 1 {
		t.Errorf("%d attempts", h.Len())
	}
}

func TestBeginPassesTheCallersErrorOn(t *testing.T) {
	dir := t.TempDir()
	mine := errors.New("mine")
	_, err := mustOpen(t, dir).Begin(t.Context(), func(History) (Attempt, error) { return Attempt{}, mine })
	if !errors.Is(err, mine) || err.Error() != mine.Error() {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, testFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a ledger was written: %v", err)
	}
}

// "running" and "unknown" are views; the file must not claim them.
func TestViewIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	mustBegin(t, l)
	_, err := l.Begin(t.Context(), func(h History) (Attempt, error) {
		if h.Attempts[0].Outcome != OutcomeRunning {
			t.Errorf("the caller sees outcome %q", h.Attempts[0].Outcome)
		}
		return nextTest(h)
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, testFile))
	if err != nil || strings.Contains(string(text), "outcome") {
		t.Errorf("%s, %v", text, err)
	}
}

// An element of a job array has a ledger of its own.
func TestArrayElements(t *testing.T) {
	dir := t.TempDir()
	for _, task := range []string{"", "1", "2"} {
		l, err := Open(dir, Name(testJob, task))
		if err != nil {
			t.Fatal(err)
		}
		if a := mustBegin(t, l); a.Number != 0 {
			t.Errorf("task %q began with attempt %d", task, a.Number)
		}
	}
	// One that was copied under another's name is not taken for its own.
	text, err := os.ReadFile(filepath.Join(dir, Name(testJob, "1")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, testFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	checkUnusable(t, dir, `task "1"`)
}

func TestReadWithoutADirectory(t *testing.T) {
	l := mustOpen(t, filepath.Join(t.TempDir(), "missing"))
	if h := mustRead(t, l); h.Len() != 0 {
		t.Errorf("history %+v", h)
	}
	if _, err := l.Begin(t.Context(), nextTest); err == nil || !strings.Contains(err.Error(), "cannot use state directory") {
		t.Errorf("Begin without a directory: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := mustOpen(t, file).Read(); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Read in a file: %v", err)
	}
}

func TestFullLedger(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	text, err := encode(l.name, fullHistory(keep))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > maxSize/2 {
		t.Errorf("a full ledger has %d bytes", len(text))
	}
	if err := os.WriteFile(l.path(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if a := mustBegin(t, l); a.Number != keep || *a.RestartCount != keep {
		t.Errorf("attempt %d, restart count %d", a.Number, *a.RestartCount)
	}
	after := mustRead(t, l)
	if len(after.Attempts) != keep || after.Len() != keep+1 {
		t.Errorf("%d listed of %d", len(after.Attempts), after.Len())
	}
}

// Goroutines of one process take turns as processes do.
func TestBeginConcurrently(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	const count = 40
	got := make(chan int64, count)
	for range count {
		go func() {
			a, err := l.Begin(context.Background(), nextTest)
			if err != nil {
				t.Error(err)
			}
			got <- a.Number
		}()
	}
	seen := map[int64]bool{}
	for range count {
		seen[<-got] = true
	}
	if len(seen) != count || !seen[0] || !seen[count-1] {
		t.Errorf("%d different numbers of %d", len(seen), count)
	}
}

// What an attempt pays for the ledger: two fsyncs, and at the bound of its
// growth the whole text.
func BenchmarkBegin(b *testing.B) {
	for _, listed := range []int64{0, keep} {
		b.Run(fmt.Sprint(listed, " attempts"), func(b *testing.B) {
			l, err := Open(b.TempDir(), testFile)
			if err != nil {
				b.Fatal(err)
			}
			text, err := encode(l.name, fullHistory(listed))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				b.StopTimer()
				if err := os.WriteFile(l.path(), text, 0o600); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := l.Begin(b.Context(), nextTest); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func fullHistory(listed int64) History {
	h := History{Attempts: []Attempt{}}
	for i := range listed {
		h.Attempts = append(h.Attempts, Attempt{
			Number: i, RestartCount: n(i), UUID: testUUID("0", i), Execution: "0", Began: testTime,
			Ended: testTime, Outcome: "failed", Launcher: Launcher{1 << 22, 1 << 40, testJob},
		})
	}
	return h
}
