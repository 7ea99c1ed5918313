#!/bin/sh
# Runs every fuzz target of the module for FUZZTIME (10s), one after another;
# goes on after a failure and exits 1 at the end if there was one. The targets
# are asked of the test binaries, so a new one needs no entry anywhere.
set -eu
GO=${GO:-go} FUZZTIME=${FUZZTIME:-10s}

# `go test -list` prints a package's targets and then the line "ok PACKAGE TIME".
targets=$("$GO" test -list '^Fuzz' ./... | awk '
	/^Fuzz/ { names[++n] = $1 }
	/^ok/   { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }')
[ -n "$targets" ] || { echo "fuzz: no target found" >&2; exit 1; }

# Making an interesting input smaller, which Go does for up to a minute each, would take
# the target's whole time. One that fails is small enough to be read as it is.
failed=
said=$(mktemp)
trap 'rm -f "$said"' EXIT
while read -r package name; do
	echo "fuzz $package $name for $FUZZTIME"
	if "$GO" test -run '^$' -fuzz "^$name\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 0s "$package" </dev/null >"$said" 2>&1; then
		cat "$said"
		continue
	fi
	cat "$said"
	# Go sometimes takes the end of a target's time for a failure of it. A real one leaves
	# its input.
	if grep -q '^ *context deadline exceeded$' "$said" && ! grep -q 'Failing input written' "$said"; then
		echo "fuzz $package $name: nothing was found; its time ended in the middle of an input"
		continue
	fi
	failed="$failed $name"
done <<EOF
$targets
EOF
[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2; exit 1; }
