package launcher

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"lenslaunch/internal/logmux"
)

// stuck is a console that nobody reads, until the test is over.
type stuck chan struct{}

func newStuck(t *testing.T) stuck {
	s := make(stuck)
	t.Cleanup(func() { close(s) })
	return s
}

func (s stuck) Write(p []byte) (int, error) {
	<-s
	return len(p), nil
}

// A run whose ranks have all ended and whose console is stuck waits half a minute for it.
// Told to end meanwhile, it waits no longer than it has time to stop; its exit code says
// how it had ended.
func TestSignalHastensTheDrain(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT} {
		for _, code := range []int{0, 3} {
			t.Run(fmt.Sprintf("%v-%d", sig, code), func(t *testing.T) {
				d := newDraft(t, 1)
				l := newLaunched(t, d, "*: say stuck; exit "+itoa(code))
				d.Stop.Kill = 100 * time.Millisecond
				l.plan = d.plan(t)
				console := l.console()
				console.Out = logmux.NewSink(newStuck(t), nil)
				l.begin(console)
				l.events.until(t, "end of the rank", func(all []Event) bool { return len(pick[WorkerEnded](all)) == 1 })
				began := time.Now()
				l.signal(sig)
				if got := l.wait(); got != code {
					t.Errorf("exit code %d, want %d", got, code)
				}
				if waited := time.Since(began); waited >= drainTime/2 {
					t.Errorf("it has waited %v", waited)
				}
			})
		}
	}
}

// The same for messages: a subscriber that is stuck in the last event.
func TestSignalHastensTheLastEvents(t *testing.T) {
	d := newDraft(t, 1)
	l := newLaunched(t, d, "*: exit 0")
	d.Stop.Kill = 100 * time.Millisecond
	l.plan = d.plan(t)
	messages, last := newStuck(t), make(chan time.Time, 1)
	l.begin(l.console(), func(e Event) {
		if _, ok := e.(RunEnded); ok {
			last <- time.Now()
			_, _ = messages.Write(nil)
		}
	})
	began := <-last
	l.signal(syscall.SIGTERM)
	if got := l.wait(); got != 0 {
		t.Errorf("exit code %d", got)
	}
	if waited := time.Since(began); waited >= drainTime/2 {
		t.Errorf("it has waited %v", waited)
	}
}
