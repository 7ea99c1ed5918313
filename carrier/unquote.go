package carrier

import (
	"strings"
	"unicode/utf8"
)

// unquote undoes percent-encoding as Python's urllib.parse.unquote does: "%XX"
// becomes a byte, any other '%' stays, '+' stays, and the bytes are read as UTF-8
// with U+FFFD for what is invalid.
//
// Only runs of ASCII text are decoded, each on its own. So text that stands raw
// in the value, valid or not, is never joined with an escape next to it to make a
// character that nobody wrote.
func unquote(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var out strings.Builder
	for s != "" {
		n := runLength(s)
		if s[0] < utf8.RuneSelf {
			replaceInvalid(&out, unescape(s[:n]))
		} else {
			out.WriteString(s[:n])
		}
		s = s[n:]
	}
	return out.String()
}

// runLength returns the number of leading bytes of s, which is not empty, that
// are ASCII like the first or not ASCII like the first.
func runLength(s string) int {
	ascii := s[0] < utf8.RuneSelf
	for i := range len(s) {
		if (s[i] < utf8.RuneSelf) != ascii {
			return i
		}
	}
	return len(s)
}

// unescape replaces each well-formed "%XX" by its byte.
func unescape(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, ok1 := unhex(s[i+1])
			lo, ok2 := unhex(s[i+2])
			if ok1 && ok2 {
				out = append(out, hi<<4|lo)
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return out
}

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// replaceInvalid writes b with one U+FFFD for each maximal subpart of an invalid
// sequence, as Unicode recommends and Python does: the two bytes E2 82 of a cut
// euro sign are one replacement. Go's own conversion makes one per byte.
func replaceInvalid(out *strings.Builder, b []byte) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			size = subpartLength(b)
			out.WriteRune(utf8.RuneError)
		} else {
			out.Write(b[:size])
		}
		b = b[size:]
	}
}

// subpartLength returns how many leading bytes of the invalid sequence b could
// still have begun a character: at least 1, at most 3.
func subpartLength(b []byte) int {
	n := 1
	// FullRune is false exactly while bytes can be missing, so the ranges of the
	// second byte (no overlong form, no surrogate) need no second home here.
	for n < len(b) && !utf8.FullRune(b[:n+1]) {
		n++
	}
	return n
}
