package carrier_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/semconv"
)

// FuzzParse: whatever the text, the list is one that the package promises, and
// what can be written of it survives being written and read again.
func FuzzParse(f *testing.F) {
	for _, v := range readVectors(f).Parse {
		f.Add(v.In)
	}
	for _, seed := range []string{"a=%C3\xa9", "\xff=\xff", "\u00a0a\x1c=%E2%82", "a=1,\x1fa=2", "a\x00=%00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list := carrier.Parse(text)
		seen := map[string]bool{}
		for _, kv := range list {
			key := string(kv.Key)
			if key == "" || key != semconv.TrimSpace(key) || strings.ContainsAny(key, ",=") {
				t.Errorf("%q gave the key %q", text, key)
			}
			if seen[key] {
				t.Errorf("%q gave the key %q twice", text, key)
			}
			seen[key] = true
			if kv.Value.Type() != attribute.STRING {
				t.Errorf("%q gave %q a %s", text, key, kv.Value.Type())
			}
			// Only what stood raw and broken in the text may come out broken.
			if utf8.ValidString(text) && !utf8.ValidString(kv.Value.AsString()) {
				t.Errorf("%q gave the broken value %q", text, kv.Value.AsString())
			}
		}
		formatted, warnings := carrier.Format(list)
		again := carrier.Parse(formatted)
		if len(again)+len(warnings) != len(list) {
			t.Errorf("%q: %d attributes, %d written, %d warnings", text, len(list), len(again), len(warnings))
		}
		if stable, _ := carrier.Format(again); stable != formatted {
			t.Errorf("%q is written %q, then %q", text, formatted, stable)
		}
	})
}

// representable is the set of lists that the format can hold: parse(format(x)) = x.
func representable(list []attribute.KeyValue) bool {
	seen := map[attribute.Key]bool{}
	for _, kv := range list {
		key := string(kv.Key)
		if key == "" || key != semconv.TrimSpace(key) || strings.ContainsAny(key, ",=\x00") ||
			!utf8.ValidString(key) || !utf8.ValidString(kv.Value.AsString()) || seen[kv.Key] {
			return false
		}
		seen[kv.Key] = true
	}
	return true
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("a", "1", "b", "2")
	f.Add("nv.dl.role", "", "a b", " x ")
	f.Add("k%2C", "%2C", "\u200bk", "\u00a0\u20ac\U0001f600\x00")
	f.Add("a", "\ufffd", "A", "+&=,;\"'\n")
	f.Fuzz(func(t *testing.T, key1, value1, key2, value2 string) {
		list := []attribute.KeyValue{attribute.String(key1, value1), attribute.String(key2, value2)}
		if !representable(list) {
			t.Skip()
		}
		text, warnings := carrier.Format(list)
		if warnings != nil {
			t.Errorf("warnings for a list that fits: %v", warnings)
		}
		if diff := cmp.Diff(show(list), show(carrier.Parse(text))); diff != "" {
			t.Errorf("through %q (-want +got):\n%s", text, diff)
		}
	})
}

// FuzzFormat: whatever the list, its text never reads as another key, holds
// nothing that an environment or an exporter cannot, and everything left out is
// either null or in a warning.
func FuzzFormat(f *testing.F) {
	f.Add("a", "1", "b", int64(2), 0.5, byte(0))
	f.Add("a,b", "x", "a=b", int64(-1), math.Inf(1), byte(1))
	f.Add(" a", "x\xff", "a\x1f", int64(math.MinInt64), math.Copysign(0, -1), byte(2))
	f.Add("a\x00", "\x00", "\xff", int64(7), 1e16, byte(3))
	f.Fuzz(func(t *testing.T, key1, value1, key2 string, i int64, x float64, kind byte) {
		second := [...]attribute.Value{
			attribute.Int64Value(i), attribute.Float64Value(x), attribute.BoolValue(i > 0), {},
			attribute.StringSliceValue([]string{value1}),
		}[kind%5]
		list := []attribute.KeyValue{
			attribute.String(key1, value1),
			{Key: attribute.Key(key2), Value: second},
		}
		text, warnings := carrier.Format(list)
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			t.Errorf("%q cannot travel", text)
		}
		left := map[string]string{}
		for _, kv := range list {
			if s, ok := carrier.Text(kv.Value); ok {
				left[semconv.TrimSpace(string(kv.Key))] = s
			}
		}
		for _, kv := range carrier.Parse(text) {
			want, ok := left[string(kv.Key)]
			if !ok {
				t.Errorf("%q reads as the key %q of none of %q", text, kv.Key, show(list))
			}
			// The last value that can be written wins: with equal keys it may be
			// the first one.
			if got := kv.Value.AsString(); got != want && got != value1 {
				t.Errorf("%q reads as %s=%q, want %q", text, kv.Key, got, want)
			}
		}
		nulls := 0
		if semconv.IsNull(second) {
			nulls = 1
		}
		equal := semconv.TrimSpace(key1) == semconv.TrimSpace(key2)
		if n := len(carrier.Parse(text)) + len(warnings) + nulls; n != 2 && !(equal && n == 1) {
			t.Errorf("%q with %v accounts for %d of 2 attributes of %q", text, warnings, n, show(list))
		}
	})
}

// ExampleExtend composes a worker's carrier from what the launcher inherited.
func ExampleExtend() {
	text, _ := carrier.Extend("service.name=my%20job,nv.dl.rank=7",
		[]attribute.KeyValue{attribute.String("nv.dl.role", "worker")},
		[]attribute.KeyValue{attribute.Int("nv.dl.rank", 3)})
	fmt.Println(text)
	// Output: nv.dl.role=worker,service.name=my%20job,nv.dl.rank=3
}
