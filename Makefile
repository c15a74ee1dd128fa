# `make help` lists all targets.

CARGO ?= cargo
# Tests that need a browser fail if there is none, instead of being skipped.
export CDPILOT_REQUIRE_BROWSER ?= 1

# Duration of each target of `make fuzz`, in seconds.
FUZZ_SECONDS ?= 60

# Flags of benches/peers/run.mjs.
PEERS ?=

# Flags of benches/replay/run.mjs, for example `--seed 2`.
REPLAY ?=
# Flags of benches/widgets/run.mjs, for example `--only Select2`.
WIDGETS ?=

# Run only tests whose name contains one of these words; default: all.
T ?=

.PHONY: help browser driver shell demo test test-all test-fast try-model grid bench bench-page bench-record bench-observations bench-peers bench-replay bench-schema bench-search bench-widgets peers fuzz lint doc fmt full-protocol never-block schemathesis soak soak-server eval faults

help: ## list all targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 24

browser: ## install a Chromium-based browser if there is none
	@scripts/ensure-browser.sh

driver: ## like browser, and chromedriver, which only tests need
	@scripts/ensure-browser.sh --driver

shell: ## install Chromium's headless shell, which only tests use
	@scripts/ensure-browser.sh --shell

demo: browser ## show dialogs and frames in a real browser, step by step
	$(CARGO) run -p cdpilot --example demo

test: driver shell ## run all tests, with a real browser and chromedriver; T="page_settle cli_find": only tests whose name contains one of these
	@CARGO="$(CARGO)" scripts/test.sh $(T)

test-all: driver ## like test, with every exhaustive loop as a whole; takes up to two hours
	@CARGO="$(CARGO)" CDPILOT_TEST_ALL=1 scripts/test.sh $(T)

test-fast: ## run the tests that need no browser; prints how many were omitted
	@CARGO="$(CARGO)" scripts/test-fast.sh

grid: driver ## run the tests with a real Selenium Grid; needs Java 17 and npm
	@scripts/ensure-grid.sh
	CDPILOT_REQUIRE_GRID=1 CDPILOT_REQUIRE_BROWSER=1 $(CARGO) test --workspace --test server -- fleet_grid

bench: browser ## measure round trips, floods and parallel calls, compared with a raw loop
	$(CARGO) bench --bench cdp

bench-page: browser ## measure snapshots and clicks, compared with bare calls and, if Node is installed, playwright-core
	-cd benches/page && npm ci --ignore-scripts --no-audit --no-fund
	$(CARGO) bench --bench page

bench-search: ## measure the search over earlier conversations, compared with a scan
	$(CARGO) bench -p cdpilot-server --bench search

bench-record: browser ## measure a click in a recorded page, compared with the same click without a recording
	$(CARGO) bench -p cdpilot-server --bench record

peers: browser ## measure other tools while a page does not answer; needs Node, writes docs/peers-never-block.md
	cd benches/peers && npm ci --ignore-scripts --no-audit --no-fund && nice node run.mjs $(PEERS)

bench-peers: browser ## measure response times of cdpilot and other tools in one run; needs Node, writes docs/speed.md
	$(CARGO) build --release
	cd benches/peers && npm ci --ignore-scripts --no-audit --no-fund && node speed.mjs

bench-replay: browser ## repeat recorded tasks on 400 changed pages with cdpilot and playwright-core; needs Node, writes docs/replay.md
	$(CARGO) build --release
	cd benches/replay && npm ci --ignore-scripts --no-audit --no-fund && node run.mjs $(REPLAY)

bench-schema: browser ## measure the size of MCP tools in a model's context; needs Node, writes docs/schema-size.md
	$(CARGO) build --release
	cd benches/peers && npm ci --ignore-scripts --no-audit --no-fund && node schema.mjs

bench-observations: browser ## measure the texts that describe a page to a model, compared with browser-use, and the labels of screenshots; needs Node and Python, writes docs/observation-size.md
	$(CARGO) build --release
	cd benches/peers && npm ci --ignore-scripts --no-audit --no-fund && ../../scripts/browser-use.sh node observations.mjs && node labels.mjs

bench-widgets: browser ## test actions on widget libraries with cdpilot and playwright-core; needs Node, writes docs/widgets.md
	$(CARGO) build --release
	cd benches/widgets && npm ci --ignore-scripts --legacy-peer-deps --no-audit --no-fund && nice node run.mjs $(WIDGETS)

fuzz: ## run each fuzz target for FUZZ_SECONDS=60; needs rustup's nightly, a C++ compiler, cargo-fuzz
	@$(CARGO) +nightly fuzz --version >/dev/null || { \
	    echo 'fuzzing needs: rustup toolchain install nightly; cargo install cargo-fuzz; a C++ compiler' >&2; exit 1; }
	@for target in $(notdir $(basename $(wildcard fuzz/fuzz_targets/*.rs))); do \
	    mkdir -p fuzz/target/corpus/$$target && echo "fuzzing $$target for $(FUZZ_SECONDS) s" && \
	    $(CARGO) +nightly fuzz run $$target fuzz/target/corpus/$$target fuzz/seeds/$$target -- \
	        -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 || exit 1; \
	done

never-block: browser ## measure every operation in every blocking state; writes docs/never-block.md
	scripts/never-block.sh

schemathesis: browser ## check the control server against its own openapi.json; needs Python 3
	scripts/schemathesis.sh $(SCHEMATHESIS_FLAGS)

try-model: browser ## let a model do three tasks: make try-model BASE_URL=https://…/v1 MODEL=name [API_KEY=… VISION=false]
	BASE_URL="$(BASE_URL)" MODEL="$(MODEL)" scripts/try-model.sh

soak: browser ## run 10,000 dialogs with each policy, 200 lost connections, 400 changes between preview and confirmation
	CDPILOT_TEST_DIALOGS=10000 CDPILOT_TEST_CUTS=200 CDPILOT_TEST_CHANGES=400 \
	    $(CARGO) test --release --workspace --test library --test server -- supervisor_scale supervisor_chaos tools_visual_changes --nocapture --test-threads=1

soak-server: browser ## run eight clients on sixteen tabs of one server for ten minutes
	CDPILOT_TEST_LOAD_SECONDS=600 $(CARGO) test --release --workspace --test server -- server_load --nocapture

eval: browser ## play all tests of the evaluation ten times, without each ability, with 100 models that click at random, all cases of the safety track; takes hours
	CDPILOT_TEST_ROUNDS=5 CDPILOT_TEST_SEEDS=100 CDPILOT_TEST_INJECTIONS=all CDPILOT_TEST_KILLS=50 \
	    $(CARGO) test --release --workspace --test program -- eval_oracle eval_safety eval_run --nocapture --test-threads=1

faults: browser ## kill and stop processes in every phase (100 rounds), fill the disk, change the clock, measure memory
	scripts/ensure-faketime.sh
	CDPILOT_TEST_FAULT_ROUNDS=100 CDPILOT_REQUIRE_NAMESPACES=1 CDPILOT_REQUIRE_FAKETIME=1 \
	    $(CARGO) test --release --workspace --test program -- faults --nocapture --test-threads=1

lint: ## check formatting, clippy, documentation, types of the in-page script, names in the web UI, licences; warnings are errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features cdpilot/tls -- -D warnings
	$(CARGO) clippy -p cdpilot --lib --no-default-features -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --quiet
	scripts/check-page-script.sh
	@if command -v cargo-deny >/dev/null; then $(CARGO) deny --all-features check --hide-inclusion-graph bans licenses sources; \
	else echo 'SKIPPED: cargo-deny is not installed'; fi

doc: ## build the API reference
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps

fmt: ## format everything
	$(CARGO) fmt --all

full-protocol: ## check that every protocol domain compiles
	$(CARGO) check -p cdpilot --features full-protocol
