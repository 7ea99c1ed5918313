package otelsetup

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Off is free: no goroutine, no span, no allocation that grows.
func TestOffCostsNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	telemetry := Setup(t.Context(), Options{Env: map[string]string{"PATH": "/bin"}})
	if telemetry.Enabled || runtime.NumGoroutine() != before {
		t.Errorf("enabled %v, %d goroutines more", telemetry.Enabled, runtime.NumGoroutine()-before)
	}
	ctx, span := telemetry.Tracer.Start(context.Background(), "lenslaunch.run")
	if span.IsRecording() || span.SpanContext().IsValid() || telemetry.Open.Truncate(span, "no") || telemetry.Open.Len() != 0 {
		t.Error("a span is recorded")
	}
	// An inherited trace goes through untouched and is not invented.
	remote := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, Remote: true})
	_, child := telemetry.Tracer.Start(trace.ContextWithRemoteSpanContext(ctx, remote), "child")
	if child.SpanContext().SpanID() != remote.SpanID() {
		t.Errorf("span context %v", child.SpanContext())
	}
	telemetry.Shutdown("end")
	telemetry.Shutdown("again")
}

// Each fault of the configuration is one warning that names the variable, and
// the launcher goes on with telemetry off.
func TestFaultsAreOneWarning(t *testing.T) {
	for variable, env := range map[string]map[string]string{
		"OTEL_TRACES_EXPORTER":           {"OTEL_TRACES_EXPORTER": "jaeger"},
		"OTEL_EXPORTER_OTLP_PROTOCOL":    {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"},
		"OTEL_EXPORTER_OTLP_ENDPOINT":    {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"},
		"OTEL_EXPORTER_OTLP_HEADERS":     {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_HEADERS": "nonsense"},
		"OTEL_EXPORTER_OTLP_CERTIFICATE": {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://c", "OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere"},
	} {
		said := &warnings{}
		telemetry := Setup(t.Context(), Options{Env: env, Warn: said.warn})
		telemetry.Tracer.Start(context.Background(), "span")
		telemetry.Shutdown("end")
		if telemetry.Enabled || len(said.list()) != 1 || !strings.Contains(said.list()[0], variable) || !strings.HasPrefix(said.list()[0], "telemetry is off:") {
			t.Errorf("%v: enabled %v, warnings %v", env, telemetry.Enabled, said.list())
		}
		// Nobody to warn is no reason to fall over.
		Setup(t.Context(), Options{Env: env}).Shutdown("end")
	}
}

func TestDefaultTimeout(t *testing.T) {
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
	for given, want := range map[time.Duration]time.Duration{0: 2 * time.Second, -1: 2 * time.Second, time.Minute: time.Minute} {
		telemetry := Setup(t.Context(), Options{Env: env, Timeout: given})
		if got := telemetry.pipeline.timeout; got != want {
			t.Errorf("timeout %v gives %v, want %v", given, got, want)
		}
		telemetry.Shutdown("end")
	}
}

// The sampling decision of whoever started us is respected.
func TestUnsampledParent(t *testing.T) {
	r := startGRPC(t)
	telemetry, said := start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url})
	for _, flags := range []trace.TraceFlags{0, trace.FlagsSampled} {
		remote := trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: flags, Remote: true,
		})
		telemetry.Tracer.Start(trace.ContextWithRemoteSpanContext(context.Background(), remote), "run")
	}
	if telemetry.Open.Len() != 1 {
		t.Errorf("%d spans are tracked", telemetry.Open.Len())
	}
	telemetry.Shutdown("end")
	if len(r.spans()) != 1 || len(said.list()) != 0 {
		t.Errorf("%d spans, warnings %v", len(r.spans()), said.list())
	}
}

func TestWithoutNull(t *testing.T) {
	list := []attribute.KeyValue{attribute.String("a", ""), {Key: "null"}, attribute.Int("b", 0)}
	if got := withoutNull(list); len(got) != 2 || got[0].Key != "a" || got[1].Key != "b" {
		t.Errorf("withoutNull = %v", got)
	}
}
