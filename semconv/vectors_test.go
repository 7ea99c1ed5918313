package semconv_test

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
	"lenslaunch/test/vectors"
)

// sections of the vectors that this package answers for. The others belong to carrier
// and detect.
type sections struct {
	Compose []struct {
		Current, Defaults, Overrides, Out vectors.List
	}
	Normalize []struct {
		In, Out vectors.List
		Warns   []string
	}
}

func readVectors(t *testing.T) (v sections) {
	t.Helper()
	vectors.Read(t, &v)
	return v
}

// show spells a list with its types, so that two lists compare as their readers
// see them and a failure can be read.
func show(list []attribute.KeyValue) []string {
	shown := make([]string, 0, len(list))
	for _, kv := range list {
		entry := string(kv.Key) + " null"
		if !semconv.IsNull(kv.Value) {
			entry = fmt.Sprintf("%s %s %q", kv.Key, kv.Value.Type(), kv.Value.String())
		}
		shown = append(shown, entry)
	}
	return shown
}
