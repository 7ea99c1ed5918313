package logmux

import (
	"testing"
	"time"
)

// A console that has stopped holds a rank once; one that is slow takes a tenth of its
// time after that.
func TestPatience(t *testing.T) {
	p := patience{most: 5 * time.Second}
	now := start
	check := func(want time.Duration) {
		t.Helper()
		if got := p.left(now); got != want {
			t.Fatalf("at %v: %v left, want %v", now.Sub(start), got, want)
		}
	}
	check(5 * time.Second)
	now = now.Add(2 * time.Second)
	p.spent(now, 2*time.Second)
	check(3 * time.Second)
	now = now.Add(3 * time.Second)
	p.spent(now, 3*time.Second)
	check(300 * time.Millisecond) // of the second wait; the first is repaid by a part
	now = now.Add(10 * time.Second)
	check(1300 * time.Millisecond)
	p.spent(now, time.Hour)
	check(0)
	now = now.Add(time.Hour)
	check(5 * time.Second)
}

// In the long run a console that is always slow takes a tenth.
func TestPatienceInTheLongRun(t *testing.T) {
	p := patience{most: 5 * time.Second}
	now, held := start, time.Duration(0)
	for now.Sub(start) < time.Hour {
		// Each batch waits as long as it may, at most a second, then the rank works 10 ms.
		wait := min(p.left(now), time.Second)
		now = now.Add(wait)
		p.spent(now, wait)
		held += wait
		now = now.Add(10 * time.Millisecond)
	}
	if held < 4*time.Minute || held > 8*time.Minute {
		t.Errorf("held for %v of an hour", held)
	}
}
