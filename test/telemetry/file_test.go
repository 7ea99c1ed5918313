//go:build telemetry && linux

package telemetry

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	colmetricpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/testing/protocmp"

	"lenslaunch/internal/otlpfile"
	"lenslaunch/test/collector"
)

// write writes requests with the file exporter and returns the file's path.
func write(t *testing.T, metrics []*metricpb.ResourceMetrics, requests ...[]*tracepb.ResourceSpans) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	f, err := otlpfile.Open(path, otlpfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range requests {
		if err := f.UploadTraces(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	if metrics != nil {
		if err := f.UploadMetrics(t.Context(), &colmetricpb.ExportMetricsServiceRequest{ResourceMetrics: metrics}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	return path
}

// same fails the test for every difference between two lists of messages.
func same[T any](t *testing.T, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("(-written +read by the Collector):\n%s", diff)
	}
}

// Everything that OTLP knows of spans and metrics is in the file as a Collector reads
// it: ids, numbers of 64 bits, enums, and every kind of value.
func TestCollectorReadsTheFile(t *testing.T) {
	first, second, metrics := everySpan(), oneSpan(stringValue("of another request")), everyMetric()
	traces, read := collector.ReadFile(t, write(t, metrics, first, second))
	same(t, append(first, second...), traces)
	same(t, metrics, read)
}

// The same came over gRPC and over HTTP: the file holds what would have been sent.
func TestFileEqualsWhatIsSent(t *testing.T) {
	path := write(t, nil, everySpan())
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n != 1 {
		t.Fatalf("%d lines for one request", n)
	}
	fromFile, _ := collector.ReadFile(t, path)
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			c := collector.Start(t, collector.Options{})
			send(t, c, protocol, everySpan())
			same(t, c.Traces(t), fromFile)
		})
	}
}

// JSON has no name for these numbers, and one byte that is no UTF-8 must not cost all
// the spans of a request.
func TestWhatJSONLacks(t *testing.T) {
	for name, test := range map[string]struct{ written, read *commonpb.AnyValue }{
		"NaN":          {doubleValue(math.NaN()), doubleValue(math.NaN())},
		"infinite":     {doubleValue(math.Inf(1)), doubleValue(math.Inf(1))},
		"less than it": {doubleValue(math.Inf(-1)), doubleValue(math.Inf(-1))},
		"no UTF-8":     {stringValue("a\xff\xfeb\xc3"), stringValue("a\ufffd\ufffdb\ufffd")},
	} {
		t.Run(name, func(t *testing.T) {
			traces, _ := collector.ReadFile(t, write(t, nil, oneSpan(test.written), oneSpan(stringValue("next"))))
			want := append(oneSpan(test.read), oneSpan(stringValue("next"))...)
			if diff := cmp.Diff(want, traces, protocmp.Transform(), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("(-want +read by the Collector):\n%s", diff)
			}
		})
	}
}
