#!/bin/sh
# All static checks, one after another; exits 1 at the end if one complained.
# The tools are those that tools/go.mod pins, built once by tools/build.sh.
set -eu
GO=${GO:-go} TAGS=${TAGS:-interop,stress,faults,terminal,output,html,telemetry,slurm,netns}

bin=$(sh tools/build.sh)
failed=
check() {
	echo "lint: $1"
	shift
	"$@" || failed=yes
}

unformatted() {
	list=$(gofmt -l .)
	[ -z "$list" ] || { echo "not formatted by gofmt: $list"; return 1; }
}

check gofmt unformatted
check 'go vet' "$GO" vet -tags "$TAGS" ./...
# The other system is only ever compiled here, so let vet look at it too.
check 'go vet, darwin' env GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 "$GO" vet ./...
check staticcheck "$bin/staticcheck" -tags "$TAGS" ./...
check golangci-lint "$bin/golangci-lint" run ./...
[ -z "$failed" ]
