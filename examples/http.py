"""Drives the browser from Python, with nothing but its standard library. The server must run: `cdpilot serve`."""

import json
import os
import pathlib
import urllib.error
import urllib.request

HOME = pathlib.Path(os.environ.get("CDPILOT_HOME") or pathlib.Path.home() / ".cdpilot")
URL = json.loads((HOME / "run" / "server.json").read_text())["url"]
TOKEN = (HOME / "token").read_text().strip()


def ask(method, path, body=None):
    """One request. A refusal comes back as JSON too: `ok` is false, `code` and `error` say why."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=130) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        return json.load(refused)


page = "data:text/html,<button onclick=\"this.textContent = prompt('Your name?')\">Who?</button>"
print(ask("POST", "/tabs/open", {"url": page, "label": "who"})["tabId"])
print(ask("GET", "/snapshot?targetId=who")["snapshot"])
clicked = ask("POST", "/act", {"kind": "click", "selector": "button", "targetId": "who"})
print(clicked["pending_dialogs"][0]["message"])
ask("POST", "/hooks/dialog", {"accept": True, "promptText": "Ada", "targetId": "who"})
print(ask("GET", "/snapshot?targetId=who")["snapshot"])
print(ask("POST", "/screenshot", {"targetId": "who"})["path"])
ask("DELETE", "/tabs/who")
