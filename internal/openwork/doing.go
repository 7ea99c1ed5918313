package openwork

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"lenslaunch/journal"
)

// Line is an open span in the tree of a process's spans.
type Line struct {
	Depth int // 0: nothing of the same process is above it
	Span  journal.Span
	For   time.Duration // since it started
}

// Tree orders open spans as a tree, at a moment: children below their parents, siblings
// by start. Each is in it once, whatever the parents say.
func Tree(spans []journal.Span, at time.Time) []Line {
	children, roots := map[trace.SpanID][]journal.Span{}, []journal.Span(nil)
	known := map[trace.SpanID]bool{}
	for _, s := range spans {
		known[s.SpanID] = known[s.SpanID] || s.Open()
	}
	for _, s := range spans {
		switch {
		case !s.Open():
		case known[s.Parent] && s.Parent != s.SpanID:
			children[s.Parent] = append(children[s.Parent], s)
		default:
			roots = append(roots, s)
		}
	}
	var lines []Line
	var add func(s journal.Span, depth int)
	add = func(s journal.Span, depth int) {
		if !known[s.SpanID] {
			return // it is there already
		}
		known[s.SpanID] = false
		lines = append(lines, Line{Depth: depth, Span: s, For: max(0, at.Sub(s.Start))})
		for _, child := range children[s.SpanID] {
			add(child, depth+1)
		}
	}
	for _, s := range roots {
		add(s, 0)
	}
	for _, s := range spans {
		if s.Open() {
			add(s, 0) // what points at each other has no root
		}
	}
	return lines
}

// Doing is what the process was at: the open span that started last, below all that it is
// part of, the outermost first.
func Doing(spans []journal.Span) []journal.Span {
	byID := map[trace.SpanID]journal.Span{}
	var last journal.Span
	for _, s := range spans {
		if s.Open() {
			byID[s.SpanID] = s
			if last.Start.IsZero() || !s.Start.Before(last.Start) {
				last = s
			}
		}
	}
	var chain []journal.Span
	for s, ok := byID[last.SpanID]; ok; s, ok = byID[s.Parent] {
		chain = append(chain, s)
		delete(byID, s.SpanID) // parents that point at each other end the chain
	}
	slices.Reverse(chain)
	return chain
}
