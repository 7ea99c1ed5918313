package launcher

import (
	"strconv"
	"strings"
)

// place is what placeholders stand for in one rank of one attempt.
type place struct {
	rank, local, node int
	attempt, runID    string
}

// expand replaces %r (rank), %l (local rank), %n (node rank), %a (attempt), %i (run
// id) and %% in --env values, --chdir and --log-dir. Anything else behind a % stays as it is: a
// value such as "100%" or a date format is no mistake.
func (p place) expand(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case 'r':
			b.WriteString(strconv.Itoa(p.rank))
		case 'l':
			b.WriteString(strconv.Itoa(p.local))
		case 'n':
			b.WriteString(strconv.Itoa(p.node))
		case 'a':
			b.WriteString(p.attempt)
		case 'i':
			b.WriteString(p.runID)
		case '%':
			b.WriteByte('%')
		default:
			b.WriteByte('%')
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
