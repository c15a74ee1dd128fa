#!/bin/sh
# Installs the libraries whose fields a test fills, in target/page-libraries (or in the folder CDPILOT_PAGE_LIBRARIES).
# They come from npm, pinned in tests/libraries, without install scripts. Needs Node.
#
# Does nothing if they are installed already. Exit status: 0 if they are installed, 1 if they could not be installed.
set -eu
cd "$(dirname "$0")/.."

pinned=$PWD/tests/libraries
place=${CDPILOT_PAGE_LIBRARIES:-$PWD/target/page-libraries}

say() { printf 'ensure-page-libraries: %s\n' "$*"; }
fail() { printf 'ensure-page-libraries: %s\n' "$*" >&2; exit 1; }
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
