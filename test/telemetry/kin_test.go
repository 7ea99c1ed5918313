//go:build telemetry && linux

package telemetry

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// family is the spans of one trace, by id.
type family map[string]*tracepb.Span

// kin checks what holds of all spans of a run, whatever they are: one trace, ids that
// are nobody else's, an end after its start, parents that arrived, none outside its
// parent's time.
func kin(t *testing.T, spans []*tracepb.Span) family {
	t.Helper()
	f := family{}
	for _, span := range spans {
		if other := f[string(span.SpanId)]; other != nil {
			t.Errorf("%s and %s have the same id", span.Name, other.Name)
		}
		f[string(span.SpanId)] = span
	}
	for _, span := range spans {
		if string(span.TraceId) != string(spans[0].TraceId) {
			t.Errorf("%s is of another trace than %s", span.Name, spans[0].Name)
		}
		if span.StartTimeUnixNano > span.EndTimeUnixNano {
			t.Errorf("%s starts %v after its end", span.Name, time.Duration(span.StartTimeUnixNano-span.EndTimeUnixNano))
		}
		parent := f[string(span.ParentSpanId)]
		switch {
		case parent == nil && len(span.ParentSpanId) != 0:
			t.Errorf("the parent of %s did not arrive", span.Name)
		case parent == nil && !strings.HasPrefix(span.Name, "lenslaunch.run"):
			t.Errorf("%s has no parent", span.Name)
		case parent != nil && (span.StartTimeUnixNano < parent.StartTimeUnixNano || span.EndTimeUnixNano > parent.EndTimeUnixNano):
			t.Errorf("%s is not within %s: it starts %v and ends %v later", span.Name, parent.Name,
				time.Duration(span.StartTimeUnixNano-parent.StartTimeUnixNano), time.Duration(span.EndTimeUnixNano-parent.EndTimeUnixNano))
		}
	}
	return f
}

// names has, for a span, the attribute that tells it from others of its name.
var names = map[string]string{"lenslaunch.attempt": "lenslaunch.attempt", "lenslaunch.worker": "nv.dl.rank"}

// compared are the attributes that tell shows. The others, a process's number and the
// attempt's, are different each time.
var compared = []string{
	"process.command", "lenslaunch.nproc", "lenslaunch.nnodes", "nv.dl.local_rank", "lenslaunch.outcome", "process.exit.code",
	"process.exit.signal", "lenslaunch.restarts", "lenslaunch.cause.rank", "lenslaunch.reason",
}

// tell writes a span as "path key=value... ERROR message TRUNCATED reason".
func (f family) tell(span *tracepb.Span) string {
	words, values := []string{f.path(span)}, valuesOf(span.Attributes)
	for _, key := range compared {
		if value, ok := values[key]; ok {
			words = append(words, key+"="+value)
		}
	}
	if status := span.GetStatus(); status.GetCode() != tracepb.Status_STATUS_CODE_UNSET {
		words = append(words, strings.TrimPrefix(status.GetCode().String(), "STATUS_CODE_"), status.GetMessage())
	}
	// The attribute and the event come together or not at all.
	if value, ok := values["nemo.span.truncated"]; ok && value != "true" {
		words = append(words, "nemo.span.truncated="+value)
	} else if ok {
		words = append(words, "TRUNCATED")
	}
	for _, event := range span.Events {
		if event.Name == "nemo.span.truncated" {
			words = append(words, valuesOf(event.Attributes)["nemo.span.truncated.reason"])
		}
	}
	for key, wanted := range map[string]string{"process.pid": "lenslaunch.worker", "nv.dl.run.uuid": "lenslaunch.attempt"} {
		if _, ok := values[key]; ok != (span.Name == wanted) {
			words = append(words, fmt.Sprintf("%s: %v", key, ok))
		}
	}
	return strings.Join(words, " ")
}

// path names a span and all above it.
func (f family) path(span *tracepb.Span) string {
	name := strings.TrimPrefix(span.Name, "lenslaunch.")
	if key := names[span.Name]; key != "" {
		name += " " + valuesOf(span.Attributes)[key]
	}
	if parent := f[string(span.ParentSpanId)]; parent != nil {
		return f.path(parent) + "/" + name
	}
	return name
}

// valuesOf are attributes as text; one that is a list or so is shown as it is.
func valuesOf(list []*commonpb.KeyValue) map[string]string {
	values := map[string]string{}
	for _, kv := range list {
		switch v := kv.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			values[kv.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			values[kv.Key] = strconv.FormatInt(v.IntValue, 10)
		case *commonpb.AnyValue_BoolValue:
			values[kv.Key] = strconv.FormatBool(v.BoolValue)
		default:
			values[kv.Key] = kv.GetValue().String()
		}
	}
	return values
}
