"""Rank 2 reads the terminal, the others work until SIGTERM."""
import os
import signal

from say import say

if os.environ["RANK"] == "2":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    say("?")
    while True:
        say("you said", input())
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
say("ready")
signal.sigwait({signal.SIGTERM})
say("saved")
