# `make help` lists what there is.

CARGO ?= cargo
# Tests with a real browser fail when there is none, instead of being skipped.
export CDPILOT_REQUIRE_BROWSER ?= 1

# How long `make fuzz` stays with each target.
FUZZ_SECONDS ?= 60

# Flags of benches/peers/run.mjs.
PEERS ?=

# Flags of benches/widgets/run.mjs, as `--only Select2`.
WIDGETS ?=

# A part of the name of the tests to run; all of them without it.
T ?=

.PHONY: help browser driver demo test test-fast grid bench bench-page bench-peers bench-schema bench-widgets peers fuzz lint doc fmt full-protocol never-block schemathesis soak soak-server faults

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 24

browser: ## make sure that there is a Chromium-based browser, install one if not
	@scripts/ensure-browser.sh

driver: ## the same, and chromedriver, which only tests need
	@scripts/ensure-browser.sh --driver

demo: browser ## dialogs and frames in a real browser, shown step by step
	$(CARGO) run -- demo

test: driver ## all tests, with a real browser and chromedriver; T=page_settle: those with that in their name
	@CARGO="$(CARGO)" scripts/test.sh $(T)

test-fast: ## the tests that need no browser; says how many were left out
	@CARGO="$(CARGO)" scripts/test-fast.sh

grid: driver ## tests against a real Selenium Grid; needs Java 17 and npm
	@scripts/ensure-grid.sh
	CDPILOT_REQUIRE_GRID=1 CDPILOT_REQUIRE_BROWSER=1 $(CARGO) test --workspace --test main -- fleet_grid

bench: browser ## round trips, floods and parallel calls, beside a raw loop
	$(CARGO) bench --bench cdp

bench-page: browser ## snapshots and clicks, beside bare calls and, where Node is there, playwright-core
	-cd benches/page && npm ci --ignore-scripts --no-audit --no-fund
	$(CARGO) bench --bench page

peers: browser ## what other tools do while a page does not answer, measured; needs Node, see docs/peers-never-block.md
	cd benches/peers && npm ci --ignore-scripts --no-audit --no-fund && nice node run.mjs $(PEERS)

bench-peers: browser ## how fast other tools answer, beside ours, in one run; needs Node, writes docs/speed.md
	$(CARGO) build --release
	cd benches/peers && npm ci --ignore-scripts --no-audit --no-fund && node speed.mjs

bench-schema: browser ## how much of a model's context the tools of MCP servers take; needs Node, writes docs/schema-size.md
	$(CARGO) build --release
	cd benches/peers && npm ci --ignore-scripts --no-audit --no-fund && node schema.mjs

bench-widgets: browser ## actions on pages of widget libraries, beside playwright-core, in one run; needs Node, writes docs/widgets.md
	$(CARGO) build --release
	cd benches/widgets && npm ci --ignore-scripts --legacy-peer-deps --no-audit --no-fund && nice node run.mjs $(WIDGETS)

fuzz: ## FUZZ_SECONDS=60 of each fuzz target; needs rustup's nightly, a C++ compiler, cargo-fuzz
	@$(CARGO) +nightly fuzz --version >/dev/null || { \
	    echo 'fuzzing needs: rustup toolchain install nightly; cargo install cargo-fuzz; a C++ compiler' >&2; exit 1; }
	@for target in $(notdir $(basename $(wildcard fuzz/fuzz_targets/*.rs))); do \
	    mkdir -p fuzz/target/corpus/$$target && echo "fuzzing $$target for $(FUZZ_SECONDS) s" && \
	    $(CARGO) +nightly fuzz run $$target fuzz/target/corpus/$$target fuzz/seeds/$$target -- \
	        -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 || exit 1; \
	done

never-block: browser ## every operation in every state that blocks others; writes docs/never-block.md
	scripts/never-block.sh

schemathesis: browser ## the control server against its own openapi.json; needs Python 3
	scripts/schemathesis.sh $(SCHEMATHESIS_FLAGS)

soak: browser ## 10,000 dialogs by each policy, 200 cuts of the connection
	CDPILOT_TEST_DIALOGS=10000 CDPILOT_TEST_CUTS=200 $(CARGO) test --release --test main -- supervisor_scale supervisor_chaos --nocapture --test-threads=1

soak-server: browser ## eight clients on sixteen tabs of one server for ten minutes
	CDPILOT_TEST_LOAD_SECONDS=600 $(CARGO) test --release --test main -- server_load --nocapture

faults: browser ## 100 kills and stops of processes in every phase, a full disk, a clock that jumps, memory after hostile pages
	scripts/ensure-faketime.sh
	CDPILOT_TEST_FAULT_ROUNDS=100 CDPILOT_REQUIRE_NAMESPACES=1 CDPILOT_REQUIRE_FAKETIME=1 \
	    $(CARGO) test --release --test main -- faults --nocapture --test-threads=1

lint: ## formatting, clippy, documentation and the types of the in-page script, warnings are errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features tls -- -D warnings
	$(CARGO) clippy --all-targets --no-default-features -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --quiet
	scripts/check-page-script.sh

doc: ## the library's documentation
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps

fmt: ## format everything
	$(CARGO) fmt --all

full-protocol: ## every domain of the protocol compiles
	$(CARGO) check --features full-protocol
