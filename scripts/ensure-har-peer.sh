#!/bin/sh
# Installs the HAR 1.2 schema and a validator, which a test uses, in target/har-peer (or in the folder CDPILOT_HAR_PEER).
# They come from npm, pinned in tests/har, without install scripts. Needs Node.
#
# Does nothing if they are installed already. Exit status: 0 if they are installed, 1 if they could not be installed.
set -eu
cd "$(dirname "$0")/.."

pinned=$PWD/tests/har
place=${CDPILOT_HAR_PEER:-$PWD/target/har-peer}

say() { printf 'ensure-har-peer: %s\n' "$*"; }
fail() { printf 'ensure-har-peer: %s\n' "$*" >&2; exit 1; }
stamp() { cat "$pinned/package-lock.json" "$0" | cksum; }

if [ "$(cat "$place/stamp" 2>/dev/null)" = "$(stamp)" ]; then
    say "found $place"
    exit 0
fi
command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || fail "Node or npm not found; install Node.js"
say "installing into $place"
mkdir -p "$place"
rm -f "$place/stamp"
cp "$pinned/package.json" "$pinned/package-lock.json" "$place/"
(cd "$place" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) || fail "the packages from npm could not be installed"
stamp >"$place/stamp"
say "installed $place"
