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
# the target's whole time; and a target whose time ends meanwhile counts as failed
# ("context deadline exceeded"). An input that fails is small enough to be read as it is.
failed=
while read -r package name; do
	echo "fuzz $package $name for $FUZZTIME"
	"$GO" test -run '^$' -fuzz "^$name\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 0s "$package" </dev/null ||
		failed="$failed $name"
done <<EOF
$targets
EOF
[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2; exit 1; }
