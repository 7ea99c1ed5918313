package shutdown

import (
	"cmp"
	"slices"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// key tells spans apart. The trace id is part of it because span ids are
// unique only within a trace.
type key struct {
	trace trace.TraceID
	span  trace.SpanID
}

func keyOf(c trace.SpanContext) key {
	return key{trace: c.TraceID(), span: c.SpanID()}
}

// set holds open spans and the order in which they started. The zero set is
// empty and ready. It does no locking.
type set struct {
	spans   map[key]member
	peak    int    // the most members since the map was made
	started uint64 // members ever added
}

type member struct {
	span  sdktrace.ReadWriteSpan
	order uint64
}

// shrinkFrom is the size from which a map that has emptied is worth replacing.
const shrinkFrom = 1024

func (s *set) len() int { return len(s.spans) }

func (s *set) add(k key, span sdktrace.ReadWriteSpan) {
	if s.spans == nil {
		s.spans = make(map[key]member)
	}
	s.started++
	s.spans[k] = member{span: span, order: s.started}
	s.peak = max(s.peak, len(s.spans))
}

// take removes a span and returns it.
func (s *set) take(k key) (sdktrace.ReadWriteSpan, bool) {
	found, ok := s.spans[k]
	if !ok {
		return nil, false
	}
	delete(s.spans, k)
	s.shrink()
	return found.span, true
}

// shrink gives memory back after a burst. A Go map keeps the room of its
// largest time for ever, and a launcher lives for weeks. To copy an eighth of
// the members after seven eighths of them were removed costs little each.
func (s *set) shrink() {
	if s.peak < shrinkFrom || len(s.spans) > s.peak/8 {
		return
	}
	smaller := make(map[key]member, len(s.spans))
	for k, m := range s.spans {
		smaller[k] = m
	}
	s.spans, s.peak = smaller, len(smaller)
}

// takeAll empties the set and returns its spans, the last started first. A
// child starts after its parent, so this is innermost first, also across a
// parent that has ended and is no longer here to link the two.
func (s *set) takeAll() []sdktrace.ReadWriteSpan {
	members := make([]member, 0, len(s.spans))
	for _, m := range s.spans {
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(b.order, a.order) })
	spans := make([]sdktrace.ReadWriteSpan, len(members))
	for i, m := range members {
		spans[i] = m.span
	}
	s.spans, s.peak = nil, 0
	return spans
}
