package rundir

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const attemptPrefix = "attempt-"

// IsAttempt reports whether a text is the name of an attempt's directory: attempt-<n>,
// or attempt-<n>-st<k> for a step k > 0. What a file says becomes part of a path, so
// nothing else is taken for one.
func IsAttempt(name string) bool {
	_, ok := number(name)
	return ok
}

// Label is what stands for an attempt in %a and for people: its name without "attempt-".
func Label(name string) string { return strings.TrimPrefix(name, attemptPrefix) }

// Labelled is the name of the attempt with that label, or with that name.
func Labelled(label string) string { return attemptPrefix + Label(label) }

// UncoordinatedName names the attempt of several nodes that do not talk to each other:
// all of them compute the same from their environment. count is slurm.restart_count,
// or the attempt number where that is not published; step is the id of a Slurm step, 0
// without one.
func UncoordinatedName(count int64, step int) string {
	name := attemptPrefix + strconv.FormatInt(max(0, count), 10)
	if step > 0 {
		name += "-st" + strconv.Itoa(step)
	}
	return name
}

// number is n in the name of an attempt.
func number(name string) (n int64, ok bool) {
	rest, ok := strings.CutPrefix(name, attemptPrefix)
	if !ok {
		return 0, false
	}
	digits, step, isStep := strings.Cut(rest, "-st")
	if k, ok := count(step); isStep && (!ok || k == 0) {
		return 0, false
	}
	return count(digits)
}

// count reads the one spelling that a number has in a name.
func count(digits string) (n int64, ok bool) {
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n >= 0 && n < math.MaxInt64 && strconv.FormatInt(n, 10) == digits
}

// next is one more than the highest attempt that the run knows, else 0.
func (r *Run) next() int64 {
	n := int64(0)
	for _, a := range r.Attempts {
		if i, ok := number(a.Name); ok {
			n = max(n, i+1)
		}
	}
	return n
}

// Stream is one of a rank's two, by the ending of its files.
type Stream string

// The streams.
const (
	Out Stream = "out"
	Err Stream = "err"
)

// outputName is the name of a rank's file in an attempt's directory.
func outputName(rank int, s Stream) string { return fmt.Sprintf("rank-%d.%s", rank, s) }
