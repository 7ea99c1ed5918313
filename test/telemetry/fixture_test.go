//go:build telemetry && linux

package telemetry

import (
	"bytes"
	"math"
	"slices"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// text is of characters that JSON, HTML or a terminal would make something else of.
const text = "ä \u2028 <&> \"'\\ \n\t\x00\x7f \U0001f600"

// id is one of n bytes that differ.
func id(n int, first byte) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = first - byte(i)
	}
	return out
}

func stringValue(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

func intValue(n int64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
}

func doubleValue(f float64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: f}}
}

func boolValue(b bool) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: b}}
}

func bytesValue(b []byte) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: b}}
}

func arrayValue(list ...*commonpb.AnyValue) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: list}}}
}

func mapValue(list ...*commonpb.KeyValue) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: list}}}
}

// everyValue has each kind of value, and of each kind those that are easily lost.
func everyValue() []*commonpb.KeyValue {
	values := []*commonpb.AnyValue{
		{}, stringValue(""), stringValue(text), boolValue(false), boolValue(true),
		intValue(0), intValue(-1), intValue(1<<53 + 1), intValue(math.MaxInt64), intValue(math.MinInt64),
		doubleValue(0), doubleValue(1), doubleValue(-0.1), doubleValue(math.Copysign(0, -1)),
		doubleValue(math.MaxFloat64), doubleValue(math.SmallestNonzeroFloat64), doubleValue(1e21), doubleValue(1e-7),
		bytesValue([]byte{}), bytesValue([]byte{0, 0xff, 0xfe, '"'}),
		arrayValue(), mapValue(),
		arrayValue(intValue(1), stringValue("two"), arrayValue(boolValue(true)), &commonpb.AnyValue{}),
	}
	var list []*commonpb.KeyValue
	for i, v := range values {
		list = append(list, &commonpb.KeyValue{Key: "value." + string(rune('a'+i)), Value: v})
	}
	return append(list, &commonpb.KeyValue{Key: text, Value: mapValue(slices.Clone(list)...)})
}

// everySpan is one request: each kind and status of a span, events, links, flags, counts.
func everySpan() []*tracepb.ResourceSpans {
	var spans []*tracepb.Span
	for kind := range tracepb.Span_SpanKind_name {
		spans = append(spans, &tracepb.Span{
			TraceId: id(16, 0xf0), SpanId: id(8, byte(kind)), ParentSpanId: id(8, 0x80), TraceState: "a=1,b=2",
			Name: text, Kind: tracepb.Span_SpanKind(kind), Flags: 0x301,
			StartTimeUnixNano: 1_700_000_000_123_456_789, EndTimeUnixNano: math.MaxUint64, Attributes: everyValue(),
			DroppedAttributesCount: math.MaxUint32, DroppedEventsCount: 2, DroppedLinksCount: 3,
			Status: &tracepb.Status{Code: tracepb.Status_StatusCode(kind % 3), Message: text},
			Events: []*tracepb.Span_Event{
				{TimeUnixNano: 1_700_000_000_123_456_790, Name: "nemo.span.truncated", Attributes: everyValue(), DroppedAttributesCount: 4},
				{},
			},
			Links: []*tracepb.Span_Link{
				{TraceId: id(16, 0x11), SpanId: id(8, 0x22), TraceState: "c=3", Attributes: everyValue(), DroppedAttributesCount: 5, Flags: 0x101},
			},
		})
	}
	slices.SortFunc(spans, func(a, b *tracepb.Span) int { return bytes.Compare(a.SpanId, b.SpanId) })
	spans = append(spans, &tracepb.Span{TraceId: id(16, 1), SpanId: id(8, 1), Status: &tracepb.Status{}})
	return []*tracepb.ResourceSpans{
		{
			SchemaUrl: "https://example.com/resource",
			Resource: &resourcepb.Resource{Attributes: everyValue(), DroppedAttributesCount: 6, EntityRefs: []*commonpb.EntityRef{
				{SchemaUrl: "https://example.com/entity", Type: "host", IdKeys: []string{"value.b"}, DescriptionKeys: []string{"value.c"}},
			}},
			ScopeSpans: []*tracepb.ScopeSpans{{
				SchemaUrl: "https://example.com/scope",
				Scope:     &commonpb.InstrumentationScope{Name: "scope", Version: "1.2.3", Attributes: everyValue(), DroppedAttributesCount: 7},
				Spans:     spans,
			}},
		},
		{Resource: &resourcepb.Resource{}, ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{}}}},
	}
}

// oneSpan is a request of one span with one attribute.
func oneSpan(v *commonpb.AnyValue) []*tracepb.ResourceSpans {
	return []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{},
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{}, Spans: []*tracepb.Span{{
			TraceId: id(16, 0xff), SpanId: id(8, 0xfe), Name: "alone", Status: &tracepb.Status{},
			Attributes: []*commonpb.KeyValue{{Key: "value", Value: v}},
		}}}},
	}}
}

// everyMetric is one request: each kind of metric, numbers of both kinds, an exemplar.
func everyMetric() []*metricpb.ResourceMetrics {
	const cumulative = metricpb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	exemplar := &metricpb.Exemplar{
		FilteredAttributes: everyValue(), TimeUnixNano: 5, Value: &metricpb.Exemplar_AsInt{AsInt: -1}, SpanId: id(8, 0xee), TraceId: id(16, 0xdd),
	}
	whole := &metricpb.NumberDataPoint{
		Attributes: everyValue(), StartTimeUnixNano: 1, TimeUnixNano: math.MaxUint64, Value: &metricpb.NumberDataPoint_AsInt{AsInt: math.MinInt64},
		Exemplars: []*metricpb.Exemplar{exemplar}, Flags: 1,
	}
	fraction := &metricpb.NumberDataPoint{TimeUnixNano: 2, Value: &metricpb.NumberDataPoint_AsDouble{AsDouble: 0}}
	sum, least, most := 2.5, 0.0, 2.0
	metrics := []*metricpb.Metric{
		{Name: "gauge", Unit: "s", Description: text, Data: &metricpb.Metric_Gauge{Gauge: &metricpb.Gauge{DataPoints: []*metricpb.NumberDataPoint{whole, fraction}}}},
		{Name: "sum", Data: &metricpb.Metric_Sum{Sum: &metricpb.Sum{
			DataPoints: []*metricpb.NumberDataPoint{whole}, AggregationTemporality: cumulative, IsMonotonic: true,
		}}},
		{Name: "histogram", Data: &metricpb.Metric_Histogram{Histogram: &metricpb.Histogram{
			AggregationTemporality: cumulative,
			DataPoints: []*metricpb.HistogramDataPoint{{
				TimeUnixNano: 3, Count: math.MaxUint64, Sum: &sum, BucketCounts: []uint64{0, math.MaxUint64}, ExplicitBounds: []float64{0.005}, Min: &least, Max: &most,
			}},
		}}},
	}
	return []*metricpb.ResourceMetrics{{
		Resource: &resourcepb.Resource{Attributes: everyValue()},
		ScopeMetrics: []*metricpb.ScopeMetrics{{
			Scope: &commonpb.InstrumentationScope{Name: "scope"}, Metrics: metrics, SchemaUrl: "https://example.com/scope",
		}},
	}}
}
