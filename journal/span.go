package journal

import (
	"cmp"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Span is a span as a journal keeps it: without attributes, events and links.
type Span struct {
	TraceID      trace.TraceID
	SpanID       trace.SpanID
	Parent       trace.SpanID // zero: none
	ParentRemote bool
	TraceFlags   trace.TraceFlags
	Name         string // cut to 152 bytes if NameCut
	NameCut      bool
	Kind         trace.SpanKind
	Scope        Scope
	Start        time.Time
	End          time.Time  // zero while the span is open
	Status       codes.Code // of an ended span, without its description
	Thread       uint32     // the kernel's id of the thread that started it; 0: unknown
	Step, Epoch  int64      // progress of the application when the span started; 0: not told
}

// Open reports whether the span had not ended.
func (s Span) Open() bool { return s.End.IsZero() }

// Scope is an instrumentation scope. Empty where the table of scopes was full.
type Scope struct{ Name, Version string }

// Claim says which process writes a journal.
type Claim struct {
	PID   int       // as the process itself sees it
	Ticks uint64    // its start in clock ticks since boot: tells a recycled pid apart
	Time  time.Time // of the claim
}

// Journal is the content of one file at one moment.
type Journal struct {
	Header
	Claim        Claim     // zero: no process has claimed it
	Clean        bool      // the writer's telemetry was shut down in order
	Skipped      uint64    // spans that found no slot
	LastActivity time.Time // last start of a span, as far as writers say; zero: none
	Death        Death     // zero: nobody has entered one

	// Resource is the writer's actual resource. Nil: none was written, it was too
	// large, or it is damaged; the rank's carrier has to do.
	Resource  []attribute.KeyValue
	SchemaURL string

	Spans   []Span // parents first
	Torn    int    // slots in use that hold no whole span
	Missing int    // slots that the file should have but is too short for
}

// parentsFirst orders spans so that none stands before its parent, and otherwise by
// start. Parents that point at each other, which only damage explains, end the chain.
func parentsFirst(spans []Span) []Span {
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(a.Start.Compare(b.Start), slices.Compare(a.SpanID[:], b.SpanID[:]))
	})
	place := make(map[trace.SpanID]int, len(spans))
	for i, s := range spans {
		place[s.SpanID] = i
	}
	ordered := make([]Span, 0, len(spans))
	done := make([]bool, len(spans))
	for i := range spans {
		var chain []int // from i up to the first that is placed already
		for at, ok := i, true; ok && !done[at]; at, ok = place[spans[at].Parent] {
			done[at] = true
			chain = append(chain, at)
		}
		for _, at := range slices.Backward(chain) {
			ordered = append(ordered, spans[at])
		}
	}
	return ordered
}
