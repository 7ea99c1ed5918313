package launcher

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/internal/proc"
	"lenslaunch/semconv"
)

// Names of the launcher's spans (the telemetry specification).
const (
	SpanRun      = "lenslaunch.run"
	SpanAttempt  = "lenslaunch.attempt"
	SpanStart    = "lenslaunch.start"
	SpanWorker   = "lenslaunch.worker"
	SpanTeardown = "lenslaunch.teardown"
)

// beginSuffix is that of the instant span which tells at once that a span has begun: run
// and attempt may be open for weeks, and a span is exported only when it ends.
const beginSuffix = ".begin"

// EventFault is the name of the event on an attempt at the moment when a failure was found.
const EventFault = "lenslaunch.fault"

// Attributes of the launcher's own; what OpenTelemetry or NeMo Lens has a name for has that.
const (
	keyNproc    = "lenslaunch.nproc"
	keyNnodes   = "lenslaunch.nnodes"
	keyOutcome  = "lenslaunch.outcome"
	keyRestarts = "lenslaunch.restarts"
	keyReason   = "lenslaunch.reason"
	keyCause    = "lenslaunch.cause.rank"
	keyRanks    = "lenslaunch.ranks"
	keyNeeded   = "lenslaunch.teardown.needed"

	keyCommand  = "process.command"
	keyPid      = "process.pid"
	keyExitCode = "process.exit.code"
	keySignal   = "process.exit.signal"
)

// Spans tells a run as spans. Of work that was cut off, a worker's span is truncated when
// the worker was reaped; attempt and run, if they were told to end, are left open for the
// shutdown of telemetry to truncate (the telemetry specification, "Truncated spans").
type Spans struct {
	Telemetry
	plan    *Plan
	run     trace.Span
	runCtx  context.Context
	attempt trace.Span // nil: none goes on
	ctx     context.Context
	start   trace.Span // of the attempt's launch, nil: not going on
	down    teardown
	workers map[int]trace.Span
	failed  failures
	told    bool
	stopped bool // the attempt was stopped, and before the launcher was told to end
}

// NewSpans begins the span of the run, in the trace that the launcher was started in if
// there is one, and tells the plan of it.
func NewSpans(t Telemetry, p *Plan, at time.Time) *Spans {
	s := &Spans{Telemetry: t, plan: p, workers: map[int]trace.Span{}}
	s.runCtx, s.run = s.begin(t.Parent, SpanRun, at,
		// Arguments may hold secrets: the program's name says enough.
		attribute.String(keyCommand, p.Command[0]),
		attribute.Int(keyNproc, p.World.LocalSize),
		attribute.Int(keyNnodes, p.World.Nodes),
	)
	p.Traced.Run = s.run.SpanContext()
	return s
}

// begin starts a span that may be open for long, and says so at once.
func (s *Spans) begin(parent context.Context, name string, at time.Time, attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	when, what := trace.WithTimestamp(at), trace.WithAttributes(attrs...)
	ctx, span := s.Tracer.Start(parent, name, when, what)
	_, mark := s.Tracer.Start(ctx, name+beginSuffix, when, what)
	mark.End(when)
	s.Flush()
	return ctx, span
}

// Event is the Subscriber.
func (s *Spans) Event(e Event) {
	switch e := e.(type) {
	case AttemptBegan:
		s.beginAttempt(e)
	case WorkerStarted:
		s.beginWorker(e)
	case WorkersStarted:
		s.start.End(trace.WithTimestamp(e.At))
		s.start = nil
	case FaultFound:
		s.fault(e)
	case SignalTaken:
		s.told = s.told || e.Action == actionStop
	case StopBegan:
		s.stopped = !s.told
		s.down.began(e)
		s.Flush() // while the ranks have their grace
	case StopEscalated:
		s.down.needed(e.Signal)
	case WorkerEnded:
		s.endWorker(e)
	case AttemptEnded:
		s.endAttempt(e)
	case RunEnded:
		s.endRun(e)
	}
}

func (s *Spans) beginAttempt(e AttemptBegan) {
	attrs := []attribute.KeyValue{
		attribute.String(semconv.NVDLRunUUID, e.Attempt.UUID),
		attribute.Int(AttemptKey, e.Attempt.Number),
	}
	if e.Attempt.RestartCount != nil {
		attrs = append(attrs, attribute.Int64(semconv.SlurmRestartCount, *e.Attempt.RestartCount))
	}
	s.ctx, s.attempt = s.begin(s.runCtx, SpanAttempt, e.At, attrs...)
	_, s.start = s.Tracer.Start(s.ctx, SpanStart, trace.WithTimestamp(e.At), trace.WithAttributes(
		attribute.Int(keyRanks, s.plan.World.LocalSize)))
	s.down, s.failed, s.stopped = teardown{}, failures{}, false
}

func (s *Spans) beginWorker(e WorkerStarted) {
	_, span := s.Tracer.Start(s.WithSpanID(s.ctx, e.Span), SpanWorker, trace.WithTimestamp(e.At), trace.WithAttributes(
		attribute.Int(semconv.NVDLRank, e.Rank),
		attribute.Int(semconv.NVDLLocalRank, e.Local),
		attribute.Int(keyPid, e.Pid),
	))
	s.workers[e.Local] = span
}

// exitAttribute is how a process ended: one of two attributes.
func exitAttribute(e proc.Exit) attribute.KeyValue {
	if e.Signal != 0 {
		return attribute.String(keySignal, proc.SignalName(e.Signal))
	}
	return attribute.Int(keyExitCode, e.Code)
}

// endWorker ends a worker's span when it has gone; that of one that was stopped is
// truncated, because its work was cut off.
func (s *Spans) endWorker(e WorkerEnded) {
	span := s.workers[e.Local]
	delete(s.workers, e.Local)
	span.SetAttributes(exitAttribute(e.Exit), attribute.String(keyReason, string(e.Reason)))
	if s.failed.holds(e.Local) {
		s.failed.ended = append(s.failed.ended, failedWorker{span: span, local: e.Local, at: e.At})
	} else if e.Reason != ReasonStopped || !s.Truncate(span, fmt.Sprintf("rank %d stopped: %s", e.Rank, s.stopReason())) {
		span.End(trace.WithTimestamp(e.At))
	}
	s.down.workerEnded(e.At)
}

// stopReason is why a rank was stopped.
func (s *Spans) stopReason() string { return s.beganBy("another rank failed") }

// cutReason is why a launch was cut off.
func (s *Spans) cutReason() string { return s.beganBy("a rank failed") }

// beganBy is what began the stop: who is told to end while ranks are being stopped for a
// failure changes nothing about why.
func (s *Spans) beganBy(failure string) string {
	if s.told && !s.stopped {
		return "the launcher was told to end"
	}
	return failure
}

func (s *Spans) endAttempt(e AttemptEnded) {
	// What the dead had open comes before what says that they are dead.
	s.Recover(e.Open...)
	if s.attempt == nil {
		return // it could not be prepared
	}
	if s.start != nil {
		if !s.Truncate(s.start, "not every rank was started: "+s.cutReason()) {
			s.start.End(trace.WithTimestamp(e.At))
		}
		s.start = nil
	}
	s.endFailed(e.Faults)
	s.endTeardown(e.At)
	s.attempt.SetAttributes(attribute.String(keyOutcome, string(e.Outcome)))
	if e.Outcome != OutcomeStopped {
		s.attempt.End(trace.WithTimestamp(e.At))
	}
	s.attempt = nil
	s.Flush()
}

func (s *Spans) endRun(e RunEnded) {
	s.run.SetAttributes(
		attribute.String(keyOutcome, string(e.Outcome)),
		attribute.Int(keyExitCode, e.Code),
		attribute.Int(keyRestarts, max(0, e.Attempts-1)),
	)
	switch {
	case e.Failure != nil && s.Truncate(s.run, "the launcher cannot go on: "+e.Failure.Problem):
	case e.Outcome != OutcomeStopped:
		s.run.End(trace.WithTimestamp(e.At))
	}
}
