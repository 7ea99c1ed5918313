package launcher

import (
	"context"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/internal/openwork"
)

// Telemetry is what the launcher needs of telemetry: it is injected, so that this
// package knows no exporter. Nothing of it fails or waits.
type Telemetry struct {
	Tracer trace.Tracer
	Meter  metric.Meter

	// Parent is a context with the span that the launcher was started in, if any.
	Parent context.Context

	// WithSpanID makes the next span in a context get an id that is decided already.
	WithSpanID func(context.Context, trace.SpanID) context.Context

	// Truncate ends a span whose work was cut off, with the reason.
	Truncate func(span trace.Span, reason string) bool

	// Recover exports what workers had open when they died, and removes their journals.
	Recover func(work ...openwork.Work)

	// Flush has what has ended exported now.
	Flush func()
}

// Traced is what the ranks get of the launcher's telemetry. The zero value is nothing:
// then an inherited TRACEPARENT passes untouched.
type Traced struct {
	// Run is the context of the launcher's run span, of which the ranks' spans are
	// descendants; not valid, or not sampled: ranks get no TRACEPARENT of ours.
	Run trace.SpanContext

	// Journals is the directory of span journals, empty: there are none. Recovery is
	// what the guard starts, should the launcher be killed, so that they are emptied.
	Journals string
	Recovery Recovery
}

// Recovery is a command line of this program, with the environment that it needs.
type Recovery struct{ Args, Env []string }

// Variables of the contract that depend on telemetry.
const traceparent = "TRACEPARENT"
