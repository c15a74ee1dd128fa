#!/usr/bin/env bash
# Runs the tests: all of them, or those whose name contains one of the arguments. See crates/testkit/src/bin/testkit.
#
#   CDPILOT_TEST_ALL=1    exhaustive loops as a whole, instead of a share that CDPILOT_TEST_SEED selects
#   RUST_TEST_THREADS=N   run N tests at a time (default: twice the number of cores)
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-target}

# A build that is not prepared for incremental ones takes a fifth less time; for a machine that builds once.
if [ "${CI:-}" = true ]; then
    export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
fi

messages=$(mktemp)
peers_log=$(mktemp)
trap 'rm -f "$messages" "$peers_log"' EXIT

# Official MCP clients and servers are downloaded from PyPI and npm during compilation. If that fails, the tests that need them
# are omitted, and a message says so.
scripts/ensure-mcp-peers.sh >"$peers_log" 2>&1 &
peers=$!
# All members in one command, so that every dependency is compiled once; of their tests, those that can have a name with one of the
# arguments: in a path or in the name of a function.
targets=()
has() { # has WORD FOLDER
    [ -n "$(find "$2" -path "*${1//_/?}*" -name '*.rs' -print -quit)" ] || grep -rqE --include='*.rs' "(fn|mod) [a-z0-9_]*$1" "$2"
}
for word in "$@"; do
    first=${word%%::*}
    for named in "tests library" "crates/server/tests server" "crates/eval/tests evaluation" "crates/cli/tests program"; do
        if has "$first" "${named% *}"; then targets+=(--test "${named#* }"); fi
    done
    for folder in src crates/*/src cdp-gen; do
        # Unit tests of all crates, and those of the generator.
        if has "$first" "$folder"; then targets=(); break 2; fi
    done
done
if [ ${#targets[@]} -gt 0 ]; then targets+=(--bin testkit); else targets=(--bins --tests); fi
"$cargo" build --workspace "${targets[@]}"
"$cargo" build --workspace "${targets[@]}" --message-format=json 2>/dev/null >"$messages"
if scripts/ensure-har-peer.sh; then
    export CDPILOT_REQUIRE_HAR_PEER=1
else
    echo "OMITTED: the test with the HAR validator"
fi
if scripts/ensure-page-libraries.sh; then
    export CDPILOT_REQUIRE_PAGE_LIBRARIES=1
else
    echo "OMITTED: the tests with React, Vue and rich-text editors"
fi
if scripts/ensure-playwright-peer.sh; then
    export CDPILOT_REQUIRE_PLAYWRIGHT_PEER=1
else
    echo "OMITTED: the test with Playwright"
fi
if wait "$peers"; then
    tail -n 1 "$peers_log"
    export CDPILOT_REQUIRE_PEERS=1
else
    cat "$peers_log"
    echo "OMITTED: the tests with official MCP clients and servers"
fi

"$target/debug/testkit" "$@" <"$messages"
if [ $# -eq 0 ]; then
    # Examples in the documentation.
    "$cargo" test --workspace --doc --quiet
fi
