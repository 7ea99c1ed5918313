package launcher

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"lenslaunch/internal/proc"
)

// ExitSet is a set of exit codes and signals, written "2,64-78,SIGILL".
type ExitSet struct {
	codes   [256]bool
	signals map[syscall.Signal]bool
	text    string
}

// ParseExitSet reads a set. The empty text is the empty set.
func ParseExitSet(text string) (ExitSet, error) {
	set := ExitSet{signals: map[syscall.Signal]bool{}, text: text}
	if strings.TrimSpace(text) == "" {
		return set, nil
	}
	for _, part := range strings.Split(text, ",") {
		if err := set.add(strings.TrimSpace(part)); err != nil {
			return ExitSet{}, err
		}
	}
	return set, nil
}

func (s *ExitSet) add(part string) error {
	low, high, isRange := strings.Cut(part, "-")
	first, err := exitCode(low)
	if err == nil {
		last := first
		if isRange {
			if last, err = exitCode(high); err != nil || last < first {
				return fmt.Errorf("%q is no range of exit codes: write the smaller first, as in 64-78", part)
			}
		}
		for c := first; c <= last; c++ {
			s.codes[c] = true
		}
		return nil
	}
	// A bare number is a code, never a signal: 9 and SIGKILL are different ends.
	if part == "" || part[0] == '-' || part[0] >= '0' && part[0] <= '9' {
		return fmt.Errorf("%q is no exit code: they go from 0 to 255", part)
	}
	sig, err := proc.ParseSignal(part)
	if err != nil {
		return fmt.Errorf("%q is neither an exit code nor a signal: write 3, 64-78 or SIGKILL", part)
	}
	s.signals[sig] = true
	return nil
}

func exitCode(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 8)
	return int(n), err
}

// Has reports whether an end is in the set.
func (s ExitSet) Has(e proc.Exit) bool {
	if e.Signal != 0 {
		return s.signals[e.Signal]
	}
	return s.codes[e.Code&0xff]
}

// Empty reports whether nothing is in the set.
func (s ExitSet) Empty() bool { return strings.TrimSpace(s.text) == "" }

// String is the text that the set was read from.
func (s ExitSet) String() string { return s.text }
