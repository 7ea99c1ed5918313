"""Reads the terminal once somebody has opened the gate."""
import os

from say import say

say("ready")
with open(os.environ["TMPDIR"] + "/gate"):
    say("you said", input("? "))
