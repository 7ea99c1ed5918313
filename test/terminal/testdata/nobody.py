"""Tries to ask the person at the terminal behind the launcher's back."""
from say import say

try:
    with open("/dev/tty") as terminal:
        say("got", terminal.readline())
except OSError as error:
    say("no terminal:", error.strerror)
