# Everything goes by this file: `make demo` to see it, `make test` to check it.
# Needs Go and, for the demo and the interop tests, Python 3. No target changes
# anything outside bin/, dist/ and the user's cache directory, and none needs root
# but test-slurm, which also installs Debian's packages of Slurm, and test-netns.

GO ?= go
PYTHON ?= python3
# Time for each fuzz target, repetitions of test-race, pairs of a benchmark.
FUZZTIME ?= 10s
COUNT ?= 2
PAIRS ?= 40
OUTPUT_PAIRS ?= 8

BUILD = CGO_ENABLED=0 $(GO) build -trimpath
OUTPUT_BENCH = Output|Files|Torchrun
TAGS = interop,stress,faults,terminal,output,html,telemetry,slurm,netns
# The race detector is C code: it needs cgo, and cgo needs a C compiler.
CC_FOUND := $(shell command -v "$${CC:-cc}" 2>/dev/null || command -v gcc 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help build demo test test-race fuzz lint test-interop test-stress test-faults test-terminal test-output test-html test-telemetry test-slurm test-kubernetes test-netns bench bench-output bench-torchrun bench-journal cross clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 16

build: ## bin/lenslaunch, static
	$(BUILD) -o bin/lenslaunch ./cmd/lenslaunch

demo: build ## 8 ranks train, one fails, the restart goes on from the checkpoint
	@PYTHON="$(PYTHON)" LENSLAUNCH=bin/lenslaunch sh examples/demo.sh

test: ## go vet and all tests; with the race detector where there is a C compiler
	$(GO) vet ./...
ifeq ($(CC_FOUND),)
	@echo "no C compiler: testing without the race detector"
	$(GO) test -shuffle=on ./...
else
	CGO_ENABLED=1 $(GO) test -race -shuffle=on ./...
endif

test-race: ## the tests COUNT times with the race detector (needs a C compiler)
ifeq ($(CC_FOUND),)
	@echo "test-race needs a C compiler (gcc or clang)" >&2; exit 1
endif
	CGO_ENABLED=1 $(GO) test -race -shuffle=on -count=$(COUNT) ./...

fuzz: ## FUZZTIME of every fuzz target
	@GO="$(GO)" FUZZTIME=$(FUZZTIME) sh test/fuzz.sh

lint: ## gofmt, go vet (also for darwin), staticcheck, golangci-lint
	@GO="$(GO)" TAGS=$(TAGS) sh test/lint.sh

test-interop: ## real torch, OpenTelemetry SDK and NeMo Lens in an environment made for it
	@python=$$(test/interop/venv.sh) && collector=$$(GO="$(GO)" sh tools/collector/build.sh) && \
		LENSLAUNCH_TEST_PYTHON="$$python" LENSLAUNCH_TEST_COLLECTOR="$$collector" \
		$(GO) test -tags interop -count=1 -v -timeout 30m ./test/interop/...

test-stress: ## 200 launches side by side on this machine
	$(GO) test -tags stress -count=1 -v -timeout 10m ./test/stress/...

test-faults: ## ends jobs in every way and counts what is left; as root it tries more
	$(GO) test -tags faults -count=1 -v -timeout 30m ./test/faults/...

test-terminal: ## keys at a real terminal, docs/terminal.txt; UPDATE=-update writes it
	$(GO) test -tags terminal -count=1 -v -timeout 20m ./test/terminal/... $(UPDATE)

test-output: ## every way to write to every console: nothing lost, altered or mixed
	$(GO) test -tags output -count=1 -parallel 6 -v -timeout 10m ./test/output/...

test-html: ## the page of a report in headless Chromium; SHOTS=DIR keeps the screenshots
	SHOTS="$(abspath $(SHOTS))" $(GO) test -tags html -count=1 -v -timeout 10m ./test/html/...

test-telemetry: ## against a real OpenTelemetry Collector, which is built once
	@collector=$$(GO="$(GO)" sh tools/collector/build.sh) && LENSLAUNCH_TEST_COLLECTOR="$$collector" \
		$(GO) test -tags telemetry -count=1 -v -timeout 10m ./test/telemetry/...
test-slurm: ## jobs on a real Slurm of three nodes, made here from Debian's packages (needs root)
	@python=$$(test/interop/venv.sh) && LENSLAUNCH_TEST_PYTHON="$$python" \
		$(GO) test -tags slurm -count=1 -parallel 10 -v -timeout 10m ./test/slurm/...

test-kubernetes: ## examples/kubernetes against the API's own types, offline but for the modules
	cd test/kubernetes && $(GO) vet ./... && $(GO) test -count=1 ./...

test-netns: ## which address of the head is chosen, between hosts in network namespaces (needs root)
	$(GO) test -tags netns -count=1 -v -timeout 5m ./test/netns/...

bench: ## the launcher against the least that a Go program can do, in pairs
	$(GO) test -run '^$$' -bench . -skip '$(OUTPUT_BENCH)|Python' -benchtime $(PAIRS)x ./bench/...

bench-output: ## throughput of the ranks' output: cat, a minimal program, torchrun, in pairs
	@python=$$(test/interop/venv.sh) && LENSLAUNCH_TEST_PYTHON="$$python" \
		$(GO) test -run '^$$' -bench '$(OUTPUT_BENCH)' -benchtime $(OUTPUT_PAIRS)x -timeout 60m ./bench/

bench-torchrun: ## against the torchrun of the interop environment, in pairs
	@python=$$(test/interop/venv.sh) && LENSLAUNCH_TEST_PYTHON="$$python" \
		$(GO) test -run '^$$' -bench Rival -benchtime $(PAIRS)x ./bench/...

bench-journal: ## what a span journal adds to a span, in Go and in Python's real SDK, in pairs
	$(GO) test -run '^$$' -bench 'Added' -benchtime 1000x ./journal/
	@python=$$(test/interop/venv.sh) && LENSLAUNCH_TEST_PYTHON="$$python" \
		$(GO) test -run '^$$' -bench Python -benchtime 1000x ./bench/journal/

cross: ## dist/: static linux/amd64 and linux/arm64; checks that darwin/arm64 compiles
	GOOS=linux GOARCH=amd64 $(BUILD) -o dist/lenslaunch-linux-amd64 ./cmd/lenslaunch
	GOOS=linux GOARCH=arm64 $(BUILD) -o dist/lenslaunch-linux-arm64 ./cmd/lenslaunch
	GOOS=darwin GOARCH=arm64 $(BUILD) -o /dev/null ./...

clean: ## remove what the targets above have built here
	rm -rf bin dist
