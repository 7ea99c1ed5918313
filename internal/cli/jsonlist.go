package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// parseJSON reads a JSON object as an ordered attribute list: a number without
// point or exponent is an int, null is null. Nested values have no carrier form.
func parseJSON(text []byte) ([]attribute.KeyValue, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	open, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", unexpected(err))
	}
	if open != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	var list []attribute.KeyValue
	for dec.More() {
		kv, err := member(dec)
		if err != nil {
			return nil, err
		}
		list = semconv.Set(list, kv)
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", unexpected(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something stands behind the JSON object")
	}
	return list, nil
}

// member reads one key and its value.
func member(dec *json.Decoder) (attribute.KeyValue, error) {
	token, err := dec.Token()
	if err != nil {
		return attribute.KeyValue{}, fmt.Errorf("it is no JSON: %w", unexpected(err))
	}
	key, _ := token.(string) // the decoder refuses any other key
	token, err = dec.Token()
	if err != nil {
		return attribute.KeyValue{}, fmt.Errorf("it is no JSON: %w", unexpected(err))
	}
	switch v := token.(type) {
	case string:
		return attribute.String(key, v), nil
	case bool:
		return attribute.Bool(key, v), nil
	case nil:
		return semconv.Null(key), nil
	case json.Number:
		return number(key, v)
	}
	return attribute.KeyValue{}, fmt.Errorf("the value of %q is an object or a list, a carrier has neither", key)
}

func number(key string, n json.Number) (attribute.KeyValue, error) {
	if !strings.ContainsAny(n.String(), ".eE") {
		i, err := n.Int64()
		if err != nil {
			return attribute.KeyValue{}, fmt.Errorf("the value of %q does not fit 64 bits", key)
		}
		return attribute.Int64(key, i), nil
	}
	f, err := n.Float64()
	if err != nil {
		return attribute.KeyValue{}, fmt.Errorf("the value of %q is no number that a double can hold", key)
	}
	return attribute.Float64(key, f), nil
}

// unexpected makes an end of text an error of its own.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
