// Sisyphus: the same prompts again and again, each round in a new conversation.

import { ask, stream } from "/ui/api.js";
import { at, button, h, worded } from "/ui/dom.js";

const STORE = "cdpilot-sisyphus";
/** In sessionStorage while the loop runs: it goes on after a reload. */
const RUNS = "cdpilot-sisyphus-runs";
/** Pauses between rounds, in milliseconds: after a success, and at first after a failure. */
const [PAUSE, BACK_OFF, LONGEST] = [3000, 10000, 300000];
let kept = { prompts: [], enabled: false, auto: false, most: 3 }, running = null, make = null, isNew = true, status = "", last = null;

const save = () => localStorage.setItem(STORE, JSON.stringify(kept));
const prompts = () => kept.prompts.filter(prompt => prompt.trim());
const route = (id, end) => `/agent/conversations/${encodeURIComponent(id)}${end}`;
const sleep = (time, signal) => new Promise(done => {
  const timer = setTimeout(done, time);
  signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
});

/** Starts a run. The stream is left at once, which does not end the run. */
async function send(id, text) {
  const own = new AbortController();
  await new Promise((done, failed) => {
    stream("POST", route(id, "/messages"), { body: { text }, signal: own.signal, take: () => done() }).then(done, failed);
  });
  own.abort();
}

/** Waits until a conversation rests. Returns whether it has done its task. */
async function rests(id, signal) {
  while (!signal.aborted) {
    const { conversation: it } = await ask("GET", route(id, "")).catch(error => {
      if (error.status === 404) throw error;
      return { conversation: {} };
    });
    if (it.status === "idle") return !it.unfinished;
    if (it.status === "error") return false;
    await sleep(1000, signal);
  }
  return false;
}

async function round(signal, number) {
  const id = await make.create(), all = prompts();
  // The view follows the loop unless the person looks at something else.
  if (location.hash === "#/" || location.hash === "" || location.hash === "#/c/" + last) location.hash = "#/c/" + id;
  last = id;
  for (const [index, prompt] of all.entries()) {
    if (signal.aborted) return true;
    say(`Round ${number}, prompt ${index + 1} of ${all.length}`);
    await send(id, prompt);
    if (!await rests(id, signal)) return signal.aborted;
  }
  return true;
}

async function loop(signal) {
  let failures = 0, rounds = 0;
  while (!signal.aborted) {
    const isDone = await round(signal, rounds + 1).catch(error => { say(worded(error)); return false; });
    rounds += 1;
    failures = isDone ? 0 : failures + 1;
    if (failures >= kept.most) {
      say(`Ended after ${failures} failed rounds in a row.`);
      break;
    }
    await sleep(failures ? Math.min(BACK_OFF * 2 ** (failures - 1), LONGEST) : PAUSE, signal);
  }
  running = null;
  sessionStorage.removeItem(RUNS);
  draw();
}

function say(text) {
  status = text;
  const line = document.getElementById("loop-state");
  if (line) line.textContent = text;
}

function start() {
  if (running || !prompts().length) return;
  running = new AbortController();
  sessionStorage.setItem(RUNS, "1");
  status = "";
  draw();
  loop(running.signal);
}

function stop() {
  running?.abort();
  sessionStorage.removeItem(RUNS);
  say("Stopped. The conversation in progress goes on; stop it if it should not.");
}

/** Draws the bar that takes the place of the composer's text for a new task, and while the loop runs. */
function draw() {
  document.getElementById("loop")?.remove();
  at("composer").classList.toggle("looping", kept.enabled && isNew);
  if (!running && !(kept.enabled && isNew)) return;
  const count = prompts().length;
  at("composer").prepend(h("div", { id: "loop", class: "bar" },
    running ? button("Stop the loop", stop, { class: "danger" }) : button("Start the loop", start, { class: "primary", disabled: !count }),
    h("span", { id: "loop-state", role: "status" }, status || (running ? "Running" : count ? `${count} prompts` : "No prompts yet.")),
    h("span", { class: "fill" }), h("a", { href: "#/settings" }, "Change the prompts"),
    running ? "" : button("Single task", () => { kept.enabled = false; save(); draw(); })));
}

/** The settings of the loop. */
export function settings() {
  const list = h("ol", { class: "prompts" });
  const rows = () => list.replaceChildren(...kept.prompts.map((prompt, index) => h("li", null,
    h("textarea", { rows: "1", "aria-label": `Prompt ${index + 1}`, value: prompt, oninput: change => { kept.prompts[index] = change.target.value; save(); draw(); } }),
    button("↑", () => { kept.prompts.splice(index - 1, 0, ...kept.prompts.splice(index, 1)); save(); rows(); }, { class: "icon", "aria-label": `Move prompt ${index + 1} up`, disabled: !index }),
    button("×", () => { kept.prompts.splice(index, 1); save(); rows(); draw(); }, { class: "icon", "aria-label": `Remove prompt ${index + 1}` }))));
  rows();
  const box = (name, label) => h("label", null, h("input", { type: "checkbox", checked: kept[name], onchange: change => { kept[name] = change.target.checked; save(); draw(); } }), " ", label);
  return h("section", { class: "card" },
    h("h2", null, "Repeat prompts (Sisyphus)"),
    h("p", null, "Sends these prompts one after the other, each round in a new conversation, until you stop it. Changes are kept at once, in this browser."),
    list,
    h("p", { class: "bar" }, button("Add a prompt", () => { kept.prompts.push(""); save(); rows(); list.lastChild.querySelector("textarea").focus(); draw(); })),
    h("p", { class: "bar" }, box("enabled", "Use in place of a single task"), box("auto", "Start when this page is opened")),
    h("p", null, h("label", null, "Stop after this many failed rounds in a row ",
      h("input", { type: "number", min: "1", max: "100", value: String(kept.most), onchange: change => { kept.most = Math.max(1, Number(change.target.value) || 3); save(); } }))));
}

/** `how`: `create()` makes a conversation and returns its id. */
export function begin(how) {
  make = how;
  try {
    const stored = JSON.parse(localStorage.getItem(STORE));
    const texts = Array.isArray(stored?.prompts) ? stored.prompts.filter(it => typeof it === "string") : [];
    kept = { prompts: texts, enabled: stored?.enabled === true, auto: stored?.auto === true, most: Math.max(1, Number(stored?.most) || 3) };
  } catch {
    // What is stored is not ours.
  }
  draw();
  if (kept.enabled && (kept.auto || sessionStorage.getItem(RUNS))) start();
}

/** Shows the loop with a new task, or while it runs. */
export function show(isNewTask) {
  isNew = isNewTask;
  draw();
}
