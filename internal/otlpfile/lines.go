package otlpfile

import (
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// longestLine is how long a line may be, with its end: what the Collector's receiver
// takes for one if it is not told otherwise (max_log_size). It cuts a longer one in two,
// of which it can read neither.
const longestLine = 1 << 20

// appendSpans appends a request as one line; one that is longer than longest, with its
// spans in two lines, and so on. A single span is never taken apart.
func appendSpans(b []byte, spans []*tracepb.ResourceSpans, longest int) []byte {
	request := &coltracepb.ExportTraceServiceRequest{ResourceSpans: spans}
	begin := len(b)
	b = append(appendJSON(b, request.ProtoReflect()), '\n')
	if n := count(spans); n > 1 && len(b)-begin > longest {
		first, rest := divide(spans, n/2)
		b = appendSpans(appendSpans(b[:begin], first, longest), rest, longest)
	}
	return b
}

// divide takes the first n spans from the rest. Both have the resources and scopes that
// are theirs.
func divide(spans []*tracepb.ResourceSpans, n int64) (first, rest []*tracepb.ResourceSpans) {
	for _, r := range spans {
		mine := &tracepb.ResourceSpans{Resource: r.GetResource(), SchemaUrl: r.GetSchemaUrl()}
		others := &tracepb.ResourceSpans{Resource: r.GetResource(), SchemaUrl: r.GetSchemaUrl()}
		for _, s := range r.GetScopeSpans() {
			k := min(n, int64(len(s.GetSpans())))
			n -= k
			mine.ScopeSpans = appendScope(mine.ScopeSpans, s, s.GetSpans()[:k])
			others.ScopeSpans = appendScope(others.ScopeSpans, s, s.GetSpans()[k:])
		}
		if len(mine.ScopeSpans) > 0 {
			first = append(first, mine)
		}
		if len(others.ScopeSpans) > 0 {
			rest = append(rest, others)
		}
	}
	return first, rest
}

func appendScope(list []*tracepb.ScopeSpans, s *tracepb.ScopeSpans, spans []*tracepb.Span) []*tracepb.ScopeSpans {
	if len(spans) == 0 {
		return list
	}
	return append(list, &tracepb.ScopeSpans{Scope: s.GetScope(), SchemaUrl: s.GetSchemaUrl(), Spans: spans})
}

func count(spans []*tracepb.ResourceSpans) (n int64) {
	for _, r := range spans {
		for _, s := range r.GetScopeSpans() {
			n += int64(len(s.GetSpans()))
		}
	}
	return n
}
