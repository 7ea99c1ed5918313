// Package vectors reads the vectors of the carrier, which are the contract between the
// project and NeMo Lens: what goes in, and what comes out, byte for byte. Each package
// tests the sections that it answers for. It imports nothing of the program.
package vectors

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
)

//go:embed testdata/carrier.json
var carrier []byte

// Read reads sections: sections points to a structure with a slice for each, named as
// the section is. One that is empty would prove nothing and fails the test.
func Read(tb testing.TB, sections any) {
	tb.Helper()
	if err := read(carrier, sections); err != nil {
		tb.Fatal(err)
	}
}

func read(text []byte, sections any) error {
	if err := json.Unmarshal(text, sections); err != nil {
		return fmt.Errorf("cannot read the vectors: %w", err)
	}
	all := reflect.ValueOf(sections).Elem()
	for i := range all.NumField() {
		if all.Field(i).Len() == 0 {
			return fmt.Errorf("the vectors have no section %s, or it is empty", all.Type().Field(i).Name)
		}
	}
	return nil
}

// A List of attributes is written as [["key", {"s": "text"}], ["key", null]].
type List []attribute.KeyValue

// UnmarshalJSON reads a list.
func (l *List) UnmarshalJSON(text []byte) error {
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal(text, &pairs); err != nil {
		return err
	}
	for _, pair := range pairs {
		var key string
		if err := json.Unmarshal(pair[0], &key); err != nil {
			return err
		}
		v, err := value(pair[1])
		if err != nil {
			return fmt.Errorf("value of %s: %w", key, err)
		}
		*l = append(*l, attribute.KeyValue{Key: attribute.Key(key), Value: v})
	}
	return nil
}

// value reads one with the tag of its type, which plain JSON loses, or the bytes of a
// string that JSON cannot hold.
func value(text []byte) (attribute.Value, error) {
	if bytes.Equal(text, []byte("null")) {
		return attribute.Value{}, nil
	}
	if text[0] == '"' {
		return invalidUTF8(text)
	}
	var tagged struct {
		S *string
		I *int64
		F *string
		B *bool
	}
	if err := json.Unmarshal(text, &tagged); err != nil {
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
	return attribute.Value{}, fmt.Errorf("no known tag in %s", text)
}

// invalidUTF8 reads "<invalid utf-8: 72 75 ff>".
func invalidUTF8(quoted []byte) (attribute.Value, error) {
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return attribute.Value{}, err
	}
	text, ok := strings.CutPrefix(text, "<invalid utf-8: ")
	if !ok {
		return attribute.Value{}, fmt.Errorf("no known form: %s", quoted)
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSuffix(text, ">"), " ", ""))
	return attribute.StringValue(string(raw)), err
}
