"""Checkpoints: one JSON file, which both implementations read and write."""

import json
import os

from task import initial_parameters
from worker import Failure


def save_checkpoint(directory, step, state):
    """Write it whole or not at all: temporary file, fsync, rename."""
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "checkpoint.json")
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w") as file:
        json.dump({"step": step, "state": state}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def load_checkpoint(directory):
    """(step, state) of the last checkpoint, or None where there is none."""
    path = os.path.join(directory, "checkpoint.json")
    try:
        with open(path) as file:
            saved = json.load(file)
        step, state = int(saved["step"]), [float(value) for value in saved["state"]]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as err:
        raise Failure(f"cannot resume from {path}: {err}") from err
    if len(state) != 2 * len(initial_parameters()):
        raise Failure(f"cannot resume from {path}: it is of another network")
    return step, state
