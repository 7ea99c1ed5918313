"""Where a worker leaves what it saw: RESULT_DIR/<attempt>-<rank>.json.

A file and not its output, so that what the launcher does with output can
neither hide nor make up a result.
"""

import json
import os


def write(**facts):
    attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    rank = int(os.environ["RANK"])
    path = os.path.join(os.environ["RESULT_DIR"], f"{attempt}-{rank}.json")
    with open(path + ".tmp", "w") as file:
        json.dump({"attempt": attempt, "rank": rank, **facts}, file)
    os.replace(path + ".tmp", path)
