package port

import (
	"fmt"
	"strconv"
	"strings"
)

// Range is an inclusive range of TCP ports, 1 <= First <= Last <= 65535.
type Range struct {
	First, Last int
}

// Default is the range of the launch specification, 20000-29999: below the
// ephemeral range of a Linux machine (32768-60999) and above what services use.
func Default() Range { return Range{First: 20000, Last: 29999} }

// ParseRange reads "A-B", or "A" for a range of one port.
func ParseRange(text string) (Range, error) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	r := Range{First: parsePort(first), Last: parsePort(last)}
	if err := r.check(); err != nil {
		return Range{}, fmt.Errorf("cannot read port range %q: want FIRST-LAST with 1 <= FIRST <= LAST <= 65535, such as %s", text, Default())
	}
	return r, nil
}

// parsePort returns 0, which is no port, for anything that is not one. Only
// plain digits count: "+1" and "0x50" are typing errors, not ports.
func parsePort(text string) int {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

func (r Range) check() error {
	if r.First < 1 || r.First > r.Last || r.Last > 65535 {
		return fmt.Errorf("port range %s is not within 1-65535", r)
	}
	return nil
}

// Size is the number of ports in the range.
func (r Range) Size() int { return r.Last - r.First + 1 }

// Contains reports whether the port lies in the range.
func (r Range) Contains(port int) bool { return r.First <= port && port <= r.Last }

// String returns the form that [ParseRange] reads.
func (r Range) String() string {
	return strconv.Itoa(r.First) + "-" + strconv.Itoa(r.Last)
}

// minus returns the parts of r that do not overlap other: none, one or two.
func (r Range) minus(other Range) []Range {
	var parts []Range
	for _, part := range []Range{
		{First: r.First, Last: min(r.Last, other.First-1)},
		{First: max(r.First, other.Last+1), Last: r.Last},
	} {
		if part.First <= part.Last {
			parts = append(parts, part)
		}
	}
	return parts
}

// and returns the overlap of two ranges: none or one.
func (r Range) and(other Range) []Range {
	both := Range{First: max(r.First, other.First), Last: min(r.Last, other.Last)}
	if both.First > both.Last {
		return nil
	}
	return []Range{both}
}
