package cli

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"lenslaunch/launcher"
)

// signalQueue is more than there are kinds of signals to wait for.
const signalQueue = 64

// listen installs the launcher's signal handlers, before the first process is
// started, and returns what they receive, with its sender where that can be known. It is
// the only place that does.
//
// INT, QUIT and TERM are handled even if they were ignored on entry: a script's `&`
// ignores INT and QUIT. HUP ignored on entry (nohup) stays ignored, for the
// launcher and its workers: the user asked to survive the terminal. PIPE is caught
// so that a console that goes away is an error of a write and not the end; because
// it is caught and not ignored, workers start with its default.
func listen(forward []syscall.Signal) (<-chan launcher.Signal, func()) {
	wanted := []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGCONT}
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
	// Of these there may be storms, which must not take the room of a SIGTERM: one that
	// waits says all there is to say, and a broken pipe says nothing.
	ends, pipes := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGCHLD)
	signal.Notify(pipes, syscall.SIGPIPE)
	named, out, done := make(chan launcher.Signal), make(chan launcher.Signal), make(chan struct{})
	go relay(raw, named, out, done)
	go relay(ends, nil, out, done)
	// After Notify: what the runtime does not handle cannot be taken over from it.
	forget := nameSenders(wanted, named, done)
	return out, func() {
		forget()
		for _, c := range []chan os.Signal{raw, ends, pipes} {
			signal.Stop(c)
		}
		close(done)
	}
}

// relay passes signals on in their order until done, those from the runtime and those
// whose sender is known. It takes them at any time: the runtime drops what finds no room.
func relay(raw <-chan os.Signal, named <-chan launcher.Signal, out chan<- launcher.Signal, done <-chan struct{}) {
	var waiting []launcher.Signal
	for {
		var to chan<- launcher.Signal
		var first launcher.Signal
		if len(waiting) > 0 {
			to, first = out, waiting[0]
		}
		select {
		case s := <-raw:
			if sig, ok := s.(syscall.Signal); ok && sig != syscall.SIGPIPE {
				waiting = enqueue(waiting, launcher.Signal{Number: sig})
			}
		case sig := <-named:
			waiting = enqueue(waiting, sig)
		case to <- first:
			waiting = waiting[1:]
		case <-done:
			return
		}
	}
}

// enqueue adds a signal as the kernel does to those that are pending: one that waits
// already is not added, and SIGCONT takes back a stop that nobody has acted on.
func enqueue(waiting []launcher.Signal, sig launcher.Signal) []launcher.Signal {
	if sig.Number == syscall.SIGCONT {
		waiting = slices.DeleteFunc(waiting, func(w launcher.Signal) bool { return w.Number == syscall.SIGTSTP })
	}
	if slices.ContainsFunc(waiting, func(w launcher.Signal) bool { return w.Number == sig.Number }) {
		return waiting
	}
	return append(waiting, sig)
}
