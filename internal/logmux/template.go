package logmux

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// DefaultTemplate is the prefix of the launch specification.
const DefaultTemplate = "[{rank}] "

// timeLayout is for people who watch: the time of day, where they are.
const timeLayout = "15:04:05.000"

// Place is what the fields of a Template are filled with.
type Place struct {
	Rank, World       int // {rank}, aligned to the widest rank of World
	Local, LocalWorld int // {local_rank}, aligned to the widest of LocalWorld
	Node, Nodes       int // {node}, aligned to the widest of Nodes
	Attempt           int // {attempt}
	Host, Role, RunID string
}

// Template is a prefix with fields in braces. The zero value is the empty prefix.
type Template struct{ parts []part }

// part is a literal text or, if field is not empty, a field.
type part struct{ literal, field string }

// fields are the names that a template may use, as users read them.
var fields = []string{"rank", "local_rank", "host", "node", "attempt", "time", "role", "run_id"}

// ParseTemplate reads a template such as "{time} [{rank}] ". `{{` and `}}` stand for
// the braces themselves. The error says what is wrong and where; its text is made for
// the user who typed the template.
func ParseTemplate(text string) (Template, error) {
	if bad := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }); bad >= 0 {
		return Template{}, fmt.Errorf("cannot read the prefix %q: character %d is no text", text, utf8.RuneCountInString(text[:bad])+1)
	}
	var t Template
	for rest := text; rest != ""; {
		literal, field, left, err := nextPart(rest)
		if err != nil {
			return Template{}, fmt.Errorf("cannot read the prefix %q: %w", text, err)
		}
		if literal != "" {
			t.parts = append(t.parts, part{literal: literal})
		}
		if field != "" {
			t.parts = append(t.parts, part{field: field})
		}
		rest = left
	}
	return t, nil
}

// nextPart takes a literal and the field behind it, each of which may be missing, from
// the beginning of text.
func nextPart(text string) (literal, field, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c != '{' && c != '}':
			b.WriteByte(c)
		case i+1 < len(text) && text[i+1] == c:
			b.WriteByte(c)
			i++
		case c == '}':
			return "", "", "", fmt.Errorf("a } without its {: write }} for the brace itself")
		default:
			name, left, closed := strings.Cut(text[i+1:], "}")
			if !closed {
				return "", "", "", fmt.Errorf("a { without its }: write {{ for the brace itself")
			}
			if !slices.Contains(fields, name) {
				return "", "", "", fmt.Errorf("{%s} is no field: there are {%s}", name, strings.Join(fields, "}, {"))
			}
			return b.String(), name, left, nil
		}
	}
	return b.String(), "", "", nil
}

// Timed reports whether the prefix is another one at another time.
func (t Template) Timed() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.field == "time" })
}

// Expand is the prefix of a place. Numbers are right-aligned to the widest.
func (t Template) Expand(p Place, now time.Time) string {
	var b strings.Builder
	for _, part := range t.parts {
		switch part.field {
		case "":
			b.WriteString(part.literal)
		case "rank":
			fmt.Fprintf(&b, "%*d", digits(p.World), p.Rank)
		case "local_rank":
			fmt.Fprintf(&b, "%*d", digits(p.LocalWorld), p.Local)
		case "node":
			fmt.Fprintf(&b, "%*d", digits(p.Nodes), p.Node)
		case "attempt":
			b.WriteString(strconv.Itoa(p.Attempt))
		case "host":
			b.WriteString(p.Host)
		case "role":
			b.WriteString(p.Role)
		case "run_id":
			b.WriteString(p.RunID)
		case "time":
			b.WriteString(now.Format(timeLayout))
		}
	}
	return b.String()
}

// Label gives a stream the prefix of a place.
func (t Template) Label(s *Stream, p Place) {
	s.Prefix = t.Expand(p, time.Time{})
	s.Continuation = Continued(s.Prefix)
	if t.Timed() {
		s.Stamp = func(now time.Time) string { return t.Expand(p, now) }
	}
}

// Continued is the prefix of the further pieces of a line: the line's own with a plus
// behind its last visible character, as in `[3]+ `.
func Continued(prefix string) string {
	text := strings.TrimRight(prefix, " ")
	if text == "" {
		return prefix
	}
	return text + "+" + prefix[len(text):]
}

// digits is how wide the numbers below n are.
func digits(n int) int { return len(strconv.Itoa(max(n-1, 0))) }
