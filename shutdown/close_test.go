package shutdown

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// checkNesting fails if a child ended after its parent, by order or by time.
func checkNesting(t *testing.T, spans []sdktrace.ReadOnlySpan) {
	t.Helper()
	place := map[trace.SpanID]int{}
	for i, span := range spans {
		place[span.SpanContext().SpanID()] = i
	}
	for i, span := range spans {
		p, ok := place[span.Parent().SpanID()]
		if !ok {
			continue
		}
		if p < i {
			t.Fatalf("%s ended before its child %s", spans[p].Name(), span.Name())
		}
		// As an exporter writes it: the monotonic clock, which Before and After go by
		// where they can, does not come along.
		if span.EndTime().UnixNano() > spans[p].EndTime().UnixNano() {
			t.Fatalf("%s ends at %v, after its parent %s at %v",
				span.Name(), span.EndTime(), spans[p].Name(), spans[p].EndTime())
		}
	}
}

func TestInnermostFirst(t *testing.T) {
	for _, test := range []struct {
		name  string
		start func(tracer trace.Tracer)
		want  []string
	}{
		{"chain", func(tracer trace.Tracer) {
			ctx, _ := tracer.Start(context.Background(), "run")
			ctx, _ = tracer.Start(ctx, "attempt")
			tracer.Start(ctx, "worker")
		}, []string{"worker", "attempt", "run"}},
		{"siblings", func(tracer trace.Tracer) {
			ctx, _ := tracer.Start(context.Background(), "attempt")
			for i := range 3 {
				tracer.Start(ctx, fmt.Sprint("worker", i))
			}
		}, []string{"worker2", "worker1", "worker0", "attempt"}},
		{"child of an older branch starts last", func(tracer trace.Tracer) {
			root, _ := tracer.Start(context.Background(), "root")
			old, _ := tracer.Start(root, "old")
			tracer.Start(root, "young")
			tracer.Start(old, "leaf")
		}, []string{"leaf", "young", "old", "root"}},
		{"parent in the middle has ended", func(tracer trace.Tracer) {
			ctx, _ := tracer.Start(context.Background(), "outer")
			ctx, middle := tracer.Start(ctx, "middle")
			tracer.Start(ctx, "inner")
			middle.End()
		}, []string{"middle", "inner", "outer"}},
		{"remote parent", func(tracer trace.Tracer) {
			remote := trace.NewSpanContext(trace.SpanContextConfig{
				TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, Remote: true,
			})
			ctx := trace.ContextWithRemoteSpanContext(context.Background(), remote)
			ctx, _ = tracer.Start(ctx, "run")
			tracer.Start(ctx, "attempt")
		}, []string{"attempt", "run"}},
		{"nothing", func(trace.Tracer) {}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			open, rec, tracer := setup()
			test.start(tracer)
			mustShutdown(t, open)
			if diff := cmp.Diff(test.want, rec.names()); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			if test.name != "parent in the middle has ended" { // that parent's own doing
				checkNesting(t, rec.spans())
			}
		})
	}
}

func TestDeepChainsSideBySide(t *testing.T) {
	open, rec, tracer := setup()
	const depth = 2000
	a, b := context.Background(), context.Background()
	for i := range depth {
		a, _ = tracer.Start(a, fmt.Sprint("a", i))
		b, _ = tracer.Start(b, fmt.Sprint("b", i))
	}
	mustShutdown(t, open)
	if len(rec.spans()) != 2*depth {
		t.Fatalf("%d spans ended", len(rec.spans()))
	}
	checkNesting(t, rec.spans())
}

// The wall clock was set between the starts, so the spans disagree about what
// time it is. No child outlives its parent and no span ends before it starts.
func TestClockWasSet(t *testing.T) {
	open, rec, tracer := setup(WithClock(atNoon))
	for _, hours := range []time.Duration{-2, +1, -1, +3} {
		ctx := context.Background()
		for i := range 3 {
			at := noon.Add(hours * time.Hour * time.Duration(i-1))
			ctx, _ = tracer.Start(ctx, fmt.Sprint("span", i), trace.WithTimestamp(at))
		}
	}
	mustShutdown(t, open)
	checkNesting(t, rec.spans())
	for _, span := range rec.spans() {
		if span.EndTime().Before(span.StartTime()) {
			t.Errorf("%s ends at %v before its start %v", span.Name(), span.EndTime(), span.StartTime())
		}
	}
}

func TestEndTime(t *testing.T) {
	before := time.Now()
	now := time.Now().Add(time.Minute)
	if got := endTime(before, now); got.Sub(before) != now.Sub(before) {
		t.Errorf("end is %v after the start, want %v", got.Sub(before), now.Sub(before))
	}
	if got := endTime(noon, noon.Add(-time.Hour)); !got.Equal(noon) {
		t.Errorf("a span from the future ends at %v", got)
	}
}

func TestShutdownTwice(t *testing.T) {
	open, rec, tracer := setup(WithReason("first"))
	start(context.Background(), tracer, "open")
	mustShutdown(t, open)
	open.SetReason("second")
	mustShutdown(t, open)
	if len(rec.spans()) != 1 || len(reasons(rec.spans()[0])) != 1 || reasons(rec.spans()[0])[0] != "first" {
		t.Errorf("ended %v", rec.names())
	}
}

// Whoever calls Shutdown, also while another call is at work, finds the work
// done when it returns: the caller may be about to exit.
func TestConcurrentShutdownsWaitForTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, rec, tracer := setup()
		rec.blocked = make(chan struct{})
		start(context.Background(), tracer, "open")
		returned := make(chan int, 3)
		for range 3 {
			go func() {
				if err := open.Shutdown(context.Background()); err != nil {
					t.Error(err)
				}
				returned <- len(rec.spans())
			}()
		}
		synctest.Wait()
		if len(returned) != 0 {
			t.Error("a Shutdown returned while the span was being ended")
		}
		if open.Len() != 1 {
			t.Errorf("Len is %d during the shutdown", open.Len())
		}
		close(rec.blocked)
		for range 3 {
			if n := <-returned; n != 1 {
				t.Errorf("a Shutdown returned with %d spans ended", n)
			}
		}
	})
}

// A context that is over does not cost the spans.
func TestCancelledContext(t *testing.T) {
	open, rec, tracer := setup()
	for range 100 {
		start(context.Background(), tracer, "open")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := open.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if len(rec.spans()) != 100 {
		t.Errorf("%d of 100 spans ended", len(rec.spans()))
	}
}

// A processor that blocks in OnEnd holds Shutdown no longer than its context
// and the grace, and the spans come out once it lets go.
func TestContextBoundsABlockedProcessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, rec, tracer := setup()
		rec.blocked = make(chan struct{})
		start(context.Background(), tracer, "one")
		start(context.Background(), tracer, "two")
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		began := time.Now()
		err := open.Shutdown(ctx)
		if took := time.Since(began); took != 2*time.Second+grace {
			t.Errorf("took %v", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 left") {
			t.Errorf("error %v", err)
		}
		close(rec.blocked)
		mustShutdown(t, open)
		if diff := cmp.Diff([]string{"two", "one"}, rec.names()); diff != "" {
			t.Errorf("ended (-want +got):\n%s", diff)
		}
	})
}
