package carrier

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// A Warning says that [Format] left an attribute out, and why.
type Warning struct {
	Key    string // as the list has it; may be any bytes
	Reason string // a clause, such as "the value is not valid UTF-8"
}

func (w Warning) String() string {
	return fmt.Sprintf("resource attribute %s is left out: %s", printable(w.Key), w.Reason)
}

// Format writes a list as a carrier, in the list's order. Null is left out
// silently, an empty string is kept as "key=". What the format cannot hold is
// left out with a warning, and the rest still goes out:
//
//   - a key that is empty, or holds ',' or '=' (there is no escape for keys),
//   - a key or a string that is not valid UTF-8: one such byte makes an
//     OpenTelemetry exporter drop its whole batch,
//   - a key with a NUL byte, which no environment can hold,
//   - a value that is not a scalar.
//
// Keys are trimmed and otherwise written as they are. Two keys that become equal
// by trimming are written once: the last value that can be written, at the place
// of the first.
func Format(list []attribute.KeyValue) (text string, warnings []Warning) {
	pairs, warnings := encode(list)
	return join(pairs), warnings
}

// Extend composes a carrier with defaults and overrides ([semconv.Compose]) and
// formats the result. It is pure; inherited segments come out re-encoded.
func Extend(text string, defaults, overrides []attribute.KeyValue) (string, []Warning) {
	return Format(semconv.Compose(defaults, Parse(text), overrides))
}

// A pair is a key and its value as they stand in the text.
type pair struct{ key, value string }

// size is the number of bytes that the pair adds to the text.
func (p pair) size() int { return len(p.key) + len("=") + len(p.value) + len(",") }

func encode(list []attribute.KeyValue) (pairs []pair, warnings []Warning) {
	place := make(map[string]int, len(list))
	for _, kv := range list {
		if semconv.IsNull(kv.Value) {
			continue
		}
		key := semconv.TrimSpace(string(kv.Key))
		value, reason := encodeValue(kv.Value)
		if r := keyFault(key); r != "" {
			reason = r
		}
		if reason != "" {
			warnings = append(warnings, Warning{Key: string(kv.Key), Reason: reason})
			continue
		}
		if i, ok := place[key]; ok {
			pairs[i].value = value
			continue
		}
		place[key] = len(pairs)
		pairs = append(pairs, pair{key, value})
	}
	return pairs, warnings
}

// keyFault returns why the format cannot hold a trimmed key, or "".
func keyFault(key string) string {
	switch {
	case key == "":
		return "the key is empty"
	case strings.ContainsAny(key, ",="):
		return "the key holds ',' or '=', which the format cannot escape"
	case strings.Contains(key, "\x00"):
		return "the key holds a NUL byte"
	case !utf8.ValidString(key):
		return "the key is not valid UTF-8"
	}
	return ""
}

// encodeValue returns the escaped text of a value, or why there is none.
func encodeValue(v attribute.Value) (value, reason string) {
	text, ok := Text(v)
	if !ok {
		return "", "a value of type " + v.Type().String() + " is not a scalar"
	}
	if !utf8.ValidString(text) {
		return "", "the value is not valid UTF-8"
	}
	return escape(text), ""
}

func join(pairs []pair) string {
	segments := make([]string, len(pairs))
	for i, p := range pairs {
		segments[i] = p.key + "=" + p.value
	}
	return strings.Join(segments, ",")
}

// escape writes every byte outside the unreserved set as %XX.
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	out.Grow(len(s))
	for i := range len(s) {
		if c := s[i]; unreserved(c) {
			out.WriteByte(c)
		} else {
			out.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return out.String()
}

func unreserved(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '_' || c == '.' || c == '-' || c == '~'
}

// printable returns a key as it can go to a terminal or a log: as it is where
// that is harmless, quoted where it holds controls, spaces or broken text.
func printable(key string) string {
	if quoted := strconv.Quote(key); quoted != `"`+key+`"` || strings.Contains(key, " ") || key == "" {
		return quoted
	}
	return key
}
