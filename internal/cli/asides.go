package cli

import (
	"sync"
	"time"

	"lenslaunch/launcher"
)

// lastAside is how long the end of the program waits for messages that nobody reads.
const lastAside = time.Second

// asides are messages that no event of the run makes: what was decided before it, what
// telemetry has to say. Whoever writes to a console that nobody reads stands still for
// ever, signals or not; so they wait here for the next event and are written by whoever
// tells of events, which the run does not depend on.
type asides struct {
	mu      sync.Mutex
	waiting []func()
}

// later keeps what writes a message.
func (a *asides) later(write func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, write)
}

// warn is later for a function such as slog's Warn.
func (a *asides) warn(write func(string, ...any)) func(string, ...any) {
	return func(message string, args ...any) { a.later(func() { write(message, args...) }) }
}

// write writes what waits, in order.
func (a *asides) write() {
	for {
		a.mu.Lock()
		all := a.waiting
		a.waiting = nil
		a.mu.Unlock()
		if len(all) == 0 {
			return
		}
		for _, write := range all {
			write()
		}
	}
}

// before is a subscriber that writes them before what another one, which writes to the
// same console, has to say of the event.
func (a *asides) before(next launcher.Subscriber) launcher.Subscriber {
	return func(e launcher.Event) {
		a.write()
		next(e)
	}
}

// end writes what waits after the last event, or gives up.
func (a *asides) end(most time.Duration) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		a.write()
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
	}
}
