//go:build telemetry && linux

package telemetry

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"lenslaunch/internal/proc"
	"lenslaunch/test/collector"
	"lenslaunch/test/harness"
)

// crew is a launch whose ranks are in the middle of their work.
type crew struct {
	launcher int
	pids     []int          // by rank
	below    []*proc.Handle // the ranks and the guard
	ended    <-chan struct{}
	outcome  *harness.Outcome
}

// work starts ranks with open spans, and returns when all are at it.
func work(t *testing.T, ranks int, env []string, flags ...string) crew {
	t.Helper()
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	if err := syscall.Mkfifo(ready, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(ready, os.O_RDWR, 0) // nobody waits for a reader
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	c := crew{pids: make([]int, ranks), outcome: &harness.Outcome{}}
	launch := harness.Launch{
		Args: slices.Concat([]string{"--nproc", strconv.Itoa(ranks), "--state-dir", harness.StateDir(t)}, flags, []string{"--", os.Args[0]}),
		Env:  append([]string{workerVariable + "=" + ready}, env...),
	}
	c.ended = inBackground(t, func(ctx context.Context) {
		*c.outcome, err = launch.Do(ctx, dir, harness.NewMarker())
	})
	lines := bufio.NewReader(pipe)
	for range ranks {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var rank, pid int
		if _, err := fmt.Sscan(line, &rank, &pid, &c.launcher); err != nil {
			t.Fatal(err)
		}
		c.pids[rank] = pid
	}
	c.hold(t)
	return c
}

// hold keeps hold of what is below the launcher, to see its end.
func (c *crew) hold(t *testing.T) {
	t.Helper()
	launcher, err := proc.ReadStat(c.launcher)
	if err != nil {
		t.Fatal(err)
	}
	below, err := proc.Descendants(launcher.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range below {
		h, err := proc.Hold(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(h.Close)
		c.below = append(c.below, h)
	}
}

// kill ends processes without a word, and returns when the launcher has ended.
func (c crew) kill(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	<-c.ended
}

// again runs the launcher once more and fails the test if that says anything is wrong.
func again(t *testing.T, env []string, args ...string) string {
	t.Helper()
	outcome := harness.Run(t, harness.Launch{Args: args, Env: env})
	outcome.RequireCode(t, 0)
	if strings.Contains(outcome.Stderr, "warning") {
		t.Errorf("%s", outcome.Stderr)
	}
	return outcome.Stdout
}

// open describes the spans that were open somewhere, each once: who, name, reason.
func opened(t *testing.T, list []*tracepb.ResourceSpans) []string {
	t.Helper()
	seen := map[string]bool{}
	byID := map[string]string{}
	var lines []string
	for _, resource := range list {
		for _, span := range collector.Spans([]*tracepb.ResourceSpans{resource}) {
			byID[string(span.SpanId)] = span.Name
		}
	}
	for _, resource := range list {
		of := valuesOf(resource.Resource.Attributes)
		who := "launcher"
		if of["nv.dl.role"] != "launcher" {
			who = "rank " + of["nv.dl.rank"]
		}
		for _, span := range collector.Spans([]*tracepb.ResourceSpans{resource}) {
			if seen[string(span.SpanId)] {
				t.Errorf("%s of %s came twice", span.Name, who)
			}
			seen[string(span.SpanId)] = true
			values := valuesOf(span.Attributes)
			if values["nemo.span.truncated"] != "true" || values["lenslaunch.span.recovered"] != "true" {
				continue
			}
			reason := ""
			for _, e := range span.Events {
				reason = valuesOf(e.Attributes)["nemo.span.truncated.reason"]
			}
			lines = append(lines, fmt.Sprintf("%s: %s of %s: %s", who, span.Name, byID[string(span.ParentSpanId)], reason))
		}
	}
	slices.Sort(lines)
	return lines
}

// ofRanks are the lines of opened for ranks that all went for the same reason.
func ofRanks(reasons ...string) (lines []string) {
	for rank, reason := range reasons {
		for _, span := range []string{"allreduce of step", "step of train", "train of lenslaunch.worker"} {
			lines = append(lines, fmt.Sprintf("rank %d: %s: %s", rank, span, reason))
		}
	}
	return lines
}

// ofLauncher are those of a launcher with so many ranks.
func ofLauncher(ranks int, parent, reason string) (lines []string) {
	for _, span := range append(slices.Repeat([]string{"worker of lenslaunch.attempt"}, ranks), "attempt of lenslaunch.run", "run of "+parent) {
		lines = append(lines, "launcher: lenslaunch."+span+": "+reason)
	}
	slices.Sort(lines)
	return lines
}

// The launcher is killed with -9 in the middle: its own spans and those of its workers
// come out all the same, once, with their own identities and the launcher's as parent.
// Whoever comes first exports them: the guard, the next launcher on the run directory, or
// a person.
func TestLauncherKilled(t *testing.T) {
	const later = "ended with its launcher; when is not known, this is its last sign of life"
	for name, who := range map[string]struct {
		flags []string
		how   string // of the ranks' end, behind "rank 3 "
		then  func(t *testing.T, env []string, dir string)
	}{
		"guard": {nil, "ended with its launcher", func(*testing.T, []string, string) {}},
		"next launcher": {[]string{"--guard", "off"}, later, func(t *testing.T, env []string, dir string) {
			again(t, env, "--log-dir", dir, "--", "true")
		}},
		"a person": {[]string{"--guard", "off"}, later, func(t *testing.T, env []string, dir string) {
			if out := again(t, env, "journal", "recover", dir); !strings.Contains(out, "recovered ") {
				t.Error(out)
			}
			if out := again(t, env, "journal", "recover", dir); out != "nothing to recover\n" {
				t.Error(out)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := collector.Start(t, collector.Options{})
			dir := filepath.Join(t.TempDir(), "run")
			env := c.Environment(collector.GRPC)
			job := work(t, 2, env, append(who.flags, "--log-dir", dir)...)
			// Its begin marks are exported at once; what ends now would be in its queue.
			c.Await(t, func(spans []*tracepb.Span) bool { return len(named(spans, "lenslaunch.attempt.begin")) == 1 })
			job.kill(t, job.launcher)
			job.gone(t)
			who.then(t, env, dir)
			want := slices.Concat(ofLauncher(2, "", strings.Replace("the launcher "+who.how, "ended with its launcher", "was killed", 1)), ofRanks("rank 0 "+who.how, "rank 1 "+who.how))
			if diff := cmp.Diff(want, opened(t, c.Traces(t))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if entries, err := filepath.Glob(dir + "/journal*"); err != nil || len(entries) > 0 {
				t.Errorf("journals are left: %v, %v", entries, err)
			}
			report := again(t, nil, "report", dir)
			if !strings.Contains(report, "  ranks 0-1: train (") {
				t.Errorf("the report does not say what the ranks were doing:\n%s", report)
			}
		})
	}
}

// gone waits for the end of all below a launcher that was killed: the ranks, which the
// kernel or the guard ends, and the guard when it has done its work.
func (c crew) gone(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, h := range c.below {
		if err := h.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// A collector that is away when ranks die loses nothing: what they had open stays in their
// journals, with when and how they went, and is exported later, once.
func TestCollectorAwayWhenRanksDie(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	job := work(t, 2, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"}, "--log-dir", dir, "--telemetry-timeout", "300ms")
	job.kill(t, job.pids[1])
	if job.outcome.Code != 128+9 || strings.Count(job.outcome.Stderr, "warning: ") != 1 ||
		!strings.Contains(job.outcome.Stderr, `kept_of_workers=6 export_with="lenslaunch journal recover `+dir+`"`) {
		t.Errorf("exit code %d:\n%s", job.outcome.Code, job.outcome.Stderr)
	}
	c := collector.Start(t, collector.Options{})
	env := c.Environment(collector.HTTP)
	if out := again(t, env, "journal", "recover", dir); out != "recovered 6 spans of 2 processes, to "+where(c)+"\n" {
		t.Error(out)
	}
	again(t, env, "--log-dir", dir, "--", "true")
	traces := c.Traces(t)
	var got []string
	for _, line := range opened(t, traces) {
		// Their parents, the launcher's spans, were lost.
		got = append(got, strings.Replace(line, "train of :", "train of lenslaunch.worker:", 1))
	}
	want := ofRanks("rank 0 killed by SIGTERM (stopped by the launcher)", "rank 1 killed by SIGKILL")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func where(c *collector.Collector) string {
	return "otlp http/protobuf " + c.Endpoint(collector.HTTP) + "/v1/traces"
}

// Without a run directory the journals are in a place of their own, which goes with them.
func TestKilledWithoutRunDirectory(t *testing.T) {
	c := collector.Start(t, collector.Options{})
	session := t.TempDir()
	env := append(c.Environment(collector.GRPC), "XDG_RUNTIME_DIR="+session)
	job := work(t, 2, env)
	if left, err := filepath.Glob(session + "/lenslaunch-journals-*/journal/attempt-0/rank-*.spans"); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
	job.kill(t, job.launcher)
	job.gone(t)
	if left, err := os.ReadDir(session); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	const how = "ended with its launcher"
	want := ofRanks("rank 0 "+how, "rank 1 "+how)
	got := slices.DeleteFunc(opened(t, c.Traces(t)), func(line string) bool { return strings.HasPrefix(line, "launcher") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
