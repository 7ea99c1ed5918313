"""Counts signals: from the first one on for a second, then it ends."""
import signal

from say import say

wanted = {signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
say("ready")
got = [signal.sigwait(wanted)]
while more := signal.sigtimedwait(wanted, 1):
    got.append(signal.Signals(more.si_signo))
say("got", *(signal.Signals(s).name for s in got))
