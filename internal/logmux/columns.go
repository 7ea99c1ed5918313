package logmux

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// longestEscape bounds an escape sequence: what is longer is taken for text.
const longestEscape = 64

// escape is the length of the control sequence (ESC [ ... letter) or the two-byte
// escape that text begins with; 0 if it begins with none, or with one that is not
// whole. broken: it never will be.
func escape(text []byte) (n int, broken bool) {
	switch {
	case len(text) == 0 || text[0] != 0x1b:
		return 0, true
	case len(text) == 1:
		return 0, false
	case text[1] != '[':
		return 2, false
	}
	for i := 2; i < len(text) && i < longestEscape; i++ {
		switch c := text[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1, false
		case c < 0x20 || c > 0x7e: // no parameter (ECMA-48, 5.4)
			return 0, true
		}
	}
	return 0, len(text) >= longestEscape
}

// wholeEscapes is the length of text without an escape sequence at its end that is
// not whole.
func wholeEscapes(text []byte) int {
	at := bytes.LastIndexByte(text, 0x1b)
	if at < 0 {
		return len(text)
	}
	if n, broken := escape(text[at:]); n > 0 || broken {
		return len(text)
	}
	return at
}

// fit appends as much of text as has room in so many columns of a terminal. Colours
// are kept; what would move the cursor is left out, because the line must stay where
// it is.
func fit(dst, text []byte, columns int) []byte {
	for len(text) > 0 {
		if n, _ := escape(text); n > 0 {
			if text[n-1] == 'm' && text[1] == '[' {
				dst = append(dst, text[:n]...)
			}
			text = text[n:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		switch w := width(r); {
		case r < ' ' || r == 0x7f || r == utf8.RuneError && n == 1:
			// A control character or no character: it has no known width.
		case w > columns:
			return dst
		default:
			columns -= w
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst
}

// width is how many columns a character takes. In doubt it is the larger number: a
// line that is too short does no harm, one that wraps cannot be refreshed in place.
func width(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, // Hangul
		r >= 0x2e80 && r <= 0xa4cf,                                                                                     // CJK
		r >= 0xac00 && r <= 0xd7a3,                                                                                     // Hangul
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, // full width forms
		r >= 0x231a && r <= 0x23ff, r >= 0x2600 && r <= 0x27bf, // symbols that some terminals show wide
		r >= 0x1f000 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd: // emoji, CJK
		return 2
	}
	return 1
}
