package otelsetup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/journal"
)

// count adds to a counter.
func count(t *testing.T, telemetry *Telemetry, name string, n int64) {
	t.Helper()
	c, err := telemetry.Meter.Int64Counter(name)
	if err != nil {
		t.Fatal(err)
	}
	c.Add(context.Background(), n)
}

func TestMetricsArrive(t *testing.T) {
	for name, begin := range receivers(t) {
		if strings.Contains(name, "for traces") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "nv.dl.rank=3")
			t.Setenv("OTEL_SERVICE_NAME", "workload")
			otherCertificate, _ := writeCertificate(t)
			t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", otherCertificate)
			r, env := begin(t)
			telemetry, said := start(t, longEnough, env)
			count(t, telemetry, "starts", 2)
			count(t, telemetry, "starts", 3)
			telemetry.Shutdown("end")
			sums, resource := r.measured()
			if diff := cmp.Diff(map[string]string{"service.name": "lenslaunch"}, resource); diff != "" {
				t.Errorf("resource (-want +got):\n%s", diff)
			}
			if sums["starts"] != "5" || len(said.list()) != 0 {
				t.Errorf("sums %v, warnings %q", sums, said.list())
			}
		})
	}
}

func TestMetricsOnTheConsole(t *testing.T) {
	var out bytes.Buffer
	telemetry, said := setup(t, Options{
		Env: map[string]string{"OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "console"}, Stderr: &out,
		Resource: []attribute.KeyValue{attribute.String("service.name", "lenslaunch")},
	})
	count(t, telemetry, "starts", 7)
	telemetry.Shutdown("end")
	if text := out.String(); !strings.Contains(text, `"Value":7`) || !strings.Contains(text, "lenslaunch") || one(t, said) != "" {
		t.Errorf("console %s, warnings %q", text, said.list())
	}
}

// A backend for traces alone is no fault of every run: one line that says what to do.
func TestMetricsRefused(t *testing.T) {
	for name, begin := range receivers(t) {
		if strings.Contains(name, "for traces") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r, env := begin(t)
			r.refuse = true
			telemetry, said := start(t, longEnough, env)
			telemetry.Tracer.Start(context.Background(), "run")
			count(t, telemetry, "starts", 1)
			telemetry.Shutdown("end")
			if got := one(t, said); !strings.HasPrefix(got, "telemetry was lost:metrics") || !strings.Contains(got, "OTEL_METRICS_EXPORTER=none") {
				t.Errorf("warning %q", got)
			}
			if len(r.spans()) != 1 {
				t.Errorf("%d spans", len(r.spans()))
			}

			env["OTEL_METRICS_EXPORTER"] = "none"
			telemetry, said = start(t, longEnough, env)
			count(t, telemetry, "starts", 1)
			telemetry.Shutdown("end")
			if got := one(t, said); got != "" {
				t.Errorf("turned off: %q", got)
			}
		})
	}
}

// Nothing measured is nothing sent, and nothing to warn of.
func TestNothingMeasured(t *testing.T) {
	r := startGRPC(t)
	r.refuse = true
	telemetry, said := start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url})
	if _, err := telemetry.Meter.Int64Counter("never"); err != nil {
		t.Fatal(err)
	}
	telemetry.Shutdown("end")
	if got := one(t, said); got != "" {
		t.Error(got)
	}
}

// A fault of the metrics' own variables leaves the spans alone and is said once.
func TestMetricsFault(t *testing.T) {
	r := startGRPC(t)
	telemetry, said := start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url, "OTEL_METRICS_EXPORTER": "prometheus"})
	telemetry.Tracer.Start(context.Background(), "run")
	count(t, telemetry, "starts", 1)
	telemetry.Shutdown("end")
	if got := one(t, said); !strings.Contains(got, `OTEL_METRICS_EXPORTER="prometheus"`) || len(r.spans()) != 1 {
		t.Errorf("warning %q, %d spans", got, len(r.spans()))
	}
}

// One place's success says nothing of another's.
func TestMetricsLost(t *testing.T) {
	var lost metricsLost
	a, b := lost.place(metricdata.CumulativeTemporality), lost.place(metricdata.CumulativeTemporality)
	a(context.DeadlineExceeded)
	b(nil)
	if err := lost.get(); err == nil || err.Error() != context.DeadlineExceeded.Error() {
		t.Error(err)
	}
	a(nil)
	if err := lost.get(); err != nil {
		t.Error(err)
	}
}

// Flush sends spans and metrics now, long before their interval is over, and returns at
// once also when nobody answers.
func TestFlush(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
	r := startGRPC(t)
	telemetry, said := start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url})
	_, s := telemetry.Tracer.Start(context.Background(), "run")
	s.End()
	count(t, telemetry, "starts", 1)
	telemetry.Flush()
	for sums := map[string]string{}; len(r.spans()) == 0 || sums["starts"] == ""; sums, _ = r.measured() {
		<-r.came
	}
	telemetry.Shutdown("end")
	telemetry.Flush() // after the end it is nothing
	if got := one(t, said); got != "" || len(r.spans()) != 1 {
		t.Errorf("%d spans, warning %q", len(r.spans()), got)
	}
	off().Flush()

	url, heard := blackHole(t)
	telemetry, _ = start(t, 300*time.Millisecond, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url})
	_, s = telemetry.Tracer.Start(context.Background(), "run")
	s.End()
	count(t, telemetry, "starts", 1)
	telemetry.Flush()
	<-heard
	for range 100 {
		telemetry.Flush()
	}
	telemetry.Shutdown("end")
}

// Traces, metrics and another process's spans all go into a black hole: the shutdown takes
// its time and no more, says one line, and what was not its own is given back.
func TestEverythingHangs(t *testing.T) {
	for name, environment := range dead(t) {
		if !strings.Contains(name, "black hole") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			telemetry, said := start(t, 300*time.Millisecond, environment(t))
			const n = 600
			for range n {
				telemetry.Tracer.Start(context.Background(), "open")
			}
			count(t, telemetry, "starts", 1)
			exported := make(chan error, 1)
			go func() { exported <- telemetry.Export(context.Background(), foreign(openSpan(1, 0))) }()
			telemetry.Flush()
			began := time.Now()
			telemetry.Shutdown("end")
			if took := time.Since(began); took > unbounded {
				t.Errorf("the shutdown took %v", took)
			}
			if got := one(t, said); !strings.HasPrefix(got, "telemetry was lost:spans600exporter") {
				t.Errorf("warning %q", got)
			}
			if err := <-exported; err == nil {
				t.Error("the foreign span has arrived in a black hole")
			}
		})
	}
}

// TRACEPARENT of whoever started us.
func TestParent(t *testing.T) {
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for text, want := range map[string]string{
		"00-" + id + "-" + span + "-01": "01", " 00-" + id + "-" + span + "-00 ": "00", "00-" + id + "-" + span + "-03": "03",
		"": "", "nonsense": "", "00-" + id + "-" + span: "", "ff-" + id + "-" + span + "-01": "",
		"00-00000000000000000000000000000000-" + span + "-01": "", "00-" + id + "-0000000000000000-01": "",
	} {
		got := trace.SpanContextFromContext(Parent(map[string]string{"TRACEPARENT": text, "TRACESTATE": "vendor=1"}))
		if got.IsValid() != (want != "") {
			t.Errorf("%q: %v", text, got)
		}
		if got.IsValid() && (got.TraceID().String() != id || got.SpanID().String() != span || got.TraceFlags().String() != want || !got.IsRemote() || got.TraceState().String() != "vendor=1") {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// The id that was promised is that of the next span and of no other.
func TestWithSpanID(t *testing.T) {
	telemetry, _ := setup(t, Options{Dir: t.TempDir()})
	defer telemetry.Shutdown("end")
	for name, parent := range map[string]context.Context{"root": context.Background(), "child": Parent(map[string]string{
		"TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	})} {
		id := newSpanID()
		ctx := WithSpanID(parent, id)
		workerCtx, worker := telemetry.Tracer.Start(ctx, "worker")
		childCtx, child := telemetry.Tracer.Start(workerCtx, "child")
		_, grandchild := telemetry.Tracer.Start(childCtx, "grandchild")
		_, second := telemetry.Tracer.Start(ctx, "second")
		if worker.SpanContext().SpanID() != id || !worker.SpanContext().TraceID().IsValid() {
			t.Errorf("%s: %v, want %v", name, worker.SpanContext().SpanID(), id)
		}
		for _, other := range []trace.Span{child, grandchild, second} {
			if got := other.SpanContext().SpanID(); got == id || !got.IsValid() {
				t.Errorf("%s: another span has id %v", name, got)
			}
		}
	}
	_, none := telemetry.Tracer.Start(WithSpanID(context.Background(), trace.SpanID{}), "no id")
	if !none.SpanContext().IsValid() {
		t.Error("an invalid id was taken")
	}
}

// Any text is a parent that is valid, or none.
func FuzzParent(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=1")
	f.Add("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", "=,")
	f.Fuzz(func(t *testing.T, parent, state string) {
		got := trace.SpanContextFromContext(Parent(map[string]string{"TRACEPARENT": parent, "TRACESTATE": state}))
		if got.HasTraceID() != got.HasSpanID() || got.IsValid() != got.IsRemote() {
			t.Fatalf("%+v", got)
		}
	})
}

// Each signal has variables of its own: no traces is no word about metrics, and a fault in
// what is asked of metrics is said, also where there is nothing else.
func TestMetricsHaveAPlaceOfTheirOwn(t *testing.T) {
	const noTraces, endpoint, ofMetrics = "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
	r := startGRPC(t)
	for name, test := range map[string]struct {
		env  map[string]string
		mode Mode
		want string // "sent", a file's name, or what is said
	}{
		"endpoint, no traces":              {env: map[string]string{noTraces: "none", endpoint: r.url}, want: "sent"},
		"endpoint of metrics":              {env: map[string]string{ofMetrics: r.url}, want: "sent"},
		"endpoint of metrics, no traces":   {env: map[string]string{noTraces: "none", ofMetrics: r.url}, want: "sent"},
		"on, no traces":                    {env: map[string]string{noTraces: "none"}, mode: ModeOn, want: metricsFile},
		"off":                              {env: map[string]string{ofMetrics: r.url}, mode: ModeOff},
		"disabled":                         {env: map[string]string{ofMetrics: r.url, "OTEL_SDK_DISABLED": "true"}},
		"no metrics":                       {env: map[string]string{noTraces: "none", "OTEL_METRICS_EXPORTER": "none", endpoint: r.url}},
		"no scheme":                        {env: map[string]string{noTraces: "none", "OTEL_METRICS_EXPORTER": "otlp", endpoint: "c:4317"}, want: "no scheme"},
		"no scheme, not asked for by name": {env: map[string]string{noTraces: "none", endpoint: "c:4317"}, want: "no scheme"},
		"unknown":                          {env: map[string]string{noTraces: "none", "OTEL_METRICS_EXPORTER": "prometheus"}, want: `"prometheus" is not supported`},
	} {
		for _, dir := range []string{"", t.TempDir()} {
			if test.mode == ModeOn && dir == "" {
				continue // to a collector on this host
			}
			t.Run(name+" in "+filepath.Base(dir), func(t *testing.T) {
				r.forget()
				telemetry, said := setup(t, Options{Env: test.env, Mode: test.mode, Dir: dir})
				count(t, telemetry, "attempts", 1)
				telemetry.Shutdown("end")
				warning := one(t, said)
				if fault := strings.Contains(test.want, " "); fault != (warning != "") || fault && !strings.Contains(warning, test.want) {
					t.Errorf("said %q, want %q", warning, test.want)
				}
				sums, _ := r.measured()
				if sent := sums["attempts"] == "1"; sent != (test.want == "sent") {
					t.Errorf("sent: %v, want %q", sent, test.want)
				}
				if _, err := os.Stat(filepath.Join(dir, metricsFile)); dir != "" && test.want == metricsFile && err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A collector may want metrics by the second. A file of a job of weeks does not.
func TestMetricsIntervals(t *testing.T) {
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "1000")
	r := startGRPC(t)
	telemetry, _ := setup(t, Options{Env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url}, File: t.TempDir() + "/f.jsonl"})
	for i, want := range []string{"Interval:1s", "Interval:1h0m0s"} {
		reader, ok := telemetry.pipeline.meters.readers[i].(*sdkmetric.PeriodicReader)
		if !ok || !strings.Contains(fmt.Sprintf("%+v", reader.MarshalLog()), want) {
			t.Errorf("reader %d: %+v, want %s", i, telemetry.pipeline.meters.readers[i], want)
		}
	}
	telemetry.Shutdown("end")
}

// Who has each export bring what is new alone loses what failed, whatever comes later.
func TestMetricsLostForGood(t *testing.T) {
	for preference, lost := range map[string]bool{"": false, "cumulative": false, "delta": true} {
		t.Run(preference, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", preference)
			r := startGRPC(t)
			r.refuse = true
			telemetry, said := start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url})
			count(t, telemetry, "attempts", 2)
			telemetry.pipeline.meters.forceFlush(t.Context())
			r.forget()
			count(t, telemetry, "attempts", 1)
			telemetry.Shutdown("end")
			want := map[bool]string{false: "3", true: "1"}[lost]
			if sums, _ := r.measured(); sums["attempts"] != want {
				t.Errorf("sums %v, want %s", sums, want)
			}
			if got := one(t, said); strings.HasPrefix(got, "telemetry was lost:metrics") != lost {
				t.Errorf("said %q", got)
			}
		})
	}
}

// What is wrong with metrics is not about the run directory that spans stand in, and what
// is in its file is not lost.
func TestMetricsGoElsewhereThanSpans(t *testing.T) {
	for env, standsIn := range map[string]bool{
		"": true, "OTEL_METRICS_EXPORTER=none": true, "OTEL_METRICS_EXPORTER=console": false,
		"OTEL_METRICS_EXPORTER=prometheus": false, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://c:4317": false,
	} {
		key, value, _ := strings.Cut(env, "=")
		if got := (Options{Env: map[string]string{key: value}, Dir: "/run"}).StandsIn(); got != standsIn {
			t.Errorf("%s: %v, want %v", env, got, standsIn)
		}
	}
	dir := t.TempDir()
	telemetry, said := setup(t, Options{Env: map[string]string{"OTEL_METRICS_EXPORTER": "prometheus"}, Dir: dir})
	count(t, telemetry, "attempts", 1)
	telemetry.Shutdown("end")
	if got := one(t, said); !strings.HasPrefix(got, "metrics do not go to one of their places:reasonOTEL_METRICS_EXPORTER") {
		t.Errorf("said %q", got)
	}
	if sums, _ := measuredIn(metricsIn(t, filepath.Join(dir, metricsFile))); sums["attempts"] != "1" {
		t.Errorf("metrics %v", sums)
	}
}

// Who wants metrics and no traces gets metrics: no span, and no trace for the ranks.
func TestMetricsWithoutTraces(t *testing.T) {
	for metrics, want := range map[string]bool{"console": true, "none": false, "": false} {
		var stderr bytes.Buffer
		telemetry := Setup(t.Context(), Options{
			Env: map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": metrics}, Stderr: &stderr, Dir: t.TempDir(),
			Warn: func(msg string, args ...any) { t.Error(msg, args) },
		})
		_, span := telemetry.Tracer.Start(t.Context(), "run")
		count(t, telemetry, "attempts", 1)
		// What has nowhere to go must not count as arrived: its journal would be removed.
		if err := telemetry.Export(t.Context(), Foreign{Spans: []journal.Span{{Name: "train"}}}); !errors.Is(err, ErrOff) {
			t.Errorf("%s: exported: %v", metrics, err)
		}
		telemetry.Shutdown("end")
		if span.SpanContext().IsSampled() || telemetry.Enabled || telemetry.Metered != want || strings.Contains(stderr.String(), `"attempts"`) != want {
			t.Errorf("%s: sampled %v, %+v: %s", metrics, span.SpanContext().IsSampled(), telemetry, &stderr)
		}
	}
}
