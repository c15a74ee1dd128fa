// The browser of the profile: tabs, dialogs, facts and events.

import { ask, stream } from "/ui/api.js";
import { at, attempt, button, clock, copy, cut, fill, h, problem, sureButton, worded } from "/ui/dom.js";
import { addressed } from "/ui/settings.js";

/** Thumbnails are taken again after this time, in milliseconds, of so many tabs. */
const [FRESH, MOST_THUMBNAILS] = [10000, 12];
const thumbnails = new Map();
let following = null, isReading = false, isStale = false, changed = () => {};

async function act(method, path, body) {
  await attempt(() => ask(method, path, body));
  refresh();
}

function thumbnail(it) {
  const image = h("img", { alt: "" }), known = thumbnails.get(it.targetId);
  if (known?.src) image.src = known.src;
  else image.classList.add("missing");
  return image;
}

/** Takes new thumbnails, one at a time, of tabs whose thumbnail is old or shows another URL. */
async function picture(tabs, dialogs) {
  for (const id of thumbnails.keys()) if (!tabs.some(it => it.targetId === id)) thumbnails.delete(id);
  if (document.hidden || at("view-browser").hidden) return;
  for (const it of tabs.slice(0, MOST_THUMBNAILS)) {
    const known = thumbnails.get(it.targetId);
    const isFresh = known && known.url === it.url && Date.now() - known.at < FRESH;
    if (isFresh || dialogs.some(dialog => dialog.target_id === it.targetId)) continue;
    try {
      const shot = await ask("POST", "/screenshot", { targetId: it.targetId, inline: true, type: "jpeg", quality: 40 });
      thumbnails.set(it.targetId, { at: Date.now(), url: it.url, src: "data:image/jpeg;base64," + shot.data });
    } catch {
      // The tab is loading, blocked or closed.
      thumbnails.set(it.targetId, { ...known, at: Date.now(), url: it.url });
    }
    const image = document.querySelector(`#tabs li[data-target="${CSS.escape(it.targetId)}"] img`);
    const { src } = thumbnails.get(it.targetId);
    if (image && src) {
      image.src = src;
      image.classList.remove("missing");
    }
  }
}

function tab(it) {
  return h("li", { class: it.active ? "active" : "", data: { target: it.targetId } },
    thumbnail(it),
    h("span", null, it.title || it.url, h("small", null, [it.tabId, it.label, it.url].filter(Boolean).join(" · "))),
    button("Focus", () => act("POST", "/tabs/focus", { targetId: it.targetId })),
    button("Close", () => act("DELETE", "/tabs/" + encodeURIComponent(it.targetId))));
}

function dialog(it) {
  const text = it.type === "prompt" ? h("input", { type: "text", value: it.default_prompt ?? "", "aria-label": "Your answer" }) : null;
  const answer = accept => act("POST", "/hooks/dialog",
    { accept, dialogId: it.id, ...(text && accept ? { promptText: text.value } : {}) });
  return h("li", { class: "dialog", data: { id: it.id } },
    h("span", null, it.message || "(no text)", h("small", null, [it.type, it.id, it.origin].join(" · "))),
    text, button("OK", () => answer(true)), it.type !== "alert" ? button("Cancel", () => answer(false)) : null);
}

/** Draws the dialogs. Those that are shown already stay, with what is written in them. */
function drawDialogs(dialogs) {
  const shown = new Map([...at("dialogs").children].map(row => [row.dataset.id, row]));
  for (const [id, row] of shown) if (!dialogs.some(it => it.id === id)) row.remove();
  at("dialogs").append(...dialogs.filter(it => !shown.has(it.id)).map(dialog));
}

const drawn = new Map();

/** Draws a list only if it has changed: an element must not be replaced while it is being clicked. */
function ifChanged(name, list, draw) {
  const state = JSON.stringify(list);
  if (drawn.get(name) === state) return;
  drawn.set(name, state);
  draw();
}

/** Properties of the browser as label and text. */
function facts(it) {
  const window = it.headless === null || it.headless === undefined ? null : it.headless ? "no (headless)" : "yes";
  const port = it.cdpPort ? `127.0.0.1:${it.cdpPort}` : "not open";
  return [
    ["Browser", it.browser], ["Window", it.running ? window : null], ["Profile", it.profile], ["Profile color", it.color],
    ["Tabs", it.running ? it.tabs : null], ["Open dialogs", it.pendingDialogs || null], ["Process id", it.pid],
    ["Debugging port", it.running ? port : null], ["Remote browser", it.attachOnly ? it.cdpUrl || "yes" : null],
    ["Executable", it.executablePath], ["Data folder", it.userDataDir], ["cdpilot", it.version],
  ].filter(([, value]) => value !== undefined && value !== null && value !== "");
}

/** The accent in the color of the profile, and black or white for texts on it. */
function tint(color) {
  if (!/^#[0-9a-f]{6}$/i.test(color)) return;
  const part = at => { const value = parseInt(color.slice(at, at + 2), 16) / 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const light = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  document.documentElement.style.setProperty("--mark", color);
  document.documentElement.style.setProperty("--on-mark", light > 0.179 ? "#000" : "#fff");
}

/** Reads the state again, at most ten times a second, and never twice at once: an older answer must not follow a newer one. */
export async function refresh() {
  isStale = true;
  if (isReading) return;
  isReading = true;
  while (isStale && following) {
    await new Promise(done => setTimeout(done, 100));
    isStale = false;
    if (following) await read();
  }
  isReading = false;
}

async function read() {
  try {
    const [status, { tabs }, { pending_dialogs: dialogs }] = await Promise.all([ask("GET", "/"), ask("GET", "/tabs"), ask("GET", "/dialogs")]);
    if (at("state").textContent === "no response") problem("");
    at("state").textContent = status.running ? "browser running" : "browser not running";
    at("state").className = status.running ? "on" : "";
    [at("start").hidden, at("stop").hidden] = [status.running, !status.running];
    ifChanged("tabs", tabs, () => fill(at("tabs"), tabs.map(tab), "No open tabs."));
    ifChanged("dialogs", dialogs, () => drawDialogs(dialogs));
    at("dialogs-bar").hidden = !dialogs.length;
    tint(status.color);
    ifChanged("facts", status, () => at("facts").replaceChildren(...facts(status).flatMap(([name, value]) => [h("dt", null, name), h("dd", null, String(value))])));
    changed(tabs, dialogs);
    picture(tabs, dialogs);
  } catch (error) {
    if (!following) return;
    at("state").textContent = "no response";
    at("state").className = "off";
    problem(worded(error));
  }
}

// The newest downloads since the page was opened, by their number.
const downloads = new Map();

function downloaded(it) {
  const key = it.number ?? `${it.url} ${it.suggestedFilename}`;
  downloads.delete(key);
  downloads.set(key, it);
  if (downloads.size > 20) downloads.delete(downloads.keys().next().value);
  const row = one => h("li", null, h("b", null, one.suggestedFilename || "(no name)"), h("small", null,
    ` ${one.state}${one.failure ? ": " + one.failure : ""}${one.bytes ? `, ${one.bytes} bytes` : ""}${one.path ? `, ${one.path}` : ""}`));
  fill(at("downloads"), [...downloads.values()].reverse().map(row), "None since this page was opened.");
}

function line(data) {
  const { seq, ts, type, targetId, ...rest } = data;
  if (type === "download") downloaded(data.download ?? rest);
  const log = at("log"), shown = JSON.stringify(rest);
  log.prepend(h("div", null, `${ts ? clock(ts) : ""} ${type} ${cut(shown, 300)}`));
  while (log.childElementCount > 200) log.lastChild.remove();
  if (type !== "console") refresh();
}

/** Follows the events of the profile, also after a lost connection. */
export async function follow() {
  following?.abort();
  const own = following = new AbortController();
  let last = null, pause = 500;
  while (following === own) {
    try {
      refresh();
      const take = (name, id, data) => {
        [last, pause] = [id ?? last, 500];
        if (data.type === "reset") at("log").replaceChildren();
        line(data);
      };
      await stream("GET", "/events", { after: last, signal: own.signal, take });
    } catch (error) {
      if (own.signal.aborted || error.status === 401) return;
      refresh();
    }
    await new Promise(done => setTimeout(done, pause));
    pause = Math.min(2 * pause, 10000);
  }
}

/** Ends the stream while nobody looks at the page: a browser has six connections for all pages of a server. */
export function look(isVisible) {
  if (isVisible === Boolean(following)) return;
  if (isVisible) follow();
  else leave();
}

export function leave() {
  following?.abort();
  following = null;
}

/** The id with which other programs may use this browser in conversations. */
function idCard() {
  const result = h("div", { id: "browser-id" });
  const hours = h("input", { type: "number", min: "0.1", step: "any", value: "24", "aria-label": "Hours until it expires" });
  const register = async () => {
    const profile = at("profile").value;
    const made = await attempt(() => ask("POST", "/browsers/register", { ...(profile ? { profile } : {}), ttlHours: Number(hours.value) || 24 }));
    if (!made) return;
    const copied = button("Copy", click => copy(made.browser_id, click.target));
    result.replaceChildren(h("code", null, made.browser_id), " ", copied,
      h("small", null, `Shown only now. Valid until ${new Date(made.expires_at * 1000).toLocaleString()}. An id from before is no longer valid.`));
  };
  const known = h("input", { type: "text", autocomplete: "off", placeholder: "Browser id", "aria-label": "Browser id" });
  const validity = h("span", { role: "status" });
  const check = async () => {
    if (!known.value.trim()) return;
    const it = await attempt(() => ask("GET", `/browsers/${encodeURIComponent(known.value.trim())}/valid`));
    if (it) validity.textContent = it.valid ? `Valid until ${new Date(it.expires_at * 1000).toLocaleString()}.` : it.expired ? "It has expired." : "No browser has this id.";
  };
  return h("section", { class: "card" }, h("h2", null, "Browser id"),
    h("p", null, "For other programs and people: with this id they can let an agent use this browser, and no other one. Treat it like a password."),
    h("p", { class: "bar" }, h("label", null, "Valid for ", hours, " hours "), button("Create an id", register)), result,
    h("p", { class: "bar" }, known, button("Check", check), validity));
}

/** The profiles: browsers with cookies and logins of their own. */
function profilesCard() {
  const list = h("ul", { id: "profiles" }), name = h("input", { type: "text", required: true, pattern: "[a-z0-9][a-z0-9_-]*", placeholder: "name", "aria-label": "Name of the profile" });
  const color = h("input", { type: "color", value: "#2a7de1", "aria-label": "Color of the profile" });
  const show = async () => {
    const { profiles } = await ask("GET", "/profiles");
    list.replaceChildren(...profiles.map(it => {
      const change = (method, end) => sureButton(end ? "Reset" : "Delete", end ? "Delete its data?" : "Delete for good?", async () => { await attempt(() => ask(method, "/profiles/" + encodeURIComponent(it.name) + end)); show(); });
      const swatch = h("span", { class: "dot" });
      swatch.style.background = it.color;
      return h("li", { class: "bar" }, swatch, h("span", { class: "fill" }, it.name, h("small", null, ` ${it.running ? "running" : "not running"}${it.isDefault ? ", default" : ""}`)),
        !it.isRemote && change("POST", "/reset"), !it.isDefault && change("DELETE", ""));
    }));
    return profiles;
  };
  const create = async submit => {
    submit.preventDefault();
    if (!await attempt(() => ask("POST", "/profiles", { name: name.value, color: color.value }))) return;
    name.value = "";
    const all = await show();
    at("profile").replaceChildren(...all.map(it => h("option", { value: it.name, selected: it.name === at("profile").value }, it.name)));
    at("profile").closest("label").hidden = all.length < 2;
  };
  show().catch(() => {});
  return h("section", { class: "card" }, h("h2", null, "Profiles"), h("p", null, "Each has a browser, cookies and logins of its own. Reset deletes them."), list,
    h("form", { class: "bar", onsubmit: create }, name, color, h("button", null, "Create")));
}

/** `then`: called with tabs and dialogs after each change. */
export function begin(then) {
  changed = then;
  const url = h("input", { id: "url", type: "text", placeholder: "https://example.com", required: true, "aria-label": "Address" });
  at("view-browser").replaceChildren(
    h("div", { class: "columns" },
      h("div", null,
        h("section", { class: "card" }, h("h2", null, "Tabs"),
          h("form", { id: "open", class: "bar", onsubmit: submit => { submit.preventDefault(); act("POST", "/tabs/open", { url: addressed(url.value.trim()) }); } }, url, h("button", null, "Open")),
          h("ul", { id: "tabs" }))),
      h("div", null,
        h("section", { class: "card" }, h("h2", null, "Browser"), h("dl", { id: "facts" })),
        profilesCard(),
        idCard(),
        h("section", { class: "card" }, h("h2", null, "Downloads"), h("ul", { id: "downloads", class: "rows" }, h("li", { class: "none" }, "None since this page was opened."))),
        h("section", { class: "card" }, h("h2", null, "Events"), h("div", { id: "log", tabindex: "0", role: "log", "aria-label": "Events of the browser", "aria-live": "off" })))));
  at("start").onclick = () => act("POST", "/start", {});
  at("stop-place").replaceWith(sureButton("Stop browser", "Close all tabs?", () => act("POST", "/stop", {}), { id: "stop", hidden: true }));
  setInterval(refresh, 10000);
}
