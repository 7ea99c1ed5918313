#!/bin/sh
# What was rank 2 doing when it died? 4 ranks "train", each with spans in spans; one is
# killed with -9, so that it can tell nobody any more, and `lenslaunch report` tells for
# it. Needs Go and nothing else: no collector, no backend. Leaves nothing behind.
#
# KEEP=DIR keeps the run directory. LENSLAUNCH is the program to use.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
run=${KEEP:-$work/run}

(cd "$root" && go build -o "$work/worker" ./examples/truncated/worker)
if [ -z "${LENSLAUNCH:-}" ]; then
	LENSLAUNCH=$work/lenslaunch
	(cd "$root" && CGO_ENABLED=0 go build -o "$LENSLAUNCH" ./cmd/lenslaunch)
fi

# Every rank makes a pipe's other end known when it is in the middle of its work; then
# rank 2 is killed, as the kernel kills for memory: without a word.
mkfifo "$work/ready"
victim=2
{
	for _ in 1 2 3 4; do
		read -r rank pid <&3
		[ "$rank" != "$victim" ] || target=$pid
	done
	echo "--- kill -9 $target, which is rank $victim"
	kill -9 "$target"
} 3<>"$work/ready" &
killer=$!

code=0
env -u OTEL_EXPORTER_OTLP_ENDPOINT -u OTEL_EXPORTER_OTLP_TRACES_ENDPOINT -u OTEL_TRACES_EXPORTER -u OTEL_SDK_DISABLED \
	READY="$work/ready" "$LENSLAUNCH" --nproc 4 --run-id truncated --log-dir "$run" -- "$work/worker" || code=$?
wait "$killer"
echo "--- lenslaunch report"
"$LENSLAUNCH" report "$run"
echo "--- exit code of the job: $code; the spans as OTLP/JSON: spans.jsonl in the run directory"
