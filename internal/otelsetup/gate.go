package otelsetup

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// queueSize is the room between the launcher and the exporter, in spans. A
// launch of 512 ranks ends some two thousand at once.
const queueSize = 4096

// Bounds of how long a batch is waited for. The SDK takes any number: with none or less,
// also where a very large one overflows, its timer is over at all times and it takes a
// whole processor from the ranks.
const (
	defaultDelay = 5 * time.Second // OpenTelemetry's
	leastDelay   = 10 * time.Millisecond
	mostDelay    = time.Hour
)

// batchDelay reads how long a batch is waited for.
func batchDelay(env map[string]string) time.Duration {
	ms, err := strconv.ParseInt(value(env, "OTEL_BSP_SCHEDULE_DELAY"), 10, 64)
	if err != nil {
		return defaultDelay
	}
	return min(mostDelay, max(leastDelay, time.Duration(min(ms, mostDelay.Milliseconds()))*time.Millisecond))
}

// gate stands before a batch processor that blocks when its queue is full.
//
// While the launcher works, the gate keeps it from ever blocking: what does not
// fit is dropped and counted. At the shutdown it is open: then the spans to
// come exist in memory already, waiting costs only the shutdown's own time, and
// none must be lost because ten thousand end in one moment.
type gate struct {
	next  sdktrace.SpanProcessor
	tally *tally
	open  atomic.Bool
}

var _ sdktrace.SpanProcessor = (*gate)(nil)

// OnStart counts: what has started ends by the shutdown at the latest, and is exported or
// lost, so that no span is in two counts or in none while it goes from one to the other.
func (g *gate) OnStart(ctx context.Context, span sdktrace.ReadWriteSpan) {
	if span.SpanContext().IsSampled() {
		g.tally.started.Add(1)
	}
	g.next.OnStart(ctx, span)
}

func (g *gate) OnEnd(span sdktrace.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return
	}
	if g.tally.waiting.Add(1) > queueSize && !g.open.Load() {
		g.tally.waiting.Add(-1)
		g.tally.lose(errQueueFull)
		return
	}
	g.next.OnEnd(span)
}

func (g *gate) ForceFlush(ctx context.Context) error { return g.next.ForceFlush(ctx) }

func (g *gate) Shutdown(ctx context.Context) error { return g.next.Shutdown(ctx) }
