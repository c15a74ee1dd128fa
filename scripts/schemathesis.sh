#!/usr/bin/env bash
# Sends requests to the control server that its openapi.json allows, and many that it forbids, and checks the answers.
#   scripts/schemathesis.sh [flags of `schemathesis run`]
# The script starts a server with a temporary home and ends it afterwards. Needs Python 3 with venv; schemathesis is installed
# from PyPI unless SCHEMATHESIS is the path of one.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; } || true
    rm -rf "$work"
}
trap finish EXIT

tool=${SCHEMATHESIS:-}
if [ -z "$tool" ]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet 'schemathesis>=4,<5'
    tool=$work/venv/bin/schemathesis
fi

"${CARGO:-cargo}" build --quiet
export CDPILOT_HOME=$work/home
program=${CDPILOT:-target/debug/cdpilot}
"$program" serve --port 0 --cdp-port 0 --headless >"$work/log" 2>&1 &
server=$!
for _ in $(seq 100); do
    [ -s "$CDPILOT_HOME/run/server.json" ] && break
    sleep 0.1
done
url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$CDPILOT_HOME/run/server.json")
token=$(cat "$CDPILOT_HOME/token")
"$program" browser open 'data:text/html,<title>Sample</title><input><button>Press</button>' >/dev/null

# Excluded: /events and /wait/download do not end by themselves; /stop would stop the browser that other routes need.
# `positive_data_acceptance`: only the browser can tell whether a selector, an address or a script is valid, not the schema.
# 504: a request may allow one millisecond. 503: it may select a profile created by an earlier request, whose browser is not running.
cat >"$work/schemathesis.toml" <<'END'
[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503", "504"]

# It may request a window where there is no display.
[[operations]]
include-path = "/start"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "502", "503", "504"]

# Answers `valid: false` for ids that do not exist (any more).
[[operations]]
include-path = "/browsers/{id}/valid"
checks.use_after_free.enabled = false
END
"$tool" --config-file "$work/schemathesis.toml" run "$url/openapi.json" --header "Authorization: Bearer $token" \
    --exclude-path /events --exclude-path /wait/download --exclude-path /stop \
    --exclude-checks positive_data_acceptance --phases examples,coverage,fuzzing,stateful \
    --request-timeout 130 --continue-on-failure "$@"
