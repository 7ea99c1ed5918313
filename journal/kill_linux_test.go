package journal

import (
	"bufio"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// started is a helper at work; its first line that begins with "ready" was read.
type started struct {
	pid   int
	lines []string // all lines up to there
	kill  func()   // SIGKILL, and waits
}

func start(t *testing.T, behaviour, path string) started {
	t.Helper()
	cmd := helper(t, behaviour, path)
	stdin, err := cmd.StdinPipe() // its end would end the helper
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := started{pid: cmd.Process.Pid}
	ended := false
	s.kill = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Kill()
			_, _ = io.Copy(io.Discard, stdout)
			_ = cmd.Wait() // killed: that is no news
			stdin.Close()
		}
	}
	t.Cleanup(s.kill)
	for lines := bufio.NewScanner(stdout); ; {
		if !lines.Scan() {
			t.Fatalf("%s ended: %v, after %q", behaviour, lines.Err(), s.lines)
		}
		s.lines = append(s.lines, lines.Text())
		if strings.HasPrefix(lines.Text(), "ready") {
			return s
		}
	}
}

// A worker that is killed at a random moment while 4 goroutines start and end spans as
// fast as they can: the span that was open comes out, of the others only such that can
// have been, and nothing is torn.
func TestKilledAtRandomMoments(t *testing.T) {
	const kills = 25
	var torn, inner int
	for _, behaviour := range []string{"churn", "churn-wrapped"} {
		for range kills {
			path := made(t, 64)
			worker := start(t, behaviour, path)
			moment := time.NewTimer(rand.N(20 * time.Millisecond))
			mustRead(t, path) // a reader of a living worker does no harm
			<-moment.C
			worker.kill()
			j, err := Read(path, ReadOptions{Slots: 64, Death: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			torn += j.Torn
			inner += len(j.Spans) - 1
			checkKilled(t, j, worker)
		}
	}
	if torn != 0 {
		t.Errorf("%d torn slots in %d kills", torn, 2*kills)
	}
	if inner == 0 {
		t.Error("no kill met an inner span: does this test test anything?")
	}
	t.Logf("%d kills found %d inner spans", 2*kills, inner)
}

func checkKilled(t *testing.T, j *Journal, worker started) {
	t.Helper()
	if j.Claim.PID != worker.pid || j.Clean || len(j.Spans) == 0 || j.Spans[0].Name != "outer" {
		t.Fatalf("worker %d: %+v", worker.pid, j)
	}
	outer := j.Spans[0]
	if want := "ready " + outer.SpanID.String(); worker.lines[0] != want || !outer.Open() {
		t.Errorf("outer is %v, open: %v; want %s", outer.SpanID, outer.Open(), want)
	}
	open := 0
	for _, s := range j.Spans[1:] {
		if s.Open() {
			open++
		}
		isInner, isChild := s.Name == "inner" && s.Parent == outer.SpanID, s.Name == "child of "+s.Parent.String()
		if s.TraceID != outer.TraceID || !isInner && !isChild || s.Start.Before(outer.Start) || s.Scope.Name != "helper" {
			t.Errorf("a span that never was: %+v", s)
		}
	}
	if open > 2*churners {
		t.Errorf("%d spans open at once, of %d goroutines with 2 each", open, churners)
	}
}

// What inherits the variable runs without a journal, also in the same process and
// after the writer's death, and the writer's spans are intact.
func TestOneWriter(t *testing.T) {
	path := made(t, 8)
	worker := start(t, "fork", path)
	if diff := cmp.Diff([]string{"refused", "refused", "refused", "refused", "ready"}, worker.lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	check := func() {
		t.Helper()
		j := mustRead(t, path)
		if diff := cmp.Diff([]string{"outer", "inner"}, namesOf(j.Spans)); diff != "" || j.Claim.PID != worker.pid {
			t.Errorf("claim %+v, worker %d; spans (-want +got):\n%s", j.Claim, worker.pid, diff)
		}
	}
	check()
	worker.kill()
	if out, err := helper(t, "claim", path).Output(); err != nil || string(out) != "refused\n" {
		t.Errorf("after the writer's death: %q, %v", out, err)
	}
	check()
}

// A program that replaces itself has its journal back, with what was open.
func TestExecContinuesTheJournal(t *testing.T) {
	for slots, skipped := range map[int]int{8: 3, 2 * nearSlots: 0} {
		path := made(t, slots)
		worker := start(t, "exec", path)
		worker.kill()
		j := mustRead(t, path)
		want := append([]string{"before"}, strings.Fields(strings.Repeat("after ", 10-skipped))...)
		if diff := cmp.Diff(want, namesOf(j.Spans)); diff != "" || j.Skipped != uint64(skipped) || j.Claim.PID != worker.pid {
			t.Errorf("%d slots, %d skipped, claim %+v; spans (-want +got):\n%s", slots, j.Skipped, j.Claim, diff)
		}
		for _, s := range j.Spans {
			if s.Scope.Name != "helper" {
				t.Errorf("%s has scope %+v", s.Name, s.Scope)
			}
		}
	}
}

// left is what the end of a process does to a mapping and its lock.
func left(t *testing.T, w *Writer) {
	t.Helper()
	if err := unix.Munmap(w.data); err != nil {
		t.Fatal(err)
	}
}

// A claim that a process died in the middle of is nobody's.
func TestHalfAClaim(t *testing.T) {
	path := made(t, 4)
	w := opened(t, path)
	le.PutUint64(w.data[offPID:], 1) // as if the check word were not written yet
	left(t, w)
	if got := open(path); got != "claimed" {
		t.Error(got)
	}
}

// A recycled pid is told apart by the start of the process.
func TestRecycledPid(t *testing.T) {
	path := made(t, 4)
	w := opened(t, path)
	le.PutUint64(w.data[offTicks:], 1)
	word64(w.data, offClaim).Store(claimWord(w.data))
	left(t, w)
	if got := open(path); got != "refused" {
		t.Error(got)
	}
}
