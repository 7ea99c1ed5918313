package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCPU is the highest number that a list may hold, twice what any kernel supports:
// a list is expanded, and "0-4294967295" must not take all memory.
const maxCPU = 1<<14 - 1

// CPUList is a set of CPUs (or of NUMA nodes, which the kernel writes the same way):
// ascending, without repetition.
type CPUList []int

type span struct{ first, last int }

// ParseCPUList reads the kernel's notation, "0-3,8"; blank is the empty set. Order and
// overlaps do not matter. The notation with a stride ("0-10:2/4"), which the kernel
// reads but does not write, is an error.
func ParseCPUList(text string) (CPUList, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	var spans []span
	for part := range strings.SplitSeq(text, ",") {
		s, err := parseSpan(part)
		if err != nil {
			return nil, fmt.Errorf("cannot read the list of CPUs %.100q: %w", text, err)
		}
		spans = append(spans, s)
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	var list CPUList
	next := 0 // the lowest that is not in the list yet
	for _, s := range spans {
		for cpu := max(s.first, next); cpu <= s.last; cpu++ {
			list = append(list, cpu)
		}
		next = max(next, s.last+1)
	}
	return list, nil
}

func parseSpan(text string) (span, error) {
	low, high, isRange := strings.Cut(text, "-")
	first, err := parseCPU(low)
	if err != nil || !isRange {
		return span{first, first}, err
	}
	last, err := parseCPU(high)
	if err == nil && last < first {
		err = fmt.Errorf("%q runs backwards", text)
	}
	return span{first, last}, err
}

func parseCPU(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%.20q is no number", text)
	}
	if n > maxCPU {
		return 0, fmt.Errorf("%d is more than %d", n, maxCPU)
	}
	return int(n), nil
}

// String writes the kernel's notation.
func (l CPUList) String() string {
	var out []byte
	for i := 0; i < len(l); {
		j := i
		for j+1 < len(l) && l[j+1] == l[j]+1 {
			j++
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(l[i]), 10)
		if j > i {
			out = append(out, '-')
			out = strconv.AppendInt(out, int64(l[j]), 10)
		}
		i = j + 1
	}
	return string(out)
}

// Has reports whether the CPU is in the list.
func (l CPUList) Has(cpu int) bool {
	_, found := slices.BinarySearch(l, cpu)
	return found
}

// and is the CPUs that are in both.
func (l CPUList) and(other CPUList) CPUList {
	var both CPUList
	for _, cpu := range l {
		if other.Has(cpu) {
			both = append(both, cpu)
		}
	}
	return both
}

// union is the CPUs that are in any of the lists.
func union(lists ...CPUList) CPUList {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
