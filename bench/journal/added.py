"""What the journal adds to a span of the real SDK, in microseconds of CPU time.

The same spans with and without it in turn, in one process; argv: the directory of
lenslaunch_journal.py and the number of pairs. Prints JSON.
"""

import json
import statistics
import sys
import time

sys.path.insert(0, sys.argv[1])

from lenslaunch_journal import JournalSpanProcessor  # noqa: E402
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider  # noqa: E402
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult  # noqa: E402

SPANS = 50  # of one measurement: few, so that both of a pair meet the same machine


class Nowhere(SpanExporter):
    def export(self, spans):
        return SpanExportResult.SUCCESS


def tracer(*processors):
    provider = TracerProvider(shutdown_on_exit=False)
    for processor in processors:
        provider.add_span_processor(processor)
    return provider.get_tracer("bench", "1.0")


def spend(tracer):
    start = tracer.start_span
    began = time.thread_time_ns()
    for _ in range(SPANS):
        start("forward and backward").end()
    return (time.thread_time_ns() - began) / SPANS / 1000


def main():
    journal = JournalSpanProcessor.from_env()
    assert journal.error is None and journal._alive[0], journal.error
    wrapped = len(sys.argv) > 3
    if wrapped:
        ours = tracer(journal, SimpleSpanProcessor(journal.wrap(Nowhere())))
        plain = tracer(SpanProcessor(), SimpleSpanProcessor(Nowhere()))
    else:
        ours, plain = tracer(journal), tracer(SpanProcessor())
    outer = ours.start_span("outer")  # noqa: F841
    spend(ours), spend(plain)
    added, full, without = [], [], []
    for i in range(int(sys.argv[2])):
        if i % 2:
            a, p = spend(ours), spend(plain)
        else:
            p, a = spend(plain), spend(ours)
        added.append(a - p)
        full.append(a)
        without.append(p)
    version = ".".join(map(str, sys.version_info[:3]))
    result = {"added": statistics.median(added), "without": statistics.median(without)}
    # On a busy machine the fastest of both say more than the medians.
    result |= {"best": min(full) - min(without), "bestWithout": min(without), "python": version}
    print(json.dumps(result))


main()
