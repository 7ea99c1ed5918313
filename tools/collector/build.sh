#!/bin/sh
# Builds the Collector of main.go into a cache directory and prints the path of
# the binary. Compiling it takes minutes, so it is done once for each go.sum,
# main.go and Go version, never per run.
set -eu
GO=${GO:-go}
cd "$(dirname "$0")"

key=$({ "$GO" env GOVERSION; cat go.mod go.sum main.go; } | cksum | tr -dc '0-9')
dir=${XDG_CACHE_HOME:-$HOME/.cache}/lenslaunch/collector-$key
if [ ! -d "$dir" ]; then
	echo "building an OpenTelemetry Collector into $dir (once, takes some minutes)" >&2
	building=$dir.$$
	mkdir -p "$building"
	CGO_ENABLED=0 "$GO" build -trimpath -o "$building/collector" . >&2
	# A rename shows the directory whole or not at all; whoever loses a race
	# against another build throws his own away.
	mv "$building" "$dir" 2>/dev/null || rm -rf "$building"
	rm -rf "$dir/${building##*/}"
fi
echo "$dir/collector"
