package runview

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/internal/openwork"
	"lenslaunch/journal"
)

// opened is an open span that started so long before a moment.
func opened(id, parent byte, name string, at time.Time, ago time.Duration) journal.Span {
	s := journal.Span{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{id}, Name: name, Start: at.Add(-ago)}
	if parent != 0 {
		s.Parent = trace.SpanID{parent}
	}
	return s
}

// What is said of a process: who it is, whether it lives, when it last began something, and
// how long what is open has been so, to now or to its end.
func TestOpenLines(t *testing.T) {
	now := began().Add(time.Hour)
	rank := func(n int) openwork.Entry { return openwork.Entry{Group: "attempt-1", Rank: n} }
	alive := &journal.Journal{
		Claim: journal.Claim{PID: 4711}, LastActivity: now.Add(-2100 * time.Millisecond), Skipped: 2,
		Spans: []journal.Span{
			opened(1, 0, "train", now, time.Minute), opened(2, 1, "step\x1b[31m 3", now, 3*time.Second),
			{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{3}, Name: "ended", Start: now.Add(-time.Second), End: now},
		},
	}
	died := now.Add(-time.Minute)
	dead := &journal.Journal{
		Claim: journal.Claim{PID: 4712}, LastActivity: died.Add(-time.Second), Spans: []journal.Span{opened(1, 0, "train", died, 5*time.Second)},
		Death: journal.Death{At: died, Reason: "rank 1 killed by SIGKILL"},
	}
	gone := &journal.Journal{
		Claim: journal.Claim{PID: 4713}, LastActivity: died, Spans: []journal.Span{opened(1, 0, "train", died, 5*time.Second)},
	}
	idle := &journal.Journal{Claim: journal.Claim{PID: 4714}, LastActivity: now.Add(time.Second)} // the clock was set since
	all := []Open{
		{Entry: rank(0), Journal: alive, Alive: true}, {Entry: rank(1), Journal: dead}, {Entry: rank(2), Journal: gone},
		{Entry: rank(3), Journal: idle, Alive: true}, {Entry: rank(4), Journal: &journal.Journal{}}, {Entry: rank(5), Problem: errors.New("it is no span journal")},
		{Entry: openwork.Entry{Group: journal.LauncherGroup}, Journal: &journal.Journal{}},
	}
	want := []string{
		"attempt-1",
		"  rank 0, pid 4711, last span began 2.1s ago, 2 spans more than the journal has room for",
		"    train                                     1m00s",
		"      step 3                                  3.0s",
		"  rank 1, pid 4712: rank 1 killed by SIGKILL, last span began 1.0s ago",
		"    train                                     5.0s",
		"  rank 2, pid 4713: gone, last span began 0ms ago",
		"    train                                     5.0s",
		"  rank 3, pid 4714, last span began 0ms ago",
		"    nothing open",
		"  rank 4: no process has recorded spans",
		"  rank 5: it is no span journal",
		"launcher",
		"  the launcher: no process has recorded spans",
	}
	if diff := cmp.Diff(want, OpenLines(all, now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
