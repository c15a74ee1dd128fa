import json
import os
import pathlib
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request


class Failed(Exception):
    """What was recorded is not there."""


def env(name, default=None):
    value = os.environ.get(name, default)
    if value is None:
        sys.exit(f"Set the environment variable {name}.")
    return value


def server():
    """Address and token of the server: those of the environment, else those of the server that runs in the home."""
    home = pathlib.Path(os.environ.get("CDPILOT_HOME") or pathlib.Path.home() / ".cdpilot")
    try:
        url = os.environ.get("CDPILOT_URL") or json.loads((home / "run" / "server.json").read_text())["url"]
        token = os.environ.get("CDPILOT_TOKEN") or (home / "token").read_text().strip()
    except (OSError, ValueError, KeyError):
        sys.exit("No server was found. Start it with `cdpilot start`, or set CDPILOT_URL and CDPILOT_TOKEN.")
    return url.rstrip("/"), token


URL, TOKEN = server()
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def call(method, path, fields):
    """Makes a request; an answer that is no success raises Failed."""
    fields = {name: value for name, value in fields.items() if value is not None}
    if os.environ.get("CDPILOT_PROFILE"):
        fields["profile"] = os.environ["CDPILOT_PROFILE"]
    address, body = URL + path, None
    if method == "POST":
        body = json.dumps(fields).encode()
    elif fields:
        address += "?" + urllib.parse.urlencode(fields)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(address, body, headers, method=method)
    try:
        with DIRECT.open(request, timeout=150) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        try:
            text = json.load(error).get("error")
        except ValueError:
            text = error.reason
        raise Failed(f"{method} {path}: {text}") from None
    except urllib.error.URLError as error:
        raise Failed(f"{method} {path}: {error.reason}") from None


def until(what, look, seconds=None):
    """Calls `look` until it returns something; it may raise Failed meanwhile."""
    end = time.monotonic() + (PATIENCE if seconds is None else seconds)
    while True:
        why = "it is not there"
        try:
            found = look()
            if found is not None:
                return found
        except Failed as problem:
            why = str(problem)
        if time.monotonic() >= end:
            raise Failed(f"{what}: {why}")
        time.sleep(0.1)


def plain(text):
    """A text in lower case, with single blanks, without counters in brackets."""
    return " ".join(re.sub(r"[(\[][\d.,+]+[)\]]", "", text).split()).lower()


def encoded(value):
    return urllib.parse.quote(value, safe="")


def is_token(text):
    return bool(re.fullmatch(r"[\w.=-]{16,}", text, re.ASCII) and re.search(r"\d", text))


def is_id(text):
    is_hex = re.fullmatch(r"[\da-f-]{8,}", text, re.I) and re.search(r"\d", text)
    return bool(re.fullmatch(r"\d+", text) or is_hex or is_token(text))


def is_at(base, query, shown):
    """Whether an address is the recorded one: numbers and tokens in its path may differ, and there may be more parameters."""
    own, other = urllib.parse.urlsplit(base), urllib.parse.urlsplit(shown)
    parts = [[part for part in url.path.split("/") if part] for url in (own, other)]
    values = dict(reversed(urllib.parse.parse_qsl(other.query, keep_blank_values=True)))
    return (
        (own.scheme, own.netloc, len(parts[0])) == (other.scheme, other.netloc, len(parts[1]))
        and all(plain(a) == plain(b) or (is_id(a) and is_id(b)) for a, b in zip(*parts))
        and all(
            name in values and (plain(value) == plain(values[name]) or (is_token(value) and is_token(values[name])))
            for name, value in query.items()
        )
    )


def open_tab(url):
    return call("POST", "/tabs/open", {"url": url, "timeoutMs": 60000})["targetId"]


def tabs():
    return {tab["targetId"]: tab["url"] for tab in call("GET", "/tabs", {})["tabs"]}


def tree(tab):
    """The nodes of a page: each with its text, the node around it, and its frame."""
    query = {"targetId": tab, "format": "aria", "limit": 20000, "fold": "false"}
    nodes, above = call("GET", "/snapshot", query)["nodes"], []
    for node in nodes:
        above = [one for one in above if one["depth"] < node["depth"]]
        node.update(texts=[], around=above[-1] if above else None)
        for one in above:
            one["texts"].append(node["name"])
        above.append(node)
    return nodes


def frames(tab, path):
    """Ids of the frames with these names and addresses; None for the top document."""
    if not path:
        return None
    known = call("GET", "/frames", {"targetId": tab, "full": "true"})["frame_tree"]
    ids = {known["top"]["frame_id"]}
    for name, url in path:
        ids = {
            frame["frame_id"]
            for frame in known["children"]
            if frame.get("parent_frame_id") in ids
            and frame.get("name", "") == name
            and (frame["url"] == url or ("://" in url and is_at(url, {}, frame["url"])))
        }
    return ids


ROLES = {
    "row": ["row"],
    "card": ["article", "figure"],
    "dialog": ["dialog", "alertdialog"],
    "form": ["form"],
    "section": ["region", "group", "tabpanel"],
}
# What has a title of its own.
ITEMS = ["row", "listitem", "treeitem", "option", "article", "figure", "dialog", "alertdialog"]


# The texts of the nearest item around an element that has some. Cards are often plain elements with the class of their neighbours.
ITEM = """(element) => {
  for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
    const own = [...at.classList];
    const alike = [...at.parentElement.children].filter((one) => {
      const shared = own.filter((name) => one.classList.contains(name)).length;
      const [fewer, more] = [own.length, one.classList.length].sort((a, b) => a - b);
      return one.tagName === at.tagName && shared && shared === fewer && more - shared < 3;
    });
    if (!(at.matches("li, [role=listitem], [role=treeitem], [role=option]") || alike.length > 2)) continue;
    const texts = [];
    const walker = document.createTreeWalker(at, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.data.trim() && !element.contains(node) && !node.parentElement.closest("button, script, style")) texts.push(node.data);
    }
    if (texts.length) return texts;
  }
  return [];
}"""


def is_in(tab, node, kind, title):
    """Whether the nearest container of a node that has a title is the recorded one."""
    if kind == "item":
        texts = call("POST", "/act", {"targetId": tab, "kind": "evaluate", "fn": ITEM, "ref": node["ref"]})["result"]
        return plain(title) in map(plain, texts)
    around = node["around"]
    while around is not None:
        if around["role"] in ROLES[kind] and plain(title) in [plain(text) for text in [around["name"], *around["texts"]]]:
            return True
        if around["role"] in ITEMS and around["texts"]:
            return False
        around = around["around"]
    return False


CONTROLS = "button checkbox combobox link listbox menuitem option radio searchbox slider spinbutton switch tab textbox".split()


def name_of(node):
    return node["name"] if node["name"].strip() else " ".join(text for text in node["texts"] if text)


def matches(tab, role, name, within, frame):
    ids = frames(tab, frame)
    nodes = tree(tab)
    if ids is None and nodes:
        ids = {nodes[0]["frameId"]}
    found = [node for node in nodes if node.get("ref") and node["frameId"] in ids]
    roles = CONTROLS if role == "control" else [role]
    found = [node for node in found if node["role"] in roles and plain(name_of(node)) == plain(name)]
    return [node for node in found if within is None or is_in(tab, node, *within)]


def find(tab, role, name, within=None, frame=(), seconds=None):
    """The ref of the one element with this role and name, in the row, item, card, dialog, form or section with this title."""

    def look():
        found = matches(tab, role, name, within, frame)
        if len(found) > 1:
            raise Failed(f"there are {len(found)} of them")
        return found[0]["ref"] if found else None

    place = f' in the {within[0]} "{within[1]}"' if within else ""
    return until(f'{role} "{name}"{place}', look, seconds)


def find_marked(tab, selector, frame=()):
    """The ref of the one element that a selector matches."""

    def look():
        ids = frames(tab, frame)
        found = call("POST", "/find", {"targetId": tab, "locator": "css=" + selector})["matches"]
        found = [one for one in found if (one.get("frameId") is None if ids is None else one.get("frameId") in ids)]
        if len(found) > 1:
            raise Failed(f"there are {len(found)} of them")
        return found[0]["ref"] if found else None

    return until(selector, look)


def is_shown(tab, element, after=None):
    """Waits until an element is shown or, if it is not, until what comes after it is."""

    def look():
        if matches(tab, **{"within": None, "frame": (), **element}):
            return True
        if after and matches(tab, **{"within": None, "frame": (), **after}):
            return False
        return None

    try:
        return until("an optional step", look, 5)
    except Failed:
        return False


def act(tab, kind, ref=None, **fields):
    """Performs an action once."""
    before = tabs()
    done = call("POST", "/act", {"targetId": tab, "kind": kind, "ref": ref, **fields})
    done["before"] = before
    return done


def click(tab, ref, **more):
    return act(tab, "click", ref, **more)


def tick(tab, ref, is_on):
    return act(tab, "check" if is_on else "uncheck", ref)


def choose(tab, ref, values):
    return act(tab, "select", ref, values=values)


def press_key(tab, ref, key, times=1):
    return act(tab, "press", ref, key=key, repeat=times)


def point_at(tab, ref):
    return act(tab, "hover", ref)


def drag_to(tab, ref, end):
    return act(tab, "drag", startRef=ref, endRef=end)


def fill(tab, ref, text):
    return act(tab, "fill", fields=[{"ref": ref, "value": text}])


def navigate(tab, path, **fields):
    return call("POST", path, {"targetId": tab, **fields})


def upload(tab, ref, paths):
    return call("POST", "/hooks/file-chooser", {"targetId": tab, "ref": ref, "paths": paths})


def close(tab):
    return call("DELETE", "/tabs/" + encoded(tab), {})


def answer(tab, kind, message, accept, text=None):
    """Answers the open dialog, which has to be the recorded one."""

    def look():
        open_dialogs = call("GET", "/dialogs", {"targetId": tab})["pending_dialogs"]
        for one in open_dialogs:
            if (one["type"], plain(one["message"])) == (kind, plain(message)):
                return one["id"]
            raise Failed(f'there is the {one["type"]} "{one["message"]}"')
        return None

    found = until(f'{kind} "{message}"', look)
    fields = {"accept": accept, "dialogId": found, "promptText": text if accept else None}
    call("POST", "/hooks/dialog", {"targetId": tab, **fields})


def expect_address(tab, base, query):
    def look():
        shown = tabs().get(tab, "")
        if not is_at(base, query, shown):
            raise Failed(f"the page is {shown}")
        return True

    until(f"the page {base}", look)


def expect_tab(done):
    """The tab that an action has opened."""

    def look():
        opened = [one["targetId"] for one in done.get("newTabs", [])]
        opened += [tab for tab in tabs() if tab not in done["before"] and tab not in opened]
        return opened[0] if opened else None

    return until("a new tab", look)


def expect_closed(tab):
    until("the end of the tab", lambda: True if tab not in tabs() else None)


def expect_download(tab, done, filename):
    """Waits for the file of a download; numbers in its name may differ."""
    wait = {"targetId": tab, "timeoutMs": PATIENCE * 1000}
    found = (done.get("downloads") or [None])[0] or call("POST", "/wait/download", wait)["download"]
    without = [re.sub(r"\d", "", name) for name in (filename, found["suggestedFilename"])]
    if without[0] != without[1]:
        raise Failed(f'download of "{filename}": it is "{found["suggestedFilename"]}"')
