package runview

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"time"

	"lenslaunch/internal/rundir"
)

// PageLimit bounds the page of any run, in bytes.
const PageLimit = 4 << 20

// Bounds of the page's parts, which keep it below PageLimit: what a run has more is
// counted.
const (
	pageAttempts = 200 // in the timeline
	pageDetails  = 20  // shown rank by rank
	pageRows     = 48  // ranks or groups of an attempt
	pageEntries  = 60  // of an attempt's chronicle
	pageSettings = 60  // variables of an attempt, decisions of a run
	pageErrors   = 8 << 10
)

//go:embed page.html
var pageText string

// WritePage writes a run as one HTML file that needs nothing else: no script, no
// font, no image and no network, which its content security policy also forbids. now
// is when the reader asks, version what wrote the page.
func WritePage(w io.Writer, r *Run, now time.Time, version string) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("cannot parse the page's template: %w", err)
	}
	// Whole or not at all: half a page would look like a short run.
	var text bytes.Buffer
	if err := t.Execute(&text, r.page(now, version)); err != nil {
		return fmt.Errorf("cannot make the page: %w", err)
	}
	_, err = w.Write(text.Bytes())
	return err
}

func (r *Run) page(now time.Time, version string) page {
	class, symbol := outcomeStyle(r.Outcome)
	p := page{
		Name: r.name(), Verdict: r.verdict(), Class: class, Symbol: symbol,
		Made: moment(now), Version: version, Why: texts(r.Why), Before: r.Dropped,
	}
	for _, f := range r.facts(now) {
		p.Facts = append(p.Facts, pageFact{f.name, f.value})
	}
	for _, line := range r.remarks() {
		if line != "" {
			p.Remarks = append(p.Remarks, line)
		}
	}
	if a := r.deciding(); a != nil {
		p.Cause = r.pageCause(*a, errorLimit)
	}
	r.timeline(&p, now)
	for f := range Fate(fateKinds) {
		p.Legend = append(p.Legend, pageLegend{f.text().class, f.text().symbol, f.text().words})
	}
	return p
}

func (r *Run) pageCause(a rundir.AttemptRecord, limit int) *pageCause {
	c, ok := r.causeOf(a)
	if !ok {
		return nil
	}
	return &pageCause{
		Occasion: r.occasion(a), Headline: c.headline, Where: c.where, Title: c.title, Text: clipMiddle(c.text, limit), Missing: c.missing,
		Doing: c.doing, Effects: c.effects, Next: c.next, File: c.file, Attempt: label(a),
	}
}

// timeline fills in the attempts: all on one axis, the latest in detail.
func (r *Run) timeline(p *page, now time.Time) {
	end := r.end(now)
	axis := axis{r.Started, end}
	p.Total = lasted(end.Sub(r.Started))
	first := max(len(r.Attempts)-pageAttempts, 0)
	p.Before += first
	for i, a := range r.Attempts[first:] {
		detailed := first+i >= len(r.Attempts)-pageDetails
		class, symbol := outcomeStyle(outcomeOf(a))
		bar := axis.bar(a.Began, r.attemptEnd(a, now))
		bar.Label, bar.Class, bar.Symbol = label(a), class, symbol
		bar.Text, bar.Short = summary(a), lasted(r.attemptEnd(a, now).Sub(a.Began))
		if a.Next != nil && a.Next.Restart {
			bar.Note = next(a)
		}
		if detailed {
			bar.ID = "a" + strconv.Itoa(first+i)
			p.Details = append(p.Details, r.detail(a, bar, now))
		}
		p.Bars = append(p.Bars, bar)
	}
	slices.Reverse(p.Details) // the latest is the one to look at
	if len(p.Details) > 0 {
		p.Details[0].Open = true
	}
	for i := range p.Details {
		if p.Cause != nil && p.Details[i].Label == p.Cause.Attempt {
			// Its error stands above already.
			p.Details[i].Open, p.Details[i].Error = true, nil
		}
	}
}

// texts are clean, and not too many.
func texts(list []string) []string {
	var out []string
	for _, text := range list[:min(len(list), pageSettings)] {
		out = append(out, short(text, 400))
	}
	return out
}

// outcomeOf is an attempt's outcome, running where none is known.
func outcomeOf(a rundir.AttemptRecord) string {
	if !over(a) {
		return rundir.OutcomeRunning
	}
	return a.Outcome
}

// outcomeStyle shows an outcome as the fate of the same meaning.
func outcomeStyle(outcome string) (class, symbol string) {
	f := Lost
	switch outcome {
	case rundir.OutcomeSuccess, rundir.OutcomeSaved:
		f = Succeeded
	case rundir.OutcomeFailed:
		f = FailedFirst
	case rundir.OutcomeStopped:
		f = Stopped
	case rundir.OutcomeRunning, "":
		f = Running
	}
	return f.text().class, f.text().symbol
}
