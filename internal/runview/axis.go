package runview

import (
	"fmt"
	"math"
	"time"
)

// axis is a span of time across the page.
type axis struct{ from, to time.Time }

// place is where a time lies, in percent with two digits.
func (x axis) place(t time.Time) float64 {
	length := x.to.Sub(x.from)
	if length <= 0 || t.IsZero() {
		return 0
	}
	part := min(max(float64(t.Sub(x.from))/float64(length), 0), 1)
	return math.Round(part*10_000) / 100
}

// thinnest is the width of a bar that can still be seen, in percent.
const thinnest = 0.6

func (x axis) bar(from, to time.Time) pageBar {
	left, right := x.place(from), x.place(to)
	if to.IsZero() || from.IsZero() {
		left, right = 0, 0
	}
	left = min(left, 100-thinnest)
	return pageBar{Left: left, Width: math.Round(max(right-left, thinnest)*100) / 100}
}

func (x axis) row(one row) pageBar {
	b := x.bar(one.from, one.to)
	f := one.fate.text()
	b.Label, b.Class, b.Symbol, b.Word, b.Text = ranksWord(one.ranks), f.class, f.symbol, f.words, one.how
	if len(one.ranks) > 1 {
		b.Note = count(len(one.ranks), "rank")
	}
	if one.pid != 0 {
		b.Note = fmt.Sprintf("pid %d", one.pid)
	}
	if one.host != "" {
		if b.Note != "" {
			b.Note += " on "
		}
		b.Note += one.host
	}
	if !one.from.IsZero() && !one.to.IsZero() {
		b.Short = lasted(one.to.Sub(one.from))
	}
	return b
}
