"""Answers stop signals with a line a while later, and goes on."""
import signal

from say import say

wanted = {signal.SIGINT, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
say("ready")
while True:
    signal.sigwait(wanted)
    signal.sigtimedwait(set(), 1)
    say("still here")
