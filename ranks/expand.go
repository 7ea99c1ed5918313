package ranks

import "fmt"

// A hostEntry is one entry of a host list, taken apart: literal 0, bracket 0,
// literal 1, bracket 1, ..., last literal.
type hostEntry struct {
	literals []string // one more than brackets
	brackets [][]span
}

// A span is an inclusive range of numbers. Each is written with at least width
// digits, the width of the lower bound: "[08-10]" is 08, 09, 10 and "[9-11]" is
// 9, 10, 11.
type span struct {
	lo, hi uint64
	width  int
}

func (s span) size() uint64 { return s.hi - s.lo + 1 }

// longest is the length of the longest text of the span, in bytes. The width is
// cut where it is too much already, since text of any length may ask for it.
func (s span) longest() int { return len(fmt.Sprintf("%0*d", min(s.width, maxHostName+1), s.hi)) }

// count returns how many hosts the entry names, or MaxHosts+1 if it is more than
// that: the true product may not fit an int.
func (e hostEntry) count() int {
	n := uint64(1)
	for _, spans := range e.brackets {
		n *= bracketSize(spans) // both at most MaxHosts: no overflow
		if n > MaxHosts {
			return MaxHosts + 1
		}
	}
	return int(n)
}

// longest is the length of the longest name of the entry, in bytes.
func (e hostEntry) longest() int {
	n := 0
	for _, text := range e.literals {
		n += len(text)
	}
	for _, spans := range e.brackets {
		widest := 0
		for _, s := range spans {
			widest = max(widest, s.longest())
		}
		n += widest
	}
	return n
}

// appendTo appends the n hosts of the entry in Slurm's order. With k brackets
// the outermost loop is bracket k-1, then k-2 and so on down to 1, and the
// innermost is bracket k. It looks odd and is what Slurm does: it keeps the last
// bracket as a range and multiplies out the others from the left.
func (e hostEntry) appendTo(hosts []string, n int) []string {
	// At most n texts in all: each bracket has no more choices than the product.
	choices := make([][]string, len(e.brackets))
	for b, spans := range e.brackets {
		choices[b] = texts(spans)
	}
	pick := make([]int, len(choices))
	for i := range n {
		// The number i, read digit by digit, from the loop that turns fastest.
		rest, last := i, len(choices)-1
		if last >= 0 {
			pick[last], rest = rest%len(choices[last]), rest/len(choices[last])
		}
		for b := 0; b < last; b++ {
			pick[b], rest = rest%len(choices[b]), rest/len(choices[b])
		}
		hosts = append(hosts, e.join(choices, pick))
	}
	return hosts
}

// join writes one name out: each bracket replaced by the text that was picked.
func (e hostEntry) join(choices [][]string, pick []int) string {
	name := make([]byte, 0, 64)
	for b, text := range e.literals {
		name = append(name, text...)
		if b < len(choices) {
			name = append(name, choices[b][pick[b]]...)
		}
	}
	return string(name)
}

// bracketSize is how many texts a bracket stands for; the parser has bounded it.
func bracketSize(spans []span) uint64 {
	n := uint64(0)
	for _, s := range spans {
		n += s.size()
	}
	return n
}

// texts writes out all numbers of a bracket, in its own order and with repeats.
func texts(spans []span) []string {
	out := make([]string, 0, bracketSize(spans))
	for _, s := range spans {
		// Counting the size, not up to hi: hi may be the largest number there is.
		for i := range s.size() {
			out = append(out, fmt.Sprintf("%0*d", s.width, s.lo+i))
		}
	}
	return out
}
