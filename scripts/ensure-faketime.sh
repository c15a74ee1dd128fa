#!/bin/sh
# Installs libfaketime, which the clock test needs, with the system's package manager if it is missing. Used by
# `make faults`.
#
# Exit status: 0 if it is installed, 1 if it is missing and could not be installed.
set -eu

say() { printf 'ensure-faketime: %s\n' "$*"; }
fail() { printf 'ensure-faketime: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# The test searches the same folders.
find_library() {
    for folder in /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64 /usr/lib /usr/local/lib; do
        [ -e "$folder/faketime/libfaketime.so.1" ] && { printf '%s\n' "$folder/faketime/libfaketime.so.1"; return 0; }
    done
    return 1
}

as_root() {
    say "running: $*"
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif has sudo; then
        sudo "$@"
    elif has doas; then
        doas "$@"
    else
        fail "installation needs root, and neither sudo nor doas is available; run as root: $*"
    fi
}

install_library() {
    if has apt-get; then
        as_root apt-get update && as_root apt-get install -y --no-install-recommends faketime
    elif has dnf; then
        as_root dnf install -y libfaketime
    elif has pacman; then
        as_root pacman -Sy --noconfirm libfaketime
    elif has zypper; then
        as_root zypper --non-interactive install libfaketime
    elif has apk; then
        as_root apk add --no-cache libfaketime
    else
        fail "no supported package manager found (apt-get, dnf, pacman, zypper, apk); install libfaketime manually"
    fi
}

if path=$(find_library); then
    say "found $path"
    exit 0
fi
say "libfaketime not found, installing it"
install_library || fail "the installation failed; install libfaketime manually"
path=$(find_library) || fail "the installation succeeded, but libfaketime was not found in the folders that the test searches"
say "installed $path"
