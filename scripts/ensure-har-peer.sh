#!/bin/sh
# Installs the HAR 1.2 schema and a validator, which a test uses, in target/har-peer (or in the folder CDPILOT_HAR_PEER).
exec "$(dirname "$0")/ensure-npm-test-data.sh" tests/har har-peer "${CDPILOT_HAR_PEER:-}"
