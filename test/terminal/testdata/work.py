"""Works until SIGTERM, and says so when it is continued after a stop."""
import signal

from say import say

wanted = {signal.SIGCONT, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
say("ready")
while signal.sigwait(wanted) == signal.SIGCONT:
    say("goes on")
say("saved")
