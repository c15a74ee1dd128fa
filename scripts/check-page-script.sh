#!/usr/bin/env bash
# Checks the script that runs in pages with TypeScript. Says so and succeeds where Node or TypeScript is not available.
set -euo pipefail
cd "$(dirname "$0")/.."

version=5.9.3
folder=target/typescript
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "LEFT OUT: the check of src/page/script needs Node" >&2
    exit 0
fi
if [ ! -d "$folder/node_modules/typescript" ]; then
    mkdir -p "$folder"
    # Where there is no network, this must not take long.
    if ! timeout 60 npm install --prefix "$folder" --no-save --ignore-scripts --no-audit --no-fund --fetch-retries=0 \
        "typescript@$version" >/dev/null 2>&1; then
        echo "LEFT OUT: the check of src/page/script needs typescript@$version, which cannot be installed" >&2
        exit 0
    fi
fi
node scripts/check-page-script.mjs "$folder/node_modules/typescript" "$@"
