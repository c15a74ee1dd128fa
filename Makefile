# `make help` lists what there is.

CARGO ?= cargo
# Tests with a real browser fail when there is none, instead of being skipped.
export CDPILOT_REQUIRE_BROWSER ?= 1

# Flags of benches/peers/run.mjs.
PEERS ?=

.PHONY: help browser demo test bench peers lint doc fmt full-protocol

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 24

browser: ## make sure that there is a Chromium-based browser, install one if not
	@scripts/ensure-browser.sh

demo: browser ## dialogs and frames in a real browser, shown step by step
	$(CARGO) run -- demo

test: browser ## all tests, with a real browser
	$(CARGO) test --workspace

bench: browser ## round trips, floods and parallel calls, beside a raw loop
	$(CARGO) bench --bench cdp

peers: browser ## what other tools do while a page does not answer, measured; needs Node, see docs/peers-never-block.md
	cd benches/peers && npm ci --ignore-scripts --no-audit --no-fund && nice node run.mjs $(PEERS)

lint: ## formatting, clippy and documentation, warnings are errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --all-targets --no-default-features -- -D warnings
	$(CARGO) clippy --all-targets --features tls -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --quiet

doc: ## the library's documentation
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps

fmt: ## format everything
	$(CARGO) fmt --all

full-protocol: ## every domain of the protocol compiles
	$(CARGO) check --features full-protocol
