//go:build interop

package interop

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"lenslaunch/shutdown"
)

// fact is what is certain of a span when its process was killed.
type fact struct {
	trace, name string
	open        bool // it was: neither its start nor its end was going on
	ended       bool
}

// facts reads what a rank wrote of its spans, by span id: workers/killed.py.
func facts(t *testing.T, dir string, rank int) map[string]fact {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("rank-%d.log", rank)))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]fact{}
	for line := range strings.Lines(string(text)) {
		word := strings.Fields(line)
		f := known[word[1]]
		f.trace, f.name = word[2], word[3]
		f.open, f.ended = word[0] == "B", word[0] == "F"
		known[word[1]] = f
	}
	return known
}

// judged is what a collector has of the spans of a rank that was killed.
type judged struct{ open, ended, twice, lost int }

// judge compares: what was open has come once, with the rank's own identity, truncated and
// with the reason; what had ended came as it is. A span whose start or end was going on may
// have come either way.
func judge(t *testing.T, known map[string]fact, came map[string][]arrival, rank int, reason string) (j judged) {
	t.Helper()
	for id, f := range known {
		got := came[id]
		switch {
		case f.open:
			j.open++
			if len(got) != 1 {
				t.Errorf("rank %d: %s was open and came %d times", rank, f.name, len(got))
				continue
			}
			checkOpen(t, got[0], f, rank, reason)
		case f.ended:
			j.ended++
			if len(got) > 1 {
				j.twice++
			} else if len(got) == 0 {
				j.lost++
			}
		}
		for _, a := range got {
			if f.ended && (a.truncated() || a.span.EndTimeUnixNano == 0) {
				t.Errorf("rank %d: %s had ended and came as %v", rank, f.name, a.span)
			}
		}
	}
	return j
}

// checkOpen compares a span that was open with what is known of it.
func checkOpen(t *testing.T, a arrival, f fact, rank int, reason string) {
	t.Helper()
	if !a.truncated() || a.reason() != reason || a.span.Name != f.name || fmt.Sprintf("%x", a.span.TraceId) != f.trace || a.span.Status.GetCode() != 0 {
		t.Errorf("rank %d: %s came as %v, reason %q, want %q", rank, f.name, a.span, a.reason(), reason)
	}
	parent := map[string]string{"train": "lenslaunch.worker", "step": "train", "work": "step"}[f.name]
	if a.parent != parent {
		t.Errorf("rank %d: the parent of %s is %q", rank, f.name, a.parent)
	}
	if a.rank != rank || !a.integer {
		t.Errorf("rank %d: %s has the resource of rank %d (an integer: %v)", rank, f.name, a.rank, a.integer)
	}
}

// arrival is a span as a collector has it.
type arrival struct {
	span    *tracepb.Span
	rank    int    // of its resource, -1: none
	integer bool   // it is an integer there
	parent  string // name of its parent, as far as that has come
}

func (a arrival) truncated() bool {
	for _, kv := range a.span.Attributes {
		if kv.Key == shutdown.EventName && kv.Value.GetBoolValue() {
			return true
		}
	}
	return false
}

func (a arrival) reason() string {
	for _, e := range a.span.Events {
		if e.Name == shutdown.EventName {
			return e.Attributes[0].Value.GetStringValue()
		}
	}
	return ""
}

// arrivals are all spans that came, by id.
func arrivals(list []*tracepb.ResourceSpans) map[string][]arrival {
	came, names := map[string][]arrival{}, map[string]string{}
	for _, resource := range list {
		of := arrival{rank: -1}
		for _, kv := range resource.Resource.Attributes {
			if kv.Key == "nv.dl.rank" {
				of.rank = int(kv.Value.GetIntValue())
				of.integer = kv.Value.GetStringValue() == ""
			}
		}
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				a := of
				a.span = span
				id := fmt.Sprintf("%x", span.SpanId)
				came[id] = append(came[id], a)
				names[id] = span.Name
			}
		}
	}
	for id := range maps.Keys(came) {
		for i, a := range came[id] {
			came[id][i].parent = names[fmt.Sprintf("%x", a.span.ParentSpanId)]
		}
	}
	return came
}

// slotsOf is a journal so small that spans go through it many times.
const slotsOf = 128

// spansOf is more than a hundred times as many spans.
const spansOf = 101*slotsOf + 1
