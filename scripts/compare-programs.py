#!/usr/bin/env python3
"""Runs the routes and commands that it lists with two builds of cdpilot on the same pages and prints what differs.

    scripts/compare-programs.py OLD NEW [--texts]

Each program gets a home, a server and a browser of its own. Before the comparison, values that differ between two runs of
the same build (ids, ports, times, folders) are replaced by placeholders. Differences in texts (`error`, `hint`, help,
plain output) are counted, and printed with `--texts`; differences in status, exit code, codes, fields or their types are
always printed and make the exit code 1. A route or command without a step is printed as `NOT COVERED`.
"""
import difflib
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

PAGE = """<!doctype html><title>Sample</title><style>#far{margin-top:3000px}</style>
<h1>Sample page</h1><a id=link href=/second>Second page</a>
<form><label>Name <input id=name></label><label><input type=checkbox id=box> Agree</label>
<label>Colour <select id=colour><option>Red<option>Green</select></label>
<input type=file id=file aria-label=File><button type=button id=press onclick="out.textContent='pressed'">Press</button>
<button type=button onclick="alert('Hello')">Alert</button><button type=button onclick="out.textContent=confirm('Sure?')">Ask</button>
<button disabled>Off</button></form><p id=out role=status></p>
<div id=a draggable=true style="width:60px;height:30px">From</div><div id=b style="width:60px;height:30px">To</div>
<iframe src=/inner title=Inner></iframe><a download href=/file.txt>Download</a><p id=far>Far away</p>
<script>console.log('one', 2); console.error('bad'); fetch('/data')</script>"""
FILES = {
    "/": ("text/html", PAGE),
    "/second": ("text/html", "<title>Second</title><p>second page</p>"),
    "/inner": ("text/html", "<button>Inside</button>"),
    "/data": ("application/json", '{"a": 1}'),
    "/file.txt": ("application/octet-stream", "content of the file"),
}


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, body = FILES.get(self.path, ("text/plain", "none"))
        self.send_response(200 if self.path in FILES else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


# What is run, in order: requests as (method, path, body), commands as lists of arguments. `{T}` is the id of the current
# tab, `{SITE}` the address of the pages, `{HOME}` the home, `{REQUEST}` the id of a network request.
STEPS = [
    ("GET", "/health", None), ("GET", "/", None), ("GET", "/openapi.json", None), ("GET", "/none", None), ("PUT", "/", None),
    ("GET", "/snapshot", None), ("POST", "/act", {"kind": "click", "ref": "e1"}),
    ("POST", "/start", {}), ("GET", "/tabs", None), ("POST", "/tabs/open", {"url": "{SITE}/", "label": "one"}),
    ("POST", "/tabs/open", {"url": "not a url"}), ("POST", "/tabs/open", {"url": "{SITE}/", "colour": 1}),
    ("POST", "/tabs/label", {"targetId": "{T}", "label": "main"}), ("POST", "/tabs/focus", {"targetId": "{T}"}),
    ("POST", "/tabs/focus", {"targetId": "none"}),
    ("GET", "/snapshot", None), ("GET", "/snapshot?format=aria", None), ("GET", "/snapshot?interactive=true", None),
    ("GET", "/snapshot?nothing=1", None), ("GET", "/refs", None),
    ("POST", "/find", {"locator": "role=button"}), ("POST", "/find", {"locator": "role="}),
    ("POST", "/get", {"what": "text", "locator": "css=h1"}), ("POST", "/get", {"what": "nothing", "locator": "css=h1"}),
    ("GET", "/text", None), ("GET", "/console", None), ("GET", "/errors", None), ("GET", "/requests", None),
    ("GET", "/requests/{REQUEST}", None), ("GET", "/requests/{REQUEST}/body", None), ("GET", "/requests/none", None),
    ("GET", "/requests/har", None), ("GET", "/frames", None), ("GET", "/dialogs", None),
    ("POST", "/highlight", {"locator": "css=h1"}), ("POST", "/highlight", {}),
    ("POST", "/screenshot", {}), ("POST", "/screenshot", {"fullPage": True}), ("POST", "/pdf", {}),
    ("POST", "/act", {"kind": "click", "locator": "role=button[name=\"Press\"]"}),
    ("POST", "/act", {"kind": "click", "locator": "role=button"}), ("POST", "/act", {"kind": "click", "ref": "e999"}),
    ("POST", "/act", {"kind": "click", "locator": "role=button[name=\"Off\"]", "timeoutMs": 700}),
    ("POST", "/act", {"kind": "hover", "selector": "#press"}), ("POST", "/act", {"kind": "focus", "selector": "#name"}),
    ("POST", "/act", {"kind": "scrollIntoView", "selector": "#far"}),
    ("POST", "/act", {"kind": "scroll", "direction": "up", "pixels": 5000}),
    ("POST", "/act", {"kind": "clickCoords", "x": 5, "y": 5}),
    ("POST", "/act", {"kind": "mouse", "events": [{"type": "move", "x": 9, "y": 9}]}),
    ("POST", "/act", {"kind": "type", "selector": "#name", "text": "Ada"}),
    ("POST", "/act", {"kind": "insertText", "text": "x"}), ("POST", "/act", {"kind": "press", "key": "End"}),
    ("POST", "/act", {"kind": "press", "key": "Nothing"}),
    ("POST", "/act", {"kind": "drag", "startSelector": "#a", "endSelector": "#b"}),
    ("POST", "/act", {"kind": "select", "selector": "#colour", "values": ["Green"]}),
    ("POST", "/act", {"kind": "select", "selector": "#colour", "values": ["Blue"], "timeoutMs": 600}),
    ("POST", "/act", {"kind": "check", "selector": "#box"}), ("POST", "/act", {"kind": "uncheck", "selector": "#box"}),
    ("POST", "/act", {"kind": "fill", "fields": [{"selector": "#name", "value": "Bob"}]}),
    ("POST", "/act", {"kind": "wait", "text": "Sample page"}),
    ("POST", "/act", {"kind": "wait", "text": "never", "timeoutMs": 300}),
    ("POST", "/act", {"kind": "resize", "width": 900, "height": 700}),
    ("POST", "/act", {"kind": "evaluate", "fn": "document.title"}), ("POST", "/act", {"kind": "evaluate", "fn": "null.x"}),
    ("POST", "/act", {"kind": "batch", "actions": [{"kind": "press", "key": "Home"}, {"kind": "fly"}]}),
    ("POST", "/act", {"kind": "batch", "actions": [{"kind": "press", "key": "Home"}]}),
    ("POST", "/act", {"kind": "fly"}), ("POST", "/act", {"kind": "click", "wings": 2}), ("POST", "/act", {}),
    ("POST", "/cdp", {"method": "Runtime.evaluate", "params": {"expression": "1+1"}}),
    ("POST", "/cdp", {"method": "Browser.close"}), ("POST", "/cdp", {"method": "No.such"}),
    ("POST", "/hooks/dialog", {"accept": True}), ("DELETE", "/hooks/dialog", None),
    ("POST", "/act", {"kind": "click", "locator": "role=button[name=\"Alert\"]"}),
    ("GET", "/snapshot", None), ("POST", "/act", {"kind": "evaluate", "fn": "1"}), ("GET", "/dialogs", None),
    ("POST", "/hooks/dialog", {"accept": True}), ("GET", "/dialogs", None),
    ("POST", "/hooks/file-chooser", {"paths": ["none.txt"]}), ("POST", "/hooks/file-chooser", {"paths": [], "selector": "#file"}),
    ("POST", "/act", {"kind": "click", "locator": "role=link[name=\"Download\"]"}),
    ("POST", "/wait/download", {"timeoutMs": 5000}), ("POST", "/wait/download", {"timeoutMs": 100}),
    ("GET", "/cookies", None), ("POST", "/cookies", {"cookies": [{"name": "a", "value": "1", "url": "{SITE}/"}]}),
    ("GET", "/cookies", None), ("POST", "/cookies/import", {"text": "nothing"}), ("DELETE", "/cookies", None),
    ("GET", "/storage/local", None), ("POST", "/storage/local", {"items": {"k": "v"}}), ("GET", "/storage/local", None),
    ("DELETE", "/storage/local", None), ("GET", "/storage/session", None),
    ("POST", "/storage/session", {"items": {"k": "v"}}), ("DELETE", "/storage/session", None),
    ("POST", "/state/save", {}), ("POST", "/state/load", {"state": {"version": 0}}),
    ("POST", "/emulate", {"device": "none"}), ("POST", "/emulate", {"offline": False}),
    ("POST", "/routes", {"pattern": "*/data", "abort": "failed"}), ("GET", "/routes", None), ("DELETE", "/routes/none", None),
    ("DELETE", "/routes/r1", None), ("DELETE", "/routes", None), ("POST", "/routes", {}),
    ("POST", "/navigate", {"url": "{SITE}/second"}), ("POST", "/back", {}), ("POST", "/forward", {}), ("POST", "/reload", {}),
    ("POST", "/navigate", {"url": "file:///etc/passwd"}), ("POST", "/navigate", {"url": "http://127.0.0.1:1/"}),
    ("GET", "/profiles", None), ("POST", "/profiles", {"name": "other"}), ("POST", "/profiles", {"name": "other"}),
    ("POST", "/profiles/other/reset", {}), ("DELETE", "/profiles/other", None), ("DELETE", "/profiles/none", None),
    ("GET", "/doctor", None), ("POST", "/ui/ticket", {}), ("POST", "/ui/secret", {}),
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}), ("DELETE", "/mcp", None),
    ("GET", "/sessions", None), ("POST", "/sessions", {"name": "s"}), ("DELETE", "/sessions/s", None),
    ("GET", "/events", None), ("DELETE", "/tabs/{T}", None), ("DELETE", "/tabs/none", None),
    *[["browser", *words] for words in [
        ["open", "{SITE}/", "--label", "cli"], ["status"], ["tabs"], ["focus", "cli"], ["focus", "none"], ["label", "cli", "cli"],
        ["navigate", "{SITE}/"], ["snapshot"], ["snapshot", "--format", "aria"], ["find", "role=button"], ["get", "text", "css=h1"],
        ["is", "visible", "css=h1"], ["is", "hidden", "css=h1"], ["text"], ["frames"], ["console"], ["errors"], ["requests"],
        ["request", "none"], ["highlight", "css=h1"], ["click", "role=button[name=\"Press\"]"], ["click", "e999"], ["click"], ["click", "role=button"],
        ["click-coords", "5", "5"], ["type", "css=#name", "Ada"], ["insert-text", "x"], ["press", "End"], ["press", "Nothing"],
        ["hover", "css=#press"], ["drag", "css=#a", "css=#b"], ["select", "css=#colour", "Green"], ["select", "css=#colour", "Blue", "--timeout", "600"],
        ["check", "css=#box"], ["uncheck", "css=#box"], ["fill", "css=#name", "Bob"], ["fill", "label=Name", "Bob"], ["upload", "none.txt"],
        ["scroll", "down"], ["scroll-into-view", "css=#far"], ["scroll", "up", "9000"], ["wait", "--text", "Sample page"],
        ["wait", "--text", "never", "--timeout", "300"], ["evaluate", "document.title"], ["evaluate", "null.x"],
        ["batch", "--actions", "[{\"kind\":\"press\",\"key\":\"Home\"}]"], ["batch", "--actions", "nonsense"], ["resize", "900", "700"],
        ["click", "role=button[name=\"Alert\"]"], ["snapshot"], ["dialogs"], ["dialog", "--accept"], ["dialogs"], ["dialog", "--accept"],
        ["cookies", "list"], ["cookies", "set", "a", "1", "--for", "{SITE}/"], ["cookies", "clear"], ["storage", "local"], ["storage", "session", "set", "k", "v"], ["storage", "local", "get", "k"],
        ["state", "save", "{HOME}/state.json"], ["state", "load", "{HOME}/state.json"], ["state", "load", "none.json"],
        ["emulate", "--offline", "false"], ["emulate", "--device", "none"], ["route", "list"], ["route", "add", "*/data", "--abort"], ["route", "clear"],
        ["download", "--timeout", "100"], ["cdp", "Runtime.evaluate", "{\"expression\":\"1+1\"}"], ["cdp", "No.such"],
        ["profiles", "list"], ["profiles", "create", "third"], ["profiles", "delete", "third"], ["sessions", "list"], ["focus"], 
        ["screenshot", "--out", "{HOME}/p.png"], ["pdf", "--out", "{HOME}/p.pdf"], ["back"], ["forward"], ["reload"],
        ["events", "--since", "0", "--count", "2", "--timeout", "3000"], ["close", "cli"], ["close", "none"], ["start"], ["fly"],
    ]],
    ["tool", "browser_snapshot"], ["tool", "none"], ["tool", "todo", "{\"todos\":[]}"], ["tools", "list"],
    ["tools", "disable", "todo"], ["tools", "enable", "todo"], ["doctor"], ["completions", "bash"],
    ["mcp", "--nothing"], ["supervise"], ["bench", "--nothing"], ["serve", "--port", "nothing"], ["chat"],
    ["browser", "stop"], ["browser", "status"], ("POST", "/stop", {}),
]

TEXTS = {"error", "hint", "message", "description", "summary", "title", "note", "notes", "advice", "detail", "instructions"}


def settled(text, program):
    for value, name in program.names.items():
        text = text.replace(value, name)
    text = re.sub(r"\b[0-9A-F]{32}\b", "ID", text)
    text = re.sub(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b", "UUID", text)
    text = re.sub(r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT", text)
    return re.sub(r"\d+", "N", text)


def shape(value, key=""):
    """The value with numbers and texts reduced to what must not differ."""
    if isinstance(value, dict):
        return {key: shape(inner, key) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        shapes = []
        for inner in value:
            inner = shape(inner, key)
            if inner not in shapes:
                shapes.append(inner)
        return shapes
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return "number"
    return value if key in ("code", "kind", "type", "role", "settled") else "string"


def texts(value, place=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, place)
    elif isinstance(value, str) and place.rsplit(".", 1)[-1] in TEXTS:
        yield f"{place[1:]}: {value}"


class Program:
    def __init__(self, path, site):
        self.path, self.site = os.path.abspath(path), site
        self.home = tempfile.mkdtemp(prefix="cdpilot-compare-")
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("CDPILOT_")}
        self.env |= {"CDPILOT_HOME": self.home, "COLUMNS": "120", "NO_COLOR": "1"}
        self.target = self.request = "none"
        self.names = {}
        log = open(os.path.join(self.home, "log"), "wb")
        flags = ["serve", "--port", "0", "--cdp-port", "0", "--headless"]
        self.server = subprocess.Popen([self.path, *flags], env=self.env, stdout=log, stderr=log)
        running = os.path.join(self.home, "run/server.json")
        for _ in range(600):
            if os.path.exists(running) and os.path.getsize(running):
                break
            threading.Event().wait(0.05)
        with open(running) as file:
            self.url = json.load(file)["url"]
        with open(os.path.join(self.home, "token")) as file:
            self.token = file.read().strip()
        self.names = {self.home: "HOME", self.token: "TOKEN", self.path: "PROGRAM", f"localhost:{site}": "SITE"}

    def filled(self, text):
        for name, value in {"{T}": self.target, "{SITE}": f"http://localhost:{self.site}", "{HOME}": self.home, "{REQUEST}": self.request}.items():
            text = text.replace(name, value)
        return text

    def asked(self, method, path, body):
        data = None if body is None else self.filled(json.dumps(body)).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(self.url + self.filled(path), data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                if path == "/events":
                    return answer.status, {"content-type": answer.headers["content-type"]}
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        try:
            value = json.loads(text)
        except ValueError:
            return status, text
        if path == "/tabs/open" and isinstance(value, dict) and value.get("ok"):
            self.target = value.get("targetId", self.target)
        if path == "/requests" and value.get("requests"):
            self.request = value["requests"][0]["id"]
        return status, value

    def ran(self, words, as_json):
        words = [self.filled(word) for word in words] + (["--json"] if as_json else [])
        done = subprocess.run([self.path, *words], env=self.env, cwd=self.home, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def end(self):
        self.ran(["browser", "stop"], False)
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(30)


def lines(value):
    return json.dumps(value, indent=1, sort_keys=True).splitlines()


def difference(old, new):
    return [line for line in difflib.unified_diff(old, new, lineterm="", n=1) if not line.startswith(("---", "+++"))]


def main():
    arguments = [word for word in sys.argv[1:] if word != "--texts"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    print_texts = "--texts" in sys.argv
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    programs = [Program(path, site.server_port) for path in arguments]
    structural = textual = 0
    routes, commands = set(), set()
    try:
        for step in STEPS:
            found, changed = [], []
            if isinstance(step, tuple):
                method, path, _ = step
                name = f"{method} {path} {json.dumps(step[2])}"
                routes.add((method.lower(), re.sub(r"\?.*|\{\w+\}|(?<=/)(none|other|r1|s)(?=/|$)", lambda m: "" if m[0][0] == "?" else "{}", path)))
                (was, old), (now, new) = [program.asked(*step) for program in programs]
                if path == "/openapi.json":
                    known = {(m, re.sub(r"\{\w+\}", "{}", p)) for p, ms in new["paths"].items() for m in ms}
                    missing = [p for p in old["paths"] if p not in new["paths"]]
                    found += [f"missing path {p}" for p in missing]
                    for name_of, schema in old.get("components", {}).get("schemas", {}).items():
                        new_schema = new["components"]["schemas"].get(name_of)
                        gone = set(schema.get("properties", {})) - set((new_schema or {}).get("properties", {}))
                        if new_schema is not None and gone:
                            found.append(f"schema {name_of}: fields gone: {sorted(gone)}")
                else:
                    if was != now:
                        found.append(f"status {was} -> {now}")
                    found += difference(lines(shape(old)), lines(shape(new)))
                    was_texts, now_texts = [sorted({settled(t, p) for t in texts(v)}) for v, p in ((old, programs[0]), (new, programs[1]))]
                    changed = difference(was_texts, now_texts)
            else:
                name = "cdpilot " + " ".join(step)
                commands.add(" ".join(word for word in step[:3] if re.fullmatch(r"[a-z-]+", word)))
                for as_json in (True, False):
                    old, new = [program.ran(step, as_json) for program in programs]
                    if old[0] != new[0]:
                        found.append(f"exit code {old[0]} -> {new[0]}{' with --json' if as_json else ''}")
                    try:
                        found += difference(lines(shape(json.loads(old[1]))), lines(shape(json.loads(new[1]))))
                    except ValueError:
                        pass
                    outputs = [settled(done[1] + done[2], program).splitlines() for done, program in zip((old, new), programs)]
                    if not as_json:
                        changed += difference(*outputs)
            structural += bool(found)
            textual += bool(changed)
            if found or (changed and print_texts):
                print(f"{name}\n  " + "\n  ".join(found + (changed if print_texts else [])))
        for method, path in sorted(known - routes):
            print(f"NOT COVERED: {method.upper()} {path}")
        overview = programs[1].ran(["help", "browser"], False)[1]
        for command in re.findall(r"^  ([a-z-]+)  ", overview, re.M):
            if command != "help" and not any(name.startswith(f"browser {command}") for name in commands):
                print(f"NOT COVERED: cdpilot browser {command}")
    finally:
        for program in programs:
            program.end()
    print(f"{len(STEPS)} steps: {structural} differ in status, codes or fields, {textual} in texts")
    sys.exit(structural > 0)


main()
