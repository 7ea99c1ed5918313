package journal

import (
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
)

func page(text string) []byte {
	b := make([]byte, offSlot)
	copy(b[offResource+8:], text)
	le.PutUint64(b[offResource:], uint64(crc32.ChecksumIEEE([]byte(text)))<<32|uint64(len(text)))
	return b
}

func TestResourceComesBack(t *testing.T) {
	list := []attribute.KeyValue{
		attribute.Bool("b", true), attribute.BoolSlice("bs", []bool{true, false}),
		attribute.Float64("f", 3), attribute.Float64("f2", 1e300), attribute.Float64Slice("fs", []float64{1, 2.5}),
		attribute.Int64("i", math.MinInt64), attribute.Int64Slice("is", []int64{1, math.MaxInt64}),
		attribute.String("s", "ä<&>\u2028\""), attribute.StringSlice("ss", []string{"", "x"}),
	}
	got, schema := decodeResource(page(string(encodeResource(list, "https://schema"))))
	if diff := cmp.Diff(list, got, cmp.Comparer(func(a, b attribute.Value) bool { return a == b })); diff != "" || schema != "https://schema" {
		t.Errorf("schema %q (-want +got):\n%s", schema, diff)
	}
	got, _ = decodeResource(page(string(encodeResource([]attribute.KeyValue{attribute.Float64("x", math.Inf(1))}, ""))))
	if len(got) != 1 || got[0].Value != attribute.StringValue("+Inf") {
		t.Errorf("infinity is %v", got)
	}
}

func TestResourceThatIsNone(t *testing.T) {
	if encodeResource([]attribute.KeyValue{attribute.String("x", strings.Repeat("x", maxResource))}, "") != nil {
		t.Error("more than there is room for")
	}
	damaged := page(`{"attributes":{}}`)
	damaged[offResource+9]++
	huge := page("")
	le.PutUint64(huge[offResource:], 1<<64-1)
	for name, b := range map[string][]byte{
		"none": page(""), "no JSON": page("{"), "a list": page("[]"), "no attributes": page("{}"), "damaged": damaged, "huge": huge,
		"attributes of another type": page(`{"attributes":[1]}`),
	} {
		if list, _ := decodeResource(b); list != nil {
			t.Errorf("%s: %v", name, list)
		}
	}
}

// What a resource in another language may hold and an attribute cannot.
func TestForeignValues(t *testing.T) {
	text := `{"attributes":{"null":null,"map":{"a":1},"mixed":[1,"a"],"nested":[[1]],"big":123456789012345678901234567890,"":1,"empty":[],"ok":1}}`
	got, _ := decodeResource(page(text))
	want := []attribute.KeyValue{attribute.Float64("big", 123456789012345678901234567890.0), attribute.StringSlice("empty", nil), attribute.Int("ok", 1)}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b attribute.Value) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzResource(f *testing.F) {
	f.Add(`{"attributes":{"a":[1.5,2],"b":true},"schema_url":"x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), maxResource)]
		list, schema := decodeResource(page(text))
		if list == nil {
			return
		}
		again, _ := decodeResource(page(string(encodeResource(list, schema))))
		if len(text) < 1000 && len(again) != len(list) {
			t.Errorf("%d attributes, then %d", len(list), len(again))
		}
	})
}
