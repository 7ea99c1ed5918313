package shutdown

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"lenslaunch/semconv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is the time at which the spans of these tests are cut off.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// recorder stands where the exporting processor stands, keeps what ends in
// order, and can be made to block as a full queue does.
type recorder struct {
	mu      sync.Mutex
	ended   []sdktrace.ReadOnlySpan
	blocked chan struct{} // if not nil, OnEnd waits until it is closed
}

func (r *recorder) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (r *recorder) Shutdown(context.Context) error                  { return nil }
func (r *recorder) ForceFlush(context.Context) error                { return nil }

func (r *recorder) OnEnd(span sdktrace.ReadOnlySpan) {
	if r.blocked != nil {
		<-r.blocked
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, span)
}

func (r *recorder) spans() []sdktrace.ReadOnlySpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

func (r *recorder) names() []string {
	var names []string
	for _, span := range r.spans() {
		names = append(names, span.Name())
	}
	return names
}

// setup is a provider as the package comment shows it, with a recorder.
func setup(options ...Option) (*OpenSpans, *recorder, trace.Tracer) {
	open, rec := New(options...), &recorder{}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(open), sdktrace.WithSpanProcessor(rec))
	return open, rec, provider.Tracer("test")
}

// start starts a span before noon.
func start(ctx context.Context, tracer trace.Tracer, name string) (context.Context, trace.Span) {
	return tracer.Start(ctx, name, trace.WithTimestamp(noon.Add(-time.Hour)))
}

func mustShutdown(t *testing.T, open *OpenSpans) {
	t.Helper()
	if err := open.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// truncated returns what the attribute says, and whether it is there.
func truncated(span sdktrace.ReadOnlySpan) (value, present bool) {
	v, ok := semconv.Get(span.Attributes(), semconv.NemoSpanTruncated)
	return v.AsBool(), ok && v.Type() == attribute.BOOL
}

// reasons lists the reasons of the truncation events of a span.
func reasons(span sdktrace.ReadOnlySpan) []string {
	var all []string
	for _, event := range span.Events() {
		if event.Name != "nemo.span.truncated" {
			continue
		}
		v, _ := semconv.Get(event.Attributes, "nemo.span.truncated.reason")
		all = append(all, v.AsString())
	}
	return all
}
