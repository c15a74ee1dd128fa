#!/bin/sh
# Installs Playwright Test and TypeScript, which the test of exported routines runs, in target/playwright-peer (or in the folder
# CDPILOT_PLAYWRIGHT_PEER). No browser is downloaded.
exec "$(dirname "$0")/ensure-npm-test-data.sh" tests/playwright playwright-peer "${CDPILOT_PLAYWRIGHT_PEER:-}"
