package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/launcher"
	"lenslaunch/semconv"
)

// Readers of what a user names: runs and roles, variables, attributes.

// name reads a text that goes into carriers, variables and messages as it is.
func (v setting) name(example string) error {
	switch {
	case strings.TrimSpace(v.text) == "":
		return v.wrong("write a name such as "+example, "is blank")
	case strings.ContainsFunc(v.text, unicode.IsControl) || !utf8.ValidString(v.text):
		return v.wrong("write a name such as "+example, "has characters that are no text")
	}
	return nil
}

// variable checks the name of a variable of the workers. The kernel takes any name
// without =, but one with a space in it is a slip of the hand.
func (v setting) variable(key string) error {
	switch {
	case key == "" || strings.ContainsAny(key, "= \t\r\n"):
		return v.wrong("write a name such as NCCL_DEBUG", "has no name of a variable")
	case launcher.OwnsVariable(key):
		return v.wrong("leave it out", "is about "+key+", which the launcher decides")
	}
	return nil
}

// attributes reads --attr entries.
func attributes(entries []setting, owned func(string) bool) ([]attribute.KeyValue, error) {
	var out []attribute.KeyValue
	for _, v := range entries {
		key, value, err := v.pair()
		if err != nil {
			return nil, err
		}
		key = semconv.TrimSpace(key)
		if strings.ContainsFunc(key, unicode.IsControl) {
			return nil, v.wrong("write KEY=VALUE", "has a key that is no text")
		}
		kv := attribute.String(key, value)
		if _, faults := carrier.Format([]attribute.KeyValue{kv}); len(faults) > 0 {
			return nil, v.wrong("write KEY=VALUE", "is nothing that a carrier can hold: "+faults[0].Reason)
		}
		if owned(key) {
			return nil, v.wrong("leave it out", "sets "+key+", which the launcher decides")
		}
		out = append(out, kv)
	}
	return out, nil
}
