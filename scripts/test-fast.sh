#!/usr/bin/env bash
# Runs the tests that need no browser, and says how many were left out.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
skipped=$(mktemp)
trap 'rm -f "$skipped"' EXIT

export CDPILOT_REQUIRE_BROWSER=0
export CDPILOT_TEST_BROWSER=none
status=0
# What is left out says so on stderr.
"$cargo" test --workspace --lib --bins --tests 2> >(tee "$skipped" | grep -v '^SKIPPED' >&2) || status=1
echo "LEFT OUT, since they need a browser: $(grep -c '^SKIPPED' "$skipped" || true) tests"
exit "$status"
