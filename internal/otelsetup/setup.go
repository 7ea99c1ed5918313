package otelsetup

import (
	"context"
	"io"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"lenslaunch/shutdown"
)

// DefaultTimeout is what a shutdown costs at most, from the telemetry
// specification.
const DefaultTimeout = 2 * time.Second

// scopeName is the instrumentation scope of the launcher's spans.
const scopeName = "lenslaunch"

// Options is what [Setup] needs from the program.
type Options struct {
	// Env is the environment; an absent key is an unset variable.
	Env map[string]string
	// Resource describes the launcher, and nothing else does. A null value is
	// left out; of two values of one key the last counts.
	Resource []attribute.KeyValue
	// Stderr is where the console exporter writes.
	Stderr io.Writer
	// Warn is told what is wrong, as a constant message with key-value pairs
	// in the manner of slog: at most once by Setup and once by Shutdown. It
	// may be nil.
	Warn func(msg string, args ...any)
	// Timeout bounds Shutdown; [DefaultTimeout] if it is not positive.
	Timeout time.Duration
}

// Telemetry is the launcher's tracing, on or off.
type Telemetry struct {
	// Tracer makes the spans; a no-op when telemetry is off.
	Tracer trace.Tracer
	// Open knows the open spans; for Truncate. It is never nil.
	Open *shutdown.OpenSpans
	// Enabled says whether spans go anywhere.
	Enabled bool

	pipeline *pipeline // nil when telemetry is off
}

// Setup reads the environment and connects the tracer. It makes no connection
// and does not block. It cannot fail: at worst telemetry is off, and Warn said
// why.
func Setup(ctx context.Context, o Options) *Telemetry {
	if o.Warn == nil {
		o.Warn = func(string, ...any) {}
	}
	var exporter sdktrace.SpanExporter
	p, err := decide(o.Env)
	if err == nil && p.exporter != exporterNone {
		quietSDK()
		exporter, err = p.open(ctx, o.Env, o.Stderr)
	}
	if err != nil {
		o.Warn("telemetry is off", "reason", oneLine(err))
	}
	if exporter == nil || err != nil {
		return off()
	}
	return on(p, exporter, o)
}

func off() *Telemetry {
	return &Telemetry{Tracer: noop.NewTracerProvider().Tracer(scopeName), Open: shutdown.New()}
}

func on(p plan, exporter sdktrace.SpanExporter, o Options) *Telemetry {
	own := resource.NewSchemaless(withoutNull(validList(o.Resource))...)
	counts := &tally{}
	counter := newCounter(exporter, own, counts)
	batch := sdktrace.NewBatchSpanProcessor(counter, sdktrace.WithBlocking(),
		sdktrace.WithMaxQueueSize(queueSize), sdktrace.WithMaxExportBatchSize(sdktrace.DefaultMaxExportBatchSize))
	gate := &gate{next: batch, tally: counts}
	open := shutdown.New()
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(own),
		sdktrace.WithSpanProcessor(open), // before the batch processor: after it nothing would come out
		sdktrace.WithSpanProcessor(gate))
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	return &Telemetry{
		Tracer:  provider.Tracer(scopeName),
		Open:    open,
		Enabled: true,
		pipeline: &pipeline{
			provider: provider, open: open, gate: gate, counter: counter, tally: counts,
			timeout: timeout, warn: o.Warn, where: p.String(),
		},
	}
}

// withoutNull drops what has no value: OTLP has no null to send.
func withoutNull(list []attribute.KeyValue) []attribute.KeyValue {
	var present []attribute.KeyValue
	for _, kv := range list {
		if kv.Value.Type() != attribute.EMPTY {
			present = append(present, kv)
		}
	}
	return present
}

// quietSDK keeps the SDK from printing: one failing batch after the other would
// be a line each on the console of the job. What matters is counted and said
// once.
func quietSDK() {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	otel.SetLogger(logr.Discard())
}
