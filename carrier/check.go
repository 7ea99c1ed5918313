package carrier

import (
	"slices"
	"strings"

	"lenslaunch/semconv"
)

// A Report is what [Check] found. Each list is in order of appearance: in the
// carrier for what is there (a duplicate appears where it is repeated), in the
// question for what is missing.
type Report struct {
	Missing   []string // required, not in the carrier
	Empty     []string // required, there, but with an empty value
	Forbidden []string // there, though it must not be
	Duplicate []string // there more than once; its last value counts
}

// Check compares a carrier with the keys that it must and must not hold. A key
// that nobody requires may be empty: that is an ordinary value.
func Check(text string, require, forbid []string) Report {
	require, forbid = keySet(require), keySet(forbid)
	var report Report
	list := Parse(text)
	for _, key := range require {
		if _, ok := semconv.Get(list, key); !ok {
			report.Missing = append(report.Missing, key)
		}
	}
	for _, kv := range list {
		key := string(kv.Key)
		if kv.Value.AsString() == "" && slices.Contains(require, key) {
			report.Empty = append(report.Empty, key)
		}
		if slices.Contains(forbid, key) {
			report.Forbidden = append(report.Forbidden, key)
		}
	}
	report.Duplicate = duplicates(text)
	return report
}

// OK reports whether nothing is wrong.
func (r Report) OK() bool {
	return len(r.Missing)+len(r.Empty)+len(r.Forbidden)+len(r.Duplicate) == 0
}

// String returns what is wrong on one line, "missing: a, b; empty: c", or "ok".
func (r Report) String() string {
	var parts []string
	add := func(what string, keys []string) {
		if len(keys) == 0 {
			return
		}
		shown := make([]string, len(keys))
		for i, key := range keys {
			shown[i] = printable(key)
		}
		parts = append(parts, what+": "+strings.Join(shown, ", "))
	}
	add("missing", r.Missing)
	add("empty", r.Empty)
	add("forbidden", r.Forbidden)
	add("duplicate", r.Duplicate)
	if len(parts) == 0 {
		return "ok"
	}
	return strings.Join(parts, "; ")
}

func duplicates(text string) []string {
	var keys []string
	count := make(map[string]int)
	for key := range segments(text) {
		if count[key]++; count[key] == 2 {
			keys = append(keys, key)
		}
	}
	return keys
}

// keySet trims the keys as the carrier does and drops blank and repeated ones,
// so that "a, b," on a command line means a and b.
func keySet(keys []string) []string {
	var set []string
	for _, key := range keys {
		key = semconv.TrimSpace(key)
		if key != "" && !slices.Contains(set, key) {
			set = append(set, key)
		}
	}
	return set
}
