//go:build interop

package interop

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/journal"
)

// torch's data loader with processes that it forks, also in threads, and spawns, all of
// which have spans and would like the journal: it holds what the one writer did, whole.
func TestPythonJournalDataLoaders(t *testing.T) {
	var said struct{ Errors []string }
	worker := startSpans(t, 0, &said, "loaders")
	j := worker.killed(t)
	if diff := cmp.Diff([]string{"another process writes it"}, said.Errors); diff != "" || j.Claim.PID != worker.pid || j.Skipped != 0 {
		t.Errorf("claim %+v of %d, %d skipped (-want +got):\n%s", j.Claim, worker.pid, j.Skipped, diff)
	}
	counts := map[string]int{}
	for _, s := range j.Spans {
		if s.Open() {
			counts["open"]++
		}
		counts[s.Name]++
	}
	// 500 of the loop, and one for each item that one of the four loaders gave.
	if diff := cmp.Diff(map[string]int{"outer": 1, "inner": 1, "open": 2, "waiting": 500 + 4*40}, counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Spans of other makes and with values that no SDK has are written as far as they can be,
// and what is an exception of the program's own reaches it.
func TestPythonJournalOddSpans(t *testing.T) {
	var said struct{ Raised bool }
	j := startSpans(t, 16, &said, "odd").killed(t)
	type span struct {
		Name  string
		End   int64
		Kind  trace.SpanKind
		Step  int64
		Epoch int64
	}
	got := []span{}
	for _, s := range j.Spans {
		one := span{Name: s.Name, Kind: s.Kind, Step: s.Step, Epoch: s.Epoch}
		if !s.Open() {
			one.End = s.End.UnixNano()
		}
		if s.Open() == (s.Status == codes.Error) || s.TraceID != (trace.TraceID{15: 1}) {
			t.Errorf("%+v", s)
		}
		got = append(got, one)
	}
	want := []span{ // "plain" has arrived
		{"5", 5, trace.SpanKindInternal, 0, 3},
		{"time", 2, trace.SpanKindInternal, 0, 3},
		{"flags", 0, trace.SpanKindInternal, 0, 3},
		{"kind", 0, trace.SpanKindServer, 0, 3},
	}
	if diff := cmp.Diff(want, got); diff != "" || !said.Raised {
		t.Errorf("the program's exception reached it: %v; spans (-want +got):\n%s", said.Raised, diff)
	}
	if last := j.Spans[3]; last.Parent != (trace.SpanID{7: 9}) || !last.ParentRemote {
		t.Errorf("%+v", last)
	}
}

// Handlers of signals start spans in the middle of the processor's own functions.
func TestPythonJournalSignalHandlers(t *testing.T) {
	var said struct{ Outer pySpan }
	j := startSpans(t, 1024, &said, "signals").killed(t)
	for _, s := range j.Spans {
		known := strings.HasPrefix(s.Name, "step ") || s.Name == "in a handler" || strings.HasPrefix(s.Name, "inner of a handler ")
		if s.Open() && asPython(s) != said.Outer || !s.Open() && !known {
			t.Errorf("a span that never was: %+v", s)
		}
	}
	if len(j.Spans) == 0 || asPython(j.Spans[0]) != said.Outer || j.Skipped != 0 {
		t.Errorf("%d skipped, %d spans", j.Skipped, len(j.Spans))
	}
}

func TestPythonJournalInstall(t *testing.T) {
	said := map[string]string{}
	j := startSpans(t, 16, &said, "installed").killed(t)
	const refused = "the tracer provider takes no span processors"
	if diff := cmp.Diff(map[string]string{"none": "None", "proxy": refused, "installed": "None"}, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"open", "waiting"}, spanNames(j)); diff != "" || j.Spans[1].Open() {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

// Whatever a slot, the scopes or the claim hold, the writer starts, writes, and its spans
// are read. The first page's checked part is whole, else it would refuse the file.
func TestPythonJournalTakesOverAnyBytes(t *testing.T) {
	for _, fill := range []byte{0xff, 1, 0xaa} {
		path, err := journal.Create(t.TempDir(), journal.RankName("attempt-0", 0), journal.Header{Slots: 8})
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 4096; i < len(b)-2*256; i++ { // two slots stay free
			b[i] = fill
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var said struct{ Error string }
		startSpans(t, 8, &said, "after_execv", path).kill()
		j, err := journal.Read(path, journal.ReadOptions{Death: time.Now()})
		if err != nil || said.Error != "None" || !slices.Equal(spanNames(j), []string{"after"}) {
			t.Errorf("%#x: %v, %s, %+v", fill, err, said.Error, j)
		}
	}
}

// As root, files of other users are there, too.
func TestPythonJournalOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path, err := journal.Create(t.TempDir(), journal.RankName("attempt-0", 0), journal.Header{Slots: 4})
	if err := errors.Join(err, os.Chown(path, 1, 1)); err != nil {
		t.Fatal(err)
	}
	var said struct{ Errors []string }
	startSpans(t, 4, &said, "nothing", path).kill()
	if len(said.Errors) != 1 || !strings.Contains(said.Errors[0], "not this user's alone") {
		t.Errorf("%q", said.Errors)
	}
}
