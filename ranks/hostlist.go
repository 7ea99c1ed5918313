package ranks

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxHostName bounds one expanded name, in bytes: the longest DNS name. With
// [MaxHosts] it bounds the memory that any text can ask for.
const maxHostName = 255

// Hostlist expands Slurm's compact host lists, such as "n[1-3,5],login" or
// "rack[0-1]-[00-15]", in Slurm's own order. Entries are separated by commas or
// white space, and empty ones are skipped; names repeat if the list repeats them.
// A list that cannot be read is a [*ListError] that shows the place, never a part
// of the list: a node left out shifts the rank of every node behind it.
//
// It exists because scontrol may be missing in a container, and exits 0 on
// invalid input where it is not. (Cluster specification, "Slurm: where am I?")
func Hostlist(text string) ([]string, error) {
	var hosts []string
	for at := 0; at < len(text); {
		if isSeparator(text[at]) {
			at++
			continue
		}
		p := hostParser{text: text, at: at}
		entry, err := p.entry()
		if err != nil {
			return nil, err
		}
		// Counted before it is expanded: the product of the brackets is known
		// while it still costs nothing.
		n := entry.count()
		if n > MaxHosts-len(hosts) {
			return nil, p.fail(at, fmt.Sprintf("the list names more than %d hosts", MaxHosts))
		}
		if entry.longest() > maxHostName {
			return nil, p.fail(at, fmt.Sprintf("a host name longer than %d bytes", maxHostName))
		}
		hosts = entry.appendTo(hosts, n)
		at = p.at
	}
	return hosts, nil
}

// hostParser reads one entry; at is the next byte to look at.
type hostParser struct {
	text string
	at   int
}

func (p *hostParser) fail(at int, problem string) error {
	return &ListError{Kind: "host list", Text: p.text, Offset: at, Problem: problem}
}

// entry reads up to the next separator outside brackets.
func (p *hostParser) entry() (hostEntry, error) {
	e := hostEntry{literals: []string{""}}
	for p.at < len(p.text) && !isSeparator(p.text[p.at]) {
		c := p.text[p.at]
		switch {
		case c == '[':
			spans, err := p.bracket()
			if err != nil {
				return e, err
			}
			e.brackets = append(e.brackets, spans)
			e.literals = append(e.literals, "")
		case isNameByte(c):
			start := p.at
			for p.at < len(p.text) && isNameByte(p.text[p.at]) {
				p.at++
			}
			e.literals[len(e.literals)-1] += p.text[start:p.at]
		case c == ']':
			return e, p.fail(p.at, "a ']' without its '['")
		default:
			r, _ := utf8.DecodeRuneInString(p.text[p.at:])
			return e, p.fail(p.at, fmt.Sprintf("%q cannot stand in a host name", r))
		}
	}
	return e, nil
}

// bracket reads "[1-3,07,9-12]"; at stands on the '[' and ends behind the ']'.
func (p *hostParser) bracket() ([]span, error) {
	open := p.at
	var spans []span
	total := uint64(0)
	for {
		p.at++ // the '[' or the ','
		start := p.at
		s, err := p.span(open)
		if err != nil {
			return nil, err
		}
		// Checked as it grows: hi-lo may be all of 64 bits.
		if s.hi-s.lo >= MaxHosts || total+s.size() > MaxHosts {
			return nil, p.fail(start, fmt.Sprintf("the range names more than %d hosts", MaxHosts))
		}
		total += s.size()
		spans = append(spans, s)
		switch {
		case p.at == len(p.text):
			return nil, p.fail(open, "this '[' is never closed")
		case p.text[p.at] == ']':
			p.at++
			return spans, nil
		case p.text[p.at] != ',':
			return nil, p.fail(p.at, "expected ',', '-' or ']' after a number")
		}
	}
}

// span reads "7" or "7-12" inside the bracket that opens at open.
func (p *hostParser) span(open int) (span, error) {
	start := p.at
	lo, width, err := p.number(open)
	if err != nil {
		return span{}, err
	}
	s := span{lo: lo, hi: lo, width: width}
	if p.at < len(p.text) && p.text[p.at] == '-' {
		p.at++
		if s.hi, _, err = p.number(open); err != nil {
			return span{}, err
		}
	}
	if s.hi < s.lo {
		return span{}, p.fail(start, "the range runs backwards")
	}
	return s, nil
}

// number reads decimal digits; width is how many there were.
func (p *hostParser) number(open int) (n uint64, width int, err error) {
	start := p.at
	for p.at < len(p.text) && isDigit(p.text[p.at]) {
		p.at++
	}
	if start == len(p.text) {
		return 0, 0, p.fail(open, "this '[' is never closed")
	}
	if start == p.at {
		return 0, 0, p.fail(start, "expected a number")
	}
	n, err = strconv.ParseUint(p.text[start:p.at], 10, 64)
	if err != nil {
		return 0, 0, p.fail(start, "the number does not fit 64 bits")
	}
	return n, p.at - start, nil
}

func isSeparator(c byte) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNameByte is strict on purpose: the first name of a list becomes MASTER_ADDR,
// and shell patterns such as n{1..3} are not Slurm's notation.
func isNameByte(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_' || c == '.'
}
