"""Lines that a terminal shows whole, whatever else is printed meanwhile."""
import os


def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())
