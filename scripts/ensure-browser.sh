#!/bin/sh
# Installs a Chromium-based browser with the system's package manager if there is none. Used by `make test` and
# `make demo`.
#
#   ensure-browser.sh            the browser
#   ensure-browser.sh --driver   browser and chromedriver, which only the tests of WebDriver sessions need
#   ensure-browser.sh --shell    Chromium's headless shell, in which most tests take half the CPU time
#
# Exit status: 0 if they are installed, 1 if one is missing and could not be installed. The headless shell may be missing: tests run
# in the browser then.
set -eu

say() { printf 'ensure-browser: %s\n' "$*"; }
fail() { printf 'ensure-browser: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# On Ubuntu /usr/bin/chromium-browser may be a script that only refers to the snap.
is_stub() {
    case $(head -c 2 "$1" 2>/dev/null) in
        '#!') grep -q /snap/bin/chromium "$1" 2>/dev/null && [ ! -x /snap/bin/chromium ] ;;
        *) return 1 ;;
    esac
}

# Prints the path of a browser. The program searches the same paths.
find_browser() {
    for name in chromium chromium-browser google-chrome-stable google-chrome google-chrome-beta \
        google-chrome-unstable brave-browser brave-browser-stable microsoft-edge-stable microsoft-edge; do
        path=$(command -v "$name" 2>/dev/null) || continue
        is_stub "$path" || { printf '%s\n' "$path"; return 0; }
    done
    for path in /snap/bin/chromium /usr/lib/chromium/chromium /opt/google/chrome/chrome /opt/chromium/chrome \
        /opt/brave.com/brave/brave /opt/brave-bin/brave /opt/microsoft/msedge/msedge \
        /var/lib/flatpak/exports/bin/org.chromium.Chromium; do
        [ -x "$path" ] && { printf '%s\n' "$path"; return 0; }
    done
    for folder in /Applications "${HOME:-/}/Applications"; do
        for app in "Google Chrome Canary" Chromium "Google Chrome" "Brave Browser" "Microsoft Edge"; do
            path="$folder/$app.app/Contents/MacOS/$app"
            [ -x "$path" ] && { printf '%s\n' "$path"; return 0; }
        done
    done
    return 1
}

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

distribution() {
    # In a subshell: the file sets many variables.
    ( [ -r /etc/os-release ] && . /etc/os-release && printf '%s' "${ID:-}" ) || true
}

install_browser() {
    if has apt-get; then
        if [ "$(distribution)" = ubuntu ]; then
            has snap || fail "Ubuntu packages Chromium only as a snap, and snapd is not installed; install Google Chrome's .deb or set CDPILOT_BROWSER"
            as_root snap install chromium
        else
            as_root apt-get update && as_root apt-get install -y chromium
        fi
    elif has dnf; then
        as_root dnf install -y chromium
    elif has pacman; then
        as_root pacman -Sy --noconfirm chromium
    elif has zypper; then
        as_root zypper --non-interactive install chromium
    elif has apk; then
        as_root apk add --no-cache chromium
    elif has brew; then
        run brew install --cask google-chrome
    else
        fail "no supported package manager found (apt-get, dnf, pacman, zypper, apk, brew); install Chromium or Chrome manually, or set CDPILOT_BROWSER"
    fi
}

ensure_browser() {
    if [ -n "${CDPILOT_BROWSER:-}" ]; then
        path=$(command -v "$CDPILOT_BROWSER" 2>/dev/null) ||
            fail "CDPILOT_BROWSER is set to $CDPILOT_BROWSER, which is not executable; correct or unset it"
        say "using $path (CDPILOT_BROWSER)"
        return
    fi
    if path=$(find_browser); then
        say "found $path"
        return
    fi
    say "no browser found, installing one"
    install_browser || fail "the installation failed; install Chromium or Chrome manually, or set CDPILOT_BROWSER"
    path=$(find_browser) ||
        fail "the installation succeeded, but no browser was found afterwards; set CDPILOT_BROWSER"
    say "installed $path"
}

# Prints the path of chromedriver. The tests search the same paths.
find_driver() {
    for name in chromedriver chromium.chromedriver /snap/bin/chromium.chromedriver \
        /usr/lib/chromium-browser/chromedriver /usr/lib/chromium/chromedriver; do
        path=$(command -v "$name" 2>/dev/null) && { printf '%s\n' "$path"; return 0; }
    done
    return 1
}

# On some systems chromedriver is part of the browser's package.
install_driver() {
    if has apt-get; then
        if [ "$(distribution)" = ubuntu ]; then
            has snap || fail "Ubuntu has chromedriver only in the Chromium snap, and snapd is not installed; install chromedriver manually"
            as_root snap install chromium
        else
            as_root apt-get update && as_root apt-get install -y chromium-driver
        fi
    elif has dnf; then
        as_root dnf install -y chromedriver
    elif has pacman; then
        as_root pacman -Sy --noconfirm chromium
    elif has zypper; then
        as_root zypper --non-interactive install chromedriver
    elif has apk; then
        as_root apk add --no-cache chromium-chromedriver
    elif has brew; then
        run brew install --cask chromedriver
    else
        fail "no supported package manager found; install the chromedriver that matches your browser manually"
    fi
}

ensure_driver() {
    if path=$(find_driver); then
        say "found $path"
        return
    fi
    say "no chromedriver found, installing one"
    install_driver || fail "the installation failed; install the chromedriver that matches your browser manually"
    path=$(find_driver) || fail "the installation succeeded, but no chromedriver was found afterwards; put one into PATH"
    say "installed $path"
}

# Only Debian packages it.
ensure_shell() {
    for name in chromium-headless-shell chrome-headless-shell; do
        path=$(command -v "$name" 2>/dev/null) && { say "found $path"; return 0; }
    done
    if has apt-get && [ "$(distribution)" = debian ]; then
        say "no headless shell found, installing one"
        ( as_root apt-get update && as_root apt-get install -y chromium-headless-shell ) && return 0
    fi
    say "there is no headless shell; the tests run in the browser and take longer"
}

case ${1:-} in
    '') ensure_browser ;;
    --shell) ensure_shell ;;
    --driver) ensure_browser && ensure_driver ;;
    *) fail "unknown argument $1; the options are --driver and --shell" ;;
esac
