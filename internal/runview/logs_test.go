package runview

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/rundir"
)

// bracket is the console's prefix.
func bracket(rank, _ int) (first, further string) {
	return fmt.Sprintf("[%d] ", rank), fmt.Sprintf("[%d]+ ", rank)
}

func (d *directory) logs(out io.Writer) *Logs {
	return &Logs{Dir: d.path, Out: out, Prefix: bracket, Now: began}
}

// show is what `logs` prints, as lines.
func (d *directory) show(change func(*Logs)) []string {
	d.t.Helper()
	var out bytes.Buffer
	l := d.logs(&out)
	if change != nil {
		change(l)
	}
	if err := l.Show(); err != nil {
		d.t.Fatal(err)
	}
	return textLines(out.String())
}

func textLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Lines come in the order in which they were written, over ranks and streams.
func TestLogsAreInOrderOfTime(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out", "a1\na2\na3\n")
	d.times("attempt-0/rank-0.out", mark{1, 3}, mark{3, 6}, mark{5, 9})
	d.write("attempt-0/rank-1.out", "b1\nb2\nb3\nb4\n")
	d.times("attempt-0/rank-1.out", mark{2, 6}, mark{4, 12}) // two lines at once
	d.write("attempt-0/rank-1.err", "e1\ne2")
	d.times("attempt-0/rank-1.err", mark{2, 3}, mark{9, 5})
	want := []string{"[0] a1", "[1] b1", "[1] b2", "[1] e1", "[0] a2", "[1] b3", "[1] b4", "[0] a3", "[1] e2"}
	if diff := cmp.Diff(want, d.show(nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Streams that went straight to their files have no times but that of the last write.
func TestLogsWithoutTimes(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out", "a1\na2\n")
	d.modified("attempt-0/rank-0.out", 4)
	d.write("attempt-0/rank-1.out", "b1\nb2\nb3\n")
	d.times("attempt-0/rank-1.out", mark{3, 3}, mark{5, 9})
	d.write("attempt-0/rank-2.out", "c1\n")
	d.modified("attempt-0/rank-2.out", 1)
	// An index that ends before its log, as one of a launcher that was killed.
	d.write("attempt-0/rank-3.out", "d1\nd2\n")
	d.times("attempt-0/rank-3.out", mark{2, 3})
	want := []string{"[2] c1", "[3] d1", "[3] d2", "[1] b1", "[0] a1", "[0] a2", "[1] b2", "[1] b3"}
	if diff := cmp.Diff(want, d.show(nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLogsOfSeveralAttempts(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out", "first\n")
	d.run.Attempts[0].Cause = &rundir.CauseRecord{Rank: 1, ExitCode: ptr(3)}
	d.end(rundir.OutcomeFailed, nil)
	d.begin("attempt-1")
	d.write("attempt-1/rank-0.out", "second\n")
	want := []string{"[0] first", "--- attempt-1 began at 2025-03-04 05:07:07 UTC, after attempt-0 failed: rank 1, exit code 3 ---", "[0] second"}
	if diff := cmp.Diff(want, d.show(nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"[0] second"}, d.show(func(l *Logs) { l.Attempt = "attempt-1" })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A search finds lines and nothing else.
	got := d.show(func(l *Logs) { l.Grep = regexp.MustCompile("^(first|second)$") })
	if diff := cmp.Diff([]string{"[0] first", "[0] second"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var none *NoAttempt
	if err := (&Logs{Dir: d.path, Out: io.Discard, Attempt: "attempt-7", Now: began}).Show(); !errors.As(err, &none) {
		t.Errorf("%v", err)
	}
}

// Nodes that do not talk to each other continue an attempt under its name: it is there
// once.
func TestLogsOfAContinuedAttempt(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.end(rundir.OutcomeFailed, nil)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out", "a\n")
	if diff := cmp.Diff([]string{"[0] a"}, d.show(nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Somebody who needed room has removed the output of an old attempt.
func TestLogsOfAnAttemptThatWasRemoved(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.begin("attempt-1")
	d.write("attempt-1/rank-0.out", "a\n")
	if err := os.RemoveAll(filepath.Join(d.path, "attempt-0")); err != nil {
		t.Fatal(err)
	}
	if got := d.show(func(l *Logs) { l.Grep = regexp.MustCompile("") }); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestLogsOfSomeRanks(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	for rank := range 4 {
		d.write(fmt.Sprintf("attempt-0/rank-%d.out", rank), "x\n")
		d.modified(fmt.Sprintf("attempt-0/rank-%d.out", rank), 1)
	}
	got := d.show(func(l *Logs) { l.Pick = func(rank int) bool { return rank > 1 } })
	if diff := cmp.Diff([]string{"[2] x", "[3] x"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The pieces of a line are found with it, and come with a prefix of their own.
func TestLogsOfLongLines(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	long := strings.Repeat("x", maxLine)
	d.write("attempt-0/rank-0.out", "find "+long+"y\nhide "+long+"find\n")
	got := d.show(func(l *Logs) { l.Grep = regexp.MustCompile("^find") })
	want := []string{"[0] find " + long[5:], "[0]+ xxxxxy"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%.1000s", diff)
	}
}

// A log with a size cap lies in several files, of which the oldest may be gone.
func TestLogsOfRotatedFiles(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out.10", "a1\n")
	d.write("attempt-0/rank-0.out.2", "a2\n")
	d.write("attempt-0/rank-0.out.1", "a3\na4\n")
	d.write("attempt-0/rank-0.out", "a5\n")
	// 100 bytes went before what is left.
	d.times("attempt-0/rank-0.out", mark{1, 100}, mark{2, 103}, mark{4, 106}, mark{6, 112}, mark{8, 115})
	d.write("attempt-0/rank-1.out", "b1\nb2\nb3\nb4\n")
	d.times("attempt-0/rank-1.out", mark{1, 3}, mark{3, 6}, mark{5, 9}, mark{7, 12})
	want := []string{"[1] b1", "[0] a1", "[1] b2", "[0] a2", "[1] b3", "[0] a3", "[0] a4", "[1] b4", "[0] a5"}
	if diff := cmp.Diff(want, d.show(nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What is no output of a rank is left alone, and links are not followed.
func TestLogsOfOtherFiles(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out", "a\n")
	d.write("attempt-0/rank-x.out", "no\n")
	d.write("attempt-0/rank-1.log", "no\n")
	d.write("attempt-0/rank-1.out.old", "no\n")
	d.mkdir("attempt-0/rank-2.out")
	d.write("secret", "no\n")
	if err := os.Symlink(filepath.Join(d.path, "secret"), filepath.Join(d.path, "attempt-0", "rank-3.out")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"[0] a"}, d.show(nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An index that is no index changes no line.
func TestLogsWithABrokenIndex(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out", "a\nb\n")
	d.write("attempt-0/rank-0.out.times", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff nonsense")
	if diff := cmp.Diff([]string{"[0] a", "[0] b"}, d.show(nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A line is never cut, altered or lost between the files and the reader.
func TestLogsAreComplete(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	want := map[string]bool{}
	for rank := range 20 {
		var text strings.Builder
		var marks []mark
		for i := range 300 {
			line := fmt.Sprintf("line %d of rank %d %s", i, rank, strings.Repeat("é", (rank*i)%50))
			want[fmt.Sprintf("[%d] %s", rank, line)] = true
			text.WriteString(line + "\n")
			marks = append(marks, mark{float64(i%100) + float64(i)/1000, uint64(text.Len())})
		}
		d.write(fmt.Sprintf("attempt-0/rank-%d.out", rank), text.String())
		d.times(fmt.Sprintf("attempt-0/rank-%d.out", rank), marks...)
	}
	for _, line := range d.show(nil) {
		if !want[line] {
			t.Fatalf("%q", line)
		}
		delete(want, line)
	}
	if len(want) > 0 {
		t.Errorf("%d lines are lost", len(want))
	}
}

func TestLogsTellOfAFullDisk(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.write("attempt-0/rank-0.out", "a\n")
	if err := d.logs(full{}).Show(); err == nil || !strings.HasPrefix(err.Error(), "cannot write output: ") {
		t.Errorf("%v", err)
	}
}

func TestLogsOfNoRunDirectory(t *testing.T) {
	l := &Logs{Dir: t.TempDir(), Out: io.Discard, Now: time.Now}
	if err := l.Show(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := l.Follow(t.Context(), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
