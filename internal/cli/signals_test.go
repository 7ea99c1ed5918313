package cli

import (
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// notSignal is a signal of another system.
type notSignal struct{}

func (notSignal) String() string { return "other" }
func (notSignal) Signal()        {}

func TestRelay(t *testing.T) {
	defer goleak.VerifyNone(t)
	raw, out, done := make(chan os.Signal, 4), make(chan syscall.Signal), make(chan struct{})
	ended := make(chan struct{})
	// A console that goes away is an error of a write, and no news.
	raw <- syscall.SIGPIPE
	raw <- notSignal{}
	raw <- syscall.SIGTERM
	raw <- syscall.SIGUSR1
	go func() {
		defer close(ended)
		relay(raw, out, done)
	}()
	for _, want := range []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1} {
		if got := <-out; got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	// It ends when the run is over, also while nobody takes a signal.
	raw <- syscall.SIGTERM
	close(done)
	<-ended
}

// Signals arrive from listen's return to stop.
func TestListen(t *testing.T) {
	defer goleak.VerifyNone(t)
	signals, stop := listen([]syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGHUP})
	defer stop()
	for _, want := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGUSR1} {
		if err := syscall.Kill(os.Getpid(), want); err != nil {
			t.Fatal(err)
		}
		// Children of other tests may end meanwhile.
		got := <-signals
		for got == syscall.SIGCHLD {
			got = <-signals
		}
		if got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
