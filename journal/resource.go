package journal

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// resourceJSON is the resource as it stands in the file. A number with a fraction or
// an exponent is a float, any other an int.
type resourceJSON struct {
	Attributes map[string]any `json:"attributes"`
	SchemaURL  string         `json:"schema_url,omitempty"`
}

// encodeResource is the text, or nil if there is no room for it. Values that JSON has
// no form for are left out.
func encodeResource(list []attribute.KeyValue, schemaURL string) []byte {
	r := resourceJSON{Attributes: make(map[string]any, len(list)), SchemaURL: schemaURL}
	for _, kv := range list {
		if v := plain(kv.Value); v != nil {
			r.Attributes[string(kv.Key)] = v
		}
	}
	text, err := json.Marshal(r)
	if err != nil || len(text) > maxResource {
		return nil
	}
	return text
}

// plain is a value that encoding/json writes in the form of the file.
func plain(v attribute.Value) any {
	switch v.Type() {
	case attribute.BOOL, attribute.INT64, attribute.STRING, attribute.BOOLSLICE, attribute.INT64SLICE, attribute.STRINGSLICE:
		return v.AsInterface()
	case attribute.FLOAT64:
		return float(v.AsFloat64())
	case attribute.FLOAT64SLICE:
		list := []any{}
		for _, f := range v.AsFloat64Slice() {
			list = append(list, float(f))
		}
		return list
	}
	return nil
}

// float keeps its point, so that it stays a float; JSON has no other numbers.
func float(f float64) any {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return text
	case !strings.ContainsAny(text, ".e"):
		text += ".0"
	}
	return json.Number(text)
}

// decodeResource reads the resource from the whole file; nil if there is none that is
// whole. The length is checked against the room that the format gives it.
func decodeResource(b []byte) (list []attribute.KeyValue, schemaURL string) {
	word := le.Uint64(b[offResource:])
	n := uint32(word)
	if n == 0 || n > maxResource {
		return nil, ""
	}
	text := b[offResource+8:][:n]
	if crc32.ChecksumIEEE(text) != uint32(word>>32) {
		return nil, ""
	}
	var r resourceJSON
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&r) != nil || r.Attributes == nil {
		return nil, ""
	}
	list = []attribute.KeyValue{}
	for key, v := range r.Attributes {
		if value := typed(v); value.Type() != attribute.EMPTY && key != "" {
			list = append(list, attribute.KeyValue{Key: attribute.Key(key), Value: value})
		}
	}
	slices.SortFunc(list, func(a, b attribute.KeyValue) int { return strings.Compare(string(a.Key), string(b.Key)) })
	return list, r.SchemaURL
}

// typed turns a decoded value back; empty for what no attribute can be.
func typed(v any) attribute.Value {
	switch v := v.(type) {
	case string:
		return attribute.StringValue(v)
	case bool:
		return attribute.BoolValue(v)
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return attribute.Int64Value(i)
		}
		if f, err := v.Float64(); err == nil {
			return attribute.Float64Value(f)
		}
	case []any:
		return typedList(v)
	}
	return attribute.Value{}
}

// typedList is a list of one type; a list of several is left out.
func typedList(list []any) attribute.Value {
	values := make([]attribute.Value, len(list))
	for i, v := range list {
		values[i] = typed(v)
		if values[i].Type() != values[0].Type() {
			return attribute.Value{}
		}
	}
	if len(values) == 0 {
		return attribute.StringSliceValue(nil)
	}
	switch values[0].Type() {
	case attribute.STRING:
		return attribute.StringSliceValue(each(values, attribute.Value.AsString))
	case attribute.BOOL:
		return attribute.BoolSliceValue(each(values, attribute.Value.AsBool))
	case attribute.INT64:
		return attribute.Int64SliceValue(each(values, attribute.Value.AsInt64))
	case attribute.FLOAT64:
		return attribute.Float64SliceValue(each(values, attribute.Value.AsFloat64))
	}
	return attribute.Value{}
}

func each[T any](values []attribute.Value, as func(attribute.Value) T) []T {
	list := make([]T, len(values))
	for i, v := range values {
		list[i] = as(v)
	}
	return list
}
