package launcher

import (
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/internal/rundir"
	"lenslaunch/semconv"
)

// failures are the workers of an attempt that may have been the first to fail. Which one
// it was is known when the attempt has ended: of several at the same moment the one that
// was seen first need not be the cause. Their spans have their status then.
type failures struct {
	first  time.Time // zero: none has failed
	locals map[int]bool
	ended  []failedWorker
}

// failedWorker has ended, and its span not yet.
type failedWorker struct {
	span  trace.Span
	local int
	at    time.Time
}

func (f *failures) add(fault Fault) {
	if f.first.IsZero() {
		f.first, f.locals = fault.At, map[int]bool{}
	}
	if fault.At.Sub(f.first) <= simultaneous { // also one from before, that was seen late
		f.locals[fault.Local] = true
	}
}

func (f *failures) holds(local int) bool { return f.locals[local] }

// fault tells of the first failure, at the moment when it was found.
func (s *Spans) fault(e FaultFound) {
	s.failed.add(e.Fault)
	if !e.First {
		return
	}
	f := e.Fault
	attrs := []attribute.KeyValue{attribute.Int(semconv.NVDLRank, f.Rank), attribute.Int(semconv.NVDLLocalRank, f.Local)}
	if f.Cause == nil {
		attrs = append(attrs, attribute.String(keyReason, string(f.reason())), attribute.Int(keyPid, f.Pid), exitAttribute(f.Exit))
	} else {
		attrs = append(attrs, attribute.String(keyReason, rundir.ReasonSpawn)) // it never had a process
	}
	s.attempt.AddEvent(EventFault, trace.WithTimestamp(f.At), trace.WithAttributes(attrs...))
}

// endFailed marks the attempt and the worker that failed first, and only them, as errors:
// the first of these faults is the one that everything else calls the cause.
func (s *Spans) endFailed(faults []Fault) {
	for _, w := range s.failed.ended {
		if len(faults) > 0 && w.local == faults[0].Local {
			w.span.SetStatus(codes.Error, faults[0].Exit.String())
		}
		w.span.End(trace.WithTimestamp(w.at))
	}
	s.failed.ended = nil
	if len(faults) > 0 {
		s.attempt.SetAttributes(attribute.Int(keyCause, faults[0].Rank))
		s.attempt.SetStatus(codes.Error, fmt.Sprintf("rank %d failed: %v", faults[0].Rank, faults[0].Exit))
	}
}
