package runview

import (
	"fmt"
	"strings"
	"time"

	"lenslaunch/internal/rundir"
)

// doing is what ranks had open when they went; ranks that were at the same are one.
type doing struct {
	ranks []int
	text  string // "train (1m02s) > step 118 (2.1s) > allreduce (1.9s)"
	key   string
}

// doings tells of an attempt, in the order of ranks, and how many found no place.
func doings(a rundir.AttemptRecord, most int) (list []doing, left int) {
	place := map[string]int{}
	for _, r := range a.Ranks {
		if r.Doing == nil || len(r.Doing.Spans) == 0 {
			continue
		}
		one := doing{ranks: []int{r.Rank}, text: doingWords(*r.Doing), key: doingKey(*r.Doing)}
		i, known := place[one.key]
		switch {
		case known:
			list[i].ranks = append(list[i].ranks, r.Rank)
		case len(list) < most:
			place[one.key] = len(list)
			list = append(list, one)
		default:
			left++
		}
	}
	return list, left
}

// doingKey tells whether ranks were at the same: durations differ always.
func doingKey(d rundir.DoingRecord) string {
	var names []string
	for _, s := range d.Spans {
		names = append(names, s.Name)
	}
	return strings.Join(names, "\x00")
}

// doingWords is the way down to the innermost span, each with how long it was open.
func doingWords(d rundir.DoingRecord) string {
	var parts []string
	for _, s := range d.Spans {
		parts = append(parts, fmt.Sprintf("%s (%s)", short(s.Name, 80), lasted(max(0, d.At.Sub(s.Started)).Round(time.Millisecond))))
	}
	text := strings.Join(parts, " > ")
	if more := d.Open - len(d.Spans); more > 0 {
		text += fmt.Sprintf(", and %d more open", more)
	}
	return text
}

// doingLines tells what every rank was doing when it went.
func (r *Run) doingLines() []string {
	for i := len(r.Attempts) - 1; i >= 0; i-- {
		list, left := doings(r.Attempts[i], reportEntries)
		if len(list) == 0 {
			continue
		}
		lines := []string{"", "open when they went, in " + label(r.Attempts[i])}
		for _, d := range list {
			lines = append(lines, fmt.Sprintf("  %s: %s", ranksWord(d.ranks), d.text))
		}
		if left > 0 {
			lines = append(lines, fmt.Sprintf("  … and %d more ranks", left))
		}
		return lines
	}
	return nil
}

// doingOf is what one rank was doing; empty: not known.
func doingOf(a rundir.AttemptRecord, rank int) string {
	for _, r := range a.Ranks {
		if r.Rank == rank && r.Doing != nil && len(r.Doing.Spans) > 0 {
			return doingWords(*r.Doing)
		}
	}
	return ""
}
