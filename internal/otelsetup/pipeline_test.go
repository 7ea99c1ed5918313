package otelsetup

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lenslaunch/journal"
)

// helperVariable makes the test binary a small launcher with telemetry, whose
// stderr is what a user would see.
const helperVariable = "LENSLAUNCH_TEST_OTELSETUP_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helperVariable) {
	case "":
	case "journaled":
		journaledMain(os.Getenv(journal.Variable))
		os.Exit(0)
	default:
		helperMain()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func helperMain() {
	env := map[string]string{}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	telemetry := Setup(context.Background(), Options{
		Env: env, Stderr: os.Stderr, Timeout: 500 * time.Millisecond,
		Warn: func(msg string, args ...any) { fmt.Fprintln(os.Stderr, "lenslaunch:", msg, args) },
	})
	for range 3000 { // several batches, and some that stay open
		_, span := telemetry.Tracer.Start(context.Background(), "span")
		span.End()
	}
	telemetry.Tracer.Start(context.Background(), "open")
	telemetry.Shutdown("end")
}

// dead are collectors that take nothing.
func dead(t *testing.T) map[string]func(t *testing.T) map[string]string {
	t.Helper()
	with := func(url, protocol string) map[string]string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
	}
	hole := func(t *testing.T) string { url, _ := blackHole(t); return url }
	return map[string]func(t *testing.T) map[string]string{
		"refusing grpc":   func(t *testing.T) map[string]string { return with(refusing(t), protocolGRPC) },
		"refusing http":   func(t *testing.T) map[string]string { return with(refusing(t), protocolHTTP) },
		"black hole grpc": func(t *testing.T) map[string]string { return with(hole(t), protocolGRPC) },
		"black hole http": func(t *testing.T) map[string]string { return with(hole(t), protocolHTTP) },
	}
}

// unbounded is less than what a shutdown takes if nothing bounds it (10 s over
// gRPC, 30 s and more over HTTP), and far more than the timeouts used here.
const unbounded = 8 * time.Second

func TestDeadCollectorCostsTheTimeoutAndOneWarning(t *testing.T) {
	for name, environment := range dead(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Time to end 700 spans on a machine that is busy; a refused connection of the
			// HTTP exporter is told at once, whatever the time.
			telemetry, said := start(t, 2*time.Second, environment(t))
			const n = 700 // more than one batch
			for range n / 2 {
				_, span := telemetry.Tracer.Start(context.Background(), "ended")
				span.End()
				telemetry.Tracer.Start(context.Background(), "open")
			}
			began := time.Now()
			telemetry.Shutdown("end")
			took := time.Since(began)
			if took > unbounded {
				t.Errorf("the shutdown took %v", took)
			}
			want := fmt.Sprintf("telemetry was lost:spans%dexporterotlp", n)
			if len(said.list()) != 1 || !strings.HasPrefix(said.list()[0], want) {
				t.Fatalf("warnings %v, want one that begins %q", said.list(), want)
			}
			// The HTTP exporter tries a refused connection once; the others end
			// because their time is over.
			cause := errGivenUp.Error()
			if name == "refusing http" {
				cause = "connection refused"
			}
			if !strings.Contains(said.list()[0], cause) {
				t.Errorf("warnings %v do not say %q", said.list(), cause)
			}
			if telemetry.Open.Len() != 0 {
				t.Errorf("%d spans were not ended", telemetry.Open.Len())
			}
			// Nothing of it stays at work: goleak looks at the end.
		})
	}
}

// A user of a dead collector sees one line, whatever the libraries below have
// to say about it.
func TestDeadCollectorPrintsOneLine(t *testing.T) {
	for name, environment := range dead(t) {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), helperVariable+"=1", "GODEBUG=execwait=2", "GORACE=atexit_sleep_ms=0",
				"OTEL_BSP_SCHEDULE_DELAY=1", "OTEL_RESOURCE_ATTRIBUTES=broken", "OTEL_TRACES_SAMPLER=nonsense")
			for name, value := range environment(t) {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			text := stderr.String()
			if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "lenslaunch: telemetry was lost [spans 3001 ") {
				t.Errorf("stderr: %s", text)
			}
		})
	}
}

// While the job runs, a collector that takes nothing neither blocks the
// launcher nor grows its memory: what does not fit the queue is counted.
func TestRunIsNeverBlocked(t *testing.T) {
	url, heard := blackHole(t)
	telemetry, said := start(t, 300*time.Millisecond, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url})
	const n = 3 * queueSize
	for i := range n { // returns only because the gate drops
		_, span := telemetry.Tracer.Start(context.Background(), "span")
		span.End()
		if i == 600 {
			<-heard // an export hangs in the black hole by now
		}
	}
	if waiting := telemetry.pipeline.tally.waiting.Load(); waiting > queueSize {
		t.Errorf("%d spans wait", waiting)
	}
	telemetry.Shutdown("end")
	if len(said.list()) != 1 || !strings.Contains(said.list()[0], fmt.Sprint("spans", n)) {
		t.Errorf("warnings %v", said.list())
	}
}

// A console that blocks for ever cannot be given up: the hard end bounds it,
// and the count is still right.
func TestBlockedConsole(t *testing.T) {
	for name, open := range map[string]int{"few": 10, "more than the queue": queueSize + 2000} {
		t.Run(name, func(t *testing.T) {
			reader, writer := io.Pipe()
			said := &warnings{}
			telemetry := Setup(t.Context(), Options{
				Env: map[string]string{"OTEL_TRACES_EXPORTER": "console"}, Stderr: writer, Warn: said.warn, Timeout: 200 * time.Millisecond,
			})
			for range open {
				telemetry.Tracer.Start(context.Background(), "open")
			}
			telemetry.Shutdown("end")
			if len(said.list()) != 1 || !strings.Contains(said.list()[0], fmt.Sprintf("spans%dexporterconsole", open)) {
				t.Errorf("warnings %v", said.list())
			}
			reader.Close() // lets the goroutines go
		})
	}
}

// A collector that is away for a moment, at the very shutdown, loses nothing.
func TestCollectorIsAwayForAMoment(t *testing.T) {
	var calls atomic.Int64
	away := func() bool { return calls.Add(1) == 1 }
	grpcReceiver := startGRPC(t, grpc.UnaryInterceptor(
		func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if away() {
				return nil, status.Error(codes.Unavailable, "restarting")
			}
			return handler(ctx, request)
		}))
	httpReceiver := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if away() {
			http.Error(w, "restarting", http.StatusServiceUnavailable)
			return
		}
		httpReceiver.ServeHTTP(w, request)
	}))
	defer server.Close()
	for r, env := range map[*receiver]map[string]string{
		grpcReceiver: {"OTEL_EXPORTER_OTLP_ENDPOINT": grpcReceiver.url},
		httpReceiver: {"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_EXPORTER_OTLP_PROTOCOL": protocolHTTP},
	} {
		calls.Store(0)
		telemetry, said := start(t, longEnough, env)
		telemetry.Tracer.Start(context.Background(), "open")
		telemetry.Shutdown("end")
		if len(r.spans()) != 1 || len(said.list()) != 0 || calls.Load() != 2 {
			t.Errorf("%v: %d spans after %d calls, warnings %v", env, len(r.spans()), calls.Load(), said.list())
		}
	}
}

func TestShutdownTwiceAndAtOnce(t *testing.T) {
	r := startGRPC(t)
	telemetry, said := start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url})
	telemetry.Tracer.Start(context.Background(), "open")
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			telemetry.Shutdown(fmt.Sprint("reason ", i))
			if len(r.spans()) != 1 {
				t.Errorf("returned with %d spans exported", len(r.spans()))
			}
		})
	}
	group.Wait()
	telemetry.Shutdown("late")
	_, late := telemetry.Tracer.Start(context.Background(), "late")
	late.End()
	if len(r.spans()) != 1 || len(said.list()) != 0 {
		t.Errorf("%d spans, warnings %v", len(r.spans()), said.list())
	}
}

// A context of Setup that is over later has nothing to do with the shutdown.
func TestSetupContextIsNotKept(t *testing.T) {
	r := startGRPC(t)
	said := &warnings{}
	ctx, cancel := context.WithCancel(context.Background())
	telemetry := Setup(ctx, Options{Env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url}, Warn: said.warn, Timeout: longEnough})
	spanCtx, _ := telemetry.Tracer.Start(ctx, "run")
	telemetry.Tracer.Start(spanCtx, "attempt")
	cancel()
	telemetry.Shutdown("stopped by SIGINT")
	if len(r.spans()) != 2 || len(said.list()) != 0 {
		t.Errorf("%d spans, warnings %v", len(r.spans()), said.list())
	}
}
