package semconv_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

func TestComposeVectors(t *testing.T) {
	for _, v := range readVectors(t).Compose {
		name := strings.Join([]string{
			strings.Join(show(v.Defaults), " "), strings.Join(show(v.Current), " "), strings.Join(show(v.Overrides), " "),
		}, "|")
		t.Run(name, func(t *testing.T) {
			before := [][]string{show(v.Defaults), show(v.Current), show(v.Overrides)}
			out := semconv.Compose(v.Defaults, v.Current, v.Overrides)
			if diff := cmp.Diff(show(v.Out), show(out)); diff != "" {
				t.Errorf("out (-want +got):\n%s", diff)
			}
			after := [][]string{show(v.Defaults), show(v.Current), show(v.Overrides)}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the inputs changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestComposeMakesKeysUnique(t *testing.T) {
	out := semconv.Compose(nil, []attribute.KeyValue{
		attribute.Int("a", 1), attribute.Int("b", 2), attribute.Int("a", 3),
	}, nil)
	if diff := cmp.Diff([]string{`a INT64 "3"`, `b INT64 "2"`}, show(out)); diff != "" {
		t.Errorf("out (-want +got):\n%s", diff)
	}
}

// The result of Compose is the caller's own: to change it changes no input.
func TestComposeResultIsNew(t *testing.T) {
	current := []attribute.KeyValue{attribute.Int("a", 1)}
	out := semconv.Compose(nil, current, nil)
	out[0].Value = attribute.IntValue(2)
	if got := current[0].Value.AsInt64(); got != 1 {
		t.Errorf("the input became %d through the result", got)
	}
}

func TestSetKeepsThePlace(t *testing.T) {
	list := []attribute.KeyValue{attribute.Int("a", 1), attribute.Int("b", 2)}
	replaced := semconv.Set(list, attribute.String("a", "x"))
	appended := semconv.Set(list, semconv.Null("c"))
	if diff := cmp.Diff([]string{`a STRING "x"`, `b INT64 "2"`}, show(replaced)); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`a INT64 "1"`, `b INT64 "2"`, `c null`}, show(appended)); diff != "" {
		t.Errorf("appended (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`a INT64 "1"`, `b INT64 "2"`}, show(list)); diff != "" {
		t.Errorf("the argument changed (-want +got):\n%s", diff)
	}
}

// Two workers' lists made from one base with room to grow: append would have put
// both last entries in the same place.
func TestSetDoesNotShareSpareCapacity(t *testing.T) {
	base := make([]attribute.KeyValue, 1, 8)
	base[0] = attribute.Int("a", 1)
	first := semconv.Set(base, attribute.Int("rank", 0))
	second := semconv.Set(base, attribute.Int("rank", 1))
	if got := first[1].Value.AsInt64(); got != 0 {
		t.Errorf("the first list's rank became %d", got)
	}
	if got := second[1].Value.AsInt64(); got != 1 {
		t.Errorf("the second list's rank is %d", got)
	}
}

func TestGetTellsNullFromAbsent(t *testing.T) {
	list := []attribute.KeyValue{attribute.String("empty", ""), semconv.Null("null")}
	for _, tc := range []struct {
		key         string
		found, null bool
	}{
		{"empty", true, false},
		{"null", true, true},
		{"absent", false, true},
	} {
		value, found := semconv.Get(list, tc.key)
		if found != tc.found || semconv.IsNull(value) != tc.null {
			t.Errorf("Get(%s) = %v found %v, want null %v found %v", tc.key, value, found, tc.null, tc.found)
		}
	}
}

func TestParseInt(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"5", 5, true},
		{"+5", 5, true},
		{"-5", -5, true},
		{"-0", 0, true},
		{"007", 7, true},
		{" 5 ", 5, true},
		{"\t5\n", 5, true},
		{"\u00a05\u3000", 5, true},
		{"\x1c5\x1f", 5, true},
		{"9223372036854775807", 9223372036854775807, true},
		{"-9223372036854775808", -9223372036854775808, true},
		{"00000000000000000000000000000001", 1, true},
		{text: "9223372036854775808"},
		{text: "-9223372036854775809"},
		{text: ""},
		{text: " "},
		{text: "+"},
		{text: "-"},
		{text: "+-5"},
		{text: "--5"},
		{text: "- 5"},
		{text: "5 5"},
		{text: "5.0"},
		{text: "5e3"},
		{text: "1_000"},
		{text: "1,000"},
		{text: "0x10"},
		{text: "0b1"},
		{text: "5\x00"},
		{text: "\u0665"},  // Arabic-Indic five: Python's int() would take it
		{text: "\uff15"},  // full-width five
		{text: "\u200b5"}, // zero width space is not white space
	} {
		if got, ok := semconv.ParseInt(tc.text); got != tc.want || ok != tc.ok {
			t.Errorf("ParseInt(%q) = %d, %v, want %d, %v", tc.text, got, ok, tc.want, tc.ok)
		}
	}
}

// The 29 characters for which Python 3's str.isspace is true.
func TestTrimSpaceIsPythons(t *testing.T) {
	const python = "\t\n\v\f\r\x1c\x1d\x1e\x1f \u0085\u00a0\u1680" +
		"\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r <= 0xdfff {
			continue // no character: only Python could spell it alone
		}
		trimmed := semconv.TrimSpace(string(r)+"x"+string(r)) == "x"
		if want := strings.ContainsRune(python, r); trimmed != want {
			t.Errorf("%U is trimmed: %v, want %v", r, trimmed, want)
		}
	}
	// Bytes that are no character are no white space, though 0x85 and 0xa0 are
	// white space as code points.
	if got := semconv.TrimSpace("\x85x\xa0"); got != "\x85x\xa0" {
		t.Errorf("raw bytes were trimmed to %q", got)
	}
}

// FuzzParseInt holds the rule against its own definition.
func FuzzParseInt(f *testing.F) {
	for _, seed := range []string{"5", "+5", " -7 ", "", "5.0", "0x10", "\u0665", "9223372036854775808"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := semconv.ParseInt(text)
		if !ok {
			if n != 0 {
				t.Errorf("a refused text gave %d", n)
			}
			return
		}
		trimmed := semconv.TrimSpace(text)
		if strings.Trim(strings.TrimLeft(trimmed, "+-"), "0123456789") != "" {
			t.Errorf("%q was accepted", text)
		}
		sign := ""
		if strings.HasPrefix(trimmed, "-") && n != 0 {
			sign = "-"
		}
		digits := strings.TrimLeft(trimmed, "+-0")
		if digits == "" {
			digits = "0"
		}
		if got := attribute.Int64Value(n).String(); got != sign+digits {
			t.Errorf("%q was read as %s", text, got)
		}
	})
}
