"""Leaves the terminal without echo, as a debugger that is killed does."""
import signal
import tty

from say import say

tty.setraw(0)
say("ready")
while True:
    signal.pause()
