package openwork

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/journal"
)

// span has its id from its name, and its start in seconds.
func span(name, parent string, start int64) journal.Span {
	return journal.Span{Name: name, SpanID: idOf(name), Parent: idOf(parent), Start: time.Unix(start, 0)}
}

func idOf(name string) (id trace.SpanID) {
	copy(id[:], name)
	return id
}

func ended(s journal.Span) journal.Span {
	s.End = s.Start.Add(time.Second)
	return s
}

// shown is a tree as people see it.
func shown(lines []Line) (all []string) {
	for _, l := range lines {
		all = append(all, strings.Repeat("  ", l.Depth)+l.Span.Name+" "+l.For.String())
	}
	return all
}

func names(spans []journal.Span) (all []string) {
	for _, s := range spans {
		all = append(all, s.Name)
	}
	return all
}

func TestTreeAndDoing(t *testing.T) {
	for name, test := range map[string]struct {
		spans []journal.Span
		tree  []string // at second 10
		doing []string
	}{
		"nothing": {nil, nil, nil},
		"one":     {[]journal.Span{span("train", "", 1)}, []string{"train 9s"}, []string{"train"}},
		"nested, and a sibling": {
			[]journal.Span{span("train", "", 1), span("step", "train", 2), span("load", "step", 3), span("log", "train", 4)},
			[]string{"train 9s", "  step 8s", "    load 7s", "  log 6s"}, []string{"train", "log"},
		},
		"two roots, the parent of one is of another process": {
			[]journal.Span{span("a", "far", 1), span("b", "", 2), span("c", "a", 3)},
			[]string{"a 9s", "  c 7s", "b 8s"}, []string{"a", "c"},
		},
		"what has ended is not open, nor above anything": {
			[]journal.Span{span("train", "", 1), ended(span("step", "train", 2)), span("save", "step", 3)},
			[]string{"train 9s", "save 7s"}, []string{"save"},
		},
		"all has ended":             {[]journal.Span{ended(span("train", "", 1))}, nil, nil},
		"started at the same time":  {[]journal.Span{span("train", "", 1), span("step", "train", 1)}, []string{"train 9s", "  step 9s"}, []string{"train", "step"}},
		"started later than now":    {[]journal.Span{span("train", "", 11)}, []string{"train 0s"}, []string{"train"}},
		"its own parent":            {[]journal.Span{span("a", "a", 1)}, []string{"a 9s"}, []string{"a"}},
		"parents of each other":     {[]journal.Span{span("a", "b", 1), span("b", "a", 2), span("c", "b", 3)}, []string{"a 9s", "  b 8s", "    c 7s"}, []string{"a", "b", "c"}},
		"the same id a second time": {[]journal.Span{span("a", "", 1), span("a", "", 2)}, []string{"a 9s"}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.tree, shown(Tree(test.spans, time.Unix(10, 0)))); diff != "" {
				t.Errorf("Tree (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.doing, names(Doing(test.spans))); diff != "" {
				t.Errorf("Doing (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the parents: each open span is in the tree once, and Doing ends.
func FuzzTree(f *testing.F) {
	f.Add([]byte{1, 2, 0, 2, 1, 1, 3, 3, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		var spans []journal.Span
		open := map[trace.SpanID]bool{}
		for ; len(b) >= 3; b = b[3:] {
			s := journal.Span{SpanID: trace.SpanID{b[0]}, Parent: trace.SpanID{b[1]}, Start: time.Unix(int64(b[2]), 0)}
			if b[2]%5 == 0 {
				s = ended(s)
			}
			spans = append(spans, s)
			if s.Open() {
				open[s.SpanID] = true
			}
		}
		seen := map[trace.SpanID]bool{}
		for i, l := range Tree(spans, time.Unix(100, 0)) {
			if seen[l.Span.SpanID] || !l.Span.Open() || l.Depth < 0 || i == 0 && l.Depth != 0 {
				t.Fatalf("line %d: %+v", i, l)
			}
			seen[l.Span.SpanID] = true
		}
		if len(seen) != len(open) {
			t.Fatalf("%d spans in the tree of %d", len(seen), len(open))
		}
		if doing := Doing(spans); len(doing) == 0 != (len(open) == 0) {
			t.Fatalf("%d open, at %d", len(open), len(doing))
		}
	})
}
