package heartbeat

import (
	"testing"
	"testing/synctest"
	"time"
)

// start is a time with a monotonic reading, as all times of the package have.
var start = time.Now()

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

func TestDeadline(t *testing.T) {
	const never = -1
	tests := []struct {
		name    string
		timeout time.Duration
		story   func(Watch) Watch
		want    float64 // seconds after start
	}{
		{"from the start", 10 * time.Second, func(w Watch) Watch { return w }, 10},
		{"not watched", 0, func(w Watch) Watch { return w.Progress(at(1)) }, never},
		{"no negative timeout", -1, func(w Watch) Watch { return w }, never},
		{"progress", 10 * time.Second, func(w Watch) Watch { return w.Progress(at(4)) }, 14},
		{"reports out of order", 10 * time.Second, func(w Watch) Watch { return w.Progress(at(4)).Progress(at(2)) }, 14},
		{"a report from before the start", 10 * time.Second, func(w Watch) Watch { return w.Progress(at(-4)) }, 10},
		{"held by our back-pressure", 10 * time.Second, func(w Watch) Watch { return w.Block() }, never},
		{"released", 10 * time.Second, func(w Watch) Watch { return w.Block().Unblock(at(60)) }, 70},
		{"one of two streams released", 10 * time.Second, func(w Watch) Watch { return w.Block().Block().Unblock(at(60)) }, never},
		{"both released", 10 * time.Second, func(w Watch) Watch { return w.Block().Block().Unblock(at(60)).Unblock(at(61)) }, 71},
		{"released without being held", 10 * time.Second, func(w Watch) Watch { return w.Unblock(at(60)) }, 10},
		{"held again after that", 10 * time.Second, func(w Watch) Watch { return w.Unblock(at(60)).Block() }, never},
		{"more time", 10 * time.Second, func(w Watch) Watch { return w.Extend(at(5), 20*time.Second) }, 25},
		{"less time is no less", 10 * time.Second, func(w Watch) Watch { return w.Extend(at(5), time.Second) }, 10},
		{"negative time", 10 * time.Second, func(w Watch) Watch { return w.Extend(at(5), -time.Hour) }, 10},
		{"a shorter wish does not take back a longer one", 10 * time.Second,
			func(w Watch) Watch { return w.Extend(at(5), 20*time.Second).Extend(at(6), 10*time.Second) }, 25},
		{"wishes follow one another", 10 * time.Second,
			func(w Watch) Watch { return w.Extend(at(5), 20*time.Second).Extend(at(24), 20*time.Second) }, 44},
		{"up to the maximum since the last progress", 10 * time.Second,
			func(w Watch) Watch { return w.Progress(at(2)).Extend(at(5), time.Hour) }, 62},
		{"who only asks is overdue in the end", 10 * time.Second, func(w Watch) Watch {
			for s := 1.0; s < 500; s++ {
				w = w.Extend(at(s), 20*time.Second)
			}
			return w
		}, 60},
		{"for ever is the maximum", 10 * time.Second, func(w Watch) Watch { return w.Extend(at(5), 1<<63-1) }, 60},
		{"progress lengthens the maximum", 10 * time.Second,
			func(w Watch) Watch { return w.Extend(at(5), time.Hour).Progress(at(50)).Extend(at(51), time.Hour) }, 110},
		{"progress does not shorten a granted wish", 10 * time.Second,
			func(w Watch) Watch { return w.Extend(at(5), 40*time.Second).Progress(at(6)) }, 45},
		{"the machine slept", 10 * time.Second, func(w Watch) Watch { return w.Fresh(at(9)) }, 19},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := tt.story(New(tt.timeout, time.Minute, start))
			deadline, ok := w.Deadline()
			if !ok {
				deadline = at(never)
			}
			if !deadline.Equal(at(tt.want)) {
				t.Fatalf("deadline after %v (%v), want %v s", deadline.Sub(start), ok, tt.want)
			}
			if !ok {
				if _, looks := w.NextCheck(at(1e6)); looks || w.Overdue(at(1e6)) {
					t.Error("there is no deadline, but it is looked at")
				}
				return
			}
			if early := deadline.Add(-1); w.Overdue(early) || !w.Overdue(deadline) {
				t.Errorf("overdue: before %v, then %v", w.Overdue(early), w.Overdue(deadline))
			}
			for _, now := range []time.Time{start, deadline, deadline.Add(time.Hour)} {
				next, looks := w.NextCheck(now)
				if want := later(deadline, now); !looks || !next.Equal(want) {
					t.Errorf("asked after %v, the next look is after %v, %v", now.Sub(start), next.Sub(start), looks)
				}
			}
		})
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func TestMethodsLeaveTheOldStateAlone(t *testing.T) {
	w := New(time.Second, time.Minute, start)
	old := w
	w.Progress(at(1))
	w.Extend(at(1), time.Minute)
	w.Block()
	w.Touched(at(1), at(1))
	w.Touched(at(2), at(2))
	if w != old {
		t.Errorf("changed from %+v to %+v", old, w)
	}
}

func TestSilence(t *testing.T) {
	w := New(time.Second, 0, start).Progress(at(5))
	if got := w.Silence(at(12)); got != 7*time.Second {
		t.Errorf("Silence = %v, want 7s", got)
	}
	if got := w.Silence(at(3)); got != 0 {
		t.Errorf("Silence before the progress = %v, want 0", got)
	}
}

func TestNext(t *testing.T) {
	ten := New(10*time.Second, 0, start)
	tests := []struct {
		name    string
		watches []Watch
		want    float64
		ok      bool
	}{
		{"no rank", nil, 0, false},
		{"none that is watched", []Watch{New(0, 0, start), ten.Block()}, 0, false},
		{"the earliest", []Watch{ten.Progress(at(7)), ten.Progress(at(2)), ten.Block(), ten.Progress(at(9))}, 12, true},
		{"one is overdue", []Watch{ten.Progress(at(7)), ten.Progress(at(-9))}, 11, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			next, ok := Next(tt.watches, at(11))
			if ok != tt.ok || ok && !next.Equal(at(tt.want)) {
				t.Errorf("Next = %v, %v, want %v s, %v", next.Sub(start), ok, tt.want, tt.ok)
			}
		})
	}
}

// One rank beats by its file and one goes silent after a while: the timer alone finds
// the silent one, no later than a timeout after its last beat, with few looks.
func TestOneTimerForAllRanks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout, silentAfter = time.Minute, 10*time.Minute + 7*time.Second
		begin := time.Now()
		watches := []Watch{New(timeout, 0, begin), New(timeout, 0, begin)}
		for i := range watches {
			watches[i] = watches[i].Touched(begin, begin)
		}
		// What a look at each file finds: a beat every 7 s.
		beat := func(rank int, now time.Time) time.Time {
			run := now.Sub(begin)
			if rank == 1 {
				run = min(run, silentAfter)
			}
			return begin.Add(run.Truncate(7 * time.Second)).Round(0)
		}
		for looks := 1; ; looks++ {
			next, ok := Next(watches, time.Now())
			if !ok || looks > 25 {
				t.Fatalf("%d looks in %v, next %v", looks, time.Since(begin), ok)
			}
			<-time.After(time.Until(next))
			now := time.Now()
			for i := range watches {
				watches[i] = watches[i].Touched(now, beat(i, now))
			}
			if watches[0].Overdue(now) {
				t.Fatalf("rank 0 taken for hung after %v", now.Sub(begin))
			}
			if watches[1].Overdue(now) {
				if last := silentAfter.Truncate(7 * time.Second); now.Sub(begin) != last+timeout {
					t.Errorf("found after %v, want %v", now.Sub(begin), last+timeout)
				}
				return
			}
		}
	})
}
