package otelsetup

import (
	"context"
	"errors"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
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
