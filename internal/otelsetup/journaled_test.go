package otelsetup

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/journal"
)

// journaledMain is a launcher with a journal that is killed.
func journaledMain(path string) {
	w, err := journal.Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	telemetry := Setup(context.Background(), Options{
		Env:     map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": os.Getenv("TEST_ENDPOINT"), "OTEL_METRICS_EXPORTER": "none"},
		Journal: w, Resource: []attribute.KeyValue{attribute.String("service.name", "lenslaunch"), attribute.Bool("own", true)},
	})
	ctx, _ := telemetry.Tracer.Start(context.Background(), "run")
	_, arrived := telemetry.Tracer.Start(ctx, "arrived")
	arrived.End()
	telemetry.Flush()
	_, _ = os.Stdin.Read(make([]byte, 1)) // the test has it
	_, ended := telemetry.Tracer.Start(ctx, "ended")
	ended.End()
	telemetry.Tracer.Start(WithSpanID(ctx, [8]byte{7}), "worker")
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func newJournal(t *testing.T) string {
	t.Helper()
	path, err := journal.Create(t.TempDir(), journal.LauncherName(1, time.Now()), journal.Header{RunID: "run", Slots: 16})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A launcher that is killed leaves what it had open, and what had ended without having
// arrived, with its own resource and not the workload's.
func TestKilledLauncher(t *testing.T) {
	r, path := startGRPC(t), newJournal(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"=journaled", journal.Variable+"="+path, "TEST_ENDPOINT="+r.url,
		"OTEL_BSP_SCHEDULE_DELAY=3600000", "OTEL_RESOURCE_ATTRIBUTES=nv.dl.rank=3", "OTEL_SERVICE_NAME=workload")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
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
	<-r.came
	// The answer is on its way; the next span tells that it came before.
	if _, err := stdin.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed: that is no news
	if err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	j, err := journal.Read(path, journal.ReadOptions{Death: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]attribute.KeyValue{attribute.Bool("own", true), attribute.String("service.name", "lenslaunch")}, j.Resource, cmp.Comparer(func(a, b attribute.KeyValue) bool { return a == b })); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	got := map[string]bool{} // whether it is open
	for _, s := range j.Spans {
		got[s.Name] = s.Open()
		if s.Name == "worker" && (s.SpanID != [8]byte{7} || s.Parent != j.Spans[0].SpanID) {
			t.Errorf("worker: %+v", s)
		}
	}
	delete(got, "arrived") // at least once: the answer may not have been read
	if diff := cmp.Diff(map[string]bool{"run": true, "ended": false, "worker": true}, got); diff != "" {
		t.Errorf("spans and whether they are open (-want +got):\n%s", diff)
	}
}

// What has arrived is in the journal no more, what has not is: with every outcome.
func TestJournalAfterShutdown(t *testing.T) {
	for name, test := range map[string]struct {
		url     func(t *testing.T) string
		timeout time.Duration
		want    int
	}{
		"healthy":  {func(t *testing.T) string { return startGRPC(t).url }, longEnough, 0},
		"refusing": {refusing, 300 * time.Millisecond, 2},
	} {
		t.Run(name, func(t *testing.T) {
			path := newJournal(t)
			w, err := journal.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			telemetry, said := setup(t, Options{
				Env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": test.url(t)}, Journal: w, Timeout: test.timeout,
			})
			ctx, _ := telemetry.Tracer.Start(context.Background(), "run")
			telemetry.Tracer.Start(ctx, "worker")
			telemetry.Shutdown("end")
			j, err := journal.Read(path, journal.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(j.Spans) != test.want || !j.Clean {
				t.Errorf("%d spans, clean: %v, warnings %q", len(j.Spans), j.Clean, said.list())
			}
			for _, s := range j.Spans {
				if s.Open() {
					t.Errorf("%s is open", s.Name)
				}
			}
		})
	}
}

// An unsampled run costs no slot.
func TestJournalOfAnUnsampledRun(t *testing.T) {
	path := newJournal(t)
	w, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	telemetry, _ := setup(t, Options{Dir: t.TempDir(), Journal: w})
	parent := Parent(map[string]string{"TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"})
	ctx, _ := telemetry.Tracer.Start(parent, "run")
	telemetry.Tracer.Start(ctx, "worker")
	if j, err := journal.Read(path, journal.ReadOptions{}); err != nil || len(j.Spans) != 0 {
		t.Errorf("%+v, %v", j, err)
	}
	telemetry.Shutdown("end")
}
