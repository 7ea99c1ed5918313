package journal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

func TestWhatWasWrittenIsRead(t *testing.T) {
	path := made(t, 8)
	w := opened(t, path)
	w.Wrap(nil)
	tracer := tracerOf(t, w)
	remote := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, Remote: true,
	})
	at := time.Unix(1000, 5)
	w.SetProgress(11, 2)
	ctx, outer := tracer.Start(trace.ContextWithRemoteSpanContext(context.Background(), remote), "outer",
		trace.WithTimestamp(at), trace.WithSpanKind(trace.SpanKindServer))
	_, inner := tracer.Start(ctx, strings.Repeat("é", 100), trace.WithTimestamp(at.Add(time.Second)))
	inner.SetStatus(codes.Error, "not kept")
	inner.End(trace.WithTimestamp(at.Add(2 * time.Second)))

	j := mustRead(t, path)
	want := []Span{{
		TraceID: trace.TraceID{1}, SpanID: outer.SpanContext().SpanID(), Parent: trace.SpanID{2}, ParentRemote: true,
		TraceFlags: trace.FlagsSampled, Name: "outer", Kind: trace.SpanKindServer, Scope: Scope{"scope", "1.2"},
		Start: at, Step: 11, Epoch: 2,
	}, {
		TraceID: trace.TraceID{1}, SpanID: inner.SpanContext().SpanID(), Parent: outer.SpanContext().SpanID(),
		TraceFlags: trace.FlagsSampled, Name: strings.Repeat("é", 76), NameCut: true, Kind: trace.SpanKindInternal,
		Scope: Scope{"scope", "1.2"}, Start: at.Add(time.Second), End: at.Add(2 * time.Second), Status: codes.Error, Step: 11, Epoch: 2,
	}}
	if diff := cmp.Diff(want, j.Spans); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Header{RunID: "run", Attempt: 2, Rank: 3, Slots: 8, Created: time.Unix(7, 9)}, j.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	wantResource := []attribute.KeyValue{attribute.Int("nv.dl.rank", 3), attribute.String("service.name", "test")}
	if diff := cmp.Diff(wantResource, j.Resource, cmp.Comparer(func(a, b attribute.KeyValue) bool { return a == b })); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	if ticks, err := startTicks(); err != nil || j.Claim.Ticks != ticks || j.Torn != 0 || j.Missing != 0 || j.Skipped != 0 || j.Clean {
		t.Errorf("%+v, %v", j, err)
	}
	if !j.LastActivity.Equal(at.Add(time.Second)) { // of a start
		t.Errorf("last activity %v", j.LastActivity)
	}
}

// An export may be told just when the slot of its span has been given to another one: that
// one stays, whatever the index had said a moment before.
func TestExportedTooLate(t *testing.T) {
	path := made(t, 4)
	w := opened(t, path)
	w.Wrap(nil)
	tracerOf(t, w).Start(context.Background(), "another")
	const late = 0x1122334455667788
	for slot := range uint32(w.slots) {
		if w.state(slot).Load()&stateMask == stateOpen {
			w.index.insert(late, slot)
		}
	}
	w.exported(late)
	if diff := cmp.Diff([]string{"another"}, namesOf(mustRead(t, path).Spans)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEndedSpansLeave(t *testing.T) {
	path := made(t, 2)
	w := opened(t, path)
	tracer := tracerOf(t, w)
	for range 1000 { // far more than slots
		ctx, a := tracer.Start(context.Background(), "a")
		_, b := tracer.Start(ctx, "b")
		b.End()
		a.End()
	}
	if j := mustRead(t, path); len(j.Spans) != 0 || j.Skipped != 0 || j.Torn != 0 {
		t.Errorf("%+v", j)
	}
}

// The outer spans stay, the new ones are counted.
func TestFullTable(t *testing.T) {
	path := made(t, 3)
	w := opened(t, path)
	w.Wrap(nil)
	tracer := tracerOf(t, w)
	for i := range 10 {
		_, s := tracer.Start(context.Background(), fmt.Sprint("span ", i))
		defer s.End()
	}
	j := mustRead(t, path)
	if diff := cmp.Diff([]string{"span 0", "span 1", "span 2"}, namesOf(j.Spans)); diff != "" || j.Skipped != 7 {
		t.Errorf("%d skipped; spans (-want +got):\n%s", j.Skipped, diff)
	}
}

// An open span never loses to an ended one, and the oldest ended one goes first, with the
// slots of near and without.
func TestEndedSpansGiveWayOldestFirst(t *testing.T) {
	for _, slots := range []int{16, 2 * nearSlots} {
		path := made(t, slots)
		w := opened(t, path)
		w.Wrap(nil)
		tracer := tracerOf(t, w)
		ctx, _ := tracer.Start(context.Background(), "outer")
		for i := range 10 * slots {
			_, s := tracer.Start(ctx, fmt.Sprint("step ", i), trace.WithTimestamp(time.Unix(int64(i+1), 0)))
			s.End(trace.WithTimestamp(time.Unix(int64(i+2), 0)))
		}
		j := mustRead(t, path)
		want := []string{"outer"}
		for i := 10*slots - (slots - 1); i < 10*slots; i++ {
			want = append(want, fmt.Sprint("step ", i))
		}
		if diff := cmp.Diff(want, namesOf(j.Spans)); diff != "" || j.Skipped != 0 {
			t.Errorf("%d slots, %d skipped; spans (-want +got):\n%s", slots, j.Skipped, diff)
		}
	}
}

// Slots that ended spans left to others are found again: by their export, which frees
// them, and by the end of the spans that have them now.
func TestSlotsThatChangeHandsAreFreedOnce(t *testing.T) {
	const slots = 2 * nearSlots
	w := opened(t, made(t, slots))
	exporter := w.Wrap(tracetest.NewNoopExporter())
	recorder := tracetest.NewSpanRecorder()
	tracer := tracerOf(t, w, recorder)
	var open []trace.Span
	for i := range 3 * slots {
		_, s := tracer.Start(context.Background(), "s")
		if i%4 == 0 && len(open) < slots/2 {
			open = append(open, s)
		} else {
			s.End()
		}
	}
	export := func(spans []sdktrace.ReadOnlySpan) {
		t.Helper()
		if err := exporter.ExportSpans(t.Context(), spans); err != nil {
			t.Fatal(err)
		}
	}
	export(recorder.Ended()) // of most, the slots belong to others by now
	if free := freeSlots(w); free != slots-len(open) {
		t.Fatalf("%d slots free, %d spans open", free, len(open))
	}
	before := len(recorder.Ended())
	for _, s := range open {
		s.End()
	}
	export(recorder.Ended()[before:])
	if free := freeSlots(w); free != len(open) {
		t.Errorf("%d slots free in the end, want %d", free, len(open))
	}
}

// failing is an exporter that fails as often as it is told.
type failing struct {
	*tracetest.InMemoryExporter
	left int
}

func (f *failing) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if f.left > 0 {
		f.left--
		return errors.New("collector is away")
	}
	return f.InMemoryExporter.ExportSpans(ctx, spans)
}

func TestWrappedExporterFreesOnSuccess(t *testing.T) {
	path := made(t, 8)
	w := opened(t, path)
	tracer := tracerOf(t, w, sdktrace.NewSimpleSpanProcessor(w.Wrap(&failing{tracetest.NewInMemoryExporter(), 1})))
	_, lost := tracer.Start(context.Background(), "lost")
	lost.End()
	_, sent := tracer.Start(context.Background(), "sent")
	sent.End()
	j := mustRead(t, path)
	if diff := cmp.Diff([]string{"lost"}, namesOf(j.Spans)); diff != "" || j.Spans[0].Open() {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

// Registered after the processor that exports, a span can have arrived before the
// journal hears of its end.
func TestExportBeforeEnd(t *testing.T) {
	path := made(t, 2)
	w := opened(t, path)
	tracer := tracerOf(t, sdktrace.NewSimpleSpanProcessor(w.Wrap(tracetest.NewInMemoryExporter())), w)
	for range 10 {
		_, s := tracer.Start(context.Background(), "s")
		s.End()
	}
	if j := mustRead(t, path); len(j.Spans) != 0 || j.Skipped != 0 {
		t.Errorf("%+v", j)
	}
}

func TestShutdownKeepsWhatIsOpen(t *testing.T) {
	path := made(t, 4)
	w := opened(t, path)
	tracer := tracerOf(t, w)
	tracer.Start(context.Background(), "open")
	_, late := tracer.Start(context.Background(), "late")
	if err := errors.Join(w.ForceFlush(t.Context()), w.Shutdown(t.Context())); err != nil {
		t.Fatal(err)
	}
	late.End() // nobody exports it any more
	j := mustRead(t, path)
	if !j.Clean || len(j.Spans) != 2 || !j.Spans[0].Open() || j.Spans[1].Open() {
		t.Errorf("%+v", j)
	}
}

func TestUnsampledSpansAreNotKept(t *testing.T) {
	path := made(t, 4)
	w := opened(t, path)
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w), sdktrace.WithSampler(recordOnly{}))
	_, s := provider.Tracer("x").Start(context.Background(), "recorded only")
	if j := mustRead(t, path); len(j.Spans) != 0 || !s.IsRecording() {
		t.Errorf("%+v", j)
	}
	s.End()
}

type recordOnly struct{}

func (recordOnly) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}
func (recordOnly) Description() string { return "recordOnly" }

// A program without a journal.
func TestNilWriter(t *testing.T) {
	t.Setenv(Variable, "")
	w := FromEnv()
	exporter := tracetest.NewInMemoryExporter()
	tracer := tracerOf(t, w, sdktrace.NewSimpleSpanProcessor(w.Wrap(exporter)))
	w.SetProgress(1, 2)
	_, s := tracer.Start(context.Background(), "s")
	s.End()
	if err := w.ForceFlush(t.Context()); w != nil || err != nil || len(exporter.GetSpans()) != 1 {
		t.Errorf("%v, %v, %d spans", w, err, len(exporter.GetSpans()))
	}
}

// Many goroutines with few slots, an exporter that frees at the same time, and a
// reader: no span is mixed up, and every slot is free again at the end.
func TestConcurrentWriters(t *testing.T) {
	for _, wrapped := range []bool{false, true} {
		const slots = 100 // with and without an entry in near
		path := made(t, slots)
		w := opened(t, path)
		processors := []sdktrace.SpanProcessor{w}
		if wrapped {
			processors = append(processors, sdktrace.NewBatchSpanProcessor(w.Wrap(tracetest.NewNoopExporter()),
				sdktrace.WithBlocking(), sdktrace.WithMaxExportBatchSize(50)))
		}
		tracer := tracerOf(t, processors...)
		done := make(chan struct{})
		var writers, reader sync.WaitGroup
		reader.Go(func() {
			for {
				checkNames(t, mustRead(t, path))
				select {
				case <-done:
					return
				default:
				}
			}
		})
		for range 8 {
			writers.Go(func() { churn(tracer, 2000) })
		}
		writers.Wait()
		close(done)
		reader.Wait()
		if wrapped {
			if err := processors[1].ForceFlush(t.Context()); err != nil {
				t.Error(err)
			}
		}
		j := mustRead(t, path)
		if free := freeSlots(w); len(j.Spans) != 0 || j.Torn != 0 || free != slots {
			t.Errorf("wrapped %v: %d slots free, %+v", wrapped, free, j)
		}
	}
}

// freeSlots takes all slots that are free and says how many there were.
func freeSlots(w *Writer) int {
	n := 0
	for i := range w.near {
		if w.near[i].CompareAndSwap(0, taken) {
			n++
		}
	}
	for _, ok := w.free.take(0); ok; _, ok = w.free.take(0) {
		n++
	}
	return n
}

// churn starts and ends spans whose names say which they are.
func churn(tracer trace.Tracer, n int) {
	for range n {
		ctx, a := tracer.Start(context.Background(), "a")
		_, b := tracer.Start(ctx, "child of "+a.SpanContext().SpanID().String())
		b.End()
		a.End()
	}
}

func checkNames(t *testing.T, j *Journal) {
	t.Helper()
	for _, s := range j.Spans {
		if s.Name != "a" && s.Name != "child of "+s.Parent.String() || s.Name == "a" && s.Parent.IsValid() {
			t.Errorf("a span that never was: %+v", s)
		}
	}
}

func TestManyScopes(t *testing.T) {
	path := made(t, 64)
	w := opened(t, path)
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w))
	for i := range maxScopes + 5 {
		provider.Tracer(fmt.Sprint("scope ", i)).Start(context.Background(), fmt.Sprint(i))
	}
	for i, s := range mustRead(t, path).Spans {
		want := Scope{Name: "scope " + s.Name}
		if i >= maxScopes {
			want = Scope{} // no room
		}
		if s.Scope != want {
			t.Errorf("span %s has scope %+v, want %+v", s.Name, s.Scope, want)
		}
	}
}
