package launcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/internal/openwork"
	"lenslaunch/ranks"
	"lenslaunch/semconv"
	"lenslaunch/shutdown"
)

// telemetered is telemetry as the command line sets it up, with a recorder in place of an
// exporter.
type telemetered struct {
	open     *shutdown.OpenSpans
	recorder *tracetest.SpanRecorder
	provider *sdktrace.TracerProvider
	epoch    time.Time

	recovered []openwork.Work
	flushes   int
}

func newTelemetered() *telemetered {
	d := &telemetered{open: shutdown.New(shutdown.WithReason("telemetry ends")), recorder: tracetest.NewSpanRecorder()}
	// The closer before the one that records, or its spans are lost.
	d.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(d.open), sdktrace.WithSpanProcessor(d.recorder))
	return d
}

// midnight is when the fake time of a run begins.
func midnight() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

func (d *telemetered) subscriber(p *Plan) Subscriber {
	return NewSpans(Telemetry{
		Tracer: d.provider.Tracer("lenslaunch"), Truncate: d.open.Truncate, Parent: context.Background(),
		WithSpanID: func(ctx context.Context, _ trace.SpanID) context.Context { return ctx },
		Recover:    func(work ...openwork.Work) { d.recovered = append(d.recovered, work...) },
		Flush:      func() { d.flushes++ },
	}, p, midnight()).Event
}

func (d *telemetered) shutdown(t *testing.T) {
	t.Helper()
	if err := d.provider.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// lines describes the spans in the order in which they ended: name, parent, time,
// attributes, status and why it was truncated.
func (d *telemetered) lines() []string {
	names := map[string]string{}
	for _, s := range d.recorder.Started() {
		names[s.SpanContext().SpanID().String()] = s.Name()
	}
	var out []string
	for _, s := range d.recorder.Ended() {
		line := strings.TrimPrefix(s.Name(), "lenslaunch.")
		if parent := names[s.Parent().SpanID().String()]; parent != "" {
			line += " of " + strings.TrimPrefix(parent, "lenslaunch.")
		}
		line += fmt.Sprintf(" %v-%v", s.StartTime().Sub(d.epoch), s.EndTime().Sub(d.epoch))
		for _, kv := range s.Attributes() {
			line += " " + strings.TrimPrefix(string(kv.Key), "lenslaunch.") + "=" + kv.Value.String()
		}
		if s.Status().Code != codes.Unset {
			line += " " + s.Status().Code.String() + " (" + s.Status().Description + ")"
		}
		for _, e := range s.Events() {
			var said []string
			for _, kv := range e.Attributes {
				said = append(said, kv.Value.String())
			}
			line += fmt.Sprintf(" %s@%v (%s)", e.Name, e.Time.Sub(d.epoch), strings.Join(said, " "))
		}
		out = append(out, line)
	}
	return out
}

// tell runs a fake run in fake time, shuts telemetry down a minute after its end, and
// compares its spans.
func (d *telemetered) tell(t *testing.T, m *fakeMachine, r rules, signals map[time.Duration]syscall.Signal, want ...string) {
	t.Helper()
	draft := newDraft(t, len(m.attempts[0]))
	draft.Command = []string{"/bin/sh", "-c", "secret"}
	subscriber := d.subscriber(draft.plan(t))
	m.listener = func(e Event) {
		subscriber(e)
		if _, over := e.(RunEnded); over {
			<-time.After(time.Minute)
			d.shutdown(t)
		}
	}
	m.run(t, r, signals)
	d.epoch = m.epoch
	if diff := cmp.Diff(want, d.lines()); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

// A run that completes has no truncated span. The arguments of the command are not
// told: they may hold secrets.
func TestSpansOfASuccess(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{succeeds(2 * second), succeeds(3 * second)}}, prepares: second, sweeps: second}
	newTelemetered().tell(t, m, rules{firstRank: 4}, nil,
		"run.begin of run 0s-0s process.command=/bin/sh nproc=2 nnodes=1",
		"attempt.begin of attempt 1s-1s nv.dl.run.uuid=uuid-0 attempt=0 slurm.restart_count=0",
		"start of attempt 1s-1s ranks=2",
		"worker of attempt 1s-3s nv.dl.rank=4 nv.dl.local_rank=0 process.pid=100 process.exit.code=0 reason=exit",
		"worker of attempt 1s-4s nv.dl.rank=5 nv.dl.local_rank=1 process.pid=101 process.exit.code=0 reason=exit",
		"teardown of attempt 4s-5s teardown.needed=none",
		"attempt of run 1s-5s nv.dl.run.uuid=uuid-0 attempt=0 slurm.restart_count=0 outcome=success",
		"run 0s-5s process.command=/bin/sh nproc=2 nnodes=1 outcome=success process.exit.code=0 restarts=0",
	)
}

// The failing worker and its attempt have status Error, and only they; the survivors'
// work was cut off.
func TestSpansOfAFailure(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{works(), fails(2*second, 3), {obeys: syscall.SIGTERM, after: second}, stubborn()}}}
	newTelemetered().tell(t, m, rules{}, nil,
		"run.begin of run 0s-0s process.command=/bin/sh nproc=4 nnodes=1",
		"attempt.begin of attempt 0s-0s nv.dl.run.uuid=uuid-0 attempt=0 slurm.restart_count=0",
		"start of attempt 0s-0s ranks=4",
		"worker of attempt 0s-2s nv.dl.rank=0 nv.dl.local_rank=0 process.pid=100 process.exit.code=0 reason=stopped nemo.span.truncated=true nemo.span.truncated@2s (rank 0 stopped: another rank failed)",
		"worker of attempt 0s-3s nv.dl.rank=2 nv.dl.local_rank=2 process.pid=102 process.exit.code=0 reason=stopped nemo.span.truncated=true nemo.span.truncated@3s (rank 2 stopped: another rank failed)",
		"worker of attempt 0s-17s nv.dl.rank=3 nv.dl.local_rank=3 process.pid=103 process.exit.signal=SIGKILL reason=stopped nemo.span.truncated=true nemo.span.truncated@17s (rank 3 stopped: another rank failed)",
		"worker of attempt 0s-2s nv.dl.rank=1 nv.dl.local_rank=1 process.pid=101 process.exit.code=3 reason=exit Error (exit code 3)",
		"teardown of attempt 2s-17s teardown.needed=SIGKILL",
		"attempt of run 0s-17s nv.dl.run.uuid=uuid-0 attempt=0 slurm.restart_count=0 cause.rank=1 outcome=failed Error (rank 1 failed: exit code 3) lenslaunch.fault@2s (1 1 exit 101 3)",
		"run 0s-17s process.command=/bin/sh nproc=4 nnodes=1 outcome=failed process.exit.code=3 restarts=0",
	)
}

// Told to end: run, attempt and the workers that still ran were cut off; one that had
// finished was not. Run and attempt end when telemetry does.
func TestSpansOfARunThatWasToldToEnd(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{succeeds(second), works()}}}
	newTelemetered().tell(t, m, rules{}, map[time.Duration]syscall.Signal{5 * second: syscall.SIGTERM},
		"run.begin of run 0s-0s process.command=/bin/sh nproc=2 nnodes=1",
		"attempt.begin of attempt 0s-0s nv.dl.run.uuid=uuid-0 attempt=0 slurm.restart_count=0",
		"start of attempt 0s-0s ranks=2",
		"worker of attempt 0s-1s nv.dl.rank=0 nv.dl.local_rank=0 process.pid=100 process.exit.code=0 reason=exit",
		"worker of attempt 0s-5s nv.dl.rank=1 nv.dl.local_rank=1 process.pid=101 process.exit.code=0 reason=stopped nemo.span.truncated=true nemo.span.truncated@5s (rank 1 stopped: the launcher was told to end)",
		"teardown of attempt 5s-5s teardown.needed=SIGTERM",
		"attempt of run 0s-1m5s nv.dl.run.uuid=uuid-0 attempt=0 slurm.restart_count=0 outcome=stopped nemo.span.truncated=true nemo.span.truncated@1m5s (telemetry ends)",
		"run 0s-1m5s process.command=/bin/sh nproc=2 nnodes=1 outcome=stopped process.exit.code=143 restarts=0 nemo.span.truncated=true nemo.span.truncated@1m5s (telemetry ends)",
	)
}

// A signal that came after a final failure changed nothing: the run ended by itself.
func TestSpansOfASignalThatCameTooLate(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 3), {obeys: syscall.SIGTERM, after: 2 * second}}}}
	d := newTelemetered()
	draft := newDraft(t, 2)
	m.listener = d.subscriber(draft.plan(t))
	m.run(t, rules{}, map[time.Duration]syscall.Signal{2 * second: syscall.SIGTERM})
	d.epoch = m.epoch
	open := d.open.Len()
	d.shutdown(t)
	if ended := d.recorder.Ended(); open != 0 || len(ended) != 8 || ended[7].Name() != SpanRun {
		t.Errorf("%d open at the end of the run; ended %q", open, d.lines())
	}
	// Nor did it stop the rank that was being stopped then.
	if got := strings.Join(d.lines(), "\n"); !strings.Contains(got, "(rank 1 stopped: another rank failed)") || strings.Contains(got, "told to end") {
		t.Errorf("reasons in %s", got)
	}
}

// What ranks had open is exported when their attempt has ended, also where it could not be
// prepared.
func TestOpenWorkIsRecovered(t *testing.T) {
	d := newTelemetered()
	tell := d.subscriber(newDraft(t, 1).plan(t))
	first, second := openwork.Work{Path: "first"}, openwork.Work{Path: "second"}
	tell(AttemptBegan{At: midnight()})
	tell(AttemptEnded{At: midnight(), Open: []openwork.Work{first}})
	tell(AttemptEnded{At: midnight(), Open: []openwork.Work{second}})
	if len(d.recovered) != 2 || d.recovered[0].Path != first.Path || d.recovered[1].Path != second.Path {
		t.Errorf("%+v", d.recovered)
	}
}

func TestSpansOfARestart(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(2*second, 1)}, {succeeds(3 * second)}}}
	newTelemetered().tell(t, m, rules{policy: restarts(1)}, nil,
		"run.begin of run 0s-0s process.command=/bin/sh nproc=1 nnodes=1",
		"attempt.begin of attempt 0s-0s nv.dl.run.uuid=uuid-0 attempt=0 slurm.restart_count=0",
		"start of attempt 0s-0s ranks=1",
		"worker of attempt 0s-2s nv.dl.rank=0 nv.dl.local_rank=0 process.pid=100 process.exit.code=1 reason=exit Error (exit code 1)",
		"teardown of attempt 2s-2s teardown.needed=none",
		"attempt of run 0s-2s nv.dl.run.uuid=uuid-0 attempt=0 slurm.restart_count=0 cause.rank=0 outcome=failed Error (rank 0 failed: exit code 1) lenslaunch.fault@2s (0 0 exit 100 1)",
		"attempt.begin of attempt 2.5s-2.5s nv.dl.run.uuid=uuid-1 attempt=1 slurm.restart_count=1",
		"start of attempt 2.5s-2.5s ranks=1",
		"worker of attempt 2.5s-5.5s nv.dl.rank=0 nv.dl.local_rank=0 process.pid=100 process.exit.code=0 reason=exit",
		"teardown of attempt 5.5s-5.5s teardown.needed=none",
		"attempt of run 2.5s-5.5s nv.dl.run.uuid=uuid-1 attempt=1 slurm.restart_count=1 outcome=success",
		"run 0s-5.5s process.command=/bin/sh nproc=1 nnodes=1 outcome=success process.exit.code=0 restarts=1",
	)
}

// A process that SIGKILL did not end has no end to tell: its span is truncated at
// shutdown, and the next attempt's is another one.
func TestSpanOfAStuckWorker(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 1), {immortal: true}}}}
	d := newTelemetered()
	d.tell(t, m, rules{}, nil,
		"run.begin of run 0s-0s process.command=/bin/sh nproc=2 nnodes=1",
		"attempt.begin of attempt 0s-0s nv.dl.run.uuid=uuid-0 attempt=0 slurm.restart_count=0",
		"start of attempt 0s-0s ranks=2",
		"worker of attempt 0s-1s nv.dl.rank=0 nv.dl.local_rank=0 process.pid=100 process.exit.code=1 reason=exit Error (exit code 1)",
		"teardown of attempt 1s-21s teardown.needed=SIGKILL",
		"attempt of run 0s-21s nv.dl.run.uuid=uuid-0 attempt=0 slurm.restart_count=0 cause.rank=0 outcome=failed Error (rank 0 failed: exit code 1) lenslaunch.fault@1s (0 0 exit 100 1)",
		"run 0s-21s process.command=/bin/sh nproc=2 nnodes=1 outcome=failed process.exit.code=1 restarts=0",
		"worker of attempt 0s-1m21s nv.dl.rank=1 nv.dl.local_rank=1 process.pid=101 nemo.span.truncated=true nemo.span.truncated@1m21s (telemetry ends)",
	)
}

// Of two that fail at the same moment the one that was seen first need not be the cause:
// status and attribute say what the report says. One that fails later has no part in it.
func TestSpansOfSimultaneousFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTelemetered()
		tell := d.subscriber(newDraft(t, 3).plan(t))
		at := midnight()
		d.epoch = at
		tell(AttemptBegan{At: at, Attempt: Attempt{UUID: "uuid"}})
		var faults []Fault
		for local := range 3 {
			tell(WorkerStarted{At: at, Local: local, Rank: local, Pid: local + 10})
			faults = append(faults, Fault{Local: local, Rank: local, Pid: local + 10, Exit: code(local + 1), At: at.Add(time.Duration(local*local) * time.Millisecond)})
		}
		tell(WorkersStarted{At: at, Count: 3})
		for i, f := range faults {
			tell(FaultFound{Fault: f, First: i == 0})
			tell(WorkerEnded{At: f.At, Local: f.Local, Rank: f.Rank, Pid: f.Pid, Exit: f.Exit, Reason: ReasonExit})
		}
		tell(AttemptEnded{At: at.Add(second), Outcome: OutcomeFailed, Faults: []Fault{faults[1], faults[0], faults[2]}, Simultaneous: 2})
		tell(RunEnded{At: at.Add(second), Outcome: OutcomeFailed, Code: 2, Attempts: 1})
		d.shutdown(t)
		want := []string{
			"worker of attempt 0s-4ms nv.dl.rank=2 nv.dl.local_rank=2 process.pid=12 process.exit.code=3 reason=exit",
			"worker of attempt 0s-0s nv.dl.rank=0 nv.dl.local_rank=0 process.pid=10 process.exit.code=1 reason=exit",
			"worker of attempt 0s-1ms nv.dl.rank=1 nv.dl.local_rank=1 process.pid=11 process.exit.code=2 reason=exit Error (exit code 2)",
			"teardown of attempt 4ms-1s teardown.needed=none",
			"attempt of run 0s-1s nv.dl.run.uuid=uuid attempt=0 cause.rank=1 outcome=failed Error (rank 1 failed: exit code 2) lenslaunch.fault@0s (0 0 exit 10 1)",
		}
		lines := d.lines()
		if diff := cmp.Diff(want, lines[3:len(lines)-1]); diff != "" {
			t.Errorf("spans (-want +got):\n%s", diff)
		}
	})
}

// A rank that could not be started has no span of its own; an attempt that could not
// begin has none either, and the run was cut off by what kept it.
func TestSpansOfWhatNeverStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTelemetered()
		draft := newDraft(t, 1)
		tell := d.subscriber(draft.plan(t))
		at := midnight()
		d.epoch = at
		tell(AttemptPreparing{At: at, Number: 1})
		tell(AttemptBegan{At: at, Attempt: Attempt{UUID: "uuid"}})
		fault := Fault{Rank: 0, At: at, Cause: errors.New("cannot start rank 0"), Exit: code(127)}
		tell(FaultFound{Fault: fault, First: true})
		tell(AttemptEnded{At: at, Outcome: OutcomeFailed, Faults: []Fault{fault}})
		tell(AttemptPreparing{At: at, Number: 2})
		tell(RunEnded{At: at, Outcome: OutcomeFailed, Code: ExitTryAgain, Attempts: 2, Failure: &Failure{Problem: "no port"}})
		d.shutdown(t)
		program := draft.Command[0]
		want := []string{
			"run.begin of run 0s-0s process.command=" + program + " nproc=1 nnodes=1",
			"attempt.begin of attempt 0s-0s nv.dl.run.uuid=uuid attempt=0",
			"start of attempt 0s-0s ranks=1 nemo.span.truncated=true nemo.span.truncated@0s (not every rank was started: a rank failed)",
			"attempt of run 0s-0s nv.dl.run.uuid=uuid attempt=0 cause.rank=0 outcome=failed Error (rank 0 failed: exit code 127) lenslaunch.fault@0s (0 0 spawn)",
			"run 0s-0s process.command=" + program + " nproc=1 nnodes=1 outcome=failed process.exit.code=75 restarts=1 nemo.span.truncated=true nemo.span.truncated@0s (the launcher cannot go on: no port)",
		}
		if diff := cmp.Diff(want, d.lines()); diff != "" {
			t.Errorf("spans (-want +got):\n%s", diff)
		}
	})
}

// The launcher's own resource has no rank, and nothing that an outer launcher said of
// this process as one of its workers.
func TestLauncherResource(t *testing.T) {
	d := newDraft(t, 2)
	d.World = ranks.World{Nodes: 2, NodeRank: 1, LocalSize: 2, MasterAddr: "head"}
	p := d.plan(t)
	process := []attribute.KeyValue{
		attribute.String("service.name", "llm"), attribute.String("host.name", "node-a"), attribute.Int(semconv.NVDLRank, 3),
		attribute.Int(semconv.NVDLLocalRank, 1), attribute.Int(semconv.NVDLWorldSize, 8), attribute.String(semconv.NVDLRunUUID, "outer"),
		attribute.Int(semconv.SlurmRestartCount, 2), attribute.Int(AttemptKey, 1), attribute.String("team", "a"),
	}
	before := slices.Clone(process)
	want := []string{
		"service.name=lenslaunch", "host.name=node-a", "team=a", "service.version=1.2.3", "service.instance.id=run-7-launcher1",
		"nv.dl.role=launcher", "nv.dl.job.uuid=" + p.JobUUID, "nemo.run.id=run-7",
	}
	if diff := cmp.Diff(want, entries(p.LauncherResource(process, "1.2.3"))); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	if !slices.Equal(before, process) {
		t.Error("the argument was changed")
	}
}
