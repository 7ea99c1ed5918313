//go:build telemetry && linux

package telemetry

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/testing/protocmp"

	"lenslaunch/internal/otelsetup"
	"lenslaunch/journal"
	"lenslaunch/test/collector"
)

// ways are how telemetry comes to a Collector: sent, or in a file that it reads later.
var ways = map[string]func(t *testing.T, use func(otelsetup.Options)) ([]*tracepb.ResourceSpans, []*metricpb.ResourceMetrics){
	"grpc": over(collector.GRPC),
	"http": over(collector.HTTP),
	"file": func(t *testing.T, use func(otelsetup.Options)) ([]*tracepb.ResourceSpans, []*metricpb.ResourceMetrics) {
		path := filepath.Join(t.TempDir(), "telemetry.jsonl")
		use(otelsetup.Options{File: path})
		return collector.ReadFile(t, path)
	},
}

func over(protocol string) func(*testing.T, func(otelsetup.Options)) ([]*tracepb.ResourceSpans, []*metricpb.ResourceMetrics) {
	return func(t *testing.T, use func(otelsetup.Options)) ([]*tracepb.ResourceSpans, []*metricpb.ResourceMetrics) {
		c := collector.Start(t, collector.Options{})
		env := map[string]string{}
		for _, entry := range c.Environment(protocol) {
			key, value, _ := strings.Cut(entry, "=")
			env[key] = value
		}
		use(otelsetup.Options{Env: env})
		return c.Traces(t), c.Metrics(t)
	}
}

// setup has telemetry that must lose nothing.
func setup(t *testing.T, o otelsetup.Options) *otelsetup.Telemetry {
	t.Helper()
	o.Resource, o.Timeout = []attribute.KeyValue{attribute.String("service.name", "lenslaunch")}, time.Minute
	o.Warn = func(msg string, args ...any) { t.Errorf("%s %v", msg, args) }
	telemetry := otelsetup.Setup(t.Context(), o)
	if !telemetry.Enabled {
		t.Fatal("telemetry is off")
	}
	return telemetry
}

// lost is what a worker had open when it was killed: n spans, each the next one's parent.
func lost(n int, name string) otelsetup.Foreign {
	began := time.Unix(1_700_000_000, 123_456_789)
	f := otelsetup.Foreign{
		Resource: []attribute.KeyValue{attribute.String("service.name", "train"), attribute.Int64("nv.dl.rank", 3)},
		End:      began.Add(time.Hour), Reason: "rank 3 killed by SIGKILL",
	}
	var parent trace.SpanID
	for i := range n {
		id := trace.SpanID{7: byte(i + 1), 6: byte((i + 1) >> 8)}
		f.Spans = append(f.Spans, journal.Span{
			TraceID: trace.TraceID(slices.Repeat([]byte{0xab}, 16)), SpanID: id, Parent: parent, TraceFlags: trace.FlagsSampled,
			Name: name, Kind: trace.SpanKindInternal, Scope: journal.Scope{Name: "train", Version: "2"}, Start: began.Add(time.Duration(i)),
		})
		parent = id
	}
	return f
}

// Own spans, metrics, and the spans of a worker that was killed arrive the same way
// whichever it is: each under its own resource, those of the worker as it had them.
func TestEveryWay(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			traces, metrics := way(t, func(o otelsetup.Options) {
				telemetry := setup(t, o)
				ctx, run := telemetry.Tracer.Start(context.Background(), "lenslaunch.run")
				_, attempt := telemetry.Tracer.Start(ctx, "lenslaunch.attempt")
				restarts, err := telemetry.Meter.Int64Counter("lenslaunch.restarts")
				if err != nil {
					t.Fatal(err)
				}
				restarts.Add(ctx, 2)
				if err := telemetry.Export(t.Context(), lost(2, "train.step")); err != nil {
					t.Error(err)
				}
				attempt.End()
				run.End()
				telemetry.Shutdown("the end")
			})
			own, workers := ofService(traces, "lenslaunch"), ofService(traces, "train")
			if got := collector.Spans(own); len(got) != 2 || len(named(got, "lenslaunch.run")) != 1 || len(named(got, "lenslaunch.attempt")) != 1 {
				t.Errorf("own spans: %v", got)
			}
			kin(t, collector.Spans(own))
			checkRecovered(t, workers)
			checkRestarts(t, metrics)
		})
	}
}

func ofService(list []*tracepb.ResourceSpans, name string) (found []*tracepb.ResourceSpans) {
	for _, resource := range list {
		if valuesOf(resource.GetResource().GetAttributes())["service.name"] == name {
			found = append(found, resource)
		}
	}
	return found
}

// checkRecovered compares the worker's spans with those that it had.
func checkRecovered(t *testing.T, list []*tracepb.ResourceSpans) {
	t.Helper()
	if len(list) != 1 || valuesOf(list[0].Resource.Attributes)["nv.dl.rank"] != "3" {
		t.Fatalf("the worker's: %v", list)
	}
	var want []*tracepb.Span
	for i, span := range lost(2, "train.step").Spans {
		end := uint64(lost(0, "").End.UnixNano())
		s := &tracepb.Span{
			TraceId: span.TraceID[:], SpanId: span.SpanID[:], Name: "train.step", Kind: tracepb.Span_SPAN_KIND_INTERNAL,
			StartTimeUnixNano: uint64(span.Start.UnixNano()), EndTimeUnixNano: end, Flags: 0x101, Status: &tracepb.Status{},
		}
		if i > 0 {
			s.ParentSpanId = span.Parent[:]
		}
		want = append(want, s)
	}
	got := collector.Spans(list)
	if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.IgnoreFields(&tracepb.Span{}, "attributes", "events")); diff != "" {
		t.Errorf("(-recovered +arrived):\n%s", diff)
	}
	for _, span := range got {
		attributes := map[string]string{"nemo.span.truncated": "true", "lenslaunch.span.recovered": "true"}
		if diff := cmp.Diff(attributes, valuesOf(span.Attributes)); diff != "" {
			t.Error(diff)
		}
		if len(span.Events) != 1 || valuesOf(span.Events[0].Attributes)["nemo.span.truncated.reason"] != "rank 3 killed by SIGKILL" {
			t.Errorf("events: %v", span.Events)
		}
	}
}

func checkRestarts(t *testing.T, list []*metricpb.ResourceMetrics) {
	t.Helper()
	if len(list) == 0 {
		t.Fatal("no metrics")
	}
	last := list[len(list)-1]
	if got := valuesOf(last.Resource.Attributes); !cmp.Equal(got, map[string]string{"service.name": "lenslaunch"}) {
		t.Errorf("the metrics' resource: %v", got)
	}
	metric := last.ScopeMetrics[0].Metrics[0]
	if metric.Name != "lenslaunch.restarts" || metric.GetSum().GetDataPoints()[0].GetAsInt() != 2 || !metric.GetSum().IsMonotonic {
		t.Errorf("%v", metric)
	}
}

// A worker may have had as many spans open as a journal holds, with the longest names:
// they arrive all, also by way of a file, of which a Collector reads lines of 1 MiB.
func TestFullJournalArrives(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			longest := strings.Repeat("n", 152)
			traces, _ := way(t, func(o otelsetup.Options) {
				telemetry := setup(t, o)
				if err := telemetry.Export(t.Context(), lost(journal.MaxSlots, longest)); err != nil {
					t.Error(err)
				}
				telemetry.Shutdown("the end")
			})
			if got := named(collector.Spans(traces), longest); len(got) != journal.MaxSlots {
				t.Errorf("%d of %d spans arrived", len(got), journal.MaxSlots)
			}
		})
	}
}
