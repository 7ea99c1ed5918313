package ranks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TasksPerNode expands Slurm's counts per node: "4(x2),3" is 4, 4, 3. There is
// one count per node, in the order of the host list, at most [MaxHosts] of them.
// Slurm writes neither an empty list nor a zero, so both are errors, as is
// anything else that does not follow the notation: a [*ListError].
func TasksPerNode(text string) ([]int, error) {
	var counts []int
	for at := 0; ; {
		piece, _, more := strings.Cut(text[at:], ",")
		count, repeat, err := tasksOf(text, at, piece)
		if err != nil {
			return nil, err
		}
		if repeat > MaxHosts-len(counts) {
			return nil, tasksError(text, at, fmt.Sprintf("the list names more than %d nodes", MaxHosts))
		}
		counts = append(counts, slices.Repeat([]int{count}, repeat)...)
		if at += len(piece) + 1; !more {
			return counts, nil
		}
	}
}

// tasksOf reads one piece, "4" or "4(x2)", which stands at byte at of text.
func tasksOf(text string, at int, piece string) (count, repeat int, err error) {
	number, rest := digits(piece)
	count, ok := positive(number)
	if !ok {
		return 0, 0, tasksError(text, at, "expected a number of tasks, 1 or more")
	}
	if rest == "" {
		return count, 1, nil
	}
	at += len(number)
	inner, opened := strings.CutPrefix(rest, "(x")
	inner, closed := strings.CutSuffix(inner, ")")
	if !opened || !closed {
		return 0, 0, tasksError(text, at, "expected ',' or a repetition such as (x2)")
	}
	if repeat, ok = positive(inner); !ok {
		return 0, 0, tasksError(text, at+len("(x"), "expected a number of nodes, 1 or more")
	}
	return count, repeat, nil
}

// digits splits text behind its leading decimal digits.
func digits(text string) (number, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	return text[:len(text)-len(rest)], rest
}

// positive reads a number from 1 to the largest 32-bit integer, which is more
// than Slurm can have of anything. Digits only: no sign, no space.
func positive(text string) (n int, ok bool) {
	number, rest := digits(text)
	wide, err := strconv.ParseInt(number, 10, 32)
	return int(wide), rest == "" && err == nil && wide > 0
}

func tasksError(text string, at int, problem string) error {
	return &ListError{Kind: "tasks per node", Text: text, Offset: at, Problem: problem}
}
