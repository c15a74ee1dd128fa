#!/bin/sh
# Installs the official clients and example servers of the Model Context Protocol, which tests use, in target/mcp-peers (or
# in the folder CDPILOT_PEERS). Versions are pinned in tests/peers:
#
#   python          the current Python SDK, and a Node for the packages below
#   python-legacy   the last Python SDK for the protocol revisions that begin with `initialize`
#   node            the MCP inspector and example servers, without their install scripts
#
# Does nothing if they are installed already. Exit status: 0 if they are installed, 1 if they could not be installed.
set -eu
cd "$(dirname "$0")/.."

pinned=$PWD/tests/peers
place=${CDPILOT_PEERS:-$PWD/target/mcp-peers}

say() { printf 'ensure-mcp-peers: %s\n' "$*"; }
fail() { printf 'ensure-mcp-peers: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

run() {
    say "running: $*"
    "$@"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        run "$@"
    elif has sudo; then
        run sudo "$@"
    elif has doas; then
        run doas "$@"
    else
        fail "installation needs root, and neither sudo nor doas is available; run as root: $*"
    fi
}

stamp() {
    cat "$pinned/requirements.txt" "$pinned/requirements-legacy.txt" "$pinned/package-lock.json" "$0" | cksum
}

# Prints the path of a Python that is new enough and can create virtual environments with pip.
find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        path=$(command -v "$name" 2>/dev/null) || continue
        "$path" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null &&
            { printf '%s\n' "$path"; return 0; }
    done
    return 1
}

install_python() {
    if has apt-get; then
        as_root apt-get update && as_root apt-get install -y python3 python3-venv
    elif has dnf; then
        as_root dnf install -y python3
    elif has pacman; then
        as_root pacman -Sy --noconfirm python
    elif has zypper; then
        as_root zypper --non-interactive install python312
    elif has apk; then
        as_root apk add --no-cache python3
    elif has brew; then
        run brew install python3
    else
        fail "no supported package manager found; install Python 3.10 or newer with venv"
    fi
}

environment() {
    "$python" -m venv --clear "$place/$1"
    "$place/$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$pinned/$2"
}

if [ "$(cat "$place/stamp" 2>/dev/null)" = "$(stamp)" ] && "$place/python/bin/node" --version >/dev/null 2>&1; then
    say "found $place"
    exit 0
fi

python=$(find_python) || {
    say "Python 3.10 or newer with venv not found, installing it"
    install_python || fail "the installation failed; install Python 3.10 or newer with venv"
    python=$(find_python) || fail "the installation succeeded, but Python 3.10 or newer with venv was not found afterwards"
}

say "installing into $place"
rm -f "$place/stamp"
mkdir -p "$place/node"
environment python requirements.txt || fail "the Python SDK could not be installed"
environment python-legacy requirements-legacy.txt || fail "the earlier Python SDK could not be installed"
cp "$pinned/package.json" "$pinned/package-lock.json" "$place/node/"
(
    cd "$place/node"
    PATH=$place/python/bin:$PATH
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
) || fail "the packages from npm could not be installed"
stamp >"$place/stamp"
say "installed $place"
