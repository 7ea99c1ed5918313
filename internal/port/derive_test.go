package port

import (
	"strconv"
	"testing"
)

func TestDerive(t *testing.T) {
	for _, r := range []Range{Default(), {20000, 20000}, {20000, 20001}, {1, 65535}} {
		seen := map[int]bool{}
		for i := range 200 {
			seed := "attempt " + strconv.Itoa(i)
			got := Derive(r, seed, 3)
			if !r.Contains(got) || r.Size() >= 3 && !r.Contains(got+2) {
				t.Fatalf("%s: %d", r, got)
			}
			if got != Derive(r, seed, 3) {
				t.Fatalf("%s: two answers for one text", r)
			}
			seen[got] = true
		}
		// Of 200 among 10,000 about 2 share a port.
		if r.Size() > 5000 && len(seen) < 190 {
			t.Errorf("%s: 200 texts have %d ports", r, len(seen))
		}
	}
	// Nodes of different versions must agree: the rule is part of the interface.
	if got := Derive(Default(), "5d1b9e9e-4f0e-5b52-8a3c-8a0f5f0d9b11", 3); got != 29560 {
		t.Errorf("the rule has changed: %d", got)
	}
}

func TestOverlaps(t *testing.T) {
	for _, test := range []struct {
		a, b Range
		want bool
	}{
		{Range{20000, 29999}, Range{32768, 60999}, false},
		{Range{20000, 29999}, Range{29999, 60999}, true},
		{Range{20000, 29999}, Range{1024, 65535}, true},
		{Range{20000, 29999}, Range{1024, 19999}, false},
	} {
		if test.a.Overlaps(test.b) != test.want || test.b.Overlaps(test.a) != test.want {
			t.Errorf("%s and %s: want %v", test.a, test.b, test.want)
		}
	}
}
