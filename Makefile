# What CI checks on one machine is in .ci/run, step by step; the targets below call those steps, so that there is one truth.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules

# make race PKG=./lane, make bench-go BENCH=Limiter COUNT=10
PKG ?= work
BENCH ?= .
COUNT ?= 1
ROUNDS ?= 150
FUZZ_TIME ?= 1000x
STRESS_COUNT ?= 100
SHADOW_TIME ?= 60s
GROUPS ?=
LAB ?=
POLICIES ?=
SEEDS ?= 3
STRESS_RUN ?= ConcurrentSafe|Stress

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' Makefile

.PHONY: check
check: ## All that CI requires on one machine (minutes)
	.ci/run

.PHONY: build
build: ## Compile every module
	go build -o /dev/null work

.PHONY: test
test: ## Run the tests of all modules (PKG)
	go test $(PKG)

.PHONY: race
race: ## The same under the race detector (PKG)
	go test -race $(PKG)

.PHONY: stress
stress: ## Run the concurrency tests 100 times under the race detector (PKG, STRESS_RUN, STRESS_COUNT)
	go test -race -count=$(STRESS_COUNT) -timeout 60m -run '$(STRESS_RUN)' $(PKG)

.PHONY: fuzz
fuzz: ## Run every fuzz target for a while, as in 1000x or 1m (FUZZ_TIME)
	FUZZ_TIME=$(FUZZ_TIME) .ci/run fuzz

.PHONY: conformance
conformance: ## Compare aerospiketest with the recordings of a real server (GROUPS)
	adapters/aerospike/aerospiketest/conformance/check.sh $(GROUPS)

.PHONY: driver-suite
driver-suite: ## Run the driver's own tests against aerospiketest
	adapters/aerospike/aerospiketest/driver-suite.sh

.PHONY: compat-suite
compat-suite: ## The same behind Compat: what passes must be what passes without
	adapters/aerospike/compat-suite.sh

.PHONY: compat-conformance
compat-conformance: ## The conformance program behind Compat: it must print the same lines as without (GROUPS)
	adapters/aerospike/compat-conformance.sh $(GROUPS)

.PHONY: test-prometheus
test-prometheus: ## Test dashboard and alerts with Prometheus' own programs, and against a service under load
	.ci/run prometheus

.PHONY: live
live: ## Overload with real processes and the real driver: the table and pictures in docs/lab/live (minutes, a quiet machine)
	go run ./benchmarks/live -out docs/lab/live

.PHONY: shadow
shadow: ## A load both ways, with the driver alone and in mode Shadow, for a minute (SHADOW_TIME)
	go test -run '^$$' -bench '^BenchmarkShadowPaired$$' -benchtime $(SHADOW_TIME) ./adapters/aerospike

.PHONY: test-browser
test-browser: ## Test the live page in Chromium
	.ci/run browser

.PHONY: bench
bench: ## Measure all beside floor and rivals; print the table, and write it into docs/benchmarks.md (minutes; ROUNDS)
	go run ./benchmarks/cmd/table -rounds $(ROUNDS) -write docs/benchmarks.md

.PHONY: bench-go
bench-go: ## Run the benchmarks of the packages, in the form that benchstat reads (PKG, BENCH, COUNT)
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count=$(COUNT) $(PKG)

.PHONY: lab
lab: ## Run the overload lab, and write docs/lab (minutes; LAB="W1,W7", POLICIES="none,stack": only these; SEEDS)
	GOGC=400 go test -count=1 -v -timeout 3h -run '^TestLab$$' ./benchmarks/lab \
		-lab.out '$(CURDIR)/docs/lab' -lab.seeds '$(SEEDS)' -lab.workloads '$(LAB)' -lab.policies '$(POLICIES)' | grep -vE '^ *(===|---)'

.PHONY: cover
cover: ## Write coverage.out, and show the total
	go test -coverprofile=coverage.out $(PKG)
	go tool cover -func=coverage.out | tail -n 1

.PHONY: tools
tools: ## Build the pinned tools into bin/ (minutes, once)
	.ci/run tools

bin/golangci-lint: tools/go.mod tools/go.sum
	.ci/run tools

.PHONY: lint
lint: bin/golangci-lint ## Lint every module
	.ci/run lint

.PHONY: fmt
fmt: bin/golangci-lint ## Format: gofumpt, and the order of imports
	for dir in $$(find . -name go.mod -not -path './tools/*' -exec dirname {} \;); do \
		(cd "$$dir" && "$(CURDIR)/bin/golangci-lint" fmt); \
	done

.PHONY: tidy
tidy: ## Tidy go.mod and go.sum of every module
	for dir in $$(find . -name go.mod -exec dirname {} \;); do (cd "$$dir" && GOWORK=off go mod tidy); done

.PHONY: vet
vet: ## Vet every module, on 64 and on 32 bits
	.ci/run vet arch386

.PHONY: graph
graph: ## Show what an importer of each module gets
	for dir in $$(find . -name go.mod -not -path './tools/*' -exec dirname {} \;); do \
		echo "== $$dir"; (cd "$$dir" && GOWORK=off go list -m all); \
	done

.PHONY: modules-off
modules-off: ## Build, vet and compile the tests of each module without the workspace
	.ci/run modules-off

.PHONY: otel
otel: ## See to it that otelx imports no SDK, and test it with the oldest OpenTelemetry and the newest
	.ci/run otel

.PHONY: outside
outside: ## Build a program outside that imports only limiter, and check its module graph
	.ci/run outside

.PHONY: quickstart
quickstart: ## Run the first example against the server in the process
	go run ./examples/quickstart
