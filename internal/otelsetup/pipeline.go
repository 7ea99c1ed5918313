package otelsetup

import (
	"context"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"lenslaunch/shutdown"
)

// pipeline is the part of [Telemetry] that exists when it is on.
type pipeline struct {
	provider *sdktrace.TracerProvider
	meters   meters
	open     *shutdown.OpenSpans
	gate     *gate
	counter  *counter
	tally    *tally
	metrics  metricsLost
	timeout  time.Duration
	warn     func(msg string, args ...any)
	where    string

	flush chan struct{} // has one: export what has ended
	over  chan struct{} // closed: the shutdown has begun
	once  sync.Once
}

// Shutdown force-closes the spans that are open, with the reason, exports what
// there is and stops. It returns within the timeout, whatever the collector
// does; if spans were lost, during the run or now, it has warned once. Another
// call, also a concurrent one, returns when the first has and does nothing.
func (t *Telemetry) Shutdown(reason string) {
	if t.pipeline != nil {
		t.pipeline.once.Do(func() { t.pipeline.shutdown(reason, t.Rest) })
	}
}

// Flush has what has ended exported now, and metrics as they are. It waits for nothing.
func (t *Telemetry) Flush() {
	if t.pipeline == nil {
		return
	}
	select {
	case t.pipeline.flush <- struct{}{}:
	default: // another is waiting, which will do for both
	}
}

// flusher does what Flush asks for, until the shutdown.
func (p *pipeline) flusher() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(p.counter.abandoned, cancel)()
	for {
		select {
		case <-p.over:
			return
		case <-p.flush:
		}
		var both sync.WaitGroup
		both.Go(func() { _ = p.provider.ForceFlush(ctx) }) // what goes wrong is counted
		both.Go(func() { p.meters.forceFlush(ctx) })
		both.Wait()
	}
}

func (p *pipeline) shutdown(reason string, rest func(context.Context) Kept) {
	// A fresh context: the run's own is over when a job was stopped, and with
	// one that is over the provider would do nothing at all.
	ctx, cancel := context.WithTimeout(context.Background(), p.timeout)
	defer cancel()
	soft := time.AfterFunc(p.softly(), func() { p.counter.abandon(errGivenUp) })
	defer soft.Stop()
	close(p.over)

	p.open.SetReason(reason)
	p.gate.open.Store(true)
	done := make(chan struct{})
	kept := make(chan Kept, 1)
	go func() {
		defer close(done)
		p.all(ctx, func(softly context.Context) {
			if rest != nil {
				kept <- rest(softly)
			}
		})
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	p.counter.abandon(errGivenUp)
	var left Kept
	select {
	case left = <-kept:
	default: // there is none, or it did not end in time
	}
	p.report(left)
}

// softly is when exports are given up, a little before the end. What is left then fails at
// once, so the count is exact and no goroutine stays behind; only a write to a console
// that blocks for ever needs the hard end. A file beside a collector that hangs takes what
// is left in between, also on a machine that is busy.
func (p *pipeline) softly() time.Duration {
	if p.counter.lasts {
		return p.timeout - p.timeout/4
	}
	return p.timeout - p.timeout/10
}

// all ends everything at the same time: no part has to wait for another's collector.
func (p *pipeline) all(ctx context.Context, rest func(context.Context)) {
	softly, cancel := context.WithTimeout(ctx, p.softly())
	defer cancel()
	var parts sync.WaitGroup
	parts.Go(func() { p.meters.shutdown(softly) })
	parts.Go(func() { rest(softly) })
	parts.Go(func() {
		_ = p.provider.Shutdown(ctx)
		_ = p.gate.Shutdown(ctx) // if ctx was over before the provider came to it
	})
	parts.Wait()
	_ = p.counter.close(ctx)
}

// report says how many spans were lost, if any: those that were not exported, also where
// they could not even be ended. What became of the metrics is said only if nothing else
// is: it has the same cause as a rule.
func (p *pipeline) report(kept Kept) {
	lost := p.tally.started.Load() - p.tally.exported.Load()
	if lost > 0 {
		cause := p.tally.lastCause()
		if cause == nil {
			cause = errGivenUp
		}
		args := []any{"spans", lost, "exporter", p.where, "reason", oneLine(cause)}
		if kept.Spans > 0 {
			args = append(args, "kept_of_workers", kept.Spans, "export_with", kept.How)
		}
		p.warn("telemetry was lost", args...)
		return
	}
	if kept.Spans > 0 {
		p.warn("what workers had open when they died could not be exported, and is kept", "spans", kept.Spans,
			"export_with", kept.How, "exporter", p.where, "reason", oneLine(kept.Cause))
		return
	}
	if cause := p.metrics.get(); cause != nil {
		p.warn("telemetry was lost", "metrics", "the latest values (OTEL_METRICS_EXPORTER=none turns them off)", "reason", oneLine(cause))
	}
}
