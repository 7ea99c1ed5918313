package carrier_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
)

func TestParseVectors(t *testing.T) {
	for _, v := range readVectors(t).Parse {
		t.Run(v.In, func(t *testing.T) {
			var want []attribute.KeyValue
			for _, pair := range v.Out {
				want = append(want, attribute.String(pair[0], pair[1]))
			}
			if diff := cmp.Diff(show(want), show(carrier.Parse(v.In))); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", v.In, diff)
			}
		})
	}
}

// What Python's str.strip takes off keys and values, and what it leaves.
func TestParseWhiteSpace(t *testing.T) {
	for _, tc := range []struct{ text, key, value string }{
		{"\u00a0a\u3000=\u2003x\u2028", "a", "x"},
		{"\x1ca\x1f=\x1dx\x1e", "a", "x"},
		{"\u0085a\u1680=\v\fx\r\n", "a", "x"},
		{"a b= x y ", "a b", "x y"},
		{"\u200ba=x\ufeff", "\u200ba", "x\ufeff"},           // zero width is no white space
		{"\x85a=x\xa0", "\x85a", "x\xa0"},                   // nor is half a character
		{"a= %20x%0A ", "a", " x\n"},                        // trimmed first, then decoded
		{"%20a%2C =%3D,%2C", "%20a%2C", "="},                // keys are never decoded
		{"a=1\u00a0=\u00a02", "a", "1\u00a0=\u00a02"},       // inside a value it stays
		{"\u00a0=lost,\x1f\x1c=lost,\u3000,a=x", "a", "x"},  // blank keys and segments
		{"a\x00=x\x00", "a\x00", "x\x00"},                   // no environment holds it; a flag may
		{"a=x,\u00a0a\u2009=y", "a", "y"},                   // equal once trimmed
		{strings.Repeat(",", 999) + " = , =,a=x", "a", "x"}, // nothing but noise before it
	} {
		want := []attribute.KeyValue{attribute.String(tc.key, tc.value)}
		if diff := cmp.Diff(show(want), show(carrier.Parse(tc.text))); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", tc.text, diff)
		}
	}
}

// Results that Python's urllib.parse.unquote gave, with the bytes of undecodable
// raw text written back as they came.
func TestParseDecodesAsPython(t *testing.T) {
	for _, tc := range []struct{ value, want string }{
		// A cut sequence is one replacement, however long its valid beginning.
		{"%E2%82", "\ufffd"},
		{"%E2%82%28", "\ufffd("},
		{"%E2%28%82", "\ufffd(\ufffd"},
		{"%F0%9F", "\ufffd"},
		{"%F0%9F%98", "\ufffd"},
		{"%F0%9F%98x", "\ufffdx"},
		{"%C3%C3%A9", "\ufffd\u00e9"},
		{"%E2%82%E2%82%AC", "\ufffd\u20ac"},
		{"%F0%9F%E2%82%AC", "\ufffd\u20ac"},
		{"%7F%80", "\x7f\ufffd"},
		// What can begin no character is one replacement per byte: overlong forms,
		// surrogates, code points past the last.
		{"%80%81", "\ufffd\ufffd"},
		{"%C0%AF", "\ufffd\ufffd"},
		{"%C1%BF", "\ufffd\ufffd"},
		{"%E0%80%80", "\ufffd\ufffd\ufffd"},
		{"%F0%82%82%82", "\ufffd\ufffd\ufffd\ufffd"},
		{"%ED%A0%80", "\ufffd\ufffd\ufffd"},
		{"%ED%9F%BF", "\ud7ff"},
		{"%F4%8F%BF%BF", "\U0010ffff"},
		{"%F4%90%80%80", "\ufffd\ufffd\ufffd\ufffd"},
		{"%F5%80", "\ufffd\ufffd"},
		// An escape and raw text beside it never make a character together.
		{"%C3\xa9", "\ufffd\xa9"},
		{"\xc3%A9", "\xc3\ufffd"},
		{"%C3\u00e9", "\ufffd\u00e9"},
		{"%C3\u00e9%A9", "\ufffd\u00e9\ufffd"},
		{"%E2%82\xac", "\ufffd\xac"},
		// Raw text is as it was, valid or not.
		{"caf\u00e9%20\u20ac", "caf\u00e9 \u20ac"},
		{"\xff%41", "\xffA"},
		{"%FF\xff%FF", "\ufffd\xff\ufffd"},
		{"\xed\xa0\x80%41", "\xed\xa0\x80A"},
		{"%EF%BB%BFx", "\ufeffx"},
		{"%EF%BF%BD", "\ufffd"},
		// Malformed escapes stay.
		{"%%", "%%"},
		{"%%%", "%%%"},
		{"%%41%", "%A%"},
		{"%4%41", "%4A"},
		{"%4g%41", "%4gA"},
		{"%g4", "%g4"},
		{"%\u00e91", "%\u00e91"},
		{"%4\u00e9", "%4\u00e9"},
		{"%2525", "%25"},
		{"%e2%82%Ac", "\u20ac"},
		{"a+b%2B", "a+b+"},
	} {
		list := carrier.Parse("k=" + tc.value)
		if len(list) != 1 {
			t.Errorf("Parse(k=%q) has %d entries", tc.value, len(list))
			continue
		}
		if got := list[0].Value.AsString(); got != tc.want {
			t.Errorf("the value %q was read as %q, want %q", tc.value, got, tc.want)
		}
	}
}

// Order and last value do not depend on the iteration of a map.
func TestParseManyKeys(t *testing.T) {
	var segments []string
	for i := range 20000 {
		segments = append(segments, fmt.Sprintf("k%d=%d", i%10000, i))
	}
	list := carrier.Parse(strings.Join(segments, ","))
	if len(list) != 10000 {
		t.Fatalf("%d keys, want 10000", len(list))
	}
	for i, kv := range list {
		want := attribute.String(fmt.Sprintf("k%d", i), fmt.Sprint(10000+i))
		if kv != want {
			t.Fatalf("entry %d is %s=%s, want %s=%s", i, kv.Key, kv.Value.AsString(), want.Key, want.Value.AsString())
		}
	}
}
