package otelsetup

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	colmetricpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// requests reads the lines of a file as requests. The decoder knows no hexadecimal ids:
// they are left out.
func requests[T proto.Message](t *testing.T, path string, fresh func() T) (all []T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`"(traceId|spanId|parentSpanId)":"[0-9a-f]*",?`)
	for line := range bytes.Lines(text) {
		message := fresh()
		if err := protojson.Unmarshal(ids.ReplaceAll(line, nil), message); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, message)
	}
	return all
}

// spansIn are the names of the spans in a file.
func spansIn(t *testing.T, path string) (names []string) {
	t.Helper()
	for _, r := range requests(t, path, func() *coltracepb.ExportTraceServiceRequest { return &coltracepb.ExportTraceServiceRequest{} }) {
		for _, one := range r.ResourceSpans {
			for _, scope := range one.ScopeSpans {
				for _, s := range scope.Spans {
					names = append(names, s.Name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

func metricsIn(t *testing.T, path string) (all []*metricpb.ResourceMetrics) {
	t.Helper()
	for _, r := range requests(t, path, func() *colmetricpb.ExportMetricsServiceRequest { return &colmetricpb.ExportMetricsServiceRequest{} }) {
		all = append(all, r.ResourceMetrics...)
	}
	return all
}

func namesOf(spans []*tracepb.Span) (names []string) {
	for _, s := range spans {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// Without another place telemetry goes to files of the run directory, with the launcher's
// own resource and without a word, whatever the workload's variables say of exporters.
func TestFileIsTheDefault(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "nv.dl.rank=3")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	dir := t.TempDir()
	telemetry, said := setup(t, Options{Dir: dir, Resource: []attribute.KeyValue{attribute.String("service.name", "lenslaunch")}})
	ctx, run := telemetry.Tracer.Start(context.Background(), "run")
	_, start := telemetry.Tracer.Start(ctx, "start")
	start.End()
	_ = run
	count(t, telemetry, "starts", 1)
	telemetry.Shutdown("end")
	if got := one(t, said); got != "" {
		t.Error(got)
	}
	if diff := cmp.Diff([]string{"run", "start"}, spansIn(t, dir+"/spans.jsonl")); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	sums, resource := measuredIn(metricsIn(t, dir+"/metrics.jsonl"))
	if diff := cmp.Diff(map[string]string{"service.name": "lenslaunch"}, resource); diff != "" || sums["starts"] != "1" {
		t.Errorf("sums %v, resource of metrics (-want +got):\n%s", sums, diff)
	}
}

// A file beside an endpoint, which works, refuses or swallows everything: the file has all.
func TestFileBesideAnEndpoint(t *testing.T) {
	t.Run("healthy", func(t *testing.T) {
		r, file := startGRPC(t), t.TempDir()+"/f.jsonl"
		telemetry, said := setup(t, Options{Env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url, "OTEL_METRICS_EXPORTER": "none"}, File: file})
		telemetry.Tracer.Start(context.Background(), "run")
		telemetry.Shutdown("end")
		if diff := cmp.Diff(namesOf(r.spans()), spansIn(t, file)); diff != "" || len(r.spans()) != 1 || one(t, said) != "" {
			t.Errorf("warnings %q, collector and file:\n%s", said.list(), diff)
		}
	})
	for name, environment := range dead(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, file := environment(t), t.TempDir()+"/f.jsonl"
			env["OTEL_METRICS_EXPORTER"] = "none"
			telemetry, said := setup(t, Options{Env: env, File: file, Timeout: 6 * time.Second})
			const n = 600 // two batches: the second waits behind one that hangs
			for range n / 2 {
				_, s := telemetry.Tracer.Start(context.Background(), "ended")
				s.End()
				telemetry.Tracer.Start(context.Background(), "open")
			}
			telemetry.Shutdown("end")
			if got := spansIn(t, file); len(got) != n {
				t.Errorf("%d spans in the file, want %d", len(got), n)
			}
			if one(t, said) == "" {
				t.Error("nothing is said of the collector")
			}
		})
	}
}

// Metrics, too: a collector that does not answer keeps them from no file.
func TestMetricsFileBesideABlackHole(t *testing.T) {
	url, _ := blackHole(t)
	file := t.TempDir() + "/f.jsonl"
	telemetry, said := setup(t, Options{Env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url}, File: file, Timeout: time.Second})
	count(t, telemetry, "starts", 4)
	telemetry.Shutdown("end")
	if sums, _ := measuredIn(metricsIn(t, file)); sums["starts"] != "4" {
		t.Errorf("metrics in the file: %v", sums)
	}
	if got := one(t, said); got == "" {
		t.Error("nothing is said of the collector")
	}
}

// failing is an exporter that fails when it is told to.
type failing struct {
	*tracetest.InMemoryExporter
	fail atomic.Bool
}

func (f *failing) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if f.fail.Load() {
		return errors.New("refused")
	}
	return f.InMemoryExporter.ExportSpans(ctx, spans)
}

// What is tried again because one place had refused it comes to each once.
func TestOnceEach(t *testing.T) {
	good, bad := &failing{InMemoryExporter: tracetest.NewInMemoryExporter()}, &failing{InMemoryExporter: tracetest.NewInMemoryExporter()}
	e := onceEach(fanout{good, bad})
	span := func(id byte) sdktrace.ReadOnlySpan {
		return spanOf(tracetest.SpanStub{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{id}})})
	}
	bad.fail.Store(true)
	if err := e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span(1), span(2)}); err == nil {
		t.Error("no error")
	}
	bad.fail.Store(false)
	if err := e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span(1), span(2), span(3)}); err != nil {
		t.Error(err)
	}
	if err := e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span(2)}); err != nil {
		t.Error(err)
	}
	if a, b := len(good.GetSpans()), len(bad.GetSpans()); a != 3 || b != 3 {
		t.Errorf("%d and %d spans, want 3", a, b)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOnceEachForgets(t *testing.T) {
	o := &once{next: tracetest.NewNoopExporter()}
	for i := range mostOnce/1000 + 3 {
		var spans []sdktrace.ReadOnlySpan
		for j := range 1000 {
			spans = append(spans, spanOf(tracetest.SpanStub{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
				TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1, byte(i), byte(j), byte(j >> 8)},
			})}))
		}
		if err := o.ExportSpans(t.Context(), spans); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(o.arrived); n > mostOnce {
		t.Errorf("%d spans are remembered", n)
	}
}
