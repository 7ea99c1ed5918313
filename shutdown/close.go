package shutdown

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/semconv"
)

// EventName is the name of the event on a force-closed span, and ReasonKey the
// key of its attribute. The telemetry specification names both.
const (
	EventName = semconv.NemoSpanTruncated
	ReasonKey = semconv.NemoSpanTruncated + ".reason"
)

// grace is how long Shutdown goes on after its context is over. To end a span
// is some microseconds of work, so with a context that was cancelled before
// the call every span still ends; only a later processor that blocks in OnEnd
// (a full queue, a dead exporter) uses the time up.
const grace = 200 * time.Millisecond

// Shutdown ends every open span, the last started first, and returns when that
// is done or, with an error, a moment after ctx is over. The work goes on in
// the background then. Another call, also a concurrent one, waits for the same
// work and does nothing else.
func (o *OpenSpans) Shutdown(ctx context.Context) error {
	o.once.Do(func() { go o.closeAll() })
	select {
	case <-o.done:
		return nil
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-o.done:
		return nil
	case <-timer.C:
		return fmt.Errorf("cannot end all open spans: %d left: %w", o.Len(), context.Cause(ctx))
	}
}

// closeAll copies the set, unlocks, then ends: End calls OnEnd of this very
// processor, which takes the mutex.
func (o *OpenSpans) closeAll() {
	defer close(o.done)
	o.mu.Lock()
	o.closed = true
	spans, reason := o.open.takeAll(), o.reason
	o.pending.Store(int64(len(spans)))
	o.mu.Unlock()

	// One reading for all, after the last start: no span ends before another
	// that was closed in the same moment only because it came later in line.
	now := o.clock()
	latest := make(map[trace.TraceID]time.Time)
	for _, span := range spans {
		id := span.SpanContext().TraceID()
		// Compared as it is exported, by the wall clock: a start's two clocks are read
		// one after the other, so that ends which are one by the monotonic clock are
		// nanoseconds apart.
		end := endTime(span.StartTime(), now).Round(0)
		// Starts were read from a wall clock that may have been set since, so
		// the ends of one trace can differ. What is closed later lies further
		// out and must not end earlier.
		if end.Before(latest[id]) {
			end = latest[id]
		}
		latest[id] = end
		forceClose(span, end, reason)
		o.pending.Add(-1)
	}
}

// endTime is start plus the time that has passed, by the monotonic clock where
// both have one, as the SDK itself computes the end of a span. A span that
// claims to start in the future gets no negative duration.
func endTime(start, now time.Time) time.Time {
	return start.Add(max(0, now.Sub(start)))
}

// forceClose marks and ends a span. The status stays what it is: that the
// telemetry ended is no error of the work. A reason may quote a command line or
// a host name: one invalid byte in it would cost the whole batch at export.
func forceClose(span sdktrace.ReadWriteSpan, end time.Time, reason string) {
	span.SetAttributes(attribute.Bool(semconv.NemoSpanTruncated, true))
	span.AddEvent(EventName,
		trace.WithTimestamp(end),
		trace.WithAttributes(attribute.String(ReasonKey, strings.ToValidUTF8(reason, "\uFFFD"))))
	span.End(trace.WithTimestamp(end))
}
