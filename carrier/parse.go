package carrier

import (
	"iter"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// Variable is the environment variable that carries resource attributes.
const Variable = "OTEL_RESOURCE_ATTRIBUTES"

// Parse reads a carrier. It never fails: a segment that is blank, has no '=' or
// has an empty key is skipped, and a malformed escape stays as it stands. A
// repeated key keeps its first place and its last value. Every value is a
// string; "007" stays "007". Keys are not percent-decoded, because the format has
// no escape for them.
//
// Bytes that are no valid UTF-8 and not escaped pass through untouched; [Format]
// is where such a value ends.
func Parse(text string) []attribute.KeyValue {
	var list []attribute.KeyValue
	for key, value := range segments(text) {
		list = append(list, attribute.String(key, unquote(value)))
	}
	return semconv.Compose(nil, list, nil)
}

// segments yields the key and the still encoded value of every segment that
// counts, in order, repetitions included.
func segments(text string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for segment := range strings.SplitSeq(text, ",") {
			key, value, ok := strings.Cut(segment, "=")
			if key = semconv.TrimSpace(key); !ok || key == "" {
				continue
			}
			if !yield(key, semconv.TrimSpace(value)) {
				return
			}
		}
	}
}
