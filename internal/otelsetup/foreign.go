package otelsetup

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/journal"
	"lenslaunch/semconv"
	"lenslaunch/shutdown"
)

// RecoveredKey marks a span that was read from the journal of a process that has gone.
const RecoveredKey = "lenslaunch.span.recovered"

// Foreign is what another process had open when it went, or had ended without
// exporting it.
type Foreign struct {
	Resource  []attribute.KeyValue // that process's, whole
	SchemaURL string
	Spans     []journal.Span // parents first
	End       time.Time      // when the process went: the end of what was open
	Reason    string         // of what was open: "rank 3 killed by SIGKILL"
}

// ErrOff says that there is nowhere to export to.
var ErrOff = errors.New("telemetry is off")

// Export exports the spans of other processes with their own identity, as one request, and
// returns when they have arrived, or with the reason why they have not. If it is called
// again with what has arrived in one of several places, it comes there once. It may be
// called at any time until [Telemetry.Shutdown], which gives up what is on its way when its
// time is over. These spans do not count for the warning of Shutdown: whoever calls has
// them still.
func (t *Telemetry) Export(ctx context.Context, all ...Foreign) error {
	if !t.Enabled {
		return ErrOff
	}
	var spans []sdktrace.ReadOnlySpan
	for _, f := range all {
		spans = append(spans, f.snapshots()...)
	}
	if len(spans) == 0 {
		return nil
	}
	return t.pipeline.counter.exportForeign(ctx, spans)
}

// snapshots are the spans as the SDK has them. An ended span comes out as it is.
func (f Foreign) snapshots() []sdktrace.ReadOnlySpan {
	own := resource.NewWithAttributes(validText(f.SchemaURL), withoutNull(validList(f.Resource))...)
	spans := make([]sdktrace.ReadOnlySpan, 0, len(f.Spans))
	for _, s := range f.Spans {
		stub := tracetest.SpanStub{
			Name:                 validText(s.Name),
			SpanContext:          trace.NewSpanContext(trace.SpanContextConfig{TraceID: s.TraceID, SpanID: s.SpanID, TraceFlags: s.TraceFlags}),
			Parent:               parentOf(s),
			SpanKind:             s.Kind,
			StartTime:            s.Start,
			EndTime:              s.End,
			Resource:             own,
			InstrumentationScope: instrumentation.Scope{Name: validText(s.Scope.Name), Version: validText(s.Scope.Version)},
		}
		if s.Open() {
			f.truncate(&stub)
		} else {
			stub.Status.Code = s.Status
			stub.Attributes = []attribute.KeyValue{attribute.Bool(RecoveredKey, true)}
		}
		spans = append(spans, stub.Snapshot())
	}
	return spans
}

// truncate ends a span in the manner of package shutdown: its status stays unset.
func (f Foreign) truncate(stub *tracetest.SpanStub) {
	stub.EndTime = f.End
	if f.End.Before(stub.StartTime) {
		stub.EndTime = stub.StartTime // it began while we looked
	}
	stub.Attributes = []attribute.KeyValue{
		attribute.Bool(semconv.NemoSpanTruncated, true),
		attribute.Bool(RecoveredKey, true),
	}
	stub.Events = []sdktrace.Event{{
		Name: shutdown.EventName, Time: stub.EndTime,
		Attributes: []attribute.KeyValue{attribute.String(shutdown.ReasonKey, validText(f.Reason))},
	}}
}

// parentOf is the span's parent, in the same trace.
func parentOf(s journal.Span) trace.SpanContext {
	if !s.Parent.IsValid() {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: s.TraceID, SpanID: s.Parent, TraceFlags: s.TraceFlags, Remote: s.ParentRemote,
	})
}
