"""What NeMo Lens in this rank puts on a span.

Rank 1 of the first attempt fails afterwards, so that a second attempt shows
that Lens reports its UUID and restart count, not the first one's.
"""

import os
import sys
from importlib.metadata import version

import result
from nemo.lens import NemoLensConfig, setup_telemetry
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
exporter = InMemorySpanExporter()
handle = setup_telemetry(
    NemoLensConfig.from_env(),
    rank,
    world,
    span_exporter=exporter,
    metric_reader=InMemoryMetricReader(),
)
with handle.tracer.start_as_current_span("step"):
    pass
handle.shutdown()

(span,) = exporter.get_finished_spans()
derived = None
try:
    from nemo.lens import derive_nv_dl_run_uuid  # newer than Lens 0.1.0

    derived = str(derive_nv_dl_run_uuid(os.environ["NEMO_LENS_RUN_ID"]))
except ImportError:
    pass
result.write(
    lens=version("nemo-lens"),
    attributes={key: str(value) for key, value in span.resource.attributes.items()},
    derived=derived,
)
first = os.environ["TORCHELASTIC_RESTART_COUNT"] == os.environ["FIRST_ATTEMPT"]
sys.exit(3 if first and rank == 1 else 0)
