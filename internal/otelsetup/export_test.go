package otelsetup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// warnings collects what the launcher would say on stderr.
type warnings struct {
	mu  sync.Mutex
	all []string
}

func (w *warnings) warn(msg string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, fmt.Sprint(append([]any{msg + ":"}, args...)...))
}

func (w *warnings) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
}

// longEnough is a timeout that no healthy test comes near.
const longEnough = time.Minute

// start sets up against an endpoint.
func start(t *testing.T, timeout time.Duration, env map[string]string) (*Telemetry, *warnings) {
	t.Helper()
	said := &warnings{}
	telemetry := Setup(t.Context(), Options{
		Env:      env,
		Resource: []attribute.KeyValue{attribute.String("service.name", "lenslaunch"), {Key: "nothing"}},
		Warn:     said.warn,
		Timeout:  timeout,
	})
	if !telemetry.Enabled {
		t.Fatalf("telemetry is off: %v", said.list())
	}
	return telemetry, said
}

// receivers are collectors of every kind, with the environment to reach them.
func receivers(t *testing.T) map[string]func(t *testing.T) (*receiver, map[string]string) {
	t.Helper()
	const http = "http/protobuf"
	certificate, key := writeCertificate(t)
	return map[string]func(t *testing.T) (*receiver, map[string]string){
		"grpc": func(t *testing.T) (*receiver, map[string]string) {
			r := startGRPC(t)
			return r, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url}
		},
		"grpc with TLS and gzip": func(t *testing.T) (*receiver, map[string]string) {
			r := startGRPC(t, serverTLS(t, certificate, key))
			return r, map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT":    strings.Replace(r.url, "http:", "https:", 1),
				"OTEL_EXPORTER_OTLP_CERTIFICATE": certificate, "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
			}
		},
		"http": func(t *testing.T) (*receiver, map[string]string) {
			r := startHTTP(t, "", "")
			return r, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url, "OTEL_EXPORTER_OTLP_PROTOCOL": http}
		},
		"http for traces": func(t *testing.T) (*receiver, map[string]string) {
			r := startHTTP(t, "", "")
			return r, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": r.url + "/v1/traces", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": http}
		},
		"http with TLS and gzip": func(t *testing.T) (*receiver, map[string]string) {
			r := startHTTP(t, certificate, key)
			return r, map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": r.url, "OTEL_EXPORTER_OTLP_PROTOCOL": http,
				"OTEL_EXPORTER_OTLP_CERTIFICATE": certificate, "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
			}
		},
	}
}

func TestSpansArrive(t *testing.T) {
	for name, begin := range receivers(t) {
		t.Run(name, func(t *testing.T) {
			// What the job's own SDK is told must not reach the launcher's spans,
			// nor a certificate that is meant for another endpoint.
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "nv.dl.rank=3,leak=1")
			t.Setenv("OTEL_SERVICE_NAME", "workload")
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=of-the-process")
			otherCertificate, _ := writeCertificate(t)
			t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", otherCertificate)

			r, env := begin(t)
			env["OTEL_EXPORTER_OTLP_HEADERS"] = "api-key=a%20b"
			telemetry, said := start(t, longEnough, env)
			ctx, run := telemetry.Tracer.Start(context.Background(), "lenslaunch.run")
			_, done := telemetry.Tracer.Start(ctx, "lenslaunch.start", trace.WithAttributes(attribute.Int("ranks", 8)))
			done.End()
			_, worker := telemetry.Tracer.Start(ctx, "lenslaunch.worker")
			telemetry.Open.Truncate(worker, "stopped because rank 3 failed")
			_ = run // open until the shutdown
			telemetry.Shutdown("stopped by SIGTERM")

			if len(said.list()) != 0 {
				t.Errorf("warnings: %v", said.list())
			}
			if diff := cmp.Diff(map[string]string{"service.name": "lenslaunch"}, r.attributes(t)); diff != "" {
				t.Errorf("resource (-want +got):\n%s", diff)
			}
			got := map[string]string{}
			for _, span := range r.spans() {
				got[span.Name] = truncation(span)
			}
			want := map[string]string{
				"lenslaunch.start": "", "lenslaunch.worker": "stopped because rank 3 failed", "lenslaunch.run": "stopped by SIGTERM",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("spans and their reasons (-want +got):\n%s", diff)
			}
			if r.headers[0] != "a b" {
				t.Errorf("header %q", r.headers[0])
			}
		})
	}
}

// truncation is the reason of a force-closed span, "" for any other.
func truncation(span *tracepb.Span) string {
	marked, reason := false, ""
	for _, kv := range span.Attributes {
		marked = marked || kv.Key == "nemo.span.truncated" && kv.Value.GetBoolValue()
	}
	for _, event := range span.Events {
		if event.Name == "nemo.span.truncated" {
			reason = event.Attributes[0].Value.GetStringValue()
		}
	}
	if marked != (reason != "") {
		return "attribute and event disagree"
	}
	return reason
}

// More spans than any queue holds are open when the launcher must stop.
func TestTenThousandOpenSpansArrive(t *testing.T) {
	const n = 10_000
	for name, begin := range receivers(t) {
		if strings.Contains(name, "for traces") || strings.Contains(name, "TLS") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r, env := begin(t)
			telemetry, said := start(t, longEnough, env)
			ctx, _ := telemetry.Tracer.Start(context.Background(), "root")
			for range n - 1 {
				telemetry.Tracer.Start(ctx, "child")
			}
			telemetry.Shutdown("end")
			ids := map[string]bool{}
			for _, span := range r.spans() {
				ids[string(span.SpanId)] = true
			}
			if len(ids) != n || len(said.list()) != 0 {
				t.Errorf("%d different spans arrived of %d; warnings %v", len(ids), n, said.list())
			}
		})
	}
}

// One bad byte anywhere costs a character, not the batch.
func TestInvalidTextArrives(t *testing.T) {
	for name, begin := range receivers(t) {
		t.Run(name, func(t *testing.T) {
			r, env := begin(t)
			said := &warnings{}
			telemetry := Setup(t.Context(), Options{
				Env: env, Warn: said.warn, Timeout: longEnough,
				Resource: []attribute.KeyValue{attribute.String("host.name", "node-\xff"), attribute.String("k\xff", "v")},
			})
			_, span := telemetry.Tracer.Start(context.Background(), "train\xff.py",
				trace.WithAttributes(attribute.StringSlice("argv", []string{"ok", "\xc3("})))
			span.AddEvent("\xfe", trace.WithAttributes(attribute.String("e", "\xff")))
			span.End()
			telemetry.Shutdown("end")
			if len(said.list()) != 0 || len(r.spans()) != 1 {
				t.Fatalf("%d spans, warnings %v", len(r.spans()), said.list())
			}
			if diff := cmp.Diff(map[string]string{"host.name": "node-\uFFFD", "k\uFFFD": "v"}, r.attributes(t)); diff != "" {
				t.Errorf("resource (-want +got):\n%s", diff)
			}
			got := r.spans()[0]
			values := got.Attributes[0].Value.GetArrayValue().Values
			if got.Name != "train\uFFFD.py" || got.Events[0].Name != "\uFFFD" || values[1].GetStringValue() != "\uFFFD(" {
				t.Errorf("span %v", got)
			}
		})
	}
}

// The collector answers that it refused a part: that part is lost, no more.
func TestPartialSuccess(t *testing.T) {
	for name, begin := range receivers(t) {
		t.Run(name, func(t *testing.T) {
			r, env := begin(t)
			r.reject = 3
			telemetry, said := start(t, longEnough, env)
			for range 10 {
				_, span := telemetry.Tracer.Start(context.Background(), "span")
				span.End()
			}
			telemetry.Shutdown("end")
			if len(said.list()) != 1 || !strings.Contains(said.list()[0], "telemetry was lost:spans3") {
				t.Errorf("warnings %v", said.list())
			}
			if strings.Contains(said.list()[0], "\n") {
				t.Errorf("the warning has several lines: %q", said.list()[0])
			}
		})
	}
}

func TestConsole(t *testing.T) {
	var out bytes.Buffer
	said := &warnings{}
	telemetry := Setup(t.Context(), Options{
		Env: map[string]string{"OTEL_TRACES_EXPORTER": "console"}, Stderr: &out, Warn: said.warn,
		Resource: []attribute.KeyValue{attribute.String("service.name", "lenslaunch")},
	})
	_, span := telemetry.Tracer.Start(context.Background(), "lenslaunch.run")
	_ = span
	telemetry.Shutdown("end")
	var got struct {
		Name     string
		Resource []struct {
			Key   string
			Value struct{ Value string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	if got.Name != "lenslaunch.run" || len(got.Resource) != 1 || got.Resource[0].Value.Value != "lenslaunch" {
		t.Errorf("console: %+v", got)
	}
	if len(said.list()) != 0 || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Errorf("warnings %v, output %q", said.list(), out.String())
	}
}

// The messages of a collector that does not like us reach the warning.
func TestCollectorRefuses(t *testing.T) {
	r := startHTTP(t, "", "")
	telemetry, said := start(t, longEnough, map[string]string{
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": r.url + "/elsewhere", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
	})
	_, span := telemetry.Tracer.Start(context.Background(), "span")
	span.End()
	telemetry.Shutdown("end")
	if len(said.list()) != 1 || !strings.Contains(said.list()[0], "400 Bad Request") || !strings.Contains(said.list()[0], r.url+"/elsewhere") {
		t.Errorf("warnings %v", said.list())
	}

	plain := startGRPC(t, grpc.MaxRecvMsgSize(1))
	telemetry, said = start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": plain.url})
	telemetry.Tracer.Start(context.Background(), "span")
	telemetry.Shutdown("end")
	if len(said.list()) != 1 || !strings.Contains(said.list()[0], "spans1exporterotlp grpc "+plain.url) {
		t.Errorf("warnings %v", said.list())
	}
}
