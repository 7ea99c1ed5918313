package journal

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sys/unix"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// perRound is how many spans one measurement starts and ends: few, so that both of a
// pair meet the same machine.
const perRound = 500

// spend is the CPU time of this thread: others at work on the machine are no cost of a
// span.
func spend(b *testing.B, tracer trace.Tracer) time.Duration {
	b.Helper()
	began := cpuTime(b)
	for range perRound {
		_, s := tracer.Start(context.Background(), "forward and backward")
		s.End()
	}
	return cpuTime(b) - began
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ts.Nano())
}

// BenchmarkAdded is what the journal adds to a span in the SDK: the same with and
// without it in turn, the median of the differences. Without it there is a processor
// that does nothing, in the place of one that exports: with none, the SDK makes no spans
// that are recorded.
//
// At most 200 added-ns are promised, without a wrapped exporter, on a machine that does
// nothing else and where a span without the journal takes 500 or less. On a busy machine,
// whose caches and cores are shared, best-ns, the difference of the fastest of both, says
// more, and on a slow one added-part, the part that the journal adds to the time of the
// span itself.
func BenchmarkAdded(b *testing.B) {
	for name, wrapped := range map[string]bool{"open": false, "wrapped": true} {
		b.Run(name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			w := opened(b, made(b, DefaultSlots))
			with := []sdktrace.SpanProcessor{nothing{}, w}
			without := []sdktrace.SpanProcessor{nothing{}}
			if wrapped { // the SDK's work for an export is the same on both sides
				with = []sdktrace.SpanProcessor{w, sdktrace.NewSimpleSpanProcessor(w.Wrap(tracetest.NewNoopExporter()))}
				without = []sdktrace.SpanProcessor{sdktrace.NewSimpleSpanProcessor(tracetest.NewNoopExporter())}
			}
			ours, plain := tracerOf(b, with...), tracerOf(b, without...)
			outer, _ := ours.Start(context.Background(), "outer")
			_ = outer
			spend(b, ours)
			spend(b, plain)
			var added, full, bare []float64
			for i := 0; b.Loop(); i++ {
				var a, p time.Duration
				if i%2 == 0 {
					a, p = spend(b, ours), spend(b, plain)
				} else {
					p, a = spend(b, plain), spend(b, ours)
				}
				added = append(added, float64(a-p)/perRound)
				full, bare = append(full, float64(a)/perRound), append(bare, float64(p)/perRound)
			}
			slices.Sort(added)
			slices.Sort(bare)
			b.ReportMetric(0, "ns/op") // means nothing here
			b.ReportMetric(added[len(added)/2], "added-ns")
			b.ReportMetric(added[len(added)/2]/bare[len(bare)/2], "added-part")
			b.ReportMetric(bare[len(bare)/2], "without-ns")
			b.ReportMetric(slices.Min(full)-bare[0], "best-ns")
			b.ReportMetric(bare[0], "best-without-ns")
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

// nothing is a processor that does nothing.
type nothing struct{}

func (nothing) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (nothing) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (nothing) Shutdown(context.Context) error                  { return nil }
func (nothing) ForceFlush(context.Context) error                { return nil }
