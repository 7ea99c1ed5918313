package otelsetup

import (
	"context"
	"errors"
	"slices"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// fanout exports to several places at once: one that does not answer must not keep the
// spans from the others. A span counts as lost if it misses any of them.
type fanout []sdktrace.SpanExporter

func (f fanout) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return f.each(func(e sdktrace.SpanExporter) error { return e.ExportSpans(ctx, spans) })
}

func (f fanout) Shutdown(ctx context.Context) error {
	return f.each(func(e sdktrace.SpanExporter) error { return e.Shutdown(ctx) })
}

func (f fanout) each(do func(sdktrace.SpanExporter) error) error {
	if len(f) == 1 {
		return do(f[0]) // its own error: it may say that a part was taken
	}
	answers := make(chan error, len(f))
	for _, e := range f {
		go func() { answers <- do(e) }()
	}
	var all error
	for range f {
		all = errors.Join(all, <-answers)
	}
	return all
}

// lasts reports whether one of the places is a file.
func lasts(e sdktrace.SpanExporter) bool {
	switch e := e.(type) {
	case lasting:
		return true
	case fanout:
		return slices.ContainsFunc(e, lasts)
	}
	return false
}

// onceEach is an exporter for spans that are tried again if they miss one of the places:
// each place gets them once.
func onceEach(e sdktrace.SpanExporter) sdktrace.SpanExporter {
	all, ok := e.(fanout)
	if !ok {
		return &once{next: e}
	}
	each := make(fanout, len(all))
	for i, e := range all {
		each[i] = &once{next: e}
	}
	return each
}

// mostOnce bounds what once remembers, in spans: about as many as wait to be tried again.
const mostOnce = 32_768

// once leaves out spans that have arrived.
type once struct {
	next    sdktrace.SpanExporter
	arrived map[spanKey]struct{}
}

type spanKey struct {
	trace trace.TraceID
	span  trace.SpanID
}

func keyOf(s sdktrace.ReadOnlySpan) spanKey {
	c := s.SpanContext()
	return spanKey{c.TraceID(), c.SpanID()}
}

// ExportSpans is called by one goroutine at a time: whoever has the turn.
func (o *once) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	fresh := slices.DeleteFunc(slices.Clone(spans), func(s sdktrace.ReadOnlySpan) bool {
		_, known := o.arrived[keyOf(s)]
		return known
	})
	if len(fresh) == 0 {
		return nil
	}
	if err := o.next.ExportSpans(ctx, fresh); err != nil {
		return err
	}
	if o.arrived == nil || len(o.arrived) > mostOnce {
		o.arrived = make(map[spanKey]struct{}, len(fresh))
	}
	for _, s := range fresh {
		o.arrived[keyOf(s)] = struct{}{}
	}
	return nil
}

// Shutdown is for whoever exports the program's own spans to the same place.
func (o *once) Shutdown(context.Context) error { return nil }
