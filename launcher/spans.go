package launcher

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/detect"
	"lenslaunch/internal/proc"
	"lenslaunch/semconv"
)

// Names of the launcher's spans (the telemetry specification).
const (
	SpanRun     = "lenslaunch.run"
	SpanAttempt = "lenslaunch.attempt"
	SpanWorker  = "lenslaunch.worker"
)

// Tracing is what the launcher needs of telemetry: it is injected, so that this
// package knows no exporter.
type Tracing struct {
	Tracer trace.Tracer

	// Truncate ends a span whose work was cut off, with the reason.
	Truncate func(span trace.Span, reason string) bool
}

// Spans is a Subscriber that tells a run as spans. Of work that was cut off, a worker's
// span is truncated when the worker was reaped; attempt and run, if they were told to
// end, are left open for the shutdown of telemetry to truncate (the telemetry
// specification, "Truncated spans").
func Spans(t Tracing, p *Plan) Subscriber {
	s := &spanWriter{Tracing: t, plan: p, workers: map[int]trace.Span{}}
	return s.event
}

type spanWriter struct {
	Tracing
	plan    *Plan
	run     trace.Span
	runCtx  context.Context
	attempt trace.Span
	ctx     context.Context // of the attempt
	workers map[int]trace.Span
	told    bool
}

func (s *spanWriter) event(e Event) {
	switch e := e.(type) {
	case AttemptPreparing:
		s.beginRun(e.At)
	case AttemptBegan:
		s.beginAttempt(e)
	case WorkerStarted:
		s.beginWorker(e)
	case FaultFound:
		s.fault(e)
	case SignalTaken:
		s.told = s.told || e.Action == "stop"
	case WorkerEnded:
		s.endWorker(e)
	case AttemptEnded:
		s.endAttempt(e)
	case RunEnded:
		s.endRun(e)
	}
}

func (s *spanWriter) beginRun(at time.Time) {
	if s.run != nil {
		return
	}
	s.runCtx, s.run = s.Tracer.Start(context.Background(), SpanRun, trace.WithTimestamp(at), trace.WithAttributes(
		// Arguments may hold secrets: the program's name says enough.
		attribute.String("process.command", s.plan.Command[0]),
		attribute.Int("lenslaunch.nproc", s.plan.World.LocalSize),
		attribute.Int("lenslaunch.nnodes", s.plan.World.Nodes),
	))
}

func (s *spanWriter) beginAttempt(e AttemptBegan) {
	attrs := []attribute.KeyValue{
		attribute.String(semconv.NVDLRunUUID, e.Attempt.UUID),
		attribute.Int(AttemptKey, e.Attempt.Number),
	}
	if e.Attempt.RestartCount != nil {
		attrs = append(attrs, attribute.Int64(semconv.SlurmRestartCount, *e.Attempt.RestartCount))
	}
	s.ctx, s.attempt = s.Tracer.Start(s.runCtx, SpanAttempt, trace.WithTimestamp(e.At), trace.WithAttributes(attrs...))
}

func (s *spanWriter) beginWorker(e WorkerStarted) {
	_, span := s.Tracer.Start(s.ctx, SpanWorker, trace.WithTimestamp(e.At), trace.WithAttributes(
		attribute.Int(semconv.NVDLRank, e.Rank),
		attribute.Int(semconv.NVDLLocalRank, e.Local),
		attribute.Int("process.pid", e.Pid),
	))
	s.workers[e.Local] = span
}

// fault marks the attempt and the failing worker, and only them, as errors.
func (s *spanWriter) fault(e FaultFound) {
	if !e.First {
		return
	}
	s.attempt.SetAttributes(attribute.Int("lenslaunch.cause.rank", e.Fault.Rank))
	s.attempt.SetStatus(codes.Error, fmt.Sprintf("rank %d failed: %v", e.Fault.Rank, e.Fault.Exit))
	// A rank that could not be started has no span.
	if span := s.workers[e.Fault.Local]; span != nil {
		span.SetStatus(codes.Error, e.Fault.Exit.String())
	}
}

// endWorker ends a worker's span when it has gone; that of one that was stopped is
// truncated, because its work was cut off.
func (s *spanWriter) endWorker(e WorkerEnded) {
	span := s.workers[e.Local]
	delete(s.workers, e.Local)
	if e.Exit.Signal != 0 {
		span.SetAttributes(attribute.String("process.exit.signal", proc.SignalName(e.Exit.Signal)))
	} else {
		span.SetAttributes(attribute.Int("process.exit.code", e.Exit.Code))
	}
	span.SetAttributes(attribute.String("lenslaunch.reason", string(e.Reason)))
	if e.Reason != ReasonStopped || !s.Truncate(span, fmt.Sprintf("rank %d stopped: %s", e.Rank, s.stopReason())) {
		span.End(trace.WithTimestamp(e.At))
	}
}

func (s *spanWriter) stopReason() string {
	if s.told {
		return "the launcher was told to end"
	}
	return "another rank failed"
}

func (s *spanWriter) endAttempt(e AttemptEnded) {
	s.attempt.SetAttributes(attribute.String("lenslaunch.outcome", string(e.Outcome)))
	if e.Outcome != OutcomeStopped {
		s.attempt.End(trace.WithTimestamp(e.At))
	}
}

func (s *spanWriter) endRun(e RunEnded) {
	s.run.SetAttributes(
		attribute.String("lenslaunch.outcome", string(e.Outcome)),
		attribute.Int("process.exit.code", e.Code),
		attribute.Int("lenslaunch.restarts", max(0, e.Attempts-1)),
	)
	if e.Outcome != OutcomeStopped {
		s.run.End(trace.WithTimestamp(e.At))
	}
}

// LauncherResource is the resource of the launcher's own spans, from that of its
// process: it has no rank, and OTEL_SERVICE_NAME names the workload, not the
// launcher (the telemetry specification).
func (p *Plan) LauncherResource(process []attribute.KeyValue, version string) []attribute.KeyValue {
	list := semconv.Compose(process, nil, []attribute.KeyValue{
		attribute.String(detect.ServiceName, "lenslaunch"),
		attribute.String("service.version", version),
		attribute.String(detect.ServiceInstanceID, fmt.Sprintf("%s-launcher%d", p.RunID, p.World.NodeRank)),
		attribute.String(semconv.NVDLRole, "launcher"),
		attribute.String(semconv.NVDLJobUUID, p.JobUUID),
		attribute.String(semconv.NemoRunID, p.RunID),
	})
	return slices.DeleteFunc(list, func(kv attribute.KeyValue) bool {
		switch string(kv.Key) {
		// What varies during the launcher's life, and what an outer launcher said of
		// this process as one of its workers.
		case semconv.NVDLRank, semconv.NVDLLocalRank, semconv.NVDLWorldSize, semconv.NVDLRunUUID,
			semconv.SlurmRestartCount, AttemptKey:
			return true
		}
		return false
	})
}
