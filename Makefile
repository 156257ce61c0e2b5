# Everything that a person or a machine does with this project is a target here; `make help` lists them.
# A clean clone on Debian with Go, git and make is enough: targets install the Debian packages they need.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO    ?= go
BUILD := .build
TOOLS := .tools
SETUP := assets/scripts/setup

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X sluice/app/cli.Version=$(VERSION)
# The static binary does not begin where 2 MB of it could be mapped at a touch: see decision 0009.
STATIC  := $(if $(filter linux/amd64,$(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH)),-T 0x411000)

# What only builds with a window toolkit: tested apart, without the race detector.
DESKTOP := $(if $(wildcard app/desktop/*.go),./app/desktop/...) $(if $(wildcard canvas/*.go),./canvas/...)
DESKTOP := $(strip $(DESKTOP))
# With no display at hand a virtual one is used.
SCREEN  := $(if $(DISPLAY)$(WAYLAND_DISPLAY),,xvfb-run -a -s '-screen 0 1600x1000x24')

# More flags for `go test`, for example TESTFLAGS='-run Sort -v'.
TESTFLAGS ?=
TEST      := $(GO) test -timeout 20m

# Size of the long proofs: 1 is the short version of CI. Their random choices come from the seed.
SOAK      ?= 50
SOAK_SEED ?= $(shell date +%s)

LINT_VERSION := v2.15.0
LINT := $(TOOLS)/bin/golangci-lint-$(LINT_VERSION)
FYNE_VERSION := v1.7.4
FYNE := $(TOOLS)/bin/fyne-$(FYNE_VERSION)

# Flags of the comparison, for example PEERS='-rounds 9 -only w2 -without miller'.
PEERS ?=

## Build and run

.PHONY: build headless run demo
build: ## the desktop application: .build/sluice
	$(SETUP) build $(if $(DESKTOP),desktop)
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BUILD)/sluice .

headless: ## the static command-line binary for servers: .build/sluice-headless
	$(SETUP) build
	CGO_ENABLED=0 $(GO) build -trimpath -tags headless -ldflags '$(LDFLAGS) $(STATIC)' -o $(BUILD)/sluice-headless .

run: build ## build and start the desktop application
	$(BUILD)/sluice $(ARGS)

demo: build ## build, run the sample project, and show how a failed load is replayed from sealed rows
	assets/scripts/demo $(BUILD)/sluice $(BUILD)/demo

## Test

.PHONY: test test-headless test-desktop test-bench test-screen pictures test-integration soak
test: test-headless test-desktop test-bench ## every test that needs no server, with the race detector where there is no window

test-headless:
	$(SETUP) build race
	CGO_ENABLED=1 $(TEST) -race -tags headless,lean $(TESTFLAGS) ./...

test-desktop:
ifneq ($(DESKTOP),)
	$(SETUP) desktop $(if $(SCREEN),xvfb)
	$(SCREEN) $(TEST) -tags lean $(TESTFLAGS) $(DESKTOP)
endif

test-bench:
	$(SETUP) build race
	cd bench && CGO_ENABLED=1 $(TEST) -race $(TESTFLAGS) ./cmd/gen ./cmd/peers ./cmd/gate ./measure

test-screen: ## the whole way in the real window, by mouse and keyboard on a virtual screen, and what it costs to idle
	GO='$(GO)' assets/scripts/screen $(TESTFLAGS)

pictures: ## draw the pictures of assets/screenshots anew
	$(SETUP) desktop $(if $(SCREEN),xvfb)
	$(SCREEN) $(TEST) -tags lean,pictures -count=1 -run '^TestPictures$$' ./app/desktop

test-integration: ## the tests with the tag `integration`, against real servers on loopback
	$(SETUP) build race
	GO='$(GO)' assets/scripts/integration $(TESTFLAGS)

soak: ## the long proofs, with the tag `soak`, over local folders and S3; SOAK=1 is the short version, SOAK_SEED repeats a run
	$(SETUP) build race
	@echo "soak: size $(SOAK), seed $(SOAK_SEED); repeat with: make soak SOAK=$(SOAK) SOAK_SEED=$(SOAK_SEED)"
	GO='$(GO)' SLUICE_SOAK=$(SOAK) SLUICE_SOAK_SEED=$(SOAK_SEED) assets/scripts/soak $(TESTFLAGS)

## Measure

.PHONY: bench bench-peers bench-gate bench-data
bench: ## the benchmarks of the packages
	$(GO) test -tags headless,lean -run '^$$' -bench . -benchmem $(TESTFLAGS) ./engine/... ./storage/... ./canvas/paint

bench-data:
	cd bench && $(GO) run ./cmd/gen -dir data

bench-peers: headless bench-data ## our binary against DuckDB and Miller, in turns, on 5,000,000 orders
	$(SETUP) bench
	cd bench && CGO_ENABLED=1 $(GO) build -o ../$(BUILD)/duckpeer ./cmd/duckpeer
	cd bench && $(GO) build -o ../$(BUILD)/peers ./cmd/peers
	cd bench && ../$(BUILD)/peers -sluice ../$(BUILD)/sluice-headless -duckdb ../$(BUILD)/duckpeer $(PEERS)

# Flags of the gate benchmark, for example GATE='-rounds 9 -only run'.
GATE ?=
bench-gate: headless bench-data ## what a replay gate costs, against runs without one, DuckDB and the CSV file, on 5,000,000 orders
	$(SETUP) bench
	cd bench && $(GO) run ./cmd/gen -distinct -dir data/distinct
	$(GO) test -c -tags headless,lean -o $(BUILD)/gatebench ./engine/gate
	cd bench && CGO_ENABLED=1 $(GO) build -o ../$(BUILD)/duckpeer ./cmd/duckpeer
	cd bench && CGO_ENABLED=1 $(GO) test ./cmd/duckpeer
	cd bench && $(GO) build -o ../$(BUILD)/gate ./cmd/gate
	cd bench && ../$(BUILD)/gate -sluice ../$(BUILD)/sluice-headless -spool ../$(BUILD)/gatebench -duckdb ../$(BUILD)/duckpeer $(GATE)

## Keep in order

.PHONY: lint fmt docs check
lint: $(LINT) ## the linters of .golangci.yml
	$(SETUP) build $(if $(DESKTOP),desktop)
	$(LINT) run ./...
	cd bench && ../$(LINT) run -c ../.golangci.yml ./...

fmt: $(LINT) ## format every Go file
	$(LINT) fmt ./...
	cd bench && ../$(LINT) fmt -c ../.golangci.yml ./...

docs: ## regenerate what is generated: reference pages and tables
	$(SETUP) build
	$(GO) generate -tags headless,lean ./...

check: lint test docs ## all that a commit must pass
	@changed=$$(git status --porcelain -- assets); [ -z "$$changed" ] || \
		{ echo "check: generated files differ from the committed ones:"; echo "$$changed"; exit 1; }

$(LINT):
	GOFLAGS="" GOBIN=$(CURDIR)/$(TOOLS)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(TOOLS)/bin/golangci-lint $@

## Ship

.PHONY: package
package: build $(FYNE) ## the application bundle for this system: .build/package/
	$(SETUP) package
	rm -rf $(BUILD)/package && mkdir -p $(BUILD)/package/src/assets/icons && cp $(BUILD)/sluice $(BUILD)/package/
	# The tool counts its builds in FyneApp.toml: it gets a copy of what it reads.
	cp FyneApp.toml go.mod main.go $(BUILD)/package/src/ && cp assets/icons/app-tile.png $(BUILD)/package/src/assets/icons/
	cd $(BUILD)/package && ../../$(FYNE) package -release -os $$($(GO) env GOOS) --src src --executable $(CURDIR)/$(BUILD)/package/sluice
	rm -r $(BUILD)/package/sluice $(BUILD)/package/src && ls $(BUILD)/package

$(FYNE):
	GOFLAGS="" GOBIN=$(CURDIR)/$(TOOLS)/bin $(GO) install fyne.io/tools/cmd/fyne@$(FYNE_VERSION)
	mv $(TOOLS)/bin/fyne $@

.PHONY: help
help: ## this list
	@awk '/^## /{printf "\n%s\n", substr($$0, 4)} \
		match($$0, /^[a-z-]+:.*## /){split($$0, t, ":"); printf "  make %-18s %s\n", t[1], substr($$0, RLENGTH + 1)}' Makefile
