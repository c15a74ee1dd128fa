// What stands behind the picture: snapshot, network and console of the tab that the agent works in.

import { ask as send, ofProfile } from "/ui/api.js";
import { at, button, clock, copy, cut, h } from "/ui/dom.js";
import { quoted } from "/ui/words.js";

/** How often a panel is read again, in milliseconds. */
const BEAT = 2500;
const PANELS = ["timeline", "snapshot", "network", "console"];
let shown = "timeline", tab = () => null, profile = () => null, size = () => null, boxes = new Map(), drawn = "", opened = new Set();

const ask = (method, path, body) => send(method, ofProfile(path, profile()), body);
const query = (path, target) => `${path}${path.includes("?") ? "&" : "?"}targetId=${encodeURIComponent(target)}`;

/** Marks an element in the picture and its line in the snapshot; `null`: none. */
function mark(ref) {
  for (const line of document.querySelectorAll("#snapshot .marked")) line.classList.remove("marked");
  document.querySelector("#screen .box")?.remove();
  const box = boxes.get(ref), scale = size();
  const line = ref && document.querySelector(`#snapshot [data-ref="${CSS.escape(ref)}"]`);
  line?.classList.add("marked");
  if (!box || !scale) return;
  const picture = at("picture").getBoundingClientRect(), screen = at("screen").getBoundingClientRect();
  const [x, y] = [picture.width / scale[0], picture.height / scale[1]];
  const element = h("div", { class: "box" });
  Object.assign(element.style, { left: `${picture.x - screen.x + box.x * x}px`, top: `${picture.y - screen.y + box.y * y}px`, width: `${box.width * x}px`, height: `${box.height * y}px` });
  at("screen").append(element);
}

/** The smallest element at a place of the picture. */
function under(event) {
  const scale = size(), picture = at("picture").getBoundingClientRect();
  if (!scale || !boxes.size) return null;
  const [x, y] = [(event.clientX - picture.x) * scale[0] / picture.width, (event.clientY - picture.y) * scale[1] / picture.height];
  const found = [...boxes].filter(([, box]) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height);
  found.sort(([, a], [, b]) => a.width * a.height - b.width * b.height);
  return found[0]?.[0] ?? null;
}

function snapshotLine(text) {
  const ref = text.match(/\[ref=(e\d+)\]/)?.[1];
  return h("div", ref ? { data: { ref }, onmouseenter: () => mark(ref), onmouseleave: () => mark(null) } : {}, text);
}

async function snapshot(target) {
  const taken = await ask("GET", query("/snapshot?format=ai&maxChars=40000", target));
  // The boxes of elements, where they are visible.
  const { annotations } = await ask("POST", "/screenshot", { targetId: target, labels: true, inline: true, type: "jpeg", quality: 5 }).catch(() => ({ annotations: [] }));
  boxes = new Map((annotations ?? []).map(it => [it.ref, it.box]));
  const text = taken.blockedByDialog ? "The page shows a dialog. Answer it first." : taken.snapshot || "The page has no text and no elements.";
  return [text, () => h("div", { id: "snapshot", class: "mono", tabindex: "0", "aria-label": "Snapshot" }, text.split("\n").map(snapshotLine))];
}

async function network(target) {
  const { requests } = await ask("GET", query("/requests", target));
  const row = it => {
    const body = h("div", { class: "detail" });
    const details = h("details", { data: { key: it.id }, open: opened.has(it.id), ontoggle: () => {
      details.open ? opened.add(it.id) : opened.delete(it.id);
      if (details.open && !body.childElementCount) request(it, target, body);
    } },
    h("summary", null, h("b", { class: it.ok === false || it.failure ? "bad" : "" }, String(it.status ?? (it.failure ? "failed" : "…"))), ` ${it.method} `,
      h("span", { class: "wide" }, cut(it.url, 300)), h("small", null, ` ${it.resourceType ?? ""} ${it.durationMs === undefined ? "" : Math.round(it.durationMs) + " ms"}`)), body);
    return h("li", null, details);
  };
  const last = requests.slice(-200);
  return [JSON.stringify(last), () => h("ol", { class: "rows" }, last.length ? last.map(row) : h("li", { class: "none" }, "No requests yet."))];
}

async function request(it, target, into) {
  const [all, body] = await Promise.all([ask("GET", query(`/requests/${it.id}`, target)), ask("GET", query(`/requests/${it.id}/body`, target)).catch(problem => ({ problem: problem.message }))]);
  const content = body.problem ?? (body.base64 ? "(binary)" : cut(body.body ?? "", 20000));
  into.replaceChildren(h("pre", null, content), h("pre", null, JSON.stringify(all.request, null, 2)),
    h("p", { class: "bar" }, button("Copy as curl", click => copy(curl(all.request), click.target)), button("Copy the body", click => copy(body.body ?? "", click.target))));
}

/** A request as a command, without what curl sets itself, and without credentials. */
function curl(it) {
  const left = ["host", "connection", "content-length", "cookie", "authorization"];
  const headers = (it.requestHeaders ?? []).filter(({ name }) => !left.includes(name.toLowerCase()) && !name.startsWith(":"));
  return ["curl", it.method === "GET" ? "" : `-X ${quoted(it.method)}`, quoted(it.url), ...headers.map(({ name, value }) => `-H ${quoted(`${name}: ${value}`)}`),
    it.requestBody ? `--data-raw ${quoted(it.requestBody)}` : ""].filter(Boolean).join(" ");
}

async function messages(target) {
  const { messages: list } = await ask("GET", query("/console", target));
  const last = list.slice(-200);
  return [JSON.stringify(last), () => h("ol", { class: "rows mono" }, last.length
    ? last.map(it => h("li", { class: it.level === "error" ? "bad" : "" }, `${clock(it.timestamp)} ${it.level} ${cut(it.text, 2000)}`))
    : h("li", { class: "none" }, "Nothing was written."))];
}

async function refresh() {
  if (shown === "timeline" || document.hidden || at("view-agent").hidden) return;
  const panel = at("panel-" + shown), current = tab(), name = shown;
  if (!current) {
    drawn = "";
    return panel.replaceChildren(h("p", { class: "none" }, "The agent has no tab yet."));
  }
  try {
    const [state, draw] = await { snapshot, network, console: messages }[name](current.targetId);
    if (name !== shown || drawn === name + current.targetId + state) return;
    drawn = name + current.targetId + state;
    const place = panel.scrollTop;
    panel.replaceChildren(draw());
    panel.scrollTop = place;
  } catch (error) {
    drawn = "";
    if (name === shown) panel.replaceChildren(h("p", { class: "none" }, error.message));
  }
}

function show(name) {
  [shown, drawn, boxes] = [name, "", new Map()];
  mark(null);
  for (const one of PANELS) {
    at("tab-" + one).setAttribute("aria-selected", String(one === name));
    at("tab-" + one).tabIndex = one === name ? 0 : -1;
    at("panel-" + one).hidden = one !== name;
  }
  refresh();
}

/** `current`: the tab that the agent works in, `ofWhich`: its profile. `picture`: width and height of the page in the live view, else null. */
export function begin(current, picture, ofWhich) {
  [tab, size, profile] = [current, picture, ofWhich];
  for (const [index, name] of PANELS.entries()) {
    at("tab-" + name).onclick = () => show(name);
    at("tab-" + name).onkeydown = key => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key.key];
      if (!step) return;
      const next = PANELS[(index + step + PANELS.length) % PANELS.length];
      show(next);
      at("tab-" + next).focus();
    };
  }
  at("picture").onmousemove = move => { if (shown === "snapshot") mark(under(move)); };
  at("picture").onmouseleave = () => mark(null);
  setInterval(refresh, BEAT);
  show("timeline");
}
