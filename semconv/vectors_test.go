package semconv_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// vectors are the sections of testdata/carrier.json that this package answers
// for. The other sections belong to carrier and detect.
type vectors struct {
	Compose []struct {
		Current, Defaults, Overrides, Out vectorList
	}
	Normalize []struct {
		In, Out vectorList
		Warns   []string
	}
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/carrier.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Compose) == 0 || len(v.Normalize) == 0 {
		t.Fatal("testdata/carrier.json has an empty section: the test would prove nothing")
	}
	return v
}

// vectorList reads [["key", {"s": "text"}], ["key", null]].
type vectorList []attribute.KeyValue

func (l *vectorList) UnmarshalJSON(data []byte) error {
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal(data, &pairs); err != nil {
		return err
	}
	for _, pair := range pairs {
		var key string
		if err := json.Unmarshal(pair[0], &key); err != nil {
			return err
		}
		value, err := vectorValue(pair[1])
		if err != nil {
			return fmt.Errorf("value of %s: %w", key, err)
		}
		*l = append(*l, attribute.KeyValue{Key: attribute.Key(key), Value: value})
	}
	return nil
}

// vectorValue reads a value with the tag of its type, which plain JSON loses.
func vectorValue(data []byte) (attribute.Value, error) {
	if bytes.Equal(data, []byte("null")) {
		return attribute.Value{}, nil
	}
	var tagged struct {
		S *string
		I *int64
		F *string
		B *bool
	}
	if err := json.Unmarshal(data, &tagged); err != nil {
		return attribute.Value{}, err
	}
	switch {
	case tagged.S != nil:
		return attribute.StringValue(*tagged.S), nil
	case tagged.I != nil:
		return attribute.Int64Value(*tagged.I), nil
	case tagged.B != nil:
		return attribute.BoolValue(*tagged.B), nil
	case tagged.F != nil:
		f, err := strconv.ParseFloat(*tagged.F, 64)
		return attribute.Float64Value(f), err
	}
	return attribute.Value{}, fmt.Errorf("no known tag in %s", data)
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
