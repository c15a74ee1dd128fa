#!/bin/sh
# Makes sure that libfaketime is on this machine, which the test of a clock that jumps needs; installs it with the
# system's package manager when it is not there. Used by `make faults`.
#
# Exit status: 0 when it is there (now), 1 when it is not and could not be installed.
set -eu

say() { printf 'ensure-faketime: %s\n' "$*"; }
fail() { printf 'ensure-faketime: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# The places are those that the test looks at.
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
        fail "installing needs root and there is neither sudo nor doas; run as root: $*"
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
        fail "no package manager that this script knows (apt-get, dnf, pacman, zypper, apk); install libfaketime by hand"
    fi
}

if path=$(find_library); then
    say "found $path"
    exit 0
fi
say "libfaketime is not there, installing it"
install_library || fail "the installation failed; install libfaketime by hand"
path=$(find_library) || fail "the installation went through but left no libfaketime where the test looks"
say "installed $path"
