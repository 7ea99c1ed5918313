package carrier

import (
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// Text returns a value as Python's str prints it: a string as it is, True or
// False, an integer in base 10, a float as [floatText] says. It reports false for
// null and for values that are not scalar (lists, maps, bytes), which the carrier
// cannot hold.
func Text(v attribute.Value) (string, bool) {
	switch v.Type() {
	case attribute.STRING:
		return v.AsString(), true
	case attribute.BOOL:
		if v.AsBool() {
			return "True", true
		}
		return "False", true
	case attribute.INT64:
		return strconv.FormatInt(v.AsInt64(), 10), true
	case attribute.FLOAT64:
		return floatText(v.AsFloat64()), true
	}
	return "", false
}

// The decimal exponents between which Python prints a float without one.
const (
	minPlainExponent = -4
	maxPlainExponent = 15
)

// floatText prints f as Python's str(float): the shortest digits that read back
// as f, with an exponent of at least two digits outside the plain range, and with
// ".0" where the digits alone would look like an integer.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	_, exponent, _ := strings.Cut(scientific, "e")
	// The exponent comes from strconv itself and is always a number.
	if n, _ := strconv.Atoi(exponent); n < minPlainExponent || n > maxPlainExponent {
		return scientific
	}
	plain := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(plain, ".") {
		plain += ".0"
	}
	return plain
}
