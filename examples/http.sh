#!/bin/sh
# Drives the browser with curl: open a page, look, click, take a picture. The server must run: `cdpilot serve`.
set -eu
home=${CDPILOT_HOME:-$HOME/.cdpilot}
url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$home/run/server.json")

ask() { # METHOD PATH [JSON]
    curl --silent --show-error --request "$1" --header "Authorization: Bearer $(cat "$home/token")" \
        --header 'Content-Type: application/json' ${3:+--data "$3"} "$url$2"
    echo
}

ask POST /tabs/open '{"url": "data:text/html,<button onclick=\"document.title = confirm(1)\">Ask</button>", "label": "example"}'
ask GET '/snapshot?targetId=example'
ask POST /act '{"kind": "click", "selector": "button", "targetId": "example"}'
ask GET /dialogs
ask POST /hooks/dialog '{"accept": true, "targetId": "example"}'
ask POST /screenshot '{"targetId": "example"}'
ask DELETE /tabs/example
