"""The span journal beside the plain OpenTelemetry SDK.

Run it as a rank of lenslaunch, with telemetry on. `--die-at-step N` kills it in the middle
of that step, as the out-of-memory killer would; the journal still says what it was doing.
"""

import os
import signal
import sys

import lenslaunch_journal
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

die_at = int(sys.argv[2]) if sys.argv[1:2] == ["--die-at-step"] else None

journal = lenslaunch_journal.JournalSpanProcessor.from_env()
provider = TracerProvider()
provider.add_span_processor(journal)
provider.add_span_processor(BatchSpanProcessor(journal.wrap(ConsoleSpanExporter())))
trace.set_tracer_provider(provider)
lenslaunch_journal.attach_parent()  # our spans are children of the launcher's

tracer = trace.get_tracer("with_sdk")
with tracer.start_as_current_span("train"):
    for journal.step in range(1, 6):
        with tracer.start_as_current_span("step"), tracer.start_as_current_span("forward"):
            if journal.step == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
