#!/bin/sh
# What `make demo` runs: 8 ranks train, the last one fails before step 13, the
# launcher stops the rest and starts a second attempt, and training goes on
# from the checkpoint. Leaves nothing behind. Where somebody watches, at a
# terminal, every rank draws a progress bar; elsewhere rank 0 says each step.
set -eu
LENSLAUNCH=${LENSLAUNCH:-lenslaunch} PYTHON=${PYTHON:-python3}
here=$(dirname "$0")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$work/state" "$work/checkpoints"

if [ -t 1 ] && [ -t 2 ]; then
	set -- --bar --step-time 0.2 "$@"
fi

# Eight ranks that each wrote a byte-code cache would race for nothing.
PYTHONDONTWRITEBYTECODE=1 "$LENSLAUNCH" \
	--nproc 8 --run-id demo --state-dir "$work/state" --max-restarts 1 -- \
	"$PYTHON" "$here/train/train.py" \
	--checkpoint-dir "$work/checkpoints" --steps 24 --fail-at-step 13 "$@"
