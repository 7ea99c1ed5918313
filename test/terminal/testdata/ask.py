"""Asks the person at the terminal, as a debugger does."""
import os

from say import say

say("terminal:", *(os.isatty(fd) for fd in range(3)))
while (said := input("? ")) != "quit":
    say("you said", said)
