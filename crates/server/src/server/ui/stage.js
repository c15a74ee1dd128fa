// The stage: the newest picture or the live view, what the agent says, and input to a paused page.

import { ask, ofProfile, picture } from "/ui/api.js";
import { at, attempt, cut, h, problem, worded } from "/ui/dom.js";
import { KINDS, stateName } from "/ui/words.js";

/** Shortest time between two frames of the live view, in milliseconds: 15 a second. */
const PACE = 66;
/** Longest wait for a frame, in milliseconds. */
const PATIENCE = 2000;
/** Keys that are pressed as such; others, such as those of input methods, are left out. */
const KEYS = /^(Arrow(Up|Down|Left|Right)|Enter|Tab|Backspace|Delete|Escape|Home|End|Page(Up|Down)|Insert|F\d{1,2})$/;
let lastStatus = "", isFresh = false, typed = "", typing = 0, typedInto = null;
let conversation = null, isLive = false, shownPath = null, url = null, said = "", delta = "", beat = 0, size = null, order = Promise.resolve();

function shows(blobUrl) {
  const image = at("picture");
  image.src = blobUrl;
  image.hidden = false;
  at("screen-empty").hidden = true;
  if (url) URL.revokeObjectURL(url);
  url = blobUrl;
}

function clear() {
  [shownPath, said, delta, size, lastStatus, isFresh] = [null, "", "", null, "", false];
  beat += 1;
  at("picture").hidden = true;
  at("screen-empty").hidden = false;
  at("where").textContent = "";
  at("narration").replaceChildren();
}

/** Width and height of the page in the live view; `null` if it is not shown. */
export const pageSize = () => isLive ? size : null;

/** The tab that the agent works in. */
export const tab = () => conversation?.tabs?.find(it => it.active) ?? conversation?.tabs?.[0] ?? null;

/** Whether a person may use the page: no run is working on it. */
const isFree = () => isLive && conversation?.info && tab() && rests(conversation.info);

/** Whether no tool runs: a call that was under way ends before the pause begins. */
const rests = info => info.status !== "active" || info.paused && info.held_up?.state === "paused";

const to = path => ofProfile(path, conversation?.info?.profile);

async function newest() {
  const path = conversation?.events.findLast(event => event.image && event.name !== "help_request")?.image;
  if (!path || path === shownPath || isLive) return;
  shownPath = path;
  try {
    const blob = await picture(path);
    if (path !== shownPath || isLive) return;
    isFresh = false;
    shows(URL.createObjectURL(blob));
  } catch {
    // Only the last 50 pictures of a conversation are kept.
  }
}

/** Shows the page as it is now, when the agent has come to rest. */
async function fresh() {
  const current = tab(), own = beat;
  if (isLive || !current) return;
  try {
    const shot = await ask("POST", to("/screenshot"), { targetId: current.targetId, inline: true, type: "jpeg", quality: 70 });
    if (isLive || own !== beat || current.targetId !== tab()?.targetId) return;
    isFresh = true;
    shows(blobOf(shot.data));
    at("where").textContent = cut(current.url, 150);
  } catch {
    // A dialog blocks the page, or it is closed: the last picture stays.
  }
}

const blobOf = data => URL.createObjectURL(new Blob([Uint8Array.from(atob(data), c => c.charCodeAt(0))], { type: "image/jpeg" }));

function narrate() {
  const text = delta || said;
  at("narration").replaceChildren(...(text ? [h("p", null, text.length > 2000 ? "…" + text.slice(-2000) : text)] : []));
}

/** Takes new events. */
export function events(list) {
  for (const event of list) {
    if (event.type === "MessageEvent" && event.role !== "user" && event.text) said = event.text;
    if (event.type === "ActionEvent" && event.text) said = event.text;
    if (event.type !== "SystemEvent") delta = "";
  }
  narrate();
  newest();
}

/** Takes a part of an answer that is being written. */
export function part(data) {
  if (data.reset) delta = "";
  delta = (delta + (data.text ?? "")).slice(-4000);
  narrate();
}

/** Shows the state of the conversation. */
export function state(isConnected) {
  const info = conversation?.info;
  at("title").textContent = info ? cut(info.title || "New task", 90) : "New task";
  const badge = at("badge");
  badge.hidden = !info;
  if (info) {
    badge.textContent = isConnected ? stateName(info) : "No connection";
    badge.className = `badge ${isConnected ? info.paused ? "paused" : info.status : "error"}`;
  }
  const held = info?.held_up;
  const isNews = held && !["approval", "question", "model", "tool"].includes(held.state);
  at("held-up").hidden = !isNews;
  at("held-up").textContent = isNews ? held.help : "";
  const allowed = (info?.allowed ?? []).map(it => it.one && it.effect === "secret" ? "a secret that was approved" : `${KINDS[it.effect] ?? it.effect}${it.origin ? ` at ${it.origin.replace(/^https?:\/\//, "")}` : it.one ? "" : " everywhere"}`);
  at("allowed").hidden = !allowed.length;
  at("allowed").textContent = allowed.length ? `Allowed in this conversation without a question: ${cut(allowed.join(", "), 500)}.` : "";
  const current = tab();
  const free = isFree();
  at("screen").classList.toggle("usable", Boolean(free));
  at("screen").tabIndex = free ? 0 : -1;
  at("where").textContent = [current && (isLive || isFresh) ? cut(current.url, 150) : "", free ? "You can click and type here; Shift+Tab leaves the page." : ""].filter(Boolean).join(" · ");
  at("moves").hidden = !free;
  const status = info ? `${conversation.id} ${info.status} ${info.paused}` : "";
  if (status !== lastStatus && info && (info.paused || info.status !== "active") && info.question?.kind !== "approval") fresh();
  lastStatus = status;
  at("live").disabled = !current;
  if (!current && isLive) live(false);
}

/** Shows another conversation. */
export function show(other) {
  typed = "";
  conversation = other;
  clear();
  if (isLive) live(false);
  state(true);
}

/** Starts or ends the live view. */
export function live(wanted) {
  isLive = wanted;
  typed = "";
  at("live").setAttribute("aria-pressed", String(wanted));
  shownPath = null;
  beat += 1;
  if (wanted) watch(beat);
  else newest();
  if (conversation) state(true);
}

/** Shows one frame of the page after the other. Each request waits for a newer one, so that the newest wins. */
async function watch(own) {
  let after = 0, watched = null;
  while (isLive && own === beat) {
    const began = Date.now(), current = tab();
    if (!document.hidden && current && !at("view-agent").hidden) {
      if (watched !== current.targetId) [after, watched] = [0, current.targetId];
      try {
        const query = new URLSearchParams({ targetId: current.targetId, after, waitMs: PATIENCE });
        const shot = await ask("GET", to(`/screencast?${query}`));
        if (own !== beat) return;
        if (shot.frame !== null && current.targetId === tab()?.targetId) {
          after = shot.frame;
          size = [shot.width, shot.height];
          shows(blobOf(shot.data));
        }
      } catch {
        // The tab is closed, or the connection is lost.
        await new Promise(done => setTimeout(done, 400));
      }
    }
    await new Promise(done => setTimeout(done, Math.max(PACE - (Date.now() - began), document.hidden ? 400 : 10)));
  }
}

/** Sends input of the person, one after the other. */
function input(body, target = tab()?.targetId) {
  if (!target || !isFree()) return;
  order = order.then(() => ask("POST", to("/act"), { targetId: target, settle: "none", ...body })).catch(error => problem(worded(error)));
}

function place(event) {
  const box = at("picture").getBoundingClientRect();
  const [width, height] = size ?? [at("picture").naturalWidth, at("picture").naturalHeight];
  return { x: Math.round((event.clientX - box.left) * width / box.width), y: Math.round((event.clientY - box.top) * height / box.height) };
}

/** Sends the text that was typed, to the tab that was shown when it was. */
function flush() {
  clearTimeout(typing);
  if (typed && typedInto === tab()?.targetId) input({ kind: "type", text: typed }, typedInto);
  typed = "";
}

export function begin() {
  at("live").onclick = () => live(!isLive);
  for (const [id, path] of [["move-back", "/back"], ["move-forward", "/forward"], ["move-reload", "/reload"]]) {
    at(id).onclick = () => attempt(() => ask("POST", to(path), { targetId: tab()?.targetId, waitUntil: "none" }).then(() => conversation?.refresh()));
  }
  document.addEventListener("fullscreenchange", () => { at("full").textContent = document.fullscreenElement ? "Leave full screen" : "Full screen"; });
  at("full").onclick = () => document.fullscreenElement ? document.exitFullscreen() : at("app").requestFullscreen();
  at("picture").onclick = click => {
    if (!isFree()) return;
    flush();
    const to = place(click);
    const ring = h("span", { class: "ring" });
    const box = at("screen").getBoundingClientRect();
    ring.style.left = `${click.clientX - box.left}px`;
    ring.style.top = `${click.clientY - box.top}px`;
    at("screen").append(ring);
    setTimeout(() => ring.remove(), 600);
    at("screen").focus();
    input({ kind: "clickCoords", ...to, double: click.detail === 2 });
  };
  at("screen").addEventListener("wheel", wheel => {
    if (!isFree()) return;
    wheel.preventDefault();
    input({ kind: "mouse", events: [{ type: "wheel", ...place(wheel), deltaX: wheel.deltaX, deltaY: wheel.deltaY }] });
  }, { passive: false });
  at("screen").onkeydown = key => {
    if (!isFree() || key.isComposing || key.key === "Tab" && key.shiftKey) return;
    // AltGr, and Option on a Mac, write characters.
    const writes = key.getModifierState("AltGraph") || key.altKey && /Mac/.test(navigator.platform);
    const isText = [...key.key].length === 1 && !key.metaKey && (writes || !key.ctrlKey && !key.altKey);
    if (!isText && key.key.length > 1 && !KEYS.test(key.key)) return;
    key.preventDefault();
    if (isText) {
      if (!typed) typedInto = tab()?.targetId;
      typed += key.key;
      clearTimeout(typing);
      typing = setTimeout(flush, 150);
      return;
    }
    flush();
    const held = [key.ctrlKey && "Control", key.altKey && "Alt", key.metaKey && "Meta", key.shiftKey && "Shift"].filter(Boolean);
    input({ kind: "press", key: [...held, key.key === " " ? "Space" : key.key].join("+") });
  };
}
