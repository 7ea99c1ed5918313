package shutdown

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

func TestForceClosedSpan(t *testing.T) {
	open, rec, tracer := setup(WithClock(atNoon), WithReason("first"))
	_, span := start(context.Background(), tracer, "lenslaunch.run")
	span.SetAttributes(attribute.Int("nproc", 8))
	open.SetReason("stopped by SIGTERM")
	mustShutdown(t, open)

	if len(rec.spans()) != 1 {
		t.Fatalf("ended: %v", rec.names())
	}
	got := rec.spans()[0]
	want := []attribute.KeyValue{attribute.Int("nproc", 8), attribute.Bool("nemo.span.truncated", true)}
	if diff := cmp.Diff(want, got.Attributes(), cmp.Comparer(func(a, b attribute.KeyValue) bool { return a == b })); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"stopped by SIGTERM"}, reasons(got)); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if !got.EndTime().Equal(noon) || !got.Events()[0].Time.Equal(noon) {
		t.Errorf("end %v, event %v, want both at the shutdown, %v", got.EndTime(), got.Events()[0].Time, noon)
	}
	if got.Status() != (sdktrace.Status{Code: codes.Unset}) {
		t.Errorf("status %+v, want unset", got.Status())
	}
	if open.Len() != 0 {
		t.Errorf("%d spans tracked after Shutdown", open.Len())
	}
}

// A failure that was recorded before the shutdown stays visible.
func TestStatusIsKept(t *testing.T) {
	open, rec, tracer := setup()
	_, span := start(context.Background(), tracer, "lenslaunch.attempt")
	span.SetStatus(codes.Error, "rank 3 failed")
	mustShutdown(t, open)
	want := sdktrace.Status{Code: codes.Error, Description: "rank 3 failed"}
	if got := rec.spans()[0].Status(); got != want {
		t.Errorf("status %+v, want %+v", got, want)
	}
}

func TestNormallyEndedSpanIsNotMarked(t *testing.T) {
	open, rec, tracer := setup(WithClock(atNoon))
	ctx, parent := start(context.Background(), tracer, "parent")
	_, child := start(ctx, tracer, "child")
	child.End()
	if open.Len() != 1 {
		t.Errorf("tracked %d, want the parent alone", open.Len())
	}
	parent.End()
	mustShutdown(t, open)
	for _, span := range rec.spans() {
		if _, present := truncated(span); present || len(span.Events()) != 0 {
			t.Errorf("%s: attributes %v, events %v", span.Name(), span.Attributes(), span.Events())
		}
	}
	if len(rec.spans()) != 2 {
		t.Errorf("ended %v", rec.names())
	}
}

func TestForceFlushEndsNothing(t *testing.T) {
	open, rec, tracer := setup()
	start(context.Background(), tracer, "open")
	if err := open.ForceFlush(context.Background()); err != nil {
		t.Error(err)
	}
	if len(rec.spans()) != 0 || open.Len() != 1 {
		t.Errorf("ended %v, open %d", rec.names(), open.Len())
	}
	mustShutdown(t, open)
}

// What starts after Shutdown lives and ends by itself.
func TestLateStart(t *testing.T) {
	open, rec, tracer := setup()
	mustShutdown(t, open)
	_, late := start(context.Background(), tracer, "late")
	if open.Len() != 0 || open.Truncate(late, "no") {
		t.Error("a span started after Shutdown is tracked")
	}
	mustShutdown(t, open)
	late.End()
	if diff := cmp.Diff([]string{"late"}, rec.names()); diff != "" {
		t.Fatalf("ended (-want +got):\n%s", diff)
	}
	if _, present := truncated(rec.spans()[0]); present {
		t.Error("the late span is marked")
	}
}

func TestTruncate(t *testing.T) {
	open, rec, tracer := setup(WithClock(atNoon), WithReason("at shutdown"))
	ctx, attempt := start(context.Background(), tracer, "attempt")
	_, worker := start(ctx, tracer, "worker")
	if !open.Truncate(worker, "stopped because rank 3 failed") {
		t.Fatal("Truncate refused an open span")
	}
	if open.Truncate(worker, "again") {
		t.Error("Truncate closed a span twice")
	}
	worker.End() // the owner's own End comes late and changes nothing
	attempt.End()
	mustShutdown(t, open)

	if diff := cmp.Diff([]string{"worker", "attempt"}, rec.names()); diff != "" {
		t.Fatalf("ended (-want +got):\n%s", diff)
	}
	got := rec.spans()[0]
	if value, present := truncated(got); !value || !present {
		t.Errorf("attributes %v", got.Attributes())
	}
	if diff := cmp.Diff([]string{"stopped because rank 3 failed"}, reasons(got)); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if !got.EndTime().Equal(noon) {
		t.Errorf("end %v, want %v", got.EndTime(), noon)
	}
	if _, present := truncated(rec.spans()[1]); present {
		t.Error("the attempt, which ended by itself, is marked")
	}
}

func TestTruncateLeavesStrangersAlone(t *testing.T) {
	open, rec, tracer := setup()
	_, _, otherTracer := setup()
	_, ended := start(context.Background(), tracer, "ended")
	ended.End()
	_, foreign := start(context.Background(), otherTracer, "foreign")
	defer foreign.End()
	_, silent := noop.NewTracerProvider().Tracer("").Start(context.Background(), "noop")
	for name, span := range map[string]trace.Span{"ended": ended, "foreign": foreign, "noop": silent, "nil": nil} {
		if open.Truncate(span, "no") {
			t.Errorf("Truncate closed the %s span", name)
		}
	}
	if diff := cmp.Diff([]string{"ended"}, rec.names()); diff != "" {
		t.Errorf("ended (-want +got):\n%s", diff)
	}
}

// The export format takes valid UTF-8 only, for all spans of a batch or none.
func TestReasonIsMadeValid(t *testing.T) {
	open, rec, tracer := setup()
	_, one := start(context.Background(), tracer, "one")
	start(context.Background(), tracer, "two")
	open.Truncate(one, "rank 3: \xff.py failed")
	open.SetReason("stopped by host-\xc3")
	mustShutdown(t, open)
	got := []string{reasons(rec.spans()[0])[0], reasons(rec.spans()[1])[0]}
	if diff := cmp.Diff([]string{"rank 3: \uFFFD.py failed", "stopped by host-\uFFFD"}, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// The limit that the package comment mentions: no room for the attribute.
func TestSpanFullOfAttributes(t *testing.T) {
	open, rec, tracer := setup()
	_, span := start(context.Background(), tracer, "full")
	for i := range sdktrace.DefaultAttributeCountLimit {
		span.SetAttributes(attribute.Int("key"+string(rune('A'+i)), i))
	}
	mustShutdown(t, open)
	got := rec.spans()[0]
	if !slices.Equal(reasons(got), []string{DefaultReason}) || got.DroppedAttributes() != 1 {
		t.Errorf("events %v, %d attributes dropped", got.Events(), got.DroppedAttributes())
	}
}

// Sampling decides before a span is ever seen here.
func TestUnsampledCostsNothing(t *testing.T) {
	for name, sampler := range map[string]sdktrace.Sampler{
		"dropped": sdktrace.NeverSample(), "recorded only": recordOnly{},
	} {
		open := New()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler), sdktrace.WithSpanProcessor(open))
		_, span := provider.Tracer("test").Start(context.Background(), "unsampled")
		if open.Len() != 0 || open.open.spans != nil {
			t.Errorf("%s: tracked", name)
		}
		if rw, ok := span.(sdktrace.ReadWriteSpan); ok {
			if n := testing.AllocsPerRun(100, func() { open.OnStart(context.Background(), rw) }); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
		span.End()
		if err := provider.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

type recordOnly struct{}

func (recordOnly) Description() string { return "record only" }
func (recordOnly) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}

// Memory follows the spans that are open, not those that ever were.
func TestSetShrinks(t *testing.T) {
	open, _, tracer := setup()
	var spans []trace.Span
	for range 20_000 {
		_, span := start(context.Background(), tracer, "burst")
		spans = append(spans, span)
	}
	if open.Len() != 20_000 || open.open.peak != 20_000 {
		t.Fatalf("open %d, peak %d", open.Len(), open.open.peak)
	}
	for _, span := range spans[10:] {
		span.End()
	}
	if open.open.peak >= shrinkFrom {
		t.Errorf("room for %d spans is kept for %d", open.open.peak, open.Len())
	}
	mustShutdown(t, open)
}

// The fact of the SDK that makes the fresh context a rule, and a way out.
func TestProviderShutdownWithACancelledContext(t *testing.T) {
	open, rec := New(), &recorder{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(open), sdktrace.WithSpanProcessor(rec))
	provider.Tracer("test").Start(context.Background(), "open")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := provider.Shutdown(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("provider: %v", err)
	}
	if err := provider.Shutdown(context.Background()); err != nil || len(rec.spans()) != 0 {
		t.Errorf("second provider shutdown: %v, ended %v", err, rec.names())
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := open.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"open"}, rec.names()); diff != "" {
		t.Errorf("ended by the processor itself (-want +got):\n%s", diff)
	}
}
