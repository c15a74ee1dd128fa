#!/bin/sh
# Installs packages from npm that tests use, in target/NAME: those that are pinned in a folder of the tests, without install
# scripts. Needs Node. Usage: ensure-npm-test-data.sh FOLDER NAME [PLACE]
#
# Does nothing if they are installed already. Exit status: 0 if they are installed, 1 if they could not be installed.
set -eu
cd "$(dirname "$0")/.."

pinned=$PWD/$1
name=$2
place=${3:-$PWD/target/$name}

say() { printf 'ensure-npm-test-data: %s: %s\n' "$name" "$*"; }
fail() { printf 'ensure-npm-test-data: %s: %s\n' "$name" "$*" >&2; exit 1; }
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
