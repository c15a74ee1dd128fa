#!/bin/sh
# Drive the browser with curl: open a page, take a snapshot, click, answer a dialog, take a screenshot. Start the server first:
# `cdpilot serve`.
set -eu
home=${CDPILOT_HOME:-$HOME/.cdpilot}
url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$home/run/server.json")

call() { # METHOD PATH [JSON]
    curl --silent --show-error --request "$1" --header "Authorization: Bearer $(cat "$home/token")" \
        --header 'Content-Type: application/json' ${3:+--data "$3"} "$url$2"
    echo
}

call POST /tabs/open '{"url": "data:text/html,<button onclick=\"document.title = confirm(1)\">Ask</button>", "label": "example"}'
call GET '/snapshot?targetId=example'
call POST /act '{"kind": "click", "selector": "button", "targetId": "example"}'
call GET /dialogs
call POST /hooks/dialog '{"accept": true, "targetId": "example"}'
call POST /screenshot '{"targetId": "example"}'
call DELETE /tabs/example
