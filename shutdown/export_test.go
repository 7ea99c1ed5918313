package shutdown

import (
	"context"
	"fmt"
	"sync"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// keeper is an exporter that keeps what it gets, also over its shutdown.
type keeper struct {
	mu    sync.Mutex
	spans tracetest.SpanStubs
}

func (k *keeper) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spans = append(k.spans, tracetest.SpanStubsFromReadOnlySpans(spans)...)
	return nil
}

func (k *keeper) Shutdown(context.Context) error { return nil }

// batched is a provider with the SDK's own batch processor at the end.
func batched() (*OpenSpans, *keeper, *sdktrace.TracerProvider) {
	open, kept := New(), &keeper{}
	return open, kept, sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(open), sdktrace.WithBatcher(kept, sdktrace.WithBlocking()))
}

// Five times the batch queue: without blocking most of them would be dropped.
func TestTenThousandOpenSpansAreExported(t *testing.T) {
	const n = 10_000
	open, kept, provider := batched()
	tracer := provider.Tracer("test")
	ctx, _ := tracer.Start(context.Background(), "root")
	for i := range n - 1 {
		child, _ := tracer.Start(ctx, "child")
		if i%10 == 0 {
			ctx = child // some depth as well
		}
	}
	if open.Len() != n {
		t.Fatalf("%d open", open.Len())
	}
	if err := provider.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	seen := map[trace.SpanID]bool{}
	for _, span := range kept.spans {
		seen[span.SpanContext.SpanID()] = true
	}
	if len(seen) != n || len(kept.spans) != n {
		t.Fatalf("%d spans exported, %d different, want %d", len(kept.spans), len(seen), n)
	}
	snapshots := kept.spans.Snapshots()
	for _, span := range snapshots {
		if value, present := truncated(span); !value || !present || len(reasons(span)) != 1 {
			t.Fatalf("%s is not marked", span.Name())
		}
	}
	checkNesting(t, snapshots)
}

// Starts, ends and truncations go on while the provider shuts down: every span
// comes out at most once, none that ended in time is lost, nothing deadlocks.
func TestRaceWithShutdown(t *testing.T) {
	open, kept, provider := batched()
	tracer := provider.Tracer("test")
	const workers, each = 8, 300
	var mu sync.Mutex
	endedInTime := map[trace.SpanID]bool{}
	var group sync.WaitGroup
	halfway := make(chan struct{})
	for w := range workers {
		group.Go(func() {
			for i := range each {
				if w == 0 && i == each/2 {
					close(halfway)
				}
				ctx, parent := tracer.Start(context.Background(), fmt.Sprint(w, "/", i))
				_, child := tracer.Start(ctx, "child")
				switch i % 4 {
				case 0:
					open.Truncate(child, "cut")
				case 1:
					open.SetReason(fmt.Sprint("reason ", i))
				case 2:
					open.Len()
				default:
					child.End()
				}
				parent.End()
				select {
				case <-halfway:
				default:
					mu.Lock()
					endedInTime[parent.SpanContext().SpanID()] = true
					mu.Unlock()
				}
			}
		})
	}
	var shutdowns sync.WaitGroup
	for range 2 {
		shutdowns.Go(func() {
			<-halfway
			if err := open.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	shutdowns.Wait()
	group.Wait()
	if err := provider.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	seen := map[trace.SpanID]int{}
	for _, span := range kept.spans {
		seen[span.SpanContext.SpanID()]++
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("span %v came out %d times", id, n)
		}
	}
	for id := range endedInTime {
		if seen[id] != 1 {
			t.Errorf("span %v ended before the shutdown and is lost", id)
		}
	}
	if open.Len() != 0 {
		t.Errorf("%d spans tracked at the end", open.Len())
	}
}

func BenchmarkStartEnd(b *testing.B) {
	for name, options := range map[string][]sdktrace.TracerProviderOption{
		"sdk alone":      {sdktrace.WithSpanProcessor(&discard{})},
		"with OpenSpans": {sdktrace.WithSpanProcessor(New()), sdktrace.WithSpanProcessor(&discard{})},
	} {
		b.Run(name, func(b *testing.B) {
			tracer := sdktrace.NewTracerProvider(options...).Tracer("bench")
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, span := tracer.Start(context.Background(), "span")
					span.End()
				}
			})
		})
	}
}

func BenchmarkShutdown(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n, " open"), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				open := New()
				tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(open)).Tracer("bench")
				for range n {
					tracer.Start(context.Background(), "span")
				}
				b.StartTimer()
				if err := open.Shutdown(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{ recorder }

func (*discard) OnEnd(sdktrace.ReadOnlySpan) {}
