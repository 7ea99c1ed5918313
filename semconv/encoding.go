package semconv

import (
	"strconv"
	"strings"
	"unicode"

	"go.opentelemetry.io/otel/attribute"
)

// Null returns the entry that says "this key has no value": it overrides a
// default when composed and is left out when formatted.
func Null(key string) attribute.KeyValue {
	return attribute.KeyValue{Key: attribute.Key(key)}
}

// IsNull reports whether v is the null value. An empty string is not null.
func IsNull(v attribute.Value) bool { return v.Type() == attribute.EMPTY }

// Get returns the value of key. A key that is present with a null value is
// found: ask [IsNull] to tell the two kinds of absence apart.
func Get(list []attribute.KeyValue, key string) (attribute.Value, bool) {
	for _, kv := range list {
		if string(kv.Key) == key {
			return kv.Value, true
		}
	}
	return attribute.Value{}, false
}

// Set returns a new list in which kv replaces the entry of its key, at that
// entry's place, or stands at the end. The argument is not changed, nor is the
// spare capacity behind it, so two lists made from one never share an entry.
func Set(list []attribute.KeyValue, kv attribute.KeyValue) []attribute.KeyValue {
	return Compose(list, []attribute.KeyValue{kv}, nil)
}

// Compose merges three lists by ordinary dictionary precedence: start from
// defaults, set every entry of current, then every entry of overrides. A default
// therefore holds only where its key is absent from both others. Null and the
// empty string are ordinary values and win like any other.
//
// The result is new and the inputs are not changed. It has unique keys even if
// an input has not: the last value of a key at its first place. (Carrier
// specification, "Compose".)
func Compose(defaults, current, overrides []attribute.KeyValue) []attribute.KeyValue {
	n := len(defaults) + len(current) + len(overrides)
	out := make([]attribute.KeyValue, 0, n)
	// The index keeps a carrier with thousands of keys from costing a scan of
	// the list per key; order comes from out alone.
	place := make(map[attribute.Key]int, n)
	for _, list := range [...][]attribute.KeyValue{defaults, current, overrides} {
		for _, kv := range list {
			if i, ok := place[kv.Key]; ok {
				out[i].Value = kv.Value
				continue
			}
			place[kv.Key] = len(out)
			out = append(out, kv)
		}
	}
	return out
}

// A Converter turns a decoded value into the type its key has. It reports false
// for a value that has no such reading; what then happens to the value is the
// caller's policy, not the converter's.
type Converter func(attribute.Value) (attribute.Value, bool)

// IntConverter accepts a native integer, or text that [ParseInt] accepts. A bool
// is not an integer and a float is never cut.
func IntConverter(v attribute.Value) (attribute.Value, bool) {
	switch v.Type() {
	case attribute.INT64:
		return v, true
	case attribute.STRING:
		if n, ok := ParseInt(v.AsString()); ok {
			return attribute.Int64Value(n), true
		}
	}
	return v, false
}

// StringConverter accepts text, as it is: "007" stays "007".
func StringConverter(v attribute.Value) (attribute.Value, bool) {
	return v, v.Type() == attribute.STRING
}

// Convert applies the converter that table names for a key, and leaves alone
// keys without one and null values. A value that its converter refuses stays as
// it is, visible to whoever looks for the mistake, and its key is returned in
// invalid, in list order.
func Convert(list []attribute.KeyValue, table func(key string) (Converter, bool)) (out []attribute.KeyValue, invalid []string) {
	out = Compose(nil, list, nil)
	for i, kv := range out {
		convert, ok := table(string(kv.Key))
		if !ok || IsNull(kv.Value) {
			continue
		}
		if out[i].Value, ok = convert(kv.Value); !ok {
			out[i].Value = kv.Value
			invalid = append(invalid, string(kv.Key))
		}
	}
	return out, invalid
}

// ParseInt is the one integer rule of the project: white space trimmed, an
// optional sign, ASCII digits only, at most 64 bits. No base prefix, no
// underscore, no fraction, no other script's digits; leading zeros are fine.
func ParseInt(text string) (int64, bool) {
	text = TrimSpace(text)
	digits := text
	if digits != "" && (digits[0] == '+' || digits[0] == '-') {
		digits = digits[1:]
	}
	// strconv accepts exactly this form in base 10; the check keeps the rule
	// here rather than in the reader's memory of strconv.
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, false // out of range: strconv's nearest value is no answer
	}
	return n, true
}

// TrimSpace trims what Python's str.strip trims: Unicode white space and the
// four information separators U+001C to U+001F, which [strings.TrimSpace] keeps.
// Carriers are read by both languages in one job, and must read the same.
func TrimSpace(text string) string { return strings.TrimFunc(text, isSpace) }

func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r >= '\x1c' && r <= '\x1f'
}
