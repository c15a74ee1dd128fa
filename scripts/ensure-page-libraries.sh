#!/bin/sh
# Installs the libraries whose fields a test fills, in target/page-libraries (or in the folder CDPILOT_PAGE_LIBRARIES).
exec "$(dirname "$0")/ensure-npm-test-data.sh" tests/libraries page-libraries "${CDPILOT_PAGE_LIBRARIES:-}"
