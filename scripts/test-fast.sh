#!/usr/bin/env bash
# Runs the tests that need no browser, and prints how many were omitted.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
skipped=$(mktemp)
trap 'rm -f "$skipped"' EXIT

export CDPILOT_REQUIRE_BROWSER=0
export CDPILOT_TEST_BROWSER=none
status=0
# Each omitted test prints a line with SKIPPED on stderr.
"$cargo" test --workspace --lib --bins --tests 2> >(tee "$skipped" | grep -v '^SKIPPED' >&2) || status=1
echo "OMITTED because they need a browser: $(grep -c '^SKIPPED' "$skipped" || true) tests"
exit "$status"
