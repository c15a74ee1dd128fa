#!/usr/bin/env bash
# Runs the tests: all of them, or those whose name contains the argument.
#
# A failed test is run once more, alone. If it passes then, it is reported as FLAKY: that is a defect of the product or of the
# test, and it fails the run, unless CI=true. A test that fails twice fails the run, and so do more than $most failures,
# a crash, or a compile error.
set -euo pipefail
cd "$(dirname "$0")/.."

most=8
filter=${1:-}
cargo=${CARGO:-cargo}
# Tests spend most of their time waiting for browsers.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-4}

if [ -n "$filter" ]; then
    exec "$cargo" test --workspace --lib --bins --tests -- "$filter"
fi

# A build that is not prepared for incremental ones takes a fifth less time; for a machine that builds once.
if [ "${CI:-}" = true ]; then
    export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
fi

log=$(mktemp)
peers_log=$(mktemp)
again=$(mktemp)
trap 'rm -f "$log" "$peers_log" "$again"' EXIT

# Official MCP clients and servers are downloaded from PyPI and npm during compilation. If that fails, the tests that need them
# are omitted, and a message says so.
scripts/ensure-mcp-peers.sh >"$peers_log" 2>&1 &
peers=$!
"$cargo" test --workspace --no-run
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
if wait "$peers"; then
    tail -n 1 "$peers_log"
    export CDPILOT_REQUIRE_PEERS=1
else
    cat "$peers_log"
    echo "OMITTED: the tests with official MCP clients and servers"
fi

if "$cargo" test --workspace --no-fail-fast 2>&1 | tee "$log"; then
    exit 0
fi

mapfile -t failed < <(sed -n 's/^test \([a-z0-9_:]*\) \.\.\. FAILED$/\1/p' "$log" | sort -u)
ended=$(grep -c '^test result: FAILED' "$log" || true)
failures=$(sed -n 's/^test result: FAILED.* \([0-9]*\) failed;.*/\1/p' "$log" | paste -sd+ - | sed 's/^$/0/')
if [ "${#failed[@]}" -eq 0 ] || [ "${#failed[@]}" -gt "$most" ] || [ "$ended" -eq 0 ] || [ "$((failures))" -ne "${#failed[@]}" ]; then
    exit 1
fi
echo
echo "running the failed tests once more, alone: ${failed[*]}"
status=0
RUST_TEST_THREADS=1 "$cargo" test --workspace --lib --bins --tests --no-fail-fast -- --exact "${failed[@]}" 2>&1 |
    tee "$again" || status=1

echo
for name in "${failed[@]}"; do
    if grep -q "^test $name \.\.\. ok$" "$again"; then
        echo "FLAKY: $name failed with the other tests and passed alone"
        [ "${CI:-}" = true ] || status=1
    else
        echo "FAILED twice: $name"
        status=1
    fi
done
exit "$status"
