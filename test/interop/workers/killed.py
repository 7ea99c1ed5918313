"""A rank with NeMo Lens's own set-up, its real batch exporter and the span journal.

argv: how many spans it makes, fast, before it says its pid in the pipe READY, and how it
ends (killed: it goes on with 50 a second until somebody kills it; the others: see finish). What it does is
also in RESULT_DIR/rank-<r>.log, a line for each fact: B a span is open, E it is about to
end, F it has ended. A killed process keeps what it has written.
"""

import ctypes
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../examples/python"))

import lenslaunch_journal
from nemo.lens import NemoLensConfig, setup_telemetry
from opentelemetry import trace

rank, wanted, end = int(os.environ["RANK"]), int(sys.argv[1]), sys.argv[2].split(",")
end = end[rank % len(end)]
handle = setup_telemetry(NemoLensConfig.from_env(), rank, int(os.environ["WORLD_SIZE"]))
journal = lenslaunch_journal.install()
assert journal.error is None, journal.error
lenslaunch_journal.attach_parent()

log = os.open(os.path.join(os.environ["RESULT_DIR"], f"rank-{rank}.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
made = 0


def note(word, span):
    context = span.get_span_context()
    os.write(log, f"{word} {context.span_id:016x} {context.trace_id:032x} {span.name}\n".encode())


class within:
    """A span, and what is known of it."""

    def __init__(self, name):
        self.manager = handle.tracer.start_as_current_span(name)

    def __enter__(self):
        global made
        made += 1
        self.span = self.manager.__enter__()
        note("B", self.span)

    def __exit__(self, *why):
        note("E", self.span)
        self.manager.__exit__(*why)
        note("F", self.span)


def ready():
    with open(os.environ["READY"], "w") as pipe:
        pipe.write(f"{rank} {os.getpid()}\n")


def finish():
    """Ends as it was told to, in the middle of its spans."""
    ready()
    if end == "segv":
        ctypes.string_at(0)
    if end == "oom":
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")
        keep = []
        while True:
            keep.append(bytearray(1 << 20))
    while True:  # kill, term: somebody ends it
        time.sleep(1)


def stop(number, frame):
    raise SystemExit(0)


if end == "term":
    signal.signal(signal.SIGTERM, stop)

def step():
    with within("step"):
        for _ in range(14):
            with within("work"):
                pass
        if made >= wanted and end != "killed":
            finish()


try:
    with within("train"):
        while made < wanted:  # as fast as they can be exported, or the SDK would drop some
            step()
            trace.get_tracer_provider().force_flush()
        ready()
        while True:  # as a training step does, and the exporter exports when it wants to
            with within("step"):
                for _ in range(14):
                    with within("work"):
                        time.sleep(0.01)
                    time.sleep(0.01)
finally:
    handle.shutdown()
