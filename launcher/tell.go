package launcher

import "time"

// tellPatience is how long the run waits for a subscriber. Messages are written in
// some microseconds; with this they are out before what follows from the event.
const tellPatience = 100 * time.Millisecond

// teller passes events on to subscribers, in order, in a goroutine of its own: a
// console that nobody reads holds up whoever writes to it, and a run whose messages
// go there must end all the same when it is told to.
type teller struct {
	events chan told
	ended  chan struct{} // closed: every subscriber has had every event
	late   chan struct{} // of the latest event that was not waited for to its end, nil: none
}

// told is an event on its way.
type told struct {
	event Event
	done  chan struct{} // closed: every subscriber has had it
}

func newTeller(subscribers []Subscriber) *teller {
	t := &teller{events: make(chan told), ended: make(chan struct{})}
	next := make(chan told)
	go t.queue(next)
	go func() {
		defer close(t.ended)
		for item := range next {
			for _, subscriber := range subscribers {
				subscriber(item.event)
			}
			close(item.done)
		}
	}()
	return t
}

// queue takes events at any time. There are a few for each rank, so it stays small.
func (t *teller) queue(next chan<- told) {
	defer close(next)
	var waiting []told
	for in := t.events; in != nil || len(waiting) > 0; {
		var out chan<- told
		var first told
		if len(waiting) > 0 {
			out, first = next, waiting[0]
		}
		select {
		case item, ok := <-in:
			if !ok {
				in = nil
				continue
			}
			waiting = append(waiting, item)
		case out <- first:
			waiting = waiting[1:]
		}
	}
}

// tell waits a moment for the subscribers, unless they are behind already.
func (t *teller) tell(ev Event) {
	item := told{event: ev, done: make(chan struct{})}
	t.events <- item
	if t.late != nil && !closed(t.late) {
		t.late = item.done
		return
	}
	t.late = nil
	timer := time.NewTimer(tellPatience)
	defer timer.Stop()
	select {
	case <-item.done:
	case <-timer.C:
		t.late = item.done
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// close ends the events. What it returns is closed when every one is told.
func (t *teller) close() <-chan struct{} {
	close(t.events)
	return t.ended
}
