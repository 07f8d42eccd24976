# Every target is one script or one short command; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help run build test quick check bench fuzz chaos mutate screenshots connector clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build everything and start the demonstration; pass options as ARGS="..."
	@scripts/run $(ARGS)

build: ## build every program into build/bin
	@scripts/build

test: ## install what is missing, then run every check and test (build/test.json)
	@scripts/test

quick: ## after every change: format, build, and the tests of a minute; not raced, no PostgreSQL, no whole programs
	@scripts/quick

check: ## format, vet, staticcheck and architecture, without a database
	@scripts/check

bench: ## measure speed and memory (build/bench.json); pass options as ARGS="..."
	@scripts/bench $(ARGS)

fuzz: ## run every fuzz target for FUZZTIME each (5m)
	@scripts/fuzz

screenshots: ## take the pictures in docs/images from the demonstration
	@PDPP_TEST_SCREENSHOTS=1 PDPP_TEST_PACKAGES=./internal/quality/consoletest scripts/test

chaos: ## kill, pause and restart workers and database for PDPP_CHAOS_MINUTES (15), then compare
	@scripts/chaos

mutate: ## plant faults and see whether the tests notice (build/mutate.json); pass options as ARGS="..."
	@scripts/mutate $(ARGS)

connector: ## start a new connector from the example: make connector name=x
	@scripts/new-connector "$(name)"

clean: ## remove everything the targets wrote
	@rm -rf build "$$(go env GOCACHE)/pdpp-tests"
