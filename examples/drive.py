"""Drive the browser from Python, with the standard library only. Start the server first: `cdpilot serve`."""

import json
import os
import pathlib
import urllib.error
import urllib.request

HOME = pathlib.Path(os.environ.get("CDPILOT_HOME") or pathlib.Path.home() / ".cdpilot")
URL = json.loads((HOME / "run" / "server.json").read_text())["url"]
TOKEN = (HOME / "token").read_text().strip()


def call(method, path, body=None):
    """Send one request. A failure is JSON too: `ok` is false, `code` and `error` give the reason."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=130) as response:
            return json.load(response)
    except urllib.error.HTTPError as failure:
        return json.load(failure)


page = "data:text/html,<button onclick=\"this.textContent = prompt('Your name?')\">Who?</button>"
print(call("POST", "/tabs/open", {"url": page, "label": "who"})["tabId"])
print(call("GET", "/snapshot?targetId=who")["snapshot"])
clicked = call("POST", "/act", {"kind": "click", "selector": "button", "targetId": "who"})
print(clicked["pending_dialogs"][0]["message"])
call("POST", "/hooks/dialog", {"accept": True, "promptText": "Ada", "targetId": "who"})
print(call("GET", "/snapshot?targetId=who")["snapshot"])
print(call("POST", "/screenshot", {"targetId": "who"})["path"])
call("DELETE", "/tabs/who")
