package launcher

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/internal/proc"
	"lenslaunch/journal"
	"lenslaunch/semconv"
)

// sampledRun is the context of a run's span.
func sampledRun() trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{0xab, 15: 1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled})
}

// tracing is an attempt of n ranks, prepared as far as telemetry goes.
func tracing(t *testing.T, n int, change func(p *Plan)) (*effects, *running) {
	t.Helper()
	p := newDraft(t, n).plan(t)
	p.Traceparent, p.JournalSlots = true, 16
	p.Traced = Traced{Run: sampledRun(), Journals: t.TempDir()}
	if change != nil {
		change(p)
	}
	e := &effects{plan: p}
	run := &running{number: 1, attempt: Attempt{Number: 3, UUID: "uuid"}, children: make([]*proc.Child, n)}
	e.trace(run)
	return e, run
}

func TestWhatRanksGetOfTelemetry(t *testing.T) {
	e, run := tracing(t, 2, nil)
	seen := map[string]bool{}
	for local := range 2 {
		w, err := e.plan.Worker(local, run.attempt)
		if err != nil {
			t.Fatal(err)
		}
		run.traced.enter(w, e.plan)
		parent := "00-ab000000000000000000000000000001-" + run.spans[local].String() + "-01"
		path := filepath.Join(e.plan.Traced.Journals, "journal", "attempt-3", "rank-"+string(rune('0'+local))+".spans")
		if w.Set["TRACEPARENT"] != parent || w.Set[journal.Variable] != path || seen[parent] {
			t.Errorf("rank %d: %q, %q", local, w.Set["TRACEPARENT"], w.Set[journal.Variable])
		}
		seen[parent] = true
		j, err := journal.Read(path, journal.ReadOptions{})
		if err != nil || j.Rank != local || j.Attempt != 3 || j.RunID != e.plan.RunID || j.Slots != 16 {
			t.Errorf("journal %+v, %v", j, err)
		}
		// What an outer launcher left of it goes, whether there is a journal or not.
		if env := w.env(map[string]string{journal.Variable: "outer"}); env[journal.Variable] != path {
			t.Errorf("%q", env[journal.Variable])
		}
	}
}

func TestTraceparentIsNotOurs(t *testing.T) {
	for name, change := range map[string]func(p *Plan){
		"no telemetry":       func(p *Plan) { p.Traced = Traced{} },
		"not sampled":        func(p *Plan) { p.Traced.Run = p.Traced.Run.WithTraceFlags(0) },
		"--no-traceparent":   func(p *Plan) { p.Traceparent = false },
		"the user's own":     func(p *Plan) { p.SetEnv = []EnvVar{{Key: "TRACEPARENT", Value: "inherited"}} },
		"the user's without": func(p *Plan) { p.UnsetEnv = []string{"TRACEPARENT"} },
	} {
		e, run := tracing(t, 1, change)
		w, err := e.plan.Worker(0, run.attempt)
		if err != nil {
			t.Fatal(err)
		}
		run.traced.enter(w, e.plan)
		want := "inherited"
		if len(e.plan.UnsetEnv) > 0 {
			want = ""
		}
		if got := w.env(map[string]string{"TRACEPARENT": "inherited"})["TRACEPARENT"]; got != want {
			t.Errorf("%s: TRACEPARENT=%q, want %q", name, got, want)
		}
	}
}

// A job does not fail for want of a journal: it is told once, and the ranks run without.
func TestNoPlaceForJournals(t *testing.T) {
	e, run := tracing(t, 3, func(p *Plan) { p.Traced.Journals = "/proc" })
	if len(run.warnings) != 1 || !strings.Contains(run.warnings[0], "what a rank has open when it dies will not be known: ") {
		t.Errorf("%q", run.warnings)
	}
	w, err := e.plan.Worker(2, run.attempt)
	if err != nil {
		t.Fatal(err)
	}
	run.traced.enter(w, e.plan)
	if env := w.env(map[string]string{journal.Variable: "outer"}); env[journal.Variable] != "" || env["TRACEPARENT"] == "" {
		t.Errorf("%q, %q", env[journal.Variable], env["TRACEPARENT"])
	}
}

// An attempt that has the name of an earlier one, as several nodes may, does not take its
// journals for its own.
func TestJournalsOfTheSameName(t *testing.T) {
	e, first := tracing(t, 1, nil)
	second := &running{attempt: first.attempt, children: make([]*proc.Child, 1)}
	e.trace(second)
	if first.journals[0] == second.journals[0] || second.journals[0] == "" || len(second.warnings) > 0 {
		t.Errorf("%q, %q, %q", first.journals, second.journals, second.warnings)
	}
}

// spend makes the test a rank with a span that is open.
func spend(t *testing.T, path string, names ...string) {
	t.Helper()
	w, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	own := resource.NewSchemaless(attribute.String("service.name", "train"), attribute.String(semconv.NVDLRank, "1"))
	tracer := sdktrace.NewTracerProvider(sdktrace.WithResource(own), sdktrace.WithSpanProcessor(w)).Tracer("train")
	ctx := t.Context()
	for _, name := range names {
		ctx, _ = tracer.Start(ctx, name)
	}
}

func TestLookAtOpenWork(t *testing.T) {
	e, run := tracing(t, 4, nil)
	spend(t, run.journals[1], "train", "step\x1b", "allreduce")
	if err := os.WriteFile(run.journals[3], []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(time.Second)
	run.ends[1] = WorkerEnded{
		At: at, Local: 1, Rank: 1, Pid: os.Getpid(), Exit: proc.Exit{Signal: syscall.SIGKILL}, Reason: ReasonOOM,
	}
	open := e.lookAtOpenWork(run)
	if len(open.problems) != 1 || !strings.Contains(open.problems[0], "rank-3.spans: it is no span journal") {
		t.Errorf("problems %q", open.problems)
	}
	if len(open.work) != 1 {
		t.Fatalf("%+v", open.work)
	}
	w := open.work[0]
	if w.Rank != 1 || !w.End.Equal(at) || w.Reason != "rank 1 killed by SIGKILL (out of memory)" || len(w.Open()) != 3 {
		t.Errorf("%+v", w)
	}
	// The worker's own resource, its known integers as integers.
	want := []attribute.KeyValue{attribute.Int(semconv.NVDLRank, 1), attribute.String("service.name", "train")}
	if diff := cmp.Diff(entries(want), entries(w.Resource)); diff != "" {
		t.Error(diff)
	}
	if v, _ := semconv.Get(w.Resource, semconv.NVDLRank); v.Type() != attribute.INT64 {
		t.Errorf("nv.dl.rank is %v", v.Type())
	}
	// Those that hold nothing have gone; what is kept says how its rank went.
	for local, path := range run.journals {
		_, err := os.Stat(path)
		if kept := local == 1 || local == 3; kept != (err == nil) {
			t.Errorf("rank %d: %v", local, err)
		}
	}
	if j, err := journal.Read(run.journals[1], journal.ReadOptions{}); err != nil || j.Death.Reason != w.Reason || !j.Death.At.Equal(at) {
		t.Errorf("%+v, %v", j, err)
	}
	lines := e.plan.Report(AttemptEnded{Open: open.work, Faults: []Fault{{Rank: 1, Local: 1, Pid: 7, Exit: run.ends[1].Exit, At: at}}})
	if text := strings.Join(lines, "\n"); !strings.Contains(text, "  it had open: train (") || !strings.Contains(text, ") > allreduce (") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", lines)
	}
}

// A rank that cannot be ended may be writing still: its journal stays for whoever sees it
// go. One that was never started has none to keep.
func TestJournalOfARankThatCannotBeEnded(t *testing.T) {
	e, run := tracing(t, 2, nil)
	run.children[1] = &proc.Child{}
	spend(t, run.journals[1], "stuck")
	if open := e.lookAtOpenWork(run); len(open.work) != 0 || len(open.problems) != 0 {
		t.Errorf("%+v", open)
	}
	if j, err := journal.Read(run.journals[1], journal.ReadOptions{}); err != nil || len(j.Spans) != 1 || j.Death.Reason != "" {
		t.Errorf("%+v, %v", j, err)
	}
	if _, err := journal.Read(run.journals[0], journal.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of the rank that was not started: %v", err)
	}
}

func TestObituary(t *testing.T) {
	for want, e := range map[string]WorkerEnded{
		"":                          {},
		"rank 2 exited with code 3": {Pid: 1, Exit: code(3), Reason: ReasonExit},
		"rank 2 killed by SIGSEGV":  {Pid: 1, Exit: proc.Exit{Signal: syscall.SIGSEGV}, Reason: ReasonSignal},
		"rank 2 exited with code 0": {Pid: 1, Reason: ReasonExit},
		"rank 2 killed by SIGKILL (hang: it showed no progress)": {Pid: 1, Exit: proc.Exit{Signal: syscall.SIGKILL}, Reason: ReasonHang},
		"rank 2 killed by SIGTERM (stopped by the launcher)":     {Pid: 1, Exit: proc.Exit{Signal: syscall.SIGTERM}, Reason: ReasonStopped},
	} {
		e.Rank = 2
		if got := e.obituary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
