package launcher

import "time"

// tellPatience is how long the run waits for a subscriber. Messages are written in
// some microseconds; with this they are out before what follows from the event.
const tellPatience = 100 * time.Millisecond

// teller passes events on to subscribers, in order: to each in a goroutine of its own. A
// console that nobody reads holds up whoever writes to it, and a run whose messages go
// there must end all the same when it is told to, and its telemetry must know of it.
type teller []*listener

func newTeller(subscribers []Subscriber) teller {
	t := make(teller, len(subscribers))
	for i, subscriber := range subscribers {
		t[i] = newListener(subscriber)
	}
	return t
}

// tell waits a moment for each subscriber in turn, so that what they show of an event
// comes in their order, unless one is behind.
func (t teller) tell(ev Event) {
	for _, l := range t {
		l.tell(ev)
	}
}

// close ends the events. What it returns is closed when every one is told.
func (t teller) close() <-chan struct{} {
	for _, l := range t {
		close(l.events)
	}
	all := make(chan struct{})
	go func() {
		defer close(all)
		for _, l := range t {
			<-l.ended
		}
	}()
	return all
}

// listener has the events for one subscriber.
type listener struct {
	events chan told
	ended  chan struct{} // closed: the subscriber has had every event
	late   chan struct{} // of the latest event that was not waited for to its end, nil: none
}

// told is an event on its way.
type told struct {
	event Event
	done  chan struct{} // closed: the subscriber has had it
}

func newListener(subscriber Subscriber) *listener {
	l := &listener{events: make(chan told), ended: make(chan struct{})}
	next := make(chan told)
	go l.queue(next)
	go func() {
		defer close(l.ended)
		for item := range next {
			subscriber(item.event)
			close(item.done)
		}
	}()
	return l
}

// queue takes events at any time. There are a few for each rank, so it stays small.
func (l *listener) queue(next chan<- told) {
	defer close(next)
	var waiting []told
	for in := l.events; in != nil || len(waiting) > 0; {
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

// tell waits a moment for the subscriber, unless it is behind already.
func (l *listener) tell(ev Event) {
	item := told{event: ev, done: make(chan struct{})}
	l.events <- item
	if l.late != nil && !closed(l.late) {
		l.late = item.done
		return
	}
	l.late = nil
	timer := time.NewTimer(tellPatience)
	defer timer.Stop()
	select {
	case <-item.done:
	case <-timer.C:
		l.late = item.done
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
