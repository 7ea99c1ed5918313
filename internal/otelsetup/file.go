package otelsetup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	colmetricpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	"lenslaunch/internal/otlpfile"
)

// Names of the files in a directory, from the telemetry specification.
const (
	spansFile   = "spans.jsonl"
	metricsFile = "metrics.jsonl"
)

// filesFor decides where a signal is written as OTLP/JSON, empty: nowhere. A file that was
// asked for is written beside any exporter; a directory is where goes what has no other
// place.
func (o Options) filesFor(p plan) string {
	name := spansFile
	if p.signal == metrics {
		name = metricsFile
	}
	switch {
	case o.File != "":
		return o.File
	case o.Dir != "" && p.exporter == exporterNone && !p.named:
		return filepath.Join(o.Dir, name)
	case o.Dir != "" && !p.named && value(o.Env, "NEMO_LENS_ENABLED") == "1" && !endpointSet(o.Env, p.signal):
		// Lens alone says that there is telemetry, not where to.
		return filepath.Join(o.Dir, name)
	}
	return ""
}

func endpointSet(env map[string]string, sig signal) bool {
	_, endpoint := otlp(env, sig, "ENDPOINT")
	return endpoint != ""
}

// openSpanFile is an exporter to a file.
func openSpanFile(ctx context.Context, path string) (sdktrace.SpanExporter, error) {
	file, err := otlpfile.Open(path, otlpfile.Options{})
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, file)
	if err != nil {
		return nil, errors.Join(err, file.Stop(ctx))
	}
	return lasting{exporter}, nil
}

// lasting is an exporter that is not given up: a file takes spans in no time, and must have
// them also when a collector beside it has used up the time.
type lasting struct{ sdktrace.SpanExporter }

func (l lasting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return l.SpanExporter.ExportSpans(context.WithoutCancel(ctx), spans)
}

// openMetricFile is an exporter to a file: the exporter for HTTP, whose requests go there
// instead, since nothing else turns metrics into OTLP.
func openMetricFile(ctx context.Context, path string) (sdkmetric.Exporter, error) {
	file, err := otlpfile.Open(path, otlpfile.Options{})
	if err != nil {
		return nil, err
	}
	exporter, err := otlpmetrichttp.New(ctx,
		otlpmetrichttp.WithEndpointURL("http://file.invalid/"),
		otlpmetrichttp.WithHTTPClient(&http.Client{Transport: toFile{file}}),
		otlpmetrichttp.WithHeaders(map[string]string{}),
		otlpmetrichttp.WithCompression(otlpmetrichttp.NoCompression),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}),
	)
	if err != nil {
		return nil, errors.Join(err, file.Stop(ctx))
	}
	return closingMetrics{Exporter: exporter, close: func() { _ = file.Stop(ctx) }}, nil
}

// toFile answers requests of the OTLP exporter by writing them to a file.
type toFile struct{ file *otlpfile.File }

func (t toFile) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var request colmetricpb.ExportMetricsServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		return nil, fmt.Errorf("the request is not OTLP: %w", err)
	}
	if err := t.file.UploadMetrics(r.Context(), &request); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil)), Request: r}, nil
}
