"""What the journal adds to a span of the real SDK, in microseconds of CPU time.

The same spans with and without it in turn, in one process; argv: the directory of
lenslaunch_journal.py, the number of pairs, and `wrapped` for a wrapped exporter. Prints JSON.

Both providers have what every provider has, a processor that takes the spans for an export:
one that does nothing, or for `wrapped` the SDK's batch processor, whose export is a part of
what is measured, on both sides. So the journal's figure holds all that comes with it, also
the SDK's calls of one more processor. The spans have a parent, as most have.
"""

import gc
import json
import statistics
import sys
import time

sys.path.insert(0, sys.argv[1])

from lenslaunch_journal import JournalSpanProcessor  # noqa: E402
from opentelemetry import trace  # noqa: E402
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider  # noqa: E402
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult  # noqa: E402

SPANS = 100  # of one measurement: few, so that both of a pair meet the same machine


class Nowhere(SpanExporter):
    def export(self, spans):
        return SpanExportResult.SUCCESS


def batch(exporter):
    """One that exports when it is told to, in the thread that is measured."""
    return BatchSpanProcessor(exporter, schedule_delay_millis=1e9)


def spender(*processors):
    """A function that returns the time of one span, start to end, and of its export."""
    provider = TracerProvider(shutdown_on_exit=False)
    for processor in processors:
        provider.add_span_processor(processor)
    start, flush = provider.get_tracer("bench", "1.0").start_span, processors[-1].force_flush

    def spend():
        began = time.thread_time_ns()
        for _ in range(SPANS):
            start("forward and backward").end()
        flush()
        return (time.thread_time_ns() - began) / SPANS / 1000

    return start, spend


def main():
    journal = JournalSpanProcessor.from_env()
    assert journal.error is None and journal._alive[0], journal.error
    if "wrapped" in sys.argv[3:]:
        start, ours = spender(journal, batch(journal.wrap(Nowhere())))
        _, plain = spender(batch(Nowhere()))
    else:
        start, ours = spender(SpanProcessor(), journal)
        _, plain = spender(SpanProcessor())
    with trace.use_span(start("outer")):
        ours(), plain()
        gc.collect()
        full, without = [], []
        for i in range(int(sys.argv[2])):
            for times, spend in ((full, ours), (without, plain))[:: 1 if i % 2 else -1]:
                times.append(spend())
    added = statistics.median(a - p for a, p in zip(full, without, strict=True))
    print(
        json.dumps(
            {
                "added": added,
                "without": statistics.median(without),
                # On a busy machine the fastest of both say more than the medians.
                "best": min(full) - min(without),
                "bestWithout": min(without),
                "python": sys.version.split()[0],
            }
        )
    )


main()
