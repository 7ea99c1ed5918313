package launcher

import (
	"slices"
	"syscall"
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
		<-teller.close()
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
		<-teller.close()
	})
}

// A console that nobody reads keeps nothing from the subscribers that do not write to it:
// telemetry said of a run that had completed that it was cut off.
func TestTellerKeepsSubscribersApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var had []int
		console := make(chan struct{})
		listens := func(e Event) { had = append(had, e.(AttemptPreparing).Number) }
		teller := newTeller([]Subscriber{func(Event) { <-console }, listens})
		for n := range 100 {
			teller.tell(AttemptPreparing{Number: n})
			if len(had) != n+1 {
				t.Fatalf("after event %d it has had %v", n, had)
			}
		}
		over := teller.close()
		synctest.Wait()
		select {
		case <-over:
			t.Error("all is told before the console has had it")
		default:
		}
		close(console)
		<-over
	})
}

// Nobody can be told for ever: whoever does not take the last events is left behind when
// the time for output is over, which a signal brings forward once.
func TestLastEventsAreBounded(t *testing.T) {
	type at struct {
		time   time.Duration
		signal syscall.Signal
	}
	for name, test := range map[string]struct {
		until   time.Duration // for output
		signals []at
		want    time.Duration
	}{
		"no time for output is left":        {0, nil, lastWords},
		"nobody hurries":                    {drainTime, nil, drainTime},
		"TERM":                              {drainTime, []at{{time.Second, syscall.SIGTERM}}, 4 * time.Second},
		"INT":                               {drainTime, []at{{time.Second, syscall.SIGINT}}, 4 * time.Second},
		"QUIT":                              {drainTime, []at{{time.Second, syscall.SIGQUIT}}, 4 * time.Second},
		"HUP":                               {drainTime, []at{{time.Second, syscall.SIGHUP}}, 4 * time.Second},
		"one that is passed on":             {drainTime, []at{{time.Second, syscall.SIGUSR1}}, drainTime},
		"others":                            {drainTime, []at{{1, syscall.SIGCHLD}, {2, syscall.SIGCONT}}, drainTime},
		"again, which means nothing":        {drainTime, []at{{time.Second, syscall.SIGTERM}, {2 * time.Second, syscall.SIGTERM}}, 4 * time.Second},
		"so late that it comes to the same": {drainTime, []at{{29 * time.Second, syscall.SIGTERM}}, drainTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				console, signals := make(chan struct{}), make(chan Signal, len(test.signals))
				began := time.Now()
				e := &effects{
					plan:   &Plan{Config: Config{Stop: Ladder{Kill: 3 * time.Second}, Forward: []syscall.Signal{syscall.SIGUSR1}}},
					teller: newTeller([]Subscriber{func(Event) { <-console }}), signals: signals, until: began.Add(test.until),
				}
				go e.teller.tell(RunEnded{})
				synctest.Wait()
				for _, s := range test.signals {
					time.AfterFunc(s.time, func() { signals <- Signal{Number: s.signal} })
				}
				e.lastEvents()
				if waited := time.Since(began); waited != test.want {
					t.Errorf("it waited %v, want %v", waited, test.want)
				}
				close(console) // a bubble must end without goroutines
				<-e.teller[0].ended
			})
		})
	}
}
