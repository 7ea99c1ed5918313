package detect

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// SanitizeInherited returns a carrier's list without the entries that do not
// count as values: empty ones and invalid integers of the allowlisted Slurm and
// identity keys, and an empty nemo.run.id. Composed as it was, such an entry
// would win over a value that is known. Everything else rides through unchanged,
// text as text, retired and unknown keys too. The argument is not changed.
// (Carrier specification, "Who may win".)
func SanitizeInherited(list []attribute.KeyValue) []attribute.KeyValue {
	allowed := allowlist()
	return slices.DeleteFunc(slices.Clone(list), func(kv attribute.KeyValue) bool {
		// The run id is no key of the Slurm detector, but a run without one loses
		// the only name that its ranks share.
		if !allowed[string(kv.Key)] && kv.Key != semconv.NemoRunID {
			return false
		}
		_, ok := counts(kv)
		return !ok
	})
}

// inherited selects what the Slurm detector takes from a carrier: the values of
// allowlisted keys that count, in their types.
func inherited(list []attribute.KeyValue) []attribute.KeyValue {
	allowed := allowlist()
	var out []attribute.KeyValue
	for _, kv := range list {
		if !allowed[string(kv.Key)] {
			continue
		}
		if value, ok := counts(kv); ok {
			out = append(out, attribute.KeyValue{Key: kv.Key, Value: value})
		}
	}
	return out
}

// counts converts an inherited value to the type of its key. It reports false
// for one that does not count as a value.
func counts(kv attribute.KeyValue) (attribute.Value, bool) {
	if kv.Value.Type() == attribute.STRING && kv.Value.AsString() == "" {
		return kv.Value, false
	}
	convert, ok := semconv.ConverterOf(string(kv.Key))
	if !ok {
		return kv.Value, true
	}
	return convert(kv.Value)
}

// allowlist is the set of keys for which an inherited value is authoritative.
func allowlist() map[string]bool {
	set := map[string]bool{}
	for _, key := range semconv.InheritedKeys() {
		set[key] = true
	}
	return set
}

// without returns the entries of list whose keys are not in other.
func without(list, other []attribute.KeyValue) []attribute.KeyValue {
	return slices.DeleteFunc(slices.Clone(list), func(kv attribute.KeyValue) bool {
		_, there := semconv.Get(other, string(kv.Key))
		return there
	})
}
