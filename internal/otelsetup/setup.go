package otelsetup

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	nometer "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"lenslaunch/journal"
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
	// Mode is the user's wish; empty: ModeAuto.
	Mode Mode
	// File is where telemetry is written as OTLP/JSON, beside any exporter; empty: nowhere.
	File string
	// Dir is where it is written if it has no other place: the run directory. Empty: none.
	Dir string
	// Journal keeps the launcher's open spans, should it be killed; nil: nothing does.
	Journal *journal.Writer
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

// Wanted reports whether telemetry would go anywhere: whether a journal of spans is
// worth its file.
func (o Options) Wanted() bool {
	r, _ := o.route()
	return r.on()
}

// StandsIn reports whether telemetry would go to the run directory's files alone, because
// it has no other place: then it is a part of what is kept there.
func (o Options) StandsIn() bool {
	r, err := o.route()
	m, failed := o.routeOf(metrics) // they may have another: what is said of that is not about the directory
	return err == nil && failed == nil && r.file != "" && r.file != o.File &&
		r.plan.exporter == exporterNone && m.plan.exporter == exporterNone
}

// Telemetry is the launcher's tracing and metrics, on or off.
type Telemetry struct {
	// Tracer makes the spans; a no-op when telemetry is off.
	Tracer trace.Tracer
	// Meter makes the metrics; a no-op when there is nowhere for them to go.
	Meter metric.Meter
	// Open knows the open spans; for Truncate. It is never nil.
	Open *shutdown.OpenSpans
	// Enabled says whether spans go anywhere, Metered that metrics do, and Where says where.
	Enabled, Metered bool
	Where            string
	// Shown says that spans go to a console and nowhere else: they are seen, not kept.
	Shown bool

	// Rest is called by Shutdown, beside its own exports: it exports what else there is
	// until its context is over, and says what stays. Nil: there is nothing else.
	Rest func(ctx context.Context) Kept

	pipeline *pipeline // nil when telemetry is off
}

// Kept is what could not be exported and is not lost.
type Kept struct {
	Spans int
	How   string // to export it later: a command line
	Cause error
}

// Setup reads the environment and connects tracer and meter. It makes no connection
// and does not block. It cannot fail: at worst telemetry is off, and Warn said
// why.
func Setup(ctx context.Context, o Options) *Telemetry {
	if o.Warn == nil {
		o.Warn = func(string, ...any) {}
	}
	r, err := o.route()
	var exporter sdktrace.SpanExporter
	wanted := r
	if r.on() {
		quietSDK()
		var failed error
		exporter, failed = r.open(ctx, o)
		err = errors.Join(err, failed)
	}
	switch {
	case err != nil && exporter == nil:
		o.Warn("telemetry is off", "reason", oneLine(err))
	case err != nil && r.file == "":
		o.Warn("telemetry is not written to the file", "file", wanted.file, "reason", oneLine(err))
	case err != nil:
		o.Warn("telemetry goes to a file alone", "file", r.file, "reason", oneLine(err))
	}
	if exporter != nil {
		return on(ctx, r, exporter, o, err)
	}
	if alone, failed := o.metricsAlone(); err == nil && alone {
		quietSDK()
		return on(ctx, r, nil, o, nil)
	} else if err == nil && failed != nil {
		o.Warn("telemetry is off", "reason", oneLine(failed))
	}
	return off()
}

// open makes the exporters of a route and takes out of it what cannot be. One of them is
// enough; none is nil.
func (r *route) open(ctx context.Context, o Options) (sdktrace.SpanExporter, error) {
	var all fanout
	var problems error
	if r.plan.exporter != exporterNone {
		e, err := r.plan.open(ctx, o.Env, o.Stderr)
		if err == nil {
			all = append(all, e)
		} else {
			r.plan.exporter, problems = exporterNone, err
		}
	}
	if r.file != "" {
		e, err := openSpanFile(ctx, r.file)
		if err == nil {
			all = append(all, e)
		} else {
			r.file, problems = "", errors.Join(problems, err)
		}
	}
	if len(all) == 0 {
		return nil, problems
	}
	return all, problems
}

func off() *Telemetry {
	return &Telemetry{
		Tracer: noop.NewTracerProvider().Tracer(scopeName), Meter: nometer.NewMeterProvider().Meter(scopeName), Open: shutdown.New(),
	}
}

// metricsAlone reports whether metrics go somewhere though there are no spans. A run
// directory alone is no reason: there they only go with the spans.
func (o Options) metricsAlone() (bool, error) {
	r, err := o.routeOf(metrics)
	return r.plan.exporter != exporterNone || r.file != "" && (o.Mode == ModeOn || err != nil), err
}

// on connects all that there is. told is what has been said about the spans' way already.
// Without an exporter nothing is sampled, and so nobody is told of a trace.
func on(ctx context.Context, r route, exporter sdktrace.SpanExporter, o Options, told error) *Telemetry {
	own := resource.NewSchemaless(withoutNull(validList(o.Resource))...)
	p := &pipeline{
		open: shutdown.New(), tally: &tally{}, timeout: o.Timeout, warn: o.Warn, where: r.String(),
		flush: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if p.timeout <= 0 {
		p.timeout = DefaultTimeout
	}
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(own), sdktrace.WithIDGenerator(ids{})}
	spans := exporter != nil
	if !spans {
		exporter, p.where = fanout{}, "metrics alone"
		options = append(options, sdktrace.WithSampler(sdktrace.NeverSample()))
	}
	p.counter = newCounter(exporter, own, p.tally)
	if o.Journal != nil {
		// Before the batch processor, and wrapped: what ended without having arrived is
		// then in the journal too.
		p.counter.next = o.Journal.Wrap(exporter)
		options = append(options, sdktrace.WithSpanProcessor(journaled{Writer: o.Journal, resource: own}))
	}
	batch := sdktrace.NewBatchSpanProcessor(p.counter, sdktrace.WithBlocking(), sdktrace.WithBatchTimeout(batchDelay(o.Env)),
		sdktrace.WithMaxQueueSize(queueSize), sdktrace.WithMaxExportBatchSize(sdktrace.DefaultMaxExportBatchSize))
	p.gate = &gate{next: batch, tally: p.tally}
	p.provider = sdktrace.NewTracerProvider(append(options,
		sdktrace.WithSpanProcessor(p.open), // before the batch processor: after it nothing would come out
		sdktrace.WithSpanProcessor(p.gate))...)
	t := &Telemetry{Tracer: p.provider.Tracer(scopeName), Open: p.open, Enabled: spans, Where: p.where, pipeline: p}
	t.Shown = r.plan.exporter == exporterConsole && r.file == ""
	t.Meter = p.measure(ctx, o, own, told)
	t.Metered = len(p.meters.readers) > 0
	go p.flusher()
	return t
}

// measure connects the meter. Where metrics cannot go their way, spans still do. Why is
// said now, or at the end if something else has been said, unless it is the same.
func (p *pipeline) measure(ctx context.Context, o Options, own *resource.Resource, told error) metric.Meter {
	var err error
	p.meters, err = openMetrics(ctx, o, own, &p.metrics)
	switch {
	case err == nil, told != nil && told.Error() == err.Error():
	case told != nil:
		p.metrics.place(metricdata.CumulativeTemporality)(err)
	case len(p.meters.readers) > 0:
		o.Warn("metrics do not go to one of their places", "reason", oneLine(err))
	default:
		o.Warn("there are no metrics", "reason", oneLine(err))
	}
	if len(p.meters.readers) == 0 {
		return nometer.NewMeterProvider().Meter(scopeName)
	}
	return p.meters.provider.Meter(scopeName)
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
