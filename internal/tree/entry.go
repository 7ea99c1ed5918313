package tree

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
)

// marks yields every mark in an environment. Entries come in any number, and the
// memory they lie in is the process's own to overwrite: it need not be text.
func marks(environ []byte) iter.Seq2[Mark, int] {
	return func(yield func(Mark, int) bool) {
		for len(environ) > 0 {
			entry, rest, ended := bytes.Cut(environ, []byte{0})
			environ = rest
			value, ours := bytes.CutPrefix(entry, []byte(Variable+"="))
			// An entry without its end may be the beginning of another value.
			if !ours || !ended {
				continue
			}
			if mark, local, ok := parseValue(string(value)); ok && !yield(mark, local) {
				return
			}
		}
	}
}

// parseValue reads what Value writes.
func parseValue(value string) (Mark, int, bool) {
	token, rank, found := strings.Cut(value, "/")
	mark, ok := ParseMark(token)
	local, err := strconv.Atoi(rank)
	return mark, local, found && ok && err == nil && local >= 0 && mark.Value(local) == value
}
