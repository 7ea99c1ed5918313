"""What the OpenTelemetry SDK of this rank takes for its resource."""

import os

import result
from opentelemetry.sdk.resources import Resource

attributes = dict(Resource.create().attributes)
result.write(
    carrier=os.environ["OTEL_RESOURCE_ATTRIBUTES"],
    attributes={key: str(value) for key, value in attributes.items()},
    environment={name: os.environ.get(name, "") for name in ("WORLD_SIZE", "LOCAL_RANK")},
)
