package runview

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"lenslaunch/internal/rundir"
)

func (r *Run) detail(a rundir.AttemptRecord, bar pageBar, now time.Time) pageDetail {
	end := r.attemptEnd(a, now)
	axis := axis{a.Began, end}
	d := pageDetail{
		ID: bar.ID, Label: bar.Label, Summary: bar.Text, Symbol: bar.Symbol, Class: bar.Class, Total: bar.Short,
		Facts: r.attemptFacts(a), Failure: -1, Trimmed: a.Trimmed, Error: r.pageCause(a, pageErrors),
		Warnings: texts(a.Warnings), Settings: settings(a),
	}
	if a.Cause != nil && !a.Cause.At.IsZero() {
		d.Failure = axis.place(a.Cause.At)
	}
	rows, left := r.rows(a, now, pageRows)
	d.Left = left
	for _, one := range rows {
		d.Rows = append(d.Rows, axis.row(one))
	}
	for _, e := range r.chronicle(a, pageEntries) {
		entry := pageEntry{Since: since(e.at, a.Began), Text: e.who() + e.text}
		if len(e.ranks) > 0 {
			entry.Class, entry.Symbol = e.fate.text().class, e.fate.text().symbol
		}
		d.Entries = append(d.Entries, entry)
	}
	doing, more := doings(a, pageEntries)
	for _, one := range doing {
		d.Doing = append(d.Doing, pageFact{ranksWord(one.ranks), one.text})
	}
	if more > 0 {
		d.Doing = append(d.Doing, pageFact{"…", fmt.Sprintf("and %d more ranks", more)})
	}
	for i, l := range a.Left {
		if i < pageEntries {
			d.Warnings = append(d.Warnings, "left behind: "+leftWords(l))
		}
	}
	return d
}

// attemptFacts are what identifies an attempt.
func (r *Run) attemptFacts(a rundir.AttemptRecord) []pageFact {
	list := []pageFact{{"attempt", strconv.Itoa(a.Number)}, {"began", moment(a.Began)}}
	if a.UUID != "" {
		list = append(list, pageFact{"UUID", short(a.UUID, 60)})
	}
	if a.RestartCount != nil {
		list = append(list, pageFact{"restart count", strconv.FormatInt(*a.RestartCount, 10)})
	}
	if a.MasterPort != 0 {
		list = append(list, pageFact{"master", short(a.MasterAddr, 80) + ":" + strconv.Itoa(a.MasterPort)})
	}
	if text := next(a); text != "" {
		list = append(list, pageFact{"then", text})
	}
	return list
}

// settings are the variables that the launcher set, those of the rank that failed
// first behind those of all.
func settings(a rundir.AttemptRecord) []pageFact {
	var list []pageFact
	add := func(env map[string]string, whose string) {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if len(list) < pageSettings {
				list = append(list, pageFact{short(name, 80) + whose, short(env[name], 400)})
			}
		}
	}
	add(a.Env, "")
	for _, r := range a.Ranks {
		if a.Cause != nil && a.Cause.Rank == r.Rank {
			add(r.Env, fmt.Sprintf(" (rank %d)", r.Rank))
		}
	}
	return list
}
