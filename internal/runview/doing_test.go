package runview

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/rundir"
)

// busy gives a rank of an attempt open spans, by name and how long they were open.
func busy(a *rundir.AttemptRecord, rank, open int, spans ...any) {
	at := began().Add(time.Hour)
	d := &rundir.DoingRecord{At: at, Open: open}
	for i := 0; i < len(spans); i += 2 {
		d.Spans = append(d.Spans, rundir.SpanRecord{Name: spans[i].(string), Started: at.Add(-spans[i+1].(time.Duration))})
	}
	a.Ranks[rank].Doing = d
}

func TestDoingInTheReport(t *testing.T) {
	r := failedRun()
	last := &r.Attempts[1]
	busy(last, 1, 2, "train", 62*time.Second, "allreduce", 1900*time.Millisecond)
	busy(last, 3, 5, "train", 62*time.Second, "load batch\x1b[31m", 12*time.Millisecond)
	busy(last, 4, 2, "train", 61*time.Second, "allreduce", time.Second)
	busy(&r.Attempts[0], 0, 1, "earlier", time.Second)
	lines := Report(r, began().Add(2*time.Hour))
	i := slices.Index(lines, "open when they went, in attempt-1")
	if i < 0 {
		t.Fatalf("%q", lines)
	}
	want := []string{
		"  ranks 1,4: train (1m02s) > allreduce (1.9s)",
		"  rank 3: train (1m02s) > load batch (12ms), and 3 more open",
	}
	if diff := cmp.Diff(want, lines[i+1:i+3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Contains(lines, "  it had open: train (1m02s) > load batch (12ms), and 3 more open") {
		t.Errorf("the cause does not say what it was doing: %q", lines)
	}
	var page bytes.Buffer
	if err := WritePage(&page, r, began().Add(2*time.Hour), "lenslaunch test"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"train (1m02s) &gt; allreduce (1.9s)", "earlier (1.0s)"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestDoingsAreBounded(t *testing.T) {
	a := rundir.AttemptRecord{}
	for rank := range 100 {
		a.Ranks = append(a.Ranks, rundir.RankRecord{Rank: rank})
		busy(&a, rank, 1, fmt.Sprint("step ", rank), time.Second)
	}
	if list, left := doings(a, 10); len(list) != 10 || left != 90 {
		t.Errorf("%d shown, %d left", len(list), left)
	}
	if list, left := doings(rundir.AttemptRecord{Ranks: []rundir.RankRecord{{}, {Doing: &rundir.DoingRecord{}}}}, 10); len(list)+left != 0 {
		t.Errorf("%v, %d", list, left)
	}
}
