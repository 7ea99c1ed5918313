package cli

import (
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lenslaunch/launcher"
)

// notSignal is a signal of another system.
type notSignal struct{}

func (notSignal) String() string { return "other" }
func (notSignal) Signal()        {}

func TestRelay(t *testing.T) {
	defer goleak.VerifyNone(t)
	raw, named := make(chan os.Signal, 4), make(chan launcher.Signal)
	out, done := make(chan launcher.Signal), make(chan struct{})
	ended := make(chan struct{})
	// A console that goes away is an error of a write, and no news.
	raw <- syscall.SIGPIPE
	raw <- notSignal{}
	raw <- syscall.SIGTERM
	raw <- syscall.SIGUSR1
	go func() {
		defer close(ended)
		relay(raw, named, out, done)
	}()
	for _, want := range []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1} {
		if got, want := <-out, (launcher.Signal{Number: want}); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	want := launcher.Signal{Number: syscall.SIGINT, From: "the terminal"}
	named <- want
	if got := <-out; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	// It ends when the run is over, also while nobody takes a signal.
	raw <- syscall.SIGTERM
	close(done)
	<-ended
}

// hear is the next signal. Children of other tests may end meanwhile.
func hear(t *testing.T, signals <-chan launcher.Signal) launcher.Signal {
	t.Helper()
	for {
		select {
		case got := <-signals:
			if got.Number != syscall.SIGCHLD {
				return got
			}
		case <-time.After(time.Minute):
			t.Fatal("the signal is lost")
		}
	}
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
		if got := hear(t, signals).Number; got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
