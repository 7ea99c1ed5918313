package harness

import (
	"os"
	"os/signal"
	"syscall"
)

// HeedHangUp makes SIGHUP a signal for what the tests start, where they themselves were
// started under nohup: an ignored one is inherited, and a launcher respects that.
func HeedHangUp() {
	if signal.Ignored(syscall.SIGHUP) {
		// Caught here, it is the default in other programs.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}
