package carrier_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/semconv"
)

func TestFormatVectors(t *testing.T) {
	for _, v := range readVectors(t).Format {
		t.Run(v.Out, func(t *testing.T) {
			before := show(v.In)
			if got, _ := carrier.Format(v.In); got != v.Out {
				t.Errorf("Format(%q) = %q, want %q", before, got, v.Out)
			}
			if diff := cmp.Diff(before, show(v.In)); diff != "" {
				t.Errorf("the argument changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestExtendVectors(t *testing.T) {
	for _, v := range readVectors(t).Extend {
		t.Run(v.Out, func(t *testing.T) {
			text := ""
			if v.In != nil {
				text = *v.In
			}
			got, warnings := carrier.Extend(text, v.Defaults, v.Overrides)
			if got != v.Out || warnings != nil {
				t.Errorf("Extend(%q) = %q, %v, want %q", text, got, warnings, v.Out)
			}
		})
	}
}

// What is left out says why, in the order of the list, and the rest goes out.
func TestFormatWarnings(t *testing.T) {
	text, warnings := carrier.Format([]attribute.KeyValue{
		attribute.String("first", "1"),
		attribute.String(" ", "v"),
		attribute.String("a,b", "v"),
		attribute.String("a=b", "v"),
		attribute.String("a\x00b", "v"),
		attribute.String("a\xffb", "v"),
		attribute.String("value", "run-\xff"),
		attribute.StringSlice("list", []string{"x"}),
		semconv.Null("null"),
		semconv.Null("null,key"),
		attribute.String("last", ""),
	})
	if want := "first=1,last="; text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	const escape = "the key holds ',' or '=', which the format cannot escape"
	want := []carrier.Warning{
		{Key: " ", Reason: "the key is empty"},
		{Key: "a,b", Reason: escape},
		{Key: "a=b", Reason: escape},
		{Key: "a\x00b", Reason: "the key holds a NUL byte"},
		{Key: "a\xffb", Reason: "the key is not valid UTF-8"},
		{Key: "value", Reason: "the value is not valid UTF-8"},
		{Key: "list", Reason: "a value of type STRINGSLICE is not a scalar"},
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// A warning goes to a terminal: no key may move its cursor or break its line.
func TestWarningIsOneSafeLine(t *testing.T) {
	for _, tc := range []struct{ key, want string }{
		{"nv.dl.role", "resource attribute nv.dl.role is left out: why"},
		{"", `resource attribute "" is left out: why`},
		{"a b", `resource attribute "a b" is left out: why`},
		{"a\n\x1b[2J\xff", `resource attribute "a\n\x1b[2J\xff" is left out: why`},
	} {
		if got := (carrier.Warning{Key: tc.key, Reason: "why"}).String(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// Keys that trimming makes equal: what cannot be written never displaces what
// can, because it is dropped before keys are compared.
func TestFormatKeysEqualByTrimming(t *testing.T) {
	for _, tc := range []struct {
		list []attribute.KeyValue
		want string
	}{
		{[]attribute.KeyValue{attribute.Int("a", 1), attribute.Int("b", 2), attribute.Int("\u00a0a", 3)}, "a=3,b=2"},
		{[]attribute.KeyValue{attribute.Int("a", 1), semconv.Null("a ")}, "a=1"},
		{[]attribute.KeyValue{attribute.Int("a", 1), attribute.String("a ", "\xff")}, "a=1"},
		{[]attribute.KeyValue{semconv.Null("a"), attribute.Int("b", 2), attribute.Int("a ", 3)}, "b=2,a=3"},
		{[]attribute.KeyValue{attribute.Int("a", 1), attribute.String("a\x1f", "")}, "a="},
	} {
		if got, _ := carrier.Format(tc.list); got != tc.want {
			t.Errorf("Format(%q) = %q, want %q", show(tc.list), got, tc.want)
		}
	}
}

func TestFormatEscapesEveryOtherByte(t *testing.T) {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~"
	for b := range 128 {
		c := string(rune(b))
		text, _ := carrier.Format([]attribute.KeyValue{attribute.String("k", c)})
		if escaped := text != "k="+c; escaped == strings.Contains(unreserved, c) {
			t.Errorf("byte %#x is written %q", b, text)
		}
	}
}

func TestFormatOfNothing(t *testing.T) {
	if text, warnings := carrier.Format(nil); text != "" || warnings != nil {
		t.Errorf("Format(nil) = %q, %v", text, warnings)
	}
}

// An operator's undecodable byte ends where the launcher re-encodes, with a
// warning; passed on, it would cost the worker its telemetry.
func TestExtendDropsRawBytes(t *testing.T) {
	text, warnings := carrier.Extend("a=\xff,b=%FF,c=x", nil, nil)
	if want := "b=%EF%BF%BD,c=x"; text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	want := []carrier.Warning{{Key: "a", Reason: "the value is not valid UTF-8"}}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// What Python 3's str prints of each value.
func TestText(t *testing.T) {
	f := attribute.Float64Value
	for _, tc := range []struct {
		value attribute.Value
		want  string
	}{
		{attribute.StringValue(""), ""},
		{attribute.StringValue("True"), "True"},
		{attribute.StringValue("raw\xff"), "raw\xff"},
		{attribute.BoolValue(true), "True"},
		{attribute.BoolValue(false), "False"},
		{attribute.Int64Value(math.MinInt64), "-9223372036854775808"},
		{f(0), "0.0"},
		{f(math.Copysign(0, -1)), "-0.0"},
		{f(1), "1.0"},
		{f(-1.5), "-1.5"},
		{f(0.30000000000000004), "0.30000000000000004"},
		{f(1.0 / 3), "0.3333333333333333"},
		{f(0.0001), "0.0001"},
		{f(0.00012345), "0.00012345"},
		{f(0.00001), "1e-05"},
		{f(1.5e-7), "1.5e-07"},
		{f(1e15), "1000000000000000.0"},
		{f(9007199254740992), "9007199254740992.0"},
		{f(9999999999999998), "9999999999999998.0"},
		{f(1e16), "1e+16"},
		{f(123456789012345680), "1.2345678901234568e+17"},
		{f(-1e22), "-1e+22"},
		{f(1e100), "1e+100"},
		{f(math.MaxFloat64), "1.7976931348623157e+308"},
		{f(math.SmallestNonzeroFloat64), "5e-324"},
		{f(math.Inf(1)), "inf"},
		{f(math.Inf(-1)), "-inf"},
		{f(math.NaN()), "nan"},
	} {
		if got, ok := carrier.Text(tc.value); got != tc.want || !ok {
			t.Errorf("Text(%s %s) = %q, %v, want %q", tc.value.Type(), tc.value.String(), got, ok, tc.want)
		}
	}
}

func TestTextOfWhatHasNone(t *testing.T) {
	for _, value := range []attribute.Value{
		{}, attribute.StringSliceValue([]string{"x"}), attribute.BoolSliceValue(nil), attribute.MapValue(attribute.Int("a", 1)),
	} {
		if got, ok := carrier.Text(value); got != "" || ok {
			t.Errorf("Text(%s) = %q, %v", value.Type(), got, ok)
		}
	}
}
