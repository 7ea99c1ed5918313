package launcher

import (
	"syscall"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/internal/proc"
)

// teardown is how an attempt is ended: from the stop ladder, or where none was needed from
// the end of the last rank, until nothing is left.
type teardown struct {
	stop   time.Time // the ladder began
	last   time.Time // the latest end of a rank
	signal syscall.Signal
}

func (t *teardown) began(e StopBegan) {
	t.stop = e.At
	if len(e.Ladder.Rungs) > 0 {
		t.signal = e.Ladder.Rungs[0].Signal
	}
}

// needed notes a later signal of the ladder.
func (t *teardown) needed(s syscall.Signal) { t.signal = s }

func (t *teardown) workerEnded(at time.Time) {
	if at.After(t.last) {
		t.last = at
	}
}

// since is when it began; zero: it has not.
func (t *teardown) since() time.Time {
	if t.stop.IsZero() {
		return t.last
	}
	return t.stop
}

// what is the last signal that was needed.
func (t *teardown) what() string {
	if t.signal == 0 {
		return "none"
	}
	return proc.SignalName(t.signal)
}

// endTeardown tells of the teardown when it is over.
func (s *Spans) endTeardown(at time.Time) {
	began := s.down.since()
	if began.IsZero() {
		return // no rank was started: there was nothing to tear down
	}
	_, span := s.Tracer.Start(s.ctx, SpanTeardown, trace.WithTimestamp(began), trace.WithAttributes(
		attribute.String(keyNeeded, s.down.what())))
	span.End(trace.WithTimestamp(at))
}
