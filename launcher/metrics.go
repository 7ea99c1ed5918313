package launcher

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// Names of the launcher's metrics (the telemetry specification).
const (
	MetricAttempts = "lenslaunch.attempts"
	MetricRestarts = "lenslaunch.restarts"
	MetricExits    = "lenslaunch.worker.exits"
	MetricLive     = "lenslaunch.workers.live"
	MetricStart    = "lenslaunch.start.duration"
	MetricTeardown = "lenslaunch.teardown.duration"
)

// Metrics is a Subscriber that counts and measures what happens in a run.
func Metrics(meter metric.Meter) Subscriber {
	m := &measures{
		attempts: counter(meter, MetricAttempts, "{attempt}", "Attempts that began."),
		restarts: counter(meter, MetricRestarts, "{restart}", "Restarts after a failed attempt."),
		exits:    counter(meter, MetricExits, "{worker}", "Workers that have ended, by reason."),
		start:    histogram(meter, MetricStart, "From the beginning of an attempt until all its ranks are started."),
		teardown: histogram(meter, MetricTeardown, "From the stop of an attempt, or the end of its last rank, until nothing is left."),
	}
	var err error
	m.live, err = meter.Int64UpDownCounter(MetricLive, metric.WithUnit("{worker}"), metric.WithDescription("Workers that run now."))
	if err != nil {
		m.live = noop.Int64UpDownCounter{} // these names are valid: another's meter may refuse them all the same
	}
	return m.event
}

type measures struct {
	attempts, restarts, exits metric.Int64Counter
	live                      metric.Int64UpDownCounter
	start, teardown           metric.Float64Histogram

	began time.Time // the attempt
	down  teardown
}

func counter(meter metric.Meter, name, unit, description string) metric.Int64Counter {
	c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	if err != nil {
		return noop.Int64Counter{}
	}
	return c
}

// histogram measures seconds: a launch takes milliseconds, a teardown up to minutes.
func histogram(meter metric.Meter, name, description string) metric.Float64Histogram {
	h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300))
	if err != nil {
		return noop.Float64Histogram{}
	}
	return h
}

func (m *measures) event(e Event) {
	ctx := context.Background()
	switch e := e.(type) {
	case AttemptPreparing:
		if e.Number > 1 {
			m.restarts.Add(ctx, 1)
		}
	case AttemptBegan:
		m.began, m.down = e.At, teardown{}
		m.attempts.Add(ctx, 1)
	case WorkerStarted:
		m.live.Add(ctx, 1)
	case WorkersStarted:
		m.start.Record(ctx, e.At.Sub(m.began).Seconds())
	case StopBegan:
		m.down.began(e)
	case WorkerEnded:
		m.down.workerEnded(e.At)
		m.live.Add(ctx, -1)
		m.exits.Add(ctx, 1, metric.WithAttributes(attribute.String(keyReason, string(e.Reason))))
	case AttemptEnded:
		if began := m.down.since(); !began.IsZero() {
			m.teardown.Record(ctx, e.At.Sub(began).Seconds())
		}
	}
}
