package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// described is a list as text with types, which attribute.Value hides.
func described(list []attribute.KeyValue) []string {
	out := []string{}
	for _, kv := range list {
		out = append(out, fmt.Sprintf("%s %v %v", kv.Key, kv.Value.Type(), kv.Value.AsInterface()))
	}
	return out
}

func TestParseJSON(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", " {} \n", []string{}},
		{"order and types", `{"b": 1, "a": "x", "c": true, "d": null, "e": 1.5}`,
			[]string{"b INT64 1", "a STRING x", "c BOOL true", "d " + semconv.Null("d").Value.Type().String() + " <nil>", "e FLOAT64 1.5"}},
		{"a point or an exponent makes a float", `{"a": 1.0, "b": 1e2, "c": -0}`, []string{"a FLOAT64 1", "b FLOAT64 100", "c INT64 0"}},
		{"64 bits", `{"a": 9223372036854775807, "b": -9223372036854775808}`,
			[]string{"a INT64 9223372036854775807", "b INT64 -9223372036854775808"}},
		{"the last of two, at the place of the first", `{"a": 1, "b": 2, "a": 3}`, []string{"a INT64 3", "b INT64 2"}},
		{"escapes", `{"\u0061": "\n\"\u00fc"}`, []string{"a STRING \n\"ü"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseJSON([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, described(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseJSONRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "it is no JSON: unexpected EOF",
		"   ":                         "it is no JSON: unexpected EOF",
		"x":                           "it is no JSON: invalid character 'x'",
		"[]":                          "it is no JSON object",
		"1":                           "it is no JSON object",
		`{"a": 1`:                     "it is no JSON: unexpected EOF",
		`{"a"`:                        "it is no JSON: ",
		`{"a":`:                       "it is no JSON: unexpected EOF",
		`{"a" 1}`:                     "it is no JSON: ",
		`{"a": 1,}`:                   "it is no JSON: ",
		`{a: 1}`:                      "it is no JSON: ",
		`{1: 1}`:                      "it is no JSON: ",
		`{"a": 1} x`:                  "something stands behind the JSON object",
		`{} {}`:                       "something stands behind the JSON object",
		`{"a": {}}`:                   `the value of "a" is an object or a list`,
		`{"a": [1]}`:                  `the value of "a" is an object or a list`,
		`{"a": 9223372036854775808}`:  `the value of "a" does not fit 64 bits`,
		`{"a": 1e999}`:                `the value of "a" is no number that a double can hold`,
		`{"a": 01}`:                   "it is no JSON: ",
		"{\"a\": \"\x01\"}":           "it is no JSON: ",
		`{"a": tru}`:                  "it is no JSON: ",
		strings.Repeat(`{"a":`, 1000): `the value of "a" is an object or a list`,
	} {
		if got, err := parseJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v, want %s", text, described(got), err, want)
		}
	}
}

func TestJSONObject(t *testing.T) {
	list := []attribute.KeyValue{
		attribute.Int64("b", 9007199254740993), attribute.String("a", "<&>\"\n"), attribute.Bool("c", true), semconv.Null("d"),
		attribute.Float64("e", 1.5), attribute.Float64("f", 2), attribute.Float64("g", 1e21), attribute.Float64("h", math.Inf(1)),
	}
	want := `{"b":9007199254740993,"a":"<&>\"\n","c":true,"d":null,"e":1.5,"f":2.0,"g":1e+21,"h":"+Inf"}`
	if diff := cmp.Diff(want, jsonObject(list)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := jsonObject(nil); got != "{}" {
		t.Errorf("nothing is %s", got)
	}
}

// What is accepted is JSON, has unique keys in their order, and is printed as JSON
// that reads back to the same list.
func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"a":1,"a":2}`, `{"a":1.0,"b":null,"c":"x","d":false}`, `{"a":{}}`, `{"a":[`, `{"a":1}}`, `{"a":1,}`,
		`{"\ud800":1}`, "{\"\xff\":1}", `{"a":1e400}`, "\ufeff{}", `{"a":-0}`, `{"":""}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := parseJSON(text)
		if err != nil {
			if msg := oneLine(err.Error()); msg == "" || strings.Contains(msg, "\n") {
				t.Errorf("the error is not one line: %q", msg)
			}
			return
		}
		if !json.Valid(text) || !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
			t.Errorf("%q is accepted", text)
		}
		seen := map[attribute.Key]bool{}
		for _, kv := range list {
			if seen[kv.Key] {
				t.Errorf("key %q is there twice", kv.Key)
			}
			seen[kv.Key] = true
		}
		again, err := parseJSON([]byte(jsonObject(list)))
		if err != nil || len(again) != len(list) {
			t.Fatalf("%s reads back to %v, %v", jsonObject(list), described(again), err)
		}
		if diff := cmp.Diff(described(list), described(again)); diff != "" {
			t.Errorf("%s reads back otherwise (-wrote +read):\n%s", jsonObject(list), diff)
		}
	})
}
