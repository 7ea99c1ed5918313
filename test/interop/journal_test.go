//go:build interop

package interop

import (
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"

	"lenslaunch/journal"
)

const traceparent = "00-0123456789abcdef0123456789abcdef-00f067aa0ba902b7-01"

// pySpan is a span as workers/spans.py tells it.
type pySpan struct {
	Trace, Span, Parent  string
	Remote               bool
	Name, Scope, Version string
	Kind, Status         int
	Start, End           int64
	Thread               uint32
}

// pySpans is a Python process at work with a journal.
type pySpans struct {
	path string
	pid  int
	kill func()
}

// startSpans starts workers/spans.py with a new journal and reads the line that it
// prints.
func startSpans(t *testing.T, slots int, facts any, args ...string) pySpans {
	t.Helper()
	path, err := journal.Create(t.TempDir(), journal.RankName("attempt-0", 0), journal.Header{RunID: "interop", Rank: 1, Slots: slots})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Getenv(pythonVariable), append([]string{"workers/spans.py"}, args...)...)
	cmd.Env = append(os.Environ(), journal.Variable+"="+path, "TRACEPARENT="+traceparent)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // its end would end the worker
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	worker := pySpans{path: path, pid: cmd.Process.Pid}
	worker.kill = func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_, _ = io.Copy(io.Discard, stdout)
			_ = cmd.Wait() // killed: that is no news
			stdin.Close()
		}
	}
	t.Cleanup(worker.kill)
	if err := json.NewDecoder(stdout).Decode(facts); err != nil {
		t.Fatalf("%v said nothing: %v", args, err)
	}
	return worker
}

// killed kills the worker and reads its journal.
func (w pySpans) killed(t *testing.T) *journal.Journal {
	t.Helper()
	w.kill()
	j, err := journal.Read(w.path, journal.ReadOptions{Death: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if j.Torn != 0 {
		t.Errorf("%d torn slots", j.Torn)
	}
	return j
}

// asPython is a span of the journal in the worker's words.
func asPython(s journal.Span) pySpan {
	p := pySpan{
		Trace: s.TraceID.String(), Span: s.SpanID.String(), Parent: s.Parent.String(), Remote: s.ParentRemote,
		Name: s.Name, Scope: s.Scope.Name, Version: s.Scope.Version, Kind: int(s.Kind), Start: s.Start.UnixNano(), Thread: s.Thread,
	}
	if !s.Open() {
		p.End = s.End.UnixNano()
		p.Status = map[codes.Code]int{codes.Ok: 1, codes.Error: 2}[s.Status]
	}
	return p
}

func spanNames(j *journal.Journal) []string {
	names := []string{}
	for _, s := range j.Spans {
		names = append(names, s.Name)
	}
	return names
}

// The Go reader finds what the Python SDK knows of its spans, field by field.
func TestPythonJournalContent(t *testing.T) {
	var said struct{ Spans []pySpan }
	worker := startSpans(t, 0, &said, "content")
	j := worker.killed(t)
	for i := range said.Spans {
		s := &said.Spans[i]
		s.Name = strings.Replace(s.Name, strings.Repeat("é", 100), strings.Repeat("é", 76), 1)
		if strings.HasSuffix(s.Name, "surrogate") {
			s.Name = "? surrogate"
		}
		if s.End == 0 {
			s.Status = 0 // of open spans it is not kept
		}
	}
	got := []pySpan{}
	for _, s := range j.Spans {
		got = append(got, asPython(s))
		if s.Step != 7 || s.Epoch != -2 || s.NameCut != strings.HasPrefix(s.Name, "é") || !s.TraceFlags.IsSampled() {
			t.Errorf("%+v", s)
		}
	}
	byStart := func(a, b pySpan) int { return int(a.Start - b.Start) }
	slices.SortFunc(said.Spans, byStart)
	slices.SortFunc(got, byStart)
	if diff := cmp.Diff(said.Spans, got); diff != "" {
		t.Errorf("(-SDK +journal):\n%s", diff)
	}
	if outer := got[0]; outer.Trace != traceparent[3:35] || outer.Parent != traceparent[36:52] || !outer.Remote {
		t.Errorf("TRACEPARENT is not the parent of %+v", outer)
	}
	want := []attribute.KeyValue{
		attribute.Bool("b", true), attribute.Int64Slice("big", []int64{1, 2}), attribute.Float64("f", 1),
		attribute.Int("i", 1), attribute.StringSlice("list", []string{"a", "b"}), attribute.String("service.name", "ä"),
	}
	if diff := cmp.Diff(want, j.Resource, cmp.Comparer(func(a, b attribute.Value) bool { return a == b })); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	if j.Claim.PID != worker.pid || j.Clean || j.Skipped != 0 || j.LastActivity.IsZero() {
		t.Errorf("worker %d: %+v", worker.pid, j)
	}
}

func TestPythonJournalWrappedExporter(t *testing.T) {
	var said struct{ Arrived, Open int }
	j := startSpans(t, 16, &said, "wrapped").killed(t)
	// 17 open spans, of which 16 find a slot, because each takes that of an ended one.
	for i, name := range spanNames(j) {
		if want := "open "; !strings.HasPrefix(name, want) || !j.Spans[i].Open() {
			t.Errorf("%s is in the journal", name)
		}
	}
	if said.Arrived != 500 || len(j.Spans) != 16 || j.Skipped != uint64(said.Open-16) {
		t.Errorf("%+v, %d spans, %d skipped", said, len(j.Spans), j.Skipped)
	}
}

// A data loader that forks, a program that inherits the variable, a second processor
// in the same process: the one writer's spans are intact.
func TestPythonJournalChildren(t *testing.T) {
	var said struct{ Child, Again string }
	worker := startSpans(t, 16, &said, "children")
	j := worker.killed(t)
	if diff := cmp.Diff([]string{"outer", "inner"}, spanNames(j)); diff != "" || j.Claim.PID != worker.pid {
		t.Errorf("claim %+v, worker %d (-want +got):\n%s", j.Claim, worker.pid, diff)
	}
	if said.Child != "another process writes it" || said.Again == "None" {
		t.Errorf("%+v", said)
	}
}

func TestPythonJournalExecv(t *testing.T) {
	var said struct{ Error string }
	j := startSpans(t, 16, &said, "execv").killed(t)
	if diff := cmp.Diff([]string{"before", "after"}, spanNames(j)); diff != "" || said.Error != "None" {
		t.Errorf("%s (-want +got):\n%s", said.Error, diff)
	}
	if j.Spans[0].Scope.Name != "before" || j.Spans[1].Scope.Name != "after" {
		t.Errorf("scopes of %+v", j.Spans)
	}
}

func TestPythonJournalShutdown(t *testing.T) {
	var said struct{ Open pySpan }
	j := startSpans(t, 16, &said, "shut_down").killed(t)
	if diff := cmp.Diff([]string{"open", "late"}, spanNames(j)); diff != "" || !j.Clean || !j.Spans[0].Open() || j.Spans[1].Open() {
		t.Errorf("%+v (-want +got):\n%s", j, diff)
	}
}

// What is no journal of this version and user alone is none, and nobody notices.
func TestPythonJournalRefuses(t *testing.T) {
	path, err := journal.Create(t.TempDir(), journal.RankName("attempt-0", 0), journal.Header{Slots: 4})
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, b []byte, mode os.FileMode) string {
		if err := errors.Join(os.WriteFile(dir+"/"+name, b, 0o600), os.Chmod(dir+"/"+name, mode)); err != nil {
			t.Fatal(err)
		}
		return dir + "/" + name
	}
	changed := func(at int, b byte) []byte {
		c := slices.Clone(good)
		c[at] = b
		return c
	}
	if err := errors.Join(os.Symlink(path, dir+"/link"), syscall.Mkfifo(dir+"/pipe", 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{dir + "/missing", "No such file"},
		{dir + "/link", "Too many levels of symbolic links"},
		{dir + "/pipe", "no file with one name"},
		{dir, "directory"},
		{file("empty", nil, 0o600), "no span journal"},
		{file("open", good, 0o644), "not this user's alone"},
		{file("zeros", make([]byte, len(good)), 0o600), "no span journal"},
		{file("version", changed(8, 2), 0o600), "version 2"},
		{file("count", changed(16, 5), 0o600), "damaged"},
		{file("crc", changed(40, 1), 0o600), "damaged"},
		{file("longer", append(slices.Clone(good), 0), 0o600), "damaged"},
	} {
		var said struct{ Errors []string }
		startSpans(t, 4, &said, "nothing", c.path).kill()
		if len(said.Errors) != 1 || !strings.Contains(said.Errors[0], c.want) {
			t.Errorf("%s: %q, want %q", c.path, said.Errors, c.want)
		}
	}
}

// Python workers killed at random moments, with threads at work and an exporter that
// frees slots beside them.
func TestPythonJournalKilledAtRandomMoments(t *testing.T) {
	inner := 0
	for range 10 {
		var said struct{ Outer pySpan }
		worker := startSpans(t, 64, &said, "churn")
		<-time.After(rand.N(30 * time.Millisecond))
		j := worker.killed(t)
		inner += len(j.Spans) - 1
		if len(j.Spans) == 0 || asPython(j.Spans[0]) != said.Outer {
			t.Fatalf("the outer span %+v is not the first of %+v", said.Outer, j.Spans)
		}
		open := 0
		for _, s := range j.Spans[1:] {
			if s.Open() {
				open++
			}
			isInner, isChild := s.Name == "inner" && s.Parent == j.Spans[0].SpanID, s.Name == "child of "+s.Parent.String()
			if s.TraceID != j.Spans[0].TraceID || !isInner && !isChild {
				t.Errorf("a span that never was: %+v", s)
			}
		}
		if open > 6 {
			t.Errorf("%d spans open at once, of 3 threads with 2 each", open)
		}
	}
	if inner == 0 {
		t.Error("no kill met an inner span: does this test test anything?")
	}
}

// The examples as they stand, killed by themselves in the middle of a step.
func TestPythonJournalExamples(t *testing.T) {
	for script, want := range map[string][]string{
		"with_sdk.py":  {"train", "step", "forward"},
		"with_lens.py": {"train", "step"},
	} {
		path, err := journal.Create(t.TempDir(), journal.RankName("attempt-0", 0), journal.Header{})
		if err != nil {
			t.Fatal(err)
		}
		run := func(args ...string) error {
			cmd := exec.Command(os.Getenv(pythonVariable), append([]string{"../../examples/python/" + script}, args...)...)
			cmd.Env = append(os.Environ(), journal.Variable+"="+path, "TRACEPARENT="+traceparent, "RANK=0", "WORLD_SIZE=1",
				"NEMO_LENS_ENABLED=1", "NEMO_LENS_EXPORTER=console", "NEMO_LENS_RUN_ID=examples", "NEMO_LENS_EXPORT_STRATEGY=all_ranks")
			cmd.Stderr = os.Stderr
			return cmd.Run()
		}
		var exit *exec.ExitError
		if err := run("--die-at-step", "3"); !errors.As(err, &exit) || exit.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("%s: %v", script, err)
		}
		j, err := journal.Read(path, journal.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		open := []string{}
		for _, s := range j.Spans {
			if s.Open() {
				open = append(open, s.Name)
			}
			if s.TraceID.String() != traceparent[3:35] {
				t.Errorf("%s: %+v is not below TRACEPARENT", script, s)
			}
			if s.Open() && s.Name != "train" && s.Step != 3 {
				t.Errorf("%s: %s of step %d", script, s.Name, s.Step)
			}
		}
		if diff := cmp.Diff(want, open); diff != "" {
			t.Errorf("%s: open spans (-want +got):\n%s", script, diff)
		}
		if len(j.Resource) == 0 {
			t.Errorf("%s: no resource", script)
		}
		if script == "with_lens.py" && !slices.Contains(j.Resource, attribute.String("nemo.run.id", "examples")) {
			t.Errorf("Lens's resource is %v", j.Resource)
		}
		// Without a journal it is an ordinary program.
		path = ""
		if err := run(); err != nil {
			t.Errorf("%s without a journal: %v", script, err)
		}
	}
}
