#!/bin/sh
# A loop around lenslaunch, for where something else than the launcher decides
# when to try again: a container that restarts, a queue, or this shell.
#
#   restart-loop.sh [COMMAND [ARG...]]
#
# The fixed run id makes all tries one job, and the state directory holds the
# ledger that remembers it: the second try is attempt te1 with a new attempt
# UUID and the same job UUID, and says so. Without a COMMAND it shows just that
# with workers that fail twice.
#
#   LENSLAUNCH  the binary               (lenslaunch)
#   NPROC       ranks                    (1)
#   RUN_ID      the job's name           (loop-<pid of this shell>)
#   STATE_DIR   where the ledger lives   (a fresh directory, removed at the end)
#   TRIES       at most so many starts   (5)
#   DELAY       seconds between them     (1)
set -u
LENSLAUNCH=${LENSLAUNCH:-lenslaunch} NPROC=${NPROC:-1} TRIES=${TRIES:-5} DELAY=${DELAY:-1}
RUN_ID=${RUN_ID:-loop-$$}

if [ -z "${STATE_DIR:-}" ]; then
	STATE_DIR=$(mktemp -d) || exit 1
	trap 'rm -rf "$STATE_DIR"' EXIT
fi

if [ $# -eq 0 ]; then
	set -- sh -c '
		uuids=$(echo "$OTEL_RESOURCE_ATTRIBUTES" | tr , "\n" | grep -E "^nv.dl.(job|run).uuid=")
		echo "te$TORCHELASTIC_RESTART_COUNT" $uuids
		[ "$TORCHELASTIC_RESTART_COUNT" -ge 2 ]'
fi

# The launcher runs in the background so that a signal to this shell reaches it
# at once; a shell that waits for a foreground command would sit on it.
child='' stopped=''
forward() {
	stopped=yes
	[ -z "$child" ] || kill -s "$1" "$child" 2>/dev/null
}
trap 'forward TERM' TERM
trap 'forward INT' INT
trap 'forward HUP' HUP

try=1
while :; do
	echo "try $try of $TRIES" >&2
	"$LENSLAUNCH" --nproc "$NPROC" --run-id "$RUN_ID" --state-dir "$STATE_DIR" -- "$@" &
	child=$!
	[ -z "$stopped" ] || forward TERM # it came while there was no child yet
	wait "$child"
	code=$?
	if [ -n "$stopped" ]; then
		# That wait was cut short by the signal: wait for the launcher's own
		# code. 127 only means that the shell had it already.
		wait "$child"
		again=$?
		[ "$again" -eq 127 ] || code=$again
		exit "$code"
	fi
	child=''
	case $code in
	0) exit 0 ;;
	2 | 126 | 127)
		echo "code $code will not get better by trying again" >&2
		exit "$code"
		;;
	129 | 130 | 131 | 143)
		echo "stopped by a signal (code $code)" >&2
		exit "$code"
		;;
	esac
	if [ "$try" -ge "$TRIES" ]; then
		echo "giving up after $try tries (code $code)" >&2
		exit "$code"
	fi
	try=$((try + 1))
	sleep "$DELAY"
	[ -z "$stopped" ] || exit "$code"
done
