package cli

import (
	"os"
	"syscall"

	"lenslaunch/internal/signals"
	"lenslaunch/launcher"
)

// nameSenders takes signals over from the runtime, which does not tell who sent them, and
// passes them on with their sender until stop or done. Where that cannot be done they come
// from the runtime as in any program, without it; there is nothing to say about that.
func nameSenders(wanted []os.Signal, named chan<- launcher.Signal, done <-chan struct{}) (stop func()) {
	var list []syscall.Signal
	for _, s := range wanted {
		if sig, ok := s.(syscall.Signal); ok {
			list = append(list, sig)
		}
	}
	source, err := signals.Take(list...)
	if err != nil {
		return func() {}
	}
	go func() {
		defer source.Close() // whatever has ended it: the runtime takes over again
		for {
			sig, err := source.Next()
			if err != nil {
				return
			}
			select {
			case named <- launcher.Signal{Number: sig.Number, From: from(sig)}:
			case <-done:
				return
			}
		}
	}()
	return source.Close
}

// from is how messages name the sender of a signal. What the kernel itself sends to a
// launcher by these signals comes from its terminal: keys, and the hang-up.
func from(sig signals.Signal) string {
	if sig.Sender.Kernel {
		switch sig.Number {
		case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGHUP:
			return "the terminal"
		}
	}
	return sig.Sender.String()
}
