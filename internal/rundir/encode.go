package rundir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// encodeLine writes a value as one line of JSON that is safe to look at: JSON itself
// escapes the control characters below U+0020 and makes text valid UTF-8; DEL and
// those above U+007F, which some terminals obey as well, are escaped here.
func encodeLine(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // a traceback's <module> stays readable
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escape(buf.Bytes()), nil
}

// escape rewrites control characters, which valid JSON has within strings only.
func escape(text []byte) []byte {
	isHigh := func(i int) bool { return text[i] == 0xc2 && i+1 < len(text) && text[i+1] < 0xa0 }
	out := text
	copied := 0 // nothing was copied yet: most texts need no change
	for i := 0; i < len(text); i++ {
		size, code := 1, rune(text[i])
		if isHigh(i) {
			size, code = 2, rune(text[i+1])
		} else if text[i] != 0x7f {
			continue
		}
		if copied == 0 {
			out = make([]byte, 0, len(text)+64)
		}
		out = append(out, text[copied:i]...)
		out = fmt.Appendf(out, `\u%04x`, code)
		copied = i + size
		i += size - 1
	}
	if copied == 0 {
		return text
	}
	return append(out, text[copied:]...)
}

// encodeRun writes run.json with one line for each attempt and each rank: grep and tail
// are how people look at it.
func encodeRun(r *Run) ([]byte, error) {
	head := *r
	head.Schema = Schema
	head.Attempts = []AttemptRecord{}
	text, err := encodeLine(head)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(text, []byte("]}\n"))
	for i, a := range r.Attempts {
		if text, err = appendAttempt(separate(text, i), a); err != nil {
			return nil, err
		}
	}
	return append(text, "\n]}\n"...), nil
}

func appendAttempt(text []byte, a AttemptRecord) ([]byte, error) {
	head := a
	head.Ranks = []RankRecord{}
	line, err := encodeLine(head)
	if err != nil {
		return nil, err
	}
	text = append(text, bytes.TrimSuffix(line, []byte("]}\n"))...)
	for i, r := range a.Ranks {
		if line, err = encodeLine(r); err != nil {
			return nil, err
		}
		text = append(separate(text, i), bytes.TrimSuffix(line, []byte("\n"))...)
	}
	return append(text, "]}"...), nil
}

// separate begins element i of a list on a line of its own.
func separate(text []byte, i int) []byte {
	if i > 0 {
		text = append(text, ',')
	}
	return append(text, '\n')
}

// How much text of others one record takes: bytes of a message and of a line, and
// numbers of lines. Escaped, all of it in one event stays below what readers take.
const (
	maxMessage = 16 << 10
	maxLine    = 2 << 10
	maxStderr  = 32
	maxWhy     = 1000 // some decisions are made for every rank
	cutMark    = " [cut]"
)

// clip bounds a text without cutting a character.
func clip(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for back := 0; back < utf8.UTFMax && !utf8.RuneStart(text[size]); back++ {
		size--
	}
	return text[:size] + cutMark
}

// clipLines bounds a list of lines, and keeps the last ones.
func clipLines(lines []string, most int) []string {
	var out []string
	for _, line := range lines[max(0, len(lines)-most):] {
		out = append(out, clip(line, maxLine))
	}
	return out
}
