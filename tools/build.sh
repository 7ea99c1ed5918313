#!/bin/sh
# Builds the tools that tools/go.mod names into a cache directory and prints
# that directory. Compiling them takes minutes, so it is done once for each
# go.sum and Go version, never per run.
set -eu
GO=${GO:-go}
cd "$(dirname "$0")"

# A linter built by an older Go refuses newer sources: the version is part of the key.
key=$({ "$GO" env GOVERSION; cat go.mod go.sum; } | cksum | tr -dc '0-9')
dir=${XDG_CACHE_HOME:-$HOME/.cache}/lenslaunch/tools-$key
if [ ! -d "$dir" ]; then
	echo "building the linters into $dir (once, takes some minutes)" >&2
	building=$dir.$$
	mkdir -p "$building"
	CGO_ENABLED=0 "$GO" build -trimpath -o "$building/" tool >&2
	# A rename shows the directory whole or not at all; whoever loses a race
	# against another build throws his own away.
	mv "$building" "$dir" 2>/dev/null || rm -rf "$building"
	rm -rf "$dir/${building##*/}"
fi
echo "$dir"
