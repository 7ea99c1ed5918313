package otlpfile

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// appendJSON appends a message in OTLP's JSON: lowerCamelCase names, fields without a
// value left out. It knows no message by name, so a field that a later version of OTLP
// has is there too.
func appendJSON(b []byte, m protoreflect.Message) []byte {
	b = append(b, '{')
	first := len(b)
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if !m.Has(f) {
			continue
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = append(appendString(b, f.JSONName()), ':')
		if !f.IsList() {
			b = appendValue(b, f, m.Get(f))
			continue
		}
		b = append(b, '[')
		for list, n := m.Get(f).List(), 0; n < list.Len(); n++ {
			if n > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, f, list.Get(n))
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendValue(b []byte, f protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return appendJSON(b, v.Message())
	case protoreflect.StringKind:
		return appendString(b, v.String())
	case protoreflect.BytesKind:
		return appendBytes(b, f.Name(), v.Bytes())
	case protoreflect.BoolKind:
		return strconv.AppendBool(b, v.Bool())
	case protoreflect.EnumKind:
		return strconv.AppendInt(b, int64(v.Enum()), 10)
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return appendFloat(b, v.Float())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return strconv.AppendInt(b, v.Int(), 10)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return strconv.AppendUint(b, v.Uint(), 10)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return append(strconv.AppendInt(append(b, '"'), v.Int(), 10), '"')
	default: // Uint64Kind, Fixed64Kind: a number in JSON has 53 bits
		return append(strconv.AppendUint(append(b, '"'), v.Uint(), 10), '"')
	}
}

// appendBytes writes ids, and nothing else, in hexadecimal.
func appendBytes(b []byte, name protoreflect.Name, data []byte) []byte {
	b = append(b, '"')
	if slices.Contains([]protoreflect.Name{"trace_id", "span_id", "parent_span_id"}, name) {
		b = hex.AppendEncode(b, data)
	} else {
		b = base64.StdEncoding.AppendEncode(b, data)
	}
	return append(b, '"')
}

// appendString replaces what is no UTF-8, so that one such byte does not cost a line.
func appendString(b []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil { // of no string
		return append(b, `""`...)
	}
	return append(b, quoted...)
}

func appendFloat(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}
