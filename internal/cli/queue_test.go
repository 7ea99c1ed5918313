package cli

import (
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"lenslaunch/launcher"
)

func TestEnqueue(t *testing.T) {
	const (
		term, tstp, cont, chld = syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGCHLD
	)
	for name, test := range map[string]struct{ arrive, want []syscall.Signal }{
		"in order":               {[]syscall.Signal{term, chld, tstp}, []syscall.Signal{term, chld, tstp}},
		"one of a kind":          {[]syscall.Signal{chld, term, chld, term}, []syscall.Signal{chld, term}},
		"continue undoes a stop": {[]syscall.Signal{tstp, term, cont}, []syscall.Signal{term, cont}},
		"a stop that follows":    {[]syscall.Signal{cont, tstp}, []syscall.Signal{cont, tstp}},
	} {
		var waiting []launcher.Signal
		for _, sig := range test.arrive {
			waiting = enqueue(waiting, launcher.Signal{Number: sig})
		}
		var got []syscall.Signal
		for _, sig := range waiting {
			got = append(got, sig.Number)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// Of several that wait as one the first is the one that is acted on.
func TestEnqueueKeepsTheFirstSender(t *testing.T) {
	first := launcher.Signal{Number: syscall.SIGTERM, From: "pid 7 (slurmstepd, uid 0)"}
	got := enqueue(enqueue(nil, first), launcher.Signal{Number: syscall.SIGTERM, From: "pid 8 (kill, uid 0)"})
	if diff := cmp.Diff([]launcher.Signal{first}, got); diff != "" {
		t.Error(diff)
	}
}

// The runtime drops a signal that finds no room: whoever is slow to take signals must
// not lose a SIGTERM behind others.
func TestRelayTakesSignalsAtAnyTime(t *testing.T) {
	defer goleak.VerifyNone(t)
	raw, out, done := make(chan os.Signal), make(chan launcher.Signal), make(chan struct{})
	defer close(done)
	go relay(raw, nil, out, done)
	for range 10 * signalQueue {
		raw <- syscall.SIGUSR1
	}
	raw <- syscall.SIGTERM
	for _, want := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM} {
		if got := <-out; got.Number != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
