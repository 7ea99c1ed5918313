"""Has no handlers: Ctrl-C, Ctrl-\\ and a hang-up kill it."""
import resource
import signal

from say import say

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.signal(signal.SIGINT, signal.SIG_DFL)
say("ready")
while True:
    signal.pause()
