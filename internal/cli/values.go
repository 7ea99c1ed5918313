package cli

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
	"lenslaunch/launcher"
)

// Readers of settings: each gives the value or a usage error that names the flag or
// variable it came from and shows a right one.

func (v setting) wrong(hint, problem string) error {
	return misuse(hint, "%s %q %s", v.from, v.text, problem)
}

// integer reads a whole number from low to high.
func (v setting) integer(low, high int, example string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(v.text))
	if err != nil {
		return 0, v.wrong("write "+example, "is no whole number")
	}
	if n < low || n > high {
		limit := "is less than " + strconv.Itoa(low)
		if n > high {
			limit = "is more than " + strconv.Itoa(high)
		}
		return 0, v.wrong("write "+example, limit)
	}
	return n, nil
}

// optional is integer, or nil if nothing was given.
func (v setting) optional(low int, example string) (*int, error) {
	if !v.given {
		return nil, nil
	}
	n, err := v.integer(low, math.MaxInt32, example)
	return &n, err
}

// duration reads a time such as 500ms, 20s or 1h30m. A bare number is refused: a
// tool that reads 30 as nanoseconds or as minutes surprises somebody.
func (v setting) duration() (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(v.text))
	switch {
	case err != nil:
		return 0, v.wrong("write a number with its unit, as in 500ms, 20s or 1h30m", "is no time")
	case d < 0:
		return 0, v.wrong("write 0s or more", "is a negative time")
	}
	return d, nil
}

// smallestLog is the least that a file can be capped to: less would be rotated at every
// line.
const smallestLog = 4 << 10

// size reads a number of bytes such as 64KiB, 100MiB or 2GB; 0 is none.
func (v setting) size() (int64, error) {
	text := strings.TrimSpace(v.text)
	digits := strings.TrimRight(text, "kKMGTiB")
	factor, known := map[string]int64{
		"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"K": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20, "G": 1 << 30, "GiB": 1 << 30, "T": 1 << 40, "TiB": 1 << 40,
	}[text[len(digits):]]
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	switch {
	case err != nil || !known || n < 0 || n > math.MaxInt64/factor:
		return 0, v.wrong("write a number with its unit, as in 64KiB or 100MiB", "is no size")
	case n > 0 && n*factor < smallestLog:
		return 0, v.wrong("write at least 4KiB, or 0 for no limit", "is too small for a file of lines")
	}
	return n * factor, nil
}

// choice reads one of a few words.
func (v setting) choice(words ...string) (string, error) {
	if !slices.Contains(words, v.text) {
		return "", v.wrong("write one of "+strings.Join(words, ", "), "is none of the choices")
	}
	return v.text, nil
}

// yes reads a switch.
func (v setting) yes() (bool, error) {
	if !v.given {
		return false, nil
	}
	b, err := strconv.ParseBool(v.text)
	if err != nil {
		return false, v.wrong("write 1 or 0", "is neither true nor false")
	}
	return b, nil
}

// pair reads KEY=VALUE. The key is not empty; the value may be.
func (v setting) pair() (key, value string, err error) {
	key, value, ok := strings.Cut(v.text, "=")
	if !ok || strings.TrimSpace(key) == "" {
		return "", "", v.wrong("write KEY=VALUE", "has no key and value")
	}
	return key, value, nil
}

// exits reads a set of exit codes and signals; "none" is the empty one.
func (v setting) exits() (launcher.ExitSet, error) {
	text := v.text
	if strings.TrimSpace(text) == "none" {
		text = ""
	}
	set, err := launcher.ParseExitSet(text)
	if err != nil {
		return set, misuse("", "%s %q: %v", v.from, v.text, err)
	}
	return set, nil
}

// signals reads a list of signals; "none" is the empty one.
func (v setting) signals(never ...syscall.Signal) ([]syscall.Signal, error) {
	if text := strings.TrimSpace(v.text); text == "none" || text == "" {
		return nil, nil
	}
	var out []syscall.Signal
	for _, name := range strings.Split(v.text, ",") {
		sig, err := proc.ParseSignal(name)
		if err != nil {
			return nil, misuse("", "%s %q: %v", v.from, v.text, err)
		}
		if slices.Contains(never, sig) {
			return nil, v.wrong("leave it out", "has "+proc.SignalName(sig)+", which cannot be passed on")
		}
		out = append(out, sig)
	}
	return out, nil
}

// span is a range of ranks, both ends included.
type span struct{ low, high uint64 }

// spans reads ranks of that kind, as in "0,3-5", however many there are.
func (v setting) spans(kind string) (list []span, err error) {
	for _, part := range strings.Split(v.text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.ParseUint(low, 10, 31)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(high, 10, 31)
		}
		if err != nil || last < first {
			return nil, v.wrong("write "+kind+", as in 0,3-5", "is no list of ranks")
		}
		list = append(list, span{first, last})
	}
	return list, nil
}

// list reads local ranks, as in "0,3-5", of n; nil if nothing was given.
func (v setting) list(n int) ([]bool, error) {
	if !v.given {
		return nil, nil
	}
	spans, err := v.spans("local ranks")
	if err != nil {
		return nil, err
	}
	picked := make([]bool, n)
	for _, s := range spans {
		if s.high >= uint64(n) {
			return nil, v.wrong("local ranks go from 0 to "+strconv.Itoa(n-1), "names local rank "+strconv.FormatUint(s.high, 10)+", which there is not")
		}
		for i := s.low; i <= s.high; i++ {
			picked[i] = true
		}
	}
	return picked, nil
}
