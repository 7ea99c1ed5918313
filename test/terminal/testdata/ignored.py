"""Says which signals are ignored, and waits for SIGTERM."""
import signal

from say import say

OF_PYTHON = {"SIGPIPE", "SIGXFSZ"}

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
ignored = {s.name for s in signal.Signals if signal.getsignal(s) == signal.SIG_IGN}
say("ignores", *sorted(ignored - OF_PYTHON))
signal.sigwait({signal.SIGTERM})
say("saved")
