"""A progress bar that is drawn again and again on one line, as tqdm draws it."""

import sys
import time

WIDTH = 24


class Bar:
    """On stderr, where tqdm writes too, of every rank. A carriage return before
    each state and a line end after the last one: what becomes of that among
    eight ranks is up to whoever reads it."""

    def __init__(self, done, total):
        self.done, self.total, self.first = done, total, done
        self.began = time.monotonic()
        self.note = ""
        self._draw()

    def step(self, note):
        self.done, self.note = self.done + 1, note
        self._draw()

    def close(self):
        sys.stderr.write("\n")
        sys.stderr.flush()

    def _draw(self):
        full = WIDTH * self.done // self.total
        seconds = time.monotonic() - self.began
        rate = (self.done - self.first) / seconds if seconds > 0 else 0.0
        sys.stderr.write(
            "\r{:3}%|{}{}| {}/{} [{:.1f}s, {:.1f}it/s{}]".format(
                100 * self.done // self.total,
                "█" * full,
                " " * (WIDTH - full),
                self.done,
                self.total,
                seconds,
                rate,
                self.note and ", " + self.note,
            )
        )
        sys.stderr.flush()
