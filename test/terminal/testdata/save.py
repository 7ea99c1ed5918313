"""Saves on Ctrl-C and ends well."""
import signal

from say import say

try:
    say("ready")
    while True:
        signal.pause()
except KeyboardInterrupt:
    say("saved")
