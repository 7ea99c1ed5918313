package runview

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapes are the sequences by which programs colour and move: CSI, OSC (to its end or
// that of the text), and the short ones.
var escapes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\|$)|\x1b[ -/]*[0-~]")

// clean keeps a foreign text from steering the reader's terminal or turning the order
// of what is read: escape sequences are left out, other control characters and those
// that change the direction of text are replaced. Line ends and tabs stay.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexByte(text, 0x1b) >= 0 {
		text = escapes.ReplaceAllString(text, "")
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || steers(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// steers reports whether a character changes the direction of the text around it, or
// ends a line without being a line end.
func steers(r rune) bool {
	return r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069' || r == '\u2028' || r == '\u2029'
}

// oneLine is clean for a text that has to stay on a line.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(clean(text), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// short is a foreign text on one line, of so many characters at the most.
func short(text string, most int) string {
	// A text may be long, and cleaning costs: what will be cut need not be clean.
	const each = 8 // bytes for a character and what may stand around it
	if room := most * each; len(text) > room {
		text = text[:room]
	}
	return clip(oneLine(text), most)
}

// clip cuts a text to so many characters, and shows that it did.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n == most-1 {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// clipMiddle cuts a text of several lines to about so many bytes. Its end is worth
// more: a traceback ends with the error.
func clipMiddle(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/4], text[len(text)-most*3/4:]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	return head + "\n… " + size(int64(len(text)-len(head)-len(tail))) + " left out …\n" + tail
}

// indented puts every line of a text behind a margin.
func indented(text, margin string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n \t"), "\n") {
		lines = append(lines, strings.TrimRight(margin+line, " \t"))
	}
	return lines
}
