#!/usr/bin/env bash
# Lets a model do three tasks of rising difficulty with `cdpilot chat`, on local pages, and writes a report with the transcripts.
#   BASE_URL  the endpoint, such as https://api.example.com/v1
#   MODEL     the name of the model at the endpoint
#   API_KEY   its key, if it needs one
#   VISION    false for a model that does not see (default: true)
#   OUT       folder of the report (default: target/try-model)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${BASE_URL:?give BASE_URL=https://…/v1}" "${MODEL:?give MODEL=name}"
out=${OUT:-target/try-model}
vision=${VISION:-true}
mkdir -p "$out"
home=$(mktemp -d)
pages=$(mktemp -d)
program=${CDPILOT:-target/debug/cdpilot}
[ -x "$program" ] || "${CARGO:-cargo}" build
site=
finish() {
    CDPILOT_HOME=$home "$program" serve --stop >/dev/null 2>&1 || true
    [ -z "$site" ] || kill "$site" 2>/dev/null || true
    rm -rf "$home" "$pages"
}
trap finish EXIT
chmod 700 "$home"

cat >"$pages/1.html" <<'HTML'
<!doctype html><title>Opening hours</title><h1>Library</h1><p>Monday to Friday: 9 to 17</p><p>Saturday: 10 to 14</p>
<button onclick="this.insertAdjacentHTML('afterend', '<p>The code of the reading room is 7316.</p>'); this.remove()">Show the code</button>
HTML
cat >"$pages/2.html" <<'HTML'
<!doctype html><title>Booking</title><form onsubmit="event.preventDefault(); done.textContent =
    city.value === 'Lisbon' && day.value === '2027-05-09' && person.value === 'Ada' ? 'Booked: number 5520' : 'Something is wrong'">
<label>Name <input id=person></label> <label>City <select id=city><option>Berlin<option>Lisbon<option>Oslo</select></label>
<label>Day <input id=day type=date></label> <button>Book</button></form><p id=done></p>
HTML
cat >"$pages/3.html" <<'HTML'
<!doctype html><title>Account</title><button onclick="
    if (!confirm('Close the account?')) { state.textContent = 'Kept'; return }
    state.textContent = prompt('Type the name of the account to close it') === 'blue-7' ? 'Closed: receipt 9081' : 'Wrong name'">
Close the account</button><p id=state>The name of the account is blue-7.</p>
HTML

python3 - "$pages" >"$pages/port" <<'PY' &
import functools, http.server, sys
class Pages(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
PY
site=$!
while [ ! -s "$pages/port" ]; do sleep 0.1; done
port=$(cat "$pages/port")

printf 'server: {port: 0}\nbrowser: {headless: true}\nagent: {max_steps: 40}\n' >"$home/config.yaml"
python3 - >"$home/llm.json" <<PY
import json, os
model = {"model": os.environ["MODEL"], "base_url": os.environ["BASE_URL"], "vision": "$vision" == "true"}
if os.environ.get("API_KEY"):
    model["api_key_env"] = "API_KEY"
print(json.dumps({"models": {"tried": model}, "default": "tried"}))
PY
chmod 600 "$home/llm.json"

report=$out/report.md
printf '# %s\n\n| task | expected | found | seconds |\n|---|---|---|---|\n' "$MODEL" >"$report"
passed=0
try() {
    local number=$1 text=$2 expected=$3 began=$SECONDS found=no
    CDPILOT_HOME=$home "$program" chat --timeout 600000 "$text" >"$out/$number.txt" 2>"$out/$number.log" || true
    if grep -q "$expected" "$out/$number.txt"; then found=yes passed=$((passed + 1)); fi
    printf '| %s | %s | %s | %s |\n' "$number" "$expected" "$found" $((SECONDS - began)) >>"$report"
}
try 1 "Open http://127.0.0.1:$port/1.html and tell me the code of the reading room." 7316
try 2 "Open http://127.0.0.1:$port/2.html, book for Ada in Lisbon on 9 May 2027, and tell me the number of the booking." 5520
try 3 "Open http://127.0.0.1:$port/3.html, close the account, and tell me the number of the receipt." 9081
for number in 1 2 3; do
    printf '\n## Task %s\n\n```\n' "$number"
    cat "$out/$number.log" "$out/$number.txt"
    printf '```\n'
done >>"$report"
echo "$passed of 3 tasks done; the report is $report"
[ "$passed" -eq 3 ]
