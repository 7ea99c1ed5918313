package otelsetup

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// errGivenUp is the cause when the shutdown's time was over.
var errGivenUp = errors.New("the collector did not answer in time")

// counter stands before the exporter: it puts the launcher's own resource and
// valid text into the spans, counts what gets through, and lets the exports be
// given up from outside. It reports no error to the SDK, which would print it.
type counter struct {
	next     sdktrace.SpanExporter // of our own spans
	foreign  sdktrace.SpanExporter // the same, but for what concerns our own spans alone
	resource *resource.Resource
	tally    *tally
	lasts    bool          // a file is among the places: it takes spans at any time
	turn     chan struct{} // has room: nobody exports; exporters take one call at a time

	abandoned context.Context // over when exports are to be given up
	abandon   context.CancelCauseFunc
}

var _ sdktrace.SpanExporter = (*counter)(nil)

func newCounter(next sdktrace.SpanExporter, r *resource.Resource, t *tally) *counter {
	c := &counter{next: next, foreign: onceEach(next), lasts: lasts(next), resource: r, tally: t, turn: make(chan struct{}, 1)}
	c.abandoned, c.abandon = context.WithCancelCause(context.Background())
	return c
}

func (c *counter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	defer c.tally.waiting.Add(-int64(len(spans)))
	err := c.export(ctx, c.next, c.own(spans), c.lasts)
	c.tally.exportedWith(len(spans), err)
	return nil
}

// exportForeign exports spans that have a resource and an account of their own.
func (c *counter) exportForeign(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := c.export(ctx, c.foreign, spans, false)
	if err != nil && rejected(err, len(spans)) < len(spans) {
		return nil // it was taken; to send the rejected part again would not help
	}
	return err
}

// export waits for its turn and exports, until it is to be given up. What lasts is not:
// whoever has the turn is told to give up as well, and a file then takes what is left.
func (c *counter) export(ctx context.Context, to sdktrace.SpanExporter, spans []sdktrace.ReadOnlySpan, lasts bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.abandoned, func() { cancel(context.Cause(c.abandoned)) })()
	if err := context.Cause(c.abandoned); err != nil && !lasts {
		return err
	}
	over := ctx.Done()
	if lasts {
		over = nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-over:
		return context.Cause(ctx)
	}
	err := to.ExportSpans(ctx, spans)
	switch cause := context.Cause(c.abandoned); {
	case err == nil, cause == nil, errors.Is(err, cause):
		return err
	case strings.HasSuffix(err.Error(), context.Canceled.Error()):
		return cause // of which that is the consequence, over gRPC with a type of its own
	default:
		return errors.Join(cause, err)
	}
}

// own returns the spans as the launcher's: the provider would merge the
// workload's OTEL_RESOURCE_ATTRIBUTES into any resource it is given.
func (c *counter) own(spans []sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	owned := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, span := range spans {
		owned[i] = resourced{ReadOnlySpan: validSpan(span), resource: c.resource}
	}
	return owned
}

// Shutdown leaves the exporter as it is: others may still use it. See close.
func (c *counter) Shutdown(context.Context) error { return nil }

// close ends the exporter.
func (c *counter) close(ctx context.Context) error { return c.next.Shutdown(ctx) }

// resourced is a span with another resource.
type resourced struct {
	sdktrace.ReadOnlySpan
	resource *resource.Resource
}

func (r resourced) Resource() *resource.Resource { return r.resource }

// EndTime is not before the start: where the wall clock was set back meanwhile, it is as
// much later as time has passed. OTLP's numbers have no sign: a span that ends before it
// starts lasts for centuries.
func (r resourced) EndTime() time.Time {
	start, end := r.StartTime(), r.ReadOnlySpan.EndTime()
	if end.Round(0).Before(start.Round(0)) {
		return start.Add(max(0, end.Sub(start)))
	}
	return end
}
