package rundir

import (
	"sync"
	"testing"
)

// Everything that was added is called, in order, before close returns, and nobody waits
// for it.
func TestQueue(t *testing.T) {
	q := newQueue()
	begun, goOn := make(chan struct{}), make(chan struct{})
	q.add(func() { close(begun); <-goOn })
	<-begun
	var got []int
	for i := range 1000 {
		q.add(func() { got = append(got, i) })
	}
	close(goOn)
	q.close()
	for i, n := range got {
		if i != n {
			t.Fatalf("call %d came in place %d", n, i)
		}
	}
	wantEqual(t, "calls", len(got), 1000)
	q.add(func() { t.Error("called after close") })
	q.close()
}

func TestQueueFromManyGoroutines(t *testing.T) {
	q := newQueue()
	calls := 0
	var adding sync.WaitGroup
	for range 8 {
		adding.Go(func() {
			for range 100 {
				q.add(func() { calls++ })
			}
		})
	}
	adding.Wait()
	q.close()
	wantEqual(t, "calls", calls, 800)
}

// A disk that does not answer holds up nobody who tells the Recorder something.
func TestRecorderDoesNotWait(t *testing.T) {
	stuck := make(chan struct{})
	d := newDir(t)
	a := mustBegin(t, d, BeginInfo{})
	r := NewRecorder(d)
	r.queue.add(func() { <-stuck }) // as a write to a server that is gone
	r.AttemptBegan(AttemptStart{At: at(0), Name: a.Name()})
	r.AttemptEnded(AttemptEnd{At: at(1), Outcome: OutcomeSuccess})
	r.RunEnded(RunEnd{At: at(2), Outcome: OutcomeSuccess})
	wantEqual(t, "events so far", kinds(allEvents(t, d.Path())), []string{RunBegan})
	close(stuck)
	r.Close()
	wantEqual(t, "events", kinds(allEvents(t, d.Path())), []string{RunBegan, AttemptBegan, AttemptEnded, RunEnded})
}
