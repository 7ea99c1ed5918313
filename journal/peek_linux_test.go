package journal

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// disguised gives a writer spans of a type that it has to ask, with the same content.
type disguised struct{ *Writer }

type disguise struct{ sdktrace.ReadWriteSpan }

func (d disguised) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	d.Writer.OnStart(ctx, &disguise{s})
}

// What is read from spans is what they say: two writers get the same spans, one of them
// as spans that it does not know.
func TestPeekedIsWhatSpansSay(t *testing.T) {
	paths := []string{made(t, DefaultSlots), made(t, DefaultSlots)}
	known, unknown := opened(t, paths[0]), opened(t, paths[1])
	for i := range maxTracers + 8 { // a provider has its own tracers
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(known), sdktrace.WithSpanProcessor(disguised{unknown}))
		for kind := trace.SpanKindInternal; kind <= trace.SpanKindConsumer; kind++ {
			tracer := provider.Tracer(fmt.Sprint("scope ", int(kind)+i%2), trace.WithInstrumentationVersion("1"))
			_, timed := tracer.Start(t.Context(), "timed", trace.WithSpanKind(kind), trace.WithTimestamp(time.Unix(int64(i), 7)))
			ctx, _ := tracer.Start(trace.ContextWithSpan(t.Context(), timed), "now")
			_, ended := tracer.Start(ctx, "ended")
			ended.End()
		}
	}
	if known.layout.Load() == nil {
		t.Error("the SDK's spans have no known layout: they cost a quarter more; see layout")
	}
	if unknown.layout.Load() != nil {
		t.Error("a span of another type has a layout")
	}
	want, got := mustRead(t, paths[1]), mustRead(t, paths[0])
	if diff := cmp.Diff(want.Spans, got.Spans); diff != "" || len(got.Spans) != (maxTracers+8)*10 {
		t.Errorf("%d spans (-asked +read):\n%s", len(got.Spans), diff)
	}
	if want.Torn != 0 || got.Torn != 0 || got.Skipped != 0 {
		t.Errorf("torn %d and %d, skipped %d", want.Torn, got.Torn, got.Skipped)
	}
}

// fields are like those of the SDK's spans, and their methods are a span's.
type fields struct {
	sdktrace.ReadWriteSpan
	spanKind  trace.SpanKind
	startTime time.Time
	tracer    *int
}

// Fields that do not say what the methods say, or are not the struct's own, are not read.
func TestLayoutOfOtherSpans(t *testing.T) {
	var span sdktrace.ReadWriteSpan
	tracer := tracerOf(t, starts(func(s sdktrace.ReadWriteSpan) { span = s }))
	_, s := tracer.Start(t.Context(), "x", trace.WithSpanKind(trace.SpanKindClient))
	defer s.End()
	same := fields{span, span.SpanKind(), span.StartTime(), new(int)}
	otherKind, otherStart := same, same
	otherKind.spanKind++
	otherStart.startTime = otherStart.startTime.Add(1)
	type retyped struct {
		sdktrace.ReadWriteSpan
		spanKind  trace.SpanKind
		startTime time.Time
		tracer    int
	}
	for name, test := range map[string]struct {
		span  sdktrace.ReadOnlySpan
		known bool
	}{
		"the SDK's":              {span, true},
		"the same fields":        {&same, true},
		"no pointer":             {same, false},
		"another kind":           {&otherKind, false},
		"another start":          {&otherStart, false},
		"fields of a part":       {&struct{ fields }{same}, false},
		"a tracer of other type": {&retyped{span, span.SpanKind(), span.StartTime(), 1}, false},
		"no fields":              {&disguise{span}, false},
	} {
		if l := layoutOf(test.span); (l != nil) != test.known {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if l := layoutOf(span); l.fits(&same) || !l.fits(span) {
		t.Errorf("%+v fits a span of another type, or not its own", l)
	}
}

// starts is a processor that is told of starts only.
type starts func(sdktrace.ReadWriteSpan)

func (f starts) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) { f(s) }
func (starts) OnEnd(sdktrace.ReadOnlySpan)                           {}
func (starts) Shutdown(context.Context) error                        { return nil }
func (starts) ForceFlush(context.Context) error                      { return nil }
