package carrier_test

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
	"lenslaunch/test/vectors"
)

// sections of the vectors that this package answers for; semconv and detect have the
// others.
type sections struct {
	Parse []struct {
		In  string
		Out [][2]string
	}
	Format []struct {
		In  vectors.List
		Out string
	}
	Extend []struct {
		In                  *string // null: the variable is not set
		Defaults, Overrides vectors.List
		Out                 string
	}
}

func readVectors(t testing.TB) (v sections) {
	t.Helper()
	vectors.Read(t, &v)
	return v
}

// show spells a list with its types, so that two lists compare as their readers
// see them and a failure can be read.
func show(list []attribute.KeyValue) []string {
	shown := make([]string, 0, len(list))
	for _, kv := range list {
		entry := fmt.Sprintf("%q null", string(kv.Key))
		if !semconv.IsNull(kv.Value) {
			entry = fmt.Sprintf("%q %s %q", string(kv.Key), kv.Value.Type(), kv.Value.String())
		}
		shown = append(shown, entry)
	}
	return shown
}
