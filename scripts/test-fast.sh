#!/usr/bin/env bash
# Runs the tests that need no browser, and prints how many were omitted.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
messages=$(mktemp)
trap 'rm -f "$messages"' EXIT

export CDPILOT_REQUIRE_BROWSER=0
export CDPILOT_TEST_BROWSER=none
"$cargo" build --workspace --bins --tests
"$cargo" build --workspace --bins --tests --message-format=json 2>/dev/null >"$messages"
"${CARGO_TARGET_DIR:-target}/debug/testkit" <"$messages"
