"""A rank with NeMo Lens's own set-up, its real batch exporter, and the span journal.

It makes argv[1] spans as fast as they can be exported, prints one line of JSON, and goes on
with about a thousand a second until it is killed.
"""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../examples/python"))

import lenslaunch_journal
from nemo.lens import NemoLensConfig, setup_telemetry
from opentelemetry import trace

handle = setup_telemetry(NemoLensConfig.from_env(), int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
journal = lenslaunch_journal.install()
assert journal.error is None, journal.error

with handle.tracer.start_as_current_span("train") as train:
    number = 0
    while True:
        number += 1
        with handle.tracer.start_as_current_span(f"step {number}"):
            pass
        if number < int(sys.argv[1]):
            if number % 100 == 0:  # no faster than the exporter: its queue would drop spans
                trace.get_tracer_provider().force_flush()
        elif number == int(sys.argv[1]):
            print(json.dumps({"span": format(train.get_span_context().span_id, "016x")}), flush=True)
        else:
            time.sleep(0.001)
