package runview

import (
	"fmt"
	"strings"
	"time"

	"lenslaunch/internal/openwork"
	"lenslaunch/journal"
)

// Open is a journal of spans, read now.
type Open struct {
	openwork.Entry
	Journal *journal.Journal
	Problem error // it cannot be read
	Alive   bool  // its process still has it
}

// OpenLines tells what every process has open, as a tree with durations.
func OpenLines(all []Open, now time.Time) []string {
	var lines []string
	group := ""
	for _, o := range all {
		if o.Group != group {
			group = o.Group
			lines = append(lines, short(group, 40))
		}
		lines = append(lines, "  "+o.head(now))
		if o.Problem == nil {
			lines = append(lines, o.tree(now)...)
		}
	}
	return lines
}

// head is a process and its state: "rank 3, pid 4711, last span began 2.1s ago".
func (o Open) head(now time.Time) string {
	if o.Problem != nil {
		return fmt.Sprintf("%s: %s", o.Who(), short(o.Problem.Error(), 400))
	}
	j := o.Journal
	text := o.Who()
	if j.Claim.PID == 0 {
		return text + ": no process has recorded spans"
	}
	text += fmt.Sprintf(", pid %d", j.Claim.PID)
	switch {
	case j.Death.Reason != "":
		text += ": " + short(j.Death.Reason, 200)
	case !o.Alive:
		text += ": gone"
	}
	if !j.LastActivity.IsZero() {
		text += fmt.Sprintf(", last span began %s ago", lasted(o.at(now).Sub(j.LastActivity)))
	}
	if j.Skipped > 0 {
		text += fmt.Sprintf(", %s more than the journal has room for", count(int(min(j.Skipped, 1<<30)), "span"))
	}
	return text
}

// at is the moment that durations count to: of one who has gone, its end.
func (o Open) at(now time.Time) time.Time {
	switch {
	case o.Alive:
		return now
	case !o.Journal.Death.At.IsZero():
		return o.Journal.Death.At
	case !o.Journal.LastActivity.IsZero():
		return o.Journal.LastActivity
	}
	return now
}

// openNames is how wide names are, before the durations.
const openNames = 40

func (o Open) tree(now time.Time) []string {
	var lines []string
	for _, l := range openwork.Tree(o.Journal.Spans, o.at(now)) {
		name := strings.Repeat("  ", min(l.Depth, 20)) + short(l.Span.Name, 80)
		lines = append(lines, strings.TrimRight(fmt.Sprintf("    %-*s  %s", openNames, name, lasted(l.For)), " "))
	}
	if len(lines) == 0 && o.Journal.Claim.PID != 0 {
		lines = append(lines, "    nothing open")
	}
	return lines
}

// OpenProcess is an Open for programs.
type OpenProcess struct {
	Group        string     `json:"group"` // attempt-<n>, or launcher
	Rank         int        `json:"rank"`
	Pid          int        `json:"pid,omitempty"`
	Alive        bool       `json:"alive"`
	LastActivity time.Time  `json:"last_activity,omitzero"`
	Reason       string     `json:"reason,omitempty"` // how it went
	Skipped      uint64     `json:"skipped,omitempty"`
	Problem      string     `json:"problem,omitempty"`
	Spans        []OpenSpan `json:"spans"` // parents first
}

// OpenSpan is a span that is open.
type OpenSpan struct {
	Name     string        `json:"name"`
	TraceID  string        `json:"trace_id"`
	SpanID   string        `json:"span_id"`
	ParentID string        `json:"parent_span_id,omitempty"`
	Depth    int           `json:"depth"`
	Started  time.Time     `json:"started"`
	For      time.Duration `json:"for_ns"`
	Step     int64         `json:"step,omitempty"`
	Epoch    int64         `json:"epoch,omitempty"`
}

// OpenJSON is OpenLines for programs.
func OpenJSON(all []Open, now time.Time) []OpenProcess {
	list := []OpenProcess{}
	for _, o := range all {
		p := OpenProcess{Group: o.Group, Rank: o.Rank, Alive: o.Alive, Spans: []OpenSpan{}}
		if o.Problem != nil {
			p.Problem = o.Problem.Error()
			list = append(list, p)
			continue
		}
		j := o.Journal
		p.Pid, p.LastActivity, p.Reason, p.Skipped = j.Claim.PID, j.LastActivity, j.Death.Reason, j.Skipped
		for _, l := range openwork.Tree(j.Spans, o.at(now)) {
			s := OpenSpan{
				Name: l.Span.Name, TraceID: l.Span.TraceID.String(), SpanID: l.Span.SpanID.String(), Depth: l.Depth,
				Started: l.Span.Start, For: l.For, Step: l.Span.Step, Epoch: l.Span.Epoch,
			}
			if l.Span.Parent.IsValid() {
				s.ParentID = l.Span.Parent.String()
			}
			p.Spans = append(p.Spans, s)
		}
		list = append(list, p)
	}
	return list
}
