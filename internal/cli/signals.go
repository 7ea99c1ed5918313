package cli

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// signalQueue holds what arrives while the loop works on something else.
const signalQueue = 64

// listen installs the launcher's signal handlers, before the first process is
// started, and returns what they receive. It is the only place that does.
//
// INT, QUIT and TERM are handled even if they were ignored on entry: a script's `&`
// ignores INT and QUIT. HUP ignored on entry (nohup) stays ignored, for the
// launcher and its workers: the user asked to survive the terminal. PIPE is caught
// so that a console that goes away is an error of a write and not the end; because
// it is caught and not ignored, workers start with its default.
func listen(forward []syscall.Signal) (<-chan syscall.Signal, func()) {
	wanted := []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) {
		wanted = append(wanted, syscall.SIGHUP)
	}
	for _, sig := range forward {
		if !slices.Contains(wanted, os.Signal(sig)) && sig != syscall.SIGHUP {
			wanted = append(wanted, sig)
		}
	}
	raw := make(chan os.Signal, signalQueue)
	signal.Notify(raw, wanted...)
	out, done := make(chan syscall.Signal), make(chan struct{})
	go relay(raw, out, done)
	return out, func() {
		signal.Stop(raw)
		close(done)
	}
}

// relay passes signals on, without SIGPIPE, until done.
func relay(raw <-chan os.Signal, out chan<- syscall.Signal, done <-chan struct{}) {
	for {
		select {
		case s := <-raw:
			sig, ok := s.(syscall.Signal)
			if !ok || sig == syscall.SIGPIPE {
				continue
			}
			select {
			case out <- sig:
			case <-done:
				return
			}
		case <-done:
			return
		}
	}
}
