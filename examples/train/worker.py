"""What any worker under a launcher needs: who am I, when to stop, how to fail."""

import json
import os
import signal
import time
import traceback
from urllib.parse import unquote


class Failure(Exception):
    """What needs no traceback to be understood."""


class Lost(Failure):
    """A peer is gone or does not answer: this attempt cannot go on."""


class Identity:
    """This rank's place, as the launcher wrote it into the environment."""

    def __init__(self, env):
        self.rank = int(env.get("RANK", "0"))
        self.world = int(env.get("WORLD_SIZE", "1"))
        self.attempt = int(env.get("TORCHELASTIC_RESTART_COUNT") or "0")
        self.address = env.get("MASTER_ADDR", "127.0.0.1")
        self.port = int(env.get("MASTER_PORT", "0"))
        self.carrier = parse_carrier(env.get("OTEL_RESOURCE_ATTRIBUTES", ""))
        if not 0 <= self.rank < self.world:
            raise ValueError(f"RANK {self.rank} is not in 0..{self.world - 1}")
        if self.world > 1 and not 0 < self.port < 65536:
            raise ValueError("MASTER_PORT must be 1-65535 with more than one rank")

    def attempt_uuid(self):
        return self.carrier.get("nv.dl.run.uuid", "none")

    def describe_carrier(self):
        """The carrier in one line: what tells this rank and attempt apart."""
        get = self.carrier.get
        # Outside Slurm there is no slurm.restart_count unless one was
        # inherited; the launcher's own attempt number then says the same.
        restarts = get("slurm.restart_count", get("lenslaunch.attempt", "-"))
        return "carrier: rank {}/{}  attempt {}  restart count {}".format(
            get("nv.dl.rank", "-"),
            get("nv.dl.world_size", "-"),
            self.attempt_uuid(),
            restarts,
        )


def parse_carrier(text):
    """Ordered keys and values of OTEL_RESOURCE_ATTRIBUTES; never fails."""
    pairs = (segment.partition("=") for segment in text.split(",") if "=" in segment)
    return {key.strip(): unquote(value.strip()) for key, _, value in pairs if key.strip()}


class StopRequest:
    """Remembers the signal that asked us to stop; the step loop acts on it.

    A handler that raised could tear an update in two. All ranks agree on the
    step at which they stop, because each tells the others in its all-reduce.
    """

    def __init__(self):
        self.signal = 0
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._handle)

    def _handle(self, number, _frame):
        self.signal = self.signal or number


def report_error(err):
    """Leave the reason where the launcher looks for it, in torch's format."""
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if not path:
        return
    extra = {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
    try:
        with open(path, "w") as file:
            json.dump({"message": {"message": str(err), "extraInfo": extra}}, file)
    except OSError:
        pass  # the message is on stderr anyway
