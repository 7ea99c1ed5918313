"""Leaves a daemon that ends at once to process 1, and works until SIGTERM."""
import os
import signal

from say import say

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.sigtimedwait(set(), 0.2)
    os._exit(0)
os.wait()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
say("ready in attempt", os.environ["LENSLAUNCH_ATTEMPT"])
signal.sigwait({signal.SIGTERM})
say("saved")
