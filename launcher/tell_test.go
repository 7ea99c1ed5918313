package launcher

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A subscriber that returns has had the event before tell returns.
func TestTellerWaitsForSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var had []int
		teller := newTeller([]Subscriber{func(e Event) { had = append(had, e.(AttemptPreparing).Number) }})
		for n := range 3 {
			teller.tell(AttemptPreparing{Number: n})
			if len(had) != n+1 {
				t.Errorf("after event %d the subscriber has had %v", n, had)
			}
		}
		teller.close(time.Second)
	})
}

// A subscriber that is stuck in a console holds up the run once, for a moment; then
// events wait for it, none is lost, and close does not wait for ever.
func TestTellerLeavesAStuckSubscriberBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var had []int
		console := make(chan struct{})
		teller := newTeller([]Subscriber{func(e Event) {
			<-console
			had = append(had, e.(AttemptPreparing).Number)
		}})
		began := time.Now()
		for n := range 100 {
			teller.tell(AttemptPreparing{Number: n})
		}
		if waited := time.Since(began); waited != tellPatience {
			t.Errorf("100 events waited %v, want %v", waited, tellPatience)
		}
		close(console)
		synctest.Wait()
		teller.tell(AttemptPreparing{Number: 100}) // it has caught up
		if waited := time.Since(began); waited != tellPatience || len(had) != 101 || !slices.IsSorted(had) {
			t.Errorf("after %v: %d events, sorted %v", waited, len(had), slices.IsSorted(had))
		}
		teller.close(time.Second)
	})
}

func TestTellerCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		console := make(chan struct{})
		teller := newTeller([]Subscriber{func(Event) { <-console }})
		teller.tell(RunEnded{})
		began := time.Now()
		teller.close(3 * time.Second)
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("close waited %v", waited)
		}
		close(console) // a bubble must end without goroutines
		<-teller.ended
	})
}
