#!/usr/bin/env bash
# Checks the script that runs in pages, and those of the web UI, with TypeScript. Says so and succeeds where Node or TypeScript is not available.
set -euo pipefail
cd "$(dirname "$0")/.."

version=5.9.3
folder=target/typescript
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "LEFT OUT: the check of src/page/script and crates/server/src/server/ui needs Node" >&2
    exit 0
fi
if [ ! -d "$folder/node_modules/typescript" ]; then
    mkdir -p "$folder"
    # Where there is no network, this must not take long.
    if ! timeout 60 npm install --prefix "$folder" --no-save --ignore-scripts --no-audit --no-fund --fetch-retries=0 \
        "typescript@$version" >/dev/null 2>&1; then
        echo "LEFT OUT: the check of src/page/script and crates/server/src/server/ui needs typescript@$version, which cannot be installed" >&2
        exit 0
    fi
fi
node scripts/check-page-script.mjs "$folder/node_modules/typescript" "$@"

# The scripts of the web UI have no types; names and imports that do not exist are errors.
unknown=$(node "$folder/node_modules/typescript/bin/tsc" -p scripts/ui-tsconfig.json | grep -E 'error TS(1[0-9]{3}|2304|2305|2307|2451|2552|2613|2614)' || true)
if [ -n "$unknown" ]; then
    printf '%s\n' "$unknown" >&2
    exit 1
fi
