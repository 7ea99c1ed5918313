"""The Python side of the carrier comparison: one JSON case per line on stdin,
one JSON answer per line on stdout; the first line says who answers.

{"parse": TEXT}                                      -> {key: value}
{"format": {..}}                                     -> carrier text
{"extend": TEXT, "defaults": {..}, "overrides": {..}} -> carrier text

Newer versions of Lens have functions for this and answer themselves. For
0.1.0, which has none, the answers come from what its carrier is made of: the
OpenTelemetry SDK's own detector for parsing, str() and urllib's quote() for
formatting, and ordinary dictionary precedence for composing.
"""

import json
import os
import sys
from importlib.metadata import version
from urllib.parse import quote

VARIABLE = "OTEL_RESOURCE_ATTRIBUTES"


class Plain:
    name = "urllib and the OpenTelemetry SDK (Lens %s has no codec)" % version("nemo-lens")

    def parse(self, text):
        from opentelemetry.sdk.resources import OTELResourceDetector

        os.environ[VARIABLE] = text
        return dict(OTELResourceDetector().detect().attributes)

    def format(self, attributes):
        return ",".join(
            f"{key.strip()}={quote(str(value), safe='')}"
            for key, value in attributes.items()
            if value is not None
        )

    def extend(self, text, defaults, overrides):
        return self.format({**defaults, **self.parse(text), **overrides})


class Lens:
    name = "Lens %s" % version("nemo-lens")

    def __init__(self):
        from nemo.lens.resources import attributes

        self.codec = attributes

    def parse(self, text):
        os.environ[VARIABLE] = text
        return dict(self.codec.get_otel_resource_attributes())

    def format(self, attributes):
        self.codec.set_otel_resource_attributes(attributes)
        return os.environ[VARIABLE]

    def extend(self, text, defaults, overrides):
        return self.codec.extend_otel_resource_attributes(
            text, defaults=defaults, overrides=overrides
        )


def main():
    os.environ.pop("OTEL_SERVICE_NAME", None)
    try:
        codec = Lens()
    except ImportError:
        codec = Plain()
    print(codec.name, flush=True)
    for line in sys.stdin:
        case = json.loads(line)
        if "parse" in case:
            answer = codec.parse(case["parse"])
        elif "format" in case:
            answer = codec.format(case["format"])
        else:
            answer = codec.extend(case["extend"], case["defaults"], case["overrides"])
        print(json.dumps(answer), flush=True)


main()
