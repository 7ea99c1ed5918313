"""The span journal beside NeMo Lens, whose own set-up stays as it is: one more line.

Run it as a rank of lenslaunch with NEMO_LENS_ENABLED=1. `--die-at-step N` as in with_sdk.py.
"""

import os
import signal
import sys

import lenslaunch_journal
from nemo.lens import NemoLensConfig, setup_telemetry

die_at = int(sys.argv[2]) if sys.argv[1:2] == ["--die-at-step"] else None

handle = setup_telemetry(
    NemoLensConfig.from_env(), int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
)
journal = lenslaunch_journal.install()  # this line, after Lens has made its providers
lenslaunch_journal.attach_parent()  # our spans are children of the launcher's

with handle.tracer.start_as_current_span("train"):
    for journal.step in range(1, 6):
        with handle.tracer.start_as_current_span("step"):
            if journal.step == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
handle.shutdown()
