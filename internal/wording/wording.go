// Package wording has what several packages do alike with texts that people read. It
// knows nothing of what the texts are about.
package wording

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Boundary is the length of the longest beginning of text that does not cut a UTF-8
// character; text that is no UTF-8 is cut where it ends. For text that is not empty
// it is at least 1.
func Boundary(text []byte) int {
	for back := 1; back < utf8.UTFMax && back < len(text); back++ {
		c := text[len(text)-back]
		if !utf8.RuneStart(c) {
			continue
		}
		if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-back:]) {
			return len(text) - back
		}
		break
	}
	return len(text)
}

// Spans writes numbers as a list with ranges: 0-2,5.
func Spans(list []int) string {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		text := strconv.Itoa(sorted[i])
		if j > i {
			text += "-" + strconv.Itoa(sorted[j])
		}
		parts = append(parts, text)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// ShellQuote is a word that a POSIX shell reads as text.
func ShellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// ShellWord is ShellQuote where that is needed, for a line that people copy.
func ShellWord(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+:,=@%", r)
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return ShellQuote(text)
}
