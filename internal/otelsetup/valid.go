package otelsetup

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// OTLP is protobuf, and protobuf refuses a message with one invalid byte in one
// string: the whole batch would be lost for a file name in argv. The functions
// here replace such bytes by U+FFFD and return what is valid as it is.

func validText(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func isValid(v attribute.Value) bool {
	switch v.Type() {
	case attribute.STRING:
		return utf8.ValidString(v.AsString())
	case attribute.STRINGSLICE:
		return !slices.ContainsFunc(v.AsStringSlice(), func(s string) bool { return !utf8.ValidString(s) })
	case attribute.SLICE:
		return !slices.ContainsFunc(v.AsSlice(), func(e attribute.Value) bool { return !isValid(e) })
	case attribute.MAP:
		return areValid(v.AsMap())
	}
	return true
}

func areValid(list []attribute.KeyValue) bool {
	return !slices.ContainsFunc(list, func(kv attribute.KeyValue) bool {
		return !utf8.ValidString(string(kv.Key)) || !isValid(kv.Value)
	})
}

func validValue(v attribute.Value) attribute.Value {
	switch v.Type() {
	case attribute.STRING:
		return attribute.StringValue(validText(v.AsString()))
	case attribute.STRINGSLICE:
		texts := v.AsStringSlice() // a copy
		for i, text := range texts {
			texts[i] = validText(text)
		}
		return attribute.StringSliceValue(texts)
	case attribute.SLICE:
		values := slices.Clone(v.AsSlice())
		for i, value := range values {
			values[i] = validValue(value)
		}
		return attribute.SliceValue(values...)
	case attribute.MAP:
		return attribute.MapValue(validList(v.AsMap())...)
	}
	return v
}

func validList(list []attribute.KeyValue) []attribute.KeyValue {
	if areValid(list) {
		return list
	}
	list = slices.Clone(list)
	for i, kv := range list {
		list[i] = attribute.KeyValue{Key: attribute.Key(validText(string(kv.Key))), Value: validValue(kv.Value)}
	}
	return list
}

// validSpan returns a span all of whose text is valid: the same one as a rule.
func validSpan(span sdktrace.ReadOnlySpan) sdktrace.ReadOnlySpan {
	v := valid{ReadOnlySpan: span, events: slices.Clone(span.Events()), links: slices.Clone(span.Links())}
	ok := utf8.ValidString(span.Name()) && utf8.ValidString(span.Status().Description) && areValid(span.Attributes())
	for i, event := range v.events {
		ok = ok && utf8.ValidString(event.Name) && areValid(event.Attributes)
		v.events[i].Name, v.events[i].Attributes = validText(event.Name), validList(event.Attributes)
	}
	for i, link := range v.links {
		ok = ok && areValid(link.Attributes)
		v.links[i].Attributes = validList(link.Attributes)
	}
	if ok {
		return span
	}
	return v
}

// valid is a span whose text is made valid when it is asked for.
type valid struct {
	sdktrace.ReadOnlySpan
	events []sdktrace.Event
	links  []sdktrace.Link
}

func (v valid) Name() string                     { return validText(v.ReadOnlySpan.Name()) }
func (v valid) Attributes() []attribute.KeyValue { return validList(v.ReadOnlySpan.Attributes()) }
func (v valid) Events() []sdktrace.Event         { return v.events }
func (v valid) Links() []sdktrace.Link           { return v.links }

func (v valid) Status() sdktrace.Status {
	status := v.ReadOnlySpan.Status()
	status.Description = validText(status.Description)
	return status
}
