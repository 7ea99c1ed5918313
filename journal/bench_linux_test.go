package journal

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// perRound is how many spans one measurement starts and ends.
const perRound = 2000

func spend(tracer trace.Tracer) time.Duration {
	began := time.Now()
	for range perRound {
		_, s := tracer.Start(context.Background(), "forward and backward")
		s.End()
	}
	return time.Since(began)
}

// BenchmarkAdded is what the journal adds to a span in the SDK: the same with and
// without it in turn, the median of the differences. At most 200 added-ns are promised.
func BenchmarkAdded(b *testing.B) {
	for name, wrapped := range map[string]bool{"open": false, "wrapped": true} {
		b.Run(name, func(b *testing.B) {
			w := opened(b, made(b, DefaultSlots))
			with := []sdktrace.SpanProcessor{w}
			without := []sdktrace.SpanProcessor{nothing{}}
			if wrapped { // the SDK's work for an export is the same on both sides
				with = append(with, sdktrace.NewSimpleSpanProcessor(w.Wrap(tracetest.NewNoopExporter())))
				without = append(without, sdktrace.NewSimpleSpanProcessor(tracetest.NewNoopExporter()))
			}
			ours, plain := tracerOf(b, with...), tracerOf(b, without...)
			outer, _ := ours.Start(context.Background(), "outer")
			_ = outer
			spend(ours)
			spend(plain)
			var added []float64
			for i := 0; b.Loop(); i++ {
				var a, p time.Duration
				if i%2 == 0 {
					a, p = spend(ours), spend(plain)
				} else {
					p, a = spend(plain), spend(ours)
				}
				added = append(added, float64(a-p)/perRound)
			}
			slices.Sort(added)
			b.ReportMetric(0, "ns/op") // means nothing here
			b.ReportMetric(added[len(added)/2], "added-ns")
			b.ReportMetric(float64(len(added)), "pairs")
		})
	}
}

// BenchmarkFull is the worst case of a wrapped exporter: it is never done, every slot
// holds an ended span, and each new one takes the place of the oldest.
func BenchmarkFull(b *testing.B) {
	w := opened(b, made(b, DefaultSlots))
	w.Wrap(nil)
	tracer := tracerOf(b, w)
	for b.Loop() {
		_, s := tracer.Start(context.Background(), "forward and backward")
		s.End()
	}
}

// nothing is a processor that does nothing: a provider without one makes no spans.
type nothing struct{}

func (nothing) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (nothing) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (nothing) Shutdown(context.Context) error                  { return nil }
func (nothing) ForceFlush(context.Context) error                { return nil }
