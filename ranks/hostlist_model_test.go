package ranks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A modelEntry is an entry of a host list and the plainest way to expand it: one
// nested loop per bracket, written as recursion.
type modelEntry struct {
	literals []string
	brackets [][]string // the texts that each may stand for
	text     string     // in Slurm's notation
}

func (m modelEntry) expand() []string {
	k := len(m.brackets)
	if k == 0 {
		return []string{m.literals[0]}
	}
	// From the outermost loop to the innermost: k-1, ..., 1, and then k.
	var order []int
	for b := k - 2; b >= 0; b-- {
		order = append(order, b)
	}
	order = append(order, k-1)
	var hosts []string
	pick := make([]string, k)
	var loop func(depth int)
	loop = func(depth int) {
		if depth == k {
			name := m.literals[0]
			for b, text := range pick {
				name += text + m.literals[b+1]
			}
			hosts = append(hosts, name)
			return
		}
		for _, text := range m.brackets[order[depth]] {
			pick[order[depth]] = text
			loop(depth + 1)
		}
	}
	loop(0)
	return hosts
}

func randomEntry(r *rand.Rand) modelEntry {
	literal := func() string { return []string{"n", "rack-", "", "x0.", "_", "ib0"}[r.IntN(6)] }
	m := modelEntry{literals: []string{"h" + literal()}}
	m.text = m.literals[0]
	for range r.IntN(4) {
		var pieces, texts []string
		for range 1 + r.IntN(3) {
			lo, size, width := r.IntN(120), 1+r.IntN(4), 1+r.IntN(4)
			first := fmt.Sprintf("%0*d", width, lo)
			piece := first
			if last := lo + size - 1; size > 1 || r.IntN(4) == 0 {
				piece += fmt.Sprintf("-%d", last)
			}
			pieces = append(pieces, piece)
			for n := range size {
				texts = append(texts, fmt.Sprintf("%0*d", len(first), lo+n))
			}
		}
		m.brackets = append(m.brackets, texts)
		m.literals = append(m.literals, literal())
		m.text += "[" + strings.Join(pieces, ",") + "]" + m.literals[len(m.literals)-1]
	}
	return m
}

// A thousand lists that nobody wrote by hand, against the plainest expansion.
func TestHostlistAgainstAModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var texts, want []string
		for range 1 + r.IntN(3) {
			m := randomEntry(r)
			texts = append(texts, m.text)
			want = append(want, m.expand()...)
		}
		text := strings.Join(texts, []string{",", " ", ", ", ",,"}[r.IntN(4)])
		got, err := Hostlist(text)
		if len(want) > MaxHosts {
			if err == nil {
				t.Fatalf("Hostlist(%q): %d hosts, want an error", text, len(got))
			}
			continue
		}
		if err != nil {
			t.Fatalf("Hostlist(%q): %v", text, err)
		}
		if !slices.Equal(want, got) {
			t.Fatalf("Hostlist(%q) (-want +got):\n%s", text, cmp.Diff(want, got))
		}
	}
}
