package carrier_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// vectors are the sections of testdata/carrier.json that this package answers
// for; semconv and detect have the others.
type vectors struct {
	Parse []struct {
		In  string
		Out [][2]string
	}
	Format []struct {
		In  vectorList
		Out string
	}
	Extend []struct {
		In                  *string // null: the variable is not set
		Defaults, Overrides vectorList
		Out                 string
	}
}

func readVectors(t testing.TB) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/carrier.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Parse) == 0 || len(v.Format) == 0 || len(v.Extend) == 0 {
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

// vectorValue reads a value with the tag of its type, or the bytes of a string
// that JSON cannot hold.
func vectorValue(data []byte) (attribute.Value, error) {
	if bytes.Equal(data, []byte("null")) {
		return attribute.Value{}, nil
	}
	if data[0] == '"' {
		return vectorBytes(data)
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

// vectorBytes reads "<invalid utf-8: 72 75 ff>".
func vectorBytes(data []byte) (attribute.Value, error) {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return attribute.Value{}, err
	}
	text, ok := strings.CutPrefix(text, "<invalid utf-8: ")
	if !ok {
		return attribute.Value{}, fmt.Errorf("no known form: %s", data)
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSuffix(text, ">"), " ", ""))
	return attribute.StringValue(string(raw)), err
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
