package otlpfile

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
)

// decode reads a line by the rules of OTLP's JSON: the protobuf library's decoder, given
// ids as it wants them.
func decode(t testing.TB, line []byte) *coltracepb.ExportTraceServiceRequest {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	text, err := json.Marshal(idsToBase64(t, tree))
	if err != nil {
		t.Fatal(err)
	}
	var request coltracepb.ExportTraceServiceRequest
	if err := protojson.Unmarshal(text, &request); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return &request
}

func idsToBase64(t testing.TB, tree any) any {
	t.Helper()
	switch tree := tree.(type) {
	case []any:
		for i := range tree {
			tree[i] = idsToBase64(t, tree[i])
		}
	case map[string]any:
		for key, v := range tree {
			if key != "traceId" && key != "spanId" && key != "parentSpanId" {
				tree[key] = idsToBase64(t, v)
				continue
			}
			id, err := hex.DecodeString(v.(string))
			if err != nil || strings.ToLower(v.(string)) != v {
				t.Fatalf("%s is %v", key, v)
			}
			tree[key] = base64.StdEncoding.EncodeToString(id)
		}
	}
	return tree
}

// Every field that OTLP has, with a value of its own, comes back.
func TestEveryField(t *testing.T) {
	var request coltracepb.ExportTraceServiceRequest
	n := 0
	fill(request.ProtoReflect(), &n, 0)
	if n < 50 {
		t.Fatalf("only %d values filled in", n)
	}
	got := decode(t, appendJSON(nil, request.ProtoReflect()))
	if diff := cmp.Diff(&request, got, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// fill gives every field a value; of a oneof, which keeps the last, each message gets
// another, by its number in a list.
func fill(m protoreflect.Message, n *int, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if one := f.ContainingOneof(); one != nil && *n%one.Fields().Len() != i%one.Fields().Len() && m.WhichOneof(one) != nil {
			continue
		}
		if f.Kind() == protoreflect.MessageKind && depth > 8 {
			continue
		}
		if !f.IsList() {
			m.Set(f, value(m.NewField(f), f, n, depth))
			continue
		}
		list := m.Mutable(f).List()
		for range 3 {
			list.Append(value(list.NewElement(), f, n, depth))
		}
	}
}

func value(empty protoreflect.Value, f protoreflect.FieldDescriptor, n *int, depth int) protoreflect.Value {
	*n++
	switch f.Kind() {
	case protoreflect.MessageKind:
		fill(empty.Message(), n, depth+2)
		return empty
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("text ä\u2028<\"\n" + string(rune('a'+*n%26)))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(bytes.Repeat([]byte{byte(*n), 0xfe}, 4))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(2)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(*n) + 0.1)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(-*n))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(math.MaxUint32 - uint32(*n))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(math.MinInt64 + int64(*n))
	default:
		return protoreflect.ValueOfUint64(math.MaxUint64 - uint64(*n))
	}
}

func anyValue(v any) *commonpb.AnyValue {
	switch v := v.(type) {
	case float64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v}}
	case int:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: int64(v)}}
	case []byte:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: v}}
	case bool:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v}}
	default:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v.(string)}}
	}
}

// Values as the text has them, also those that are zero and yet there.
func TestValues(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{0, `{"intValue":"0"}`}, {math.MaxInt64, `{"intValue":"9223372036854775807"}`}, {false, `{"boolValue":false}`},
		{"", `{"stringValue":""}`}, {"a\xffb", `{"stringValue":"a\ufffdb"}`}, {[]byte{0xff, 0xfe}, `{"bytesValue":"//4="}`},
		{1.0, `{"doubleValue":1}`}, {1e300, `{"doubleValue":1e+300}`}, {math.Copysign(0, -1), `{"doubleValue":-0}`},
		{math.NaN(), `{"doubleValue":"NaN"}`}, {math.Inf(1), `{"doubleValue":"Infinity"}`}, {math.Inf(-1), `{"doubleValue":"-Infinity"}`},
	} {
		if got := string(appendJSON(nil, anyValue(test.value).ProtoReflect())); got != test.want {
			t.Errorf("%v is %s, want %s", test.value, got, test.want)
		}
	}
}

// What plain protojson gets wrong, in the text itself.
func TestTextOfASpan(t *testing.T) {
	text := string(appendJSON(nil, request(1)[0].ProtoReflect()))
	for _, want := range []string{
		`"traceId":"5b8efff798038103d269b633813fc60c"`, `"spanId":"eee19b7ec3c1b174"`, `"parentSpanId":"eee19b7ec3c1b173"`,
		`"kind":2`, `"startTimeUnixNano":"1544712660000000000"`, `"endTimeUnixNano":"1544712661000000000"`, `"status":{"code":2}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if found := regexp.MustCompile(`SPAN_KIND|STATUS_CODE|_nano`).FindString(text); found != "" || strings.Contains(text, "\n") {
		t.Errorf("%q in %s", found, text)
	}
}

func request(spans int) []*tracepb.ResourceSpans {
	id := func(text string) []byte {
		b, _ := hex.DecodeString(text)
		return b
	}
	scope := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "x"}}
	for range spans {
		scope.Spans = append(scope.Spans, &tracepb.Span{
			TraceId: id("5b8efff798038103d269b633813fc60c"), SpanId: id("eee19b7ec3c1b174"), ParentSpanId: id("eee19b7ec3c1b173"),
			Name: "I'm a server span", Kind: tracepb.Span_SPAN_KIND_SERVER, StartTimeUnixNano: 1544712660000000000, EndTimeUnixNano: 1544712661000000000,
			Attributes: []*commonpb.KeyValue{{Key: "k", Value: anyValue(7)}}, Status: &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR},
		})
	}
	return []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{scope}}}
}

// FuzzText: whatever a string holds, the line is one line and decodes.
func FuzzText(f *testing.F) {
	f.Add("a\n\x00\xff\u2028", 0.5)
	f.Fuzz(func(t *testing.T, text string, number float64) {
		spans := request(1)
		spans[0].ScopeSpans[0].Spans[0].Name = text
		spans[0].ScopeSpans[0].Spans[0].Attributes[0].Value = anyValue(number)
		line := appendJSON(nil, (&coltracepb.ExportTraceServiceRequest{ResourceSpans: spans}).ProtoReflect())
		got := decode(t, line)
		spans[0].ScopeSpans[0].Spans[0].Name = strings.ToValidUTF8(text, "\uFFFD")
		if name := got.ResourceSpans[0].ScopeSpans[0].Spans[0].Name; bytes.ContainsRune(line, '\n') || len([]rune(name)) != len([]rune(text)) {
			t.Errorf("%q became %q in %s", text, name, line)
		}
		value := got.ResourceSpans[0].ScopeSpans[0].Spans[0].Attributes[0].Value
		if !math.IsNaN(number) && !proto.Equal(value, anyValue(number)) {
			t.Errorf("%v became %v", number, value)
		}
	})
}
