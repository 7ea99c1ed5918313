package otelsetup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestRejected(t *testing.T) {
	for text, want := range map[string]int{
		"traces export: OTLP partial success: empty message (3 spans rejected)": 3,
		"OTLP partial success: too (9 spans rejected)\nmany (0 spans rejected)": 0,
		"OTLP partial success: x (99999999999999999999 spans rejected)":         10,
		"connection refused":              10,
		"OTLP partial success: (3 spans)": 10,
	} {
		if got := rejected(errors.New(text), 10); got != want {
			t.Errorf("rejected(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestTally(t *testing.T) {
	counts := &tally{}
	counts.exportedWith(10, nil)
	if counts.exported.Load() != 10 || counts.lastCause() != nil {
		t.Errorf("exported %d, cause %v", counts.exported.Load(), counts.lastCause())
	}
	counts.exportedWith(10, errors.New("refused"))
	counts.exportedWith(2, errors.New("OTLP partial success: more than there were (3 spans rejected)"))
	counts.exportedWith(4, errors.New("OTLP partial success: three of four (3 spans rejected)"))
	if counts.exported.Load() != 11 {
		t.Errorf("exported %d, want 11", counts.exported.Load())
	}
}

// A proxy in a collector's place answers with a page, with whatever there is in it.
func TestOneLine(t *testing.T) {
	if got := oneLine(errors.Join(errors.New("a"), fmt.Errorf("b\r\nc\x1b[31m\td"))); got != "a; b; c [31m d" {
		t.Errorf("oneLine = %q", got)
	}
	page := "404 Not Found (body: " + strings.Repeat("ä", 100_000)
	got := oneLine(errors.New(page))
	begin, ok := strings.CutSuffix(got, " ...")
	if !ok || len(begin) < longestReason-1 || len(begin) > longestReason || !strings.HasPrefix(page, begin) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if whole := strings.Repeat("x", longestReason); oneLine(errors.New(whole)) != whole {
		t.Error("what has room was cut")
	}
}

// Of several reasons the one that somebody can do something about is told.
func TestCauseThatSaysSomething(t *testing.T) {
	refused := fmt.Errorf("%w: connection refused", errGivenUp)
	counts := &tally{}
	for _, step := range []struct {
		err, want error
	}{
		{errGivenUp, errGivenUp}, {refused, refused}, {errGivenUp, refused}, {errQueueFull, errQueueFull}, {refused, refused},
		{nil, refused}, {errGivenUp, errGivenUp}, // that was long ago: it answered meanwhile
	} {
		counts.exportedWith(1, step.err)
		if got := counts.lastCause(); got.Error() != step.want.Error() {
			t.Errorf("after %v: %v, want %v", step.err, got, step.want)
		}
	}
}

// spanOf makes a span as the exporter gets it.
func spanOf(stub tracetest.SpanStub) sdktrace.ReadOnlySpan { return stub.Snapshot() }

func TestValidSpanIsLeftAlone(t *testing.T) {
	span := spanOf(tracetest.SpanStub{
		Name: "span", Attributes: []attribute.KeyValue{attribute.String("a", "ä")},
		Events: []sdktrace.Event{{Name: "e"}}, Links: []sdktrace.Link{{}},
	})
	if _, changed := validSpan(span).(valid); changed {
		t.Error("a valid span was wrapped")
	}
}

// Every place where text can be is made valid, and nothing else is touched.
func TestEveryTextIsMadeValid(t *testing.T) {
	const bad, good = "x\xff", "x\uFFFD"
	nested := func(text string) []attribute.KeyValue {
		return []attribute.KeyValue{
			attribute.String(text, text), attribute.Int("n", 1), attribute.StringSlice("s", []string{"ok", text}),
			{Key: "l", Value: attribute.SliceValue(attribute.StringValue(text), attribute.BoolValue(true))},
			{Key: "m", Value: attribute.MapValue(attribute.String(text, text))},
		}
	}
	stub := func(text string) tracetest.SpanStub {
		return tracetest.SpanStub{
			Name: text, Attributes: nested(text), Status: sdktrace.Status{Code: otelcodes.Error, Description: text},
			Events: []sdktrace.Event{{Name: text, Attributes: nested(text)}},
			Links:  []sdktrace.Link{{Attributes: nested(text)}},
		}
	}
	source := spanOf(stub(bad))
	got := fmt.Sprintf("%+v", tracetest.SpanStubFromReadOnlySpan(validSpan(source)))
	want := fmt.Sprintf("%+v", tracetest.SpanStubFromReadOnlySpan(spanOf(stub(good))))
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if after := fmt.Sprintf("%+v", tracetest.SpanStubFromReadOnlySpan(source)); after != fmt.Sprintf("%+v", tracetest.SpanStubFromReadOnlySpan(spanOf(stub(bad)))) {
		t.Error("the span itself was changed")
	}
	// Each place alone is noticed.
	for i, alone := range []tracetest.SpanStub{
		{Name: bad}, {Status: sdktrace.Status{Code: otelcodes.Error, Description: bad}}, {Attributes: nested(bad)},
		{Events: []sdktrace.Event{{Name: bad}}}, {Events: []sdktrace.Event{{Attributes: nested(bad)}}}, {Links: []sdktrace.Link{{Attributes: nested(bad)}}},
	} {
		if _, changed := validSpan(spanOf(alone)).(valid); !changed {
			t.Errorf("place %d was not noticed", i)
		}
	}
}

func FuzzValidText(f *testing.F) {
	f.Add("ok", "x\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		list := []attribute.KeyValue{attribute.String(a, b), attribute.StringSlice("s", []string{a, b})}
		if !areValid(validList(list)) {
			t.Fatalf("%q, %q", a, b)
		}
	})
}

// An exporter that is given up before it begins is not asked at all.
func TestAbandonedCounter(t *testing.T) {
	asked := tracetest.NewInMemoryExporter()
	counts := &tally{}
	c := newCounter(asked, nil, counts)
	c.abandon(errGivenUp)
	if err := c.ExportSpans(context.Background(), []sdktrace.ReadOnlySpan{spanOf(tracetest.SpanStub{})}); err != nil {
		t.Error(err)
	}
	if len(asked.GetSpans()) != 0 || counts.exported.Load() != 0 || !errors.Is(counts.lastCause(), errGivenUp) {
		t.Errorf("exported %d, cause %v", counts.exported.Load(), counts.lastCause())
	}
}

// The wall clock may be set back while a span is open.
func TestNoSpanEndsBeforeItStarts(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	kept := tracetest.NewInMemoryExporter()
	c := newCounter(kept, nil, &tally{})
	var spans []sdktrace.ReadOnlySpan
	ends := []time.Duration{-time.Hour, -1, 0, 1, time.Hour}
	for _, d := range ends {
		spans = append(spans, spanOf(tracetest.SpanStub{StartTime: start, EndTime: start.Add(d)}))
	}
	if err := c.ExportSpans(context.Background(), spans); err != nil {
		t.Fatal(err)
	}
	for i, s := range kept.GetSpans() {
		if got, want := s.EndTime.Sub(s.StartTime), max(0, ends[i]); got != want || !s.StartTime.Equal(start) {
			t.Errorf("ends %v after its start, want %v", got, want)
		}
	}
}

// untilOver is an exporter that tries until it is told to give up, and fails with what
// it makes of the cause.
type untilOver struct {
	*tracetest.InMemoryExporter
	begun chan struct{}
	fail  func(cause error) error
}

func (u untilOver) ExportSpans(ctx context.Context, _ []sdktrace.ReadOnlySpan) error {
	close(u.begun)
	<-ctx.Done()
	return u.fail(context.Cause(ctx))
}

// What is given up says why it had not arrived, once, and what waited behind it does not
// hide that.
func TestGivenUpSaysWhy(t *testing.T) {
	for want, fail := range map[string]func(error) error{
		": connection refused":   func(cause error) error { return fmt.Errorf("%w: connection refused", cause) }, // gRPC's back-off
		"\nconnection refused":   func(error) error { return errors.New("connection refused") },
		"":                       func(error) error { return status.Error(codes.Canceled, "context canceled") }, // in the middle of a call
		"\ncontext canceled: no": func(error) error { return fmt.Errorf("%w: no", context.Canceled) },
	} {
		begun, ended := make(chan struct{}), make(chan struct{})
		counts := &tally{}
		c := newCounter(untilOver{tracetest.NewInMemoryExporter(), begun, fail}, nil, counts)
		spans := []sdktrace.ReadOnlySpan{spanOf(tracetest.SpanStub{})}
		go func() {
			defer close(ended)
			_ = c.ExportSpans(context.Background(), spans)
		}()
		<-begun
		c.abandon(errGivenUp)
		<-ended
		_ = c.ExportSpans(context.Background(), spans)
		if got := counts.lastCause(); got == nil || got.Error() != errGivenUp.Error()+want {
			t.Errorf("cause %q, want %q at its end", got, want)
		}
	}
}
