package otelsetup

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"lenslaunch/journal"
)

// moment is when the process of these tests went, and its spans started before.
func moment() time.Time { return time.Unix(1_700_000_000, 123_456_789) }

func openSpan(id, parent byte) journal.Span {
	s := journal.Span{
		TraceID: trace.TraceID{15: 9}, SpanID: trace.SpanID{id}, TraceFlags: trace.FlagsSampled, Name: "span " + string('0'+id),
		Kind: trace.SpanKindClient, Scope: journal.Scope{Name: "scope", Version: "1"}, Start: moment().Add(-time.Minute + time.Duration(id)),
	}
	if parent != 0 {
		s.Parent = trace.SpanID{parent}
	}
	return s
}

func foreign(spans ...journal.Span) Foreign {
	return Foreign{
		Resource:  []attribute.KeyValue{attribute.String("service.name", "llm"), attribute.Int("nv.dl.rank", 3), {Key: "null"}},
		SchemaURL: "https://schema/1", Spans: spans, End: moment(), Reason: "rank 3 killed by SIGKILL",
	}
}

// shown is a span as it arrived, in the words of these tests.
func shown(s *tracepb.Span) map[string]any {
	attributes := map[string]any{}
	for _, kv := range s.Attributes {
		attributes[kv.Key] = kv.Value.GetBoolValue()
	}
	return map[string]any{
		"trace": hex.EncodeToString(s.TraceId), "span": hex.EncodeToString(s.SpanId), "parent": hex.EncodeToString(s.ParentSpanId),
		"name": s.Name, "kind": s.Kind.String(), "start": time.Unix(0, int64(s.StartTimeUnixNano)).UTC(), "end": time.Unix(0, int64(s.EndTimeUnixNano)).UTC(),
		"attributes": attributes, "reason": truncation(s), "status": s.GetStatus().GetCode().String(),
	}
}

// The spans of a process that has gone arrive as they were, with its own resource, over
// every exporter; what was open is truncated, what had ended is not.
func TestForeignSpansArriveAsTheyWere(t *testing.T) {
	for name, begin := range receivers(t) {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "leak=1")
			t.Setenv("OTEL_SERVICE_NAME", "leak")
			r, env := begin(t)
			env["OTEL_METRICS_EXPORTER"] = "none"
			telemetry, said := start(t, longEnough, env)
			ended := openSpan(3, 2)
			ended.End, ended.Status = ended.Start.Add(time.Second), codes.Error
			fine := openSpan(4, 2)
			fine.End, fine.Status, fine.Kind = fine.Start.Add(time.Second), codes.Ok, trace.SpanKindInternal
			late := openSpan(5, 2)
			late.Start = moment().Add(time.Second)
			f := foreign(openSpan(1, 0), openSpan(2, 1), ended, fine, late)
			if err := telemetry.Export(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			telemetry.Shutdown("end")
			if got := one(t, said); got != "" {
				t.Error(got)
			}
			checkForeign(t, r)
			var got []map[string]any
			for _, s := range r.spans() {
				got = append(got, shown(s))
			}
			want := func(s journal.Span, end time.Time, kind, status string) map[string]any {
				parent := ""
				if s.Parent.IsValid() {
					parent = s.Parent.String()
				}
				m := map[string]any{
					"trace": s.TraceID.String(), "span": s.SpanID.String(), "parent": parent, "name": s.Name, "kind": "SPAN_KIND_" + kind,
					"start": s.Start.UTC(), "end": end.UTC(), "attributes": map[string]any{RecoveredKey: true}, "reason": "", "status": "STATUS_CODE_" + status,
				}
				if s.Open() {
					m["attributes"], m["reason"] = map[string]any{RecoveredKey: true, "nemo.span.truncated": true}, f.Reason
				}
				return m
			}
			if diff := cmp.Diff([]map[string]any{
				want(f.Spans[0], moment(), "CLIENT", "UNSET"), want(f.Spans[1], moment(), "CLIENT", "UNSET"), want(ended, ended.End, "CLIENT", "ERROR"),
				want(fine, fine.End, "INTERNAL", "OK"), want(late, late.Start, "CLIENT", "UNSET"),
			}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Where a parent is in another process is known of a span that was recovered, too.
func TestForeignParent(t *testing.T) {
	for _, remote := range []bool{false, true} {
		s := openSpan(2, 1)
		s.ParentRemote, s.TraceFlags = remote, trace.FlagsSampled
		got := foreign(s).snapshots()[0].Parent()
		if got.IsRemote() != remote || got.TraceFlags() != s.TraceFlags || got.SpanID() != s.Parent || got.TraceID() != s.TraceID {
			t.Errorf("remote %v: %+v", remote, got)
		}
	}
	if got := foreign(openSpan(1, 0)).snapshots()[0].Parent(); got.IsValid() || got.HasTraceID() {
		t.Errorf("a root has a parent: %+v", got)
	}
}

func checkForeign(t *testing.T, r *receiver) {
	t.Helper()
	if len(r.batches) != 1 || r.batches[0].SchemaUrl != "https://schema/1" {
		t.Fatalf("%v", r.batches)
	}
	got := map[string]any{}
	for _, kv := range r.batches[0].Resource.Attributes {
		got[kv.Key] = kv.Value.GetStringValue()
		if kv.Key == "nv.dl.rank" {
			got[kv.Key] = kv.Value.GetIntValue()
		}
	}
	if diff := cmp.Diff(map[string]any{"service.name": "llm", "nv.dl.rank": int64(3)}, got); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	if scope := r.batches[0].ScopeSpans[0].Scope; scope.Name != "scope" || scope.Version != "1" {
		t.Errorf("scope %v", scope)
	}
}

// Bytes that are no text cost a character, in whatever place they are.
func TestForeignInvalidText(t *testing.T) {
	r := startGRPC(t)
	telemetry, said := start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url})
	s := openSpan(1, 0)
	s.Name, s.Scope = "n\xff", journal.Scope{Name: "s\xff", Version: "v\xff"}
	f := foreign(s)
	f.Resource, f.SchemaURL, f.Reason = []attribute.KeyValue{attribute.String("k\xff", "v\xff")}, "u\xff", "r\xff"
	if err := telemetry.Export(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	telemetry.Shutdown("end")
	const bad = "\uFFFD"
	if diff := cmp.Diff(map[string]string{"k" + bad: "v" + bad}, r.attributes(t)); diff != "" || len(said.list()) != 0 {
		t.Errorf("warnings %q, resource (-want +got):\n%s", said.list(), diff)
	}
	if got := r.spans(); len(got) != 1 || got[0].Name != "n"+bad || truncation(got[0]) != "r"+bad {
		t.Errorf("%v", got)
	}
}

// What has arrived does not come twice, though the caller tries all again; processes that
// are exported together keep their resources apart.
func TestForeignOnce(t *testing.T) {
	r := startGRPC(t)
	telemetry, _ := start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url, "OTEL_METRICS_EXPORTER": "none"})
	a, b := foreign(openSpan(1, 0)), foreign(openSpan(2, 0))
	b.Resource = []attribute.KeyValue{attribute.Int("nv.dl.rank", 4)}
	for _, err := range []error{telemetry.Export(t.Context(), a), telemetry.Export(t.Context(), a, b), telemetry.Export(t.Context())} {
		if err != nil {
			t.Error(err)
		}
	}
	telemetry.Shutdown("end")
	if len(r.spans()) != 2 || len(r.batches) != 2 || len(r.headers) != 2 {
		t.Errorf("%d spans in %d requests", len(r.spans()), len(r.headers))
	}
}

// A part that the collector does not like is not tried for ever.
func TestForeignPartlyRefused(t *testing.T) {
	r := startGRPC(t)
	telemetry, said := start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url})
	r.reject = 1
	if err := telemetry.Export(t.Context(), foreign(openSpan(1, 0), openSpan(2, 0))); err != nil {
		t.Error(err)
	}
	if err := telemetry.Export(t.Context(), foreign(openSpan(3, 0))); err == nil {
		t.Error("all was refused, and that is no error")
	}
	telemetry.Shutdown("end")
	if got := one(t, said); got != "" {
		t.Errorf("foreign spans count for the launcher: %q", got)
	}
}

func TestForeignErrors(t *testing.T) {
	if err := off().Export(t.Context(), foreign(openSpan(1, 0))); !errors.Is(err, ErrOff) {
		t.Error(err)
	}
	url, heard := blackHole(t)
	telemetry, said := start(t, 300*time.Millisecond, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_METRICS_EXPORTER": "none"})
	ctx, cancel := context.WithCancel(t.Context())
	hanging, waiting := make(chan error, 1), make(chan error, 1)
	go func() { hanging <- telemetry.Export(context.Background(), foreign(openSpan(1, 0))) }()
	<-heard
	go func() { waiting <- telemetry.Export(ctx, foreign(openSpan(2, 0))) }()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller's time is over: %v", err)
	}
	telemetry.Shutdown("end")
	if err := <-hanging; err == nil || !strings.Contains(err.Error(), errGivenUp.Error()) {
		t.Errorf("the shutdown gives up: %v", err)
	}
	if err := telemetry.Export(t.Context(), foreign(openSpan(1, 0))); err == nil {
		t.Error("after the shutdown: no error")
	}
	if got := one(t, said); got != "" {
		t.Errorf("foreign spans count for the launcher: %q", got)
	}
}

// Whatever a journal says, the spans are such that no exporter loses the batch, and none
// ends before it begins.
func FuzzForeign(f *testing.F) {
	f.Add("name", "scope", "key", "value", "reason", int64(1), int64(2), uint8(1))
	f.Add("\xff", "\xc3(", "\xfe", "\xf0\x9f", "\x80", int64(-1), int64(0), uint8(255))
	f.Fuzz(func(t *testing.T, name, scope, key, value, reason string, began, end int64, flags uint8) {
		s := openSpan(1, 2)
		s.Name, s.Scope, s.Start, s.TraceFlags = name, journal.Scope{Name: scope, Version: value}, time.Unix(0, began), trace.TraceFlags(flags)
		other := foreign(s)
		other.Resource, other.SchemaURL, other.Reason, other.End = []attribute.KeyValue{attribute.String(key, value)}, value, reason, time.Unix(0, end)
		got := other.snapshots()[0]
		if _, changed := validSpan(got).(valid); changed || !areValid(got.Resource().Attributes()) || !utf8.ValidString(got.Resource().SchemaURL()) {
			t.Fatalf("%+v", got)
		}
		if is := got.InstrumentationScope(); !utf8.ValidString(is.Name) || !utf8.ValidString(is.Version) || got.EndTime().Before(got.StartTime()) {
			t.Fatalf("%+v, %v to %v", is, got.StartTime(), got.EndTime())
		}
	})
}
