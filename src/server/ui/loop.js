// Sisyphus: the same prompts again and again, each round in a new conversation.

import { at, button, h } from "/ui/dom.js";

const STORE = "cdpilot-sisyphus";
/** Pauses between rounds, in milliseconds: after a success, and at first after a failure. */
const [PAUSE, BACK_OFF, LONGEST] = [3000, 10000, 300000];
let kept = { prompts: [], enabled: false, auto: false, most: 3 }, running = null, make = null;

const save = () => localStorage.setItem(STORE, JSON.stringify(kept));
const sleep = (time, signal) => new Promise(done => {
  const timer = setTimeout(done, time);
  signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
});

/** Waits until a conversation rests. Returns whether it has done its task. */
async function rests(conversation, signal) {
  while (!signal.aborted) {
    await conversation.refresh().catch(() => {});
    const { status, unfinished } = conversation.info;
    if (status === "idle") return !unfinished;
    if (status === "error") return false;
    await sleep(1000, signal);
  }
  return false;
}

async function round(signal) {
  const conversation = await make.open(await make.create());
  for (const prompt of kept.prompts) {
    if (signal.aborted) return true;
    await conversation.send(prompt);
    if (!await rests(conversation, signal)) return signal.aborted;
  }
  return true;
}

async function loop(signal) {
  let failures = 0, rounds = 0;
  while (!signal.aborted) {
    say(`Round ${rounds + 1}${failures ? `, after ${failures} failures in a row` : ""}`);
    const isDone = await round(signal).catch(error => { say(error.message); return false; });
    rounds += 1;
    failures = isDone ? 0 : failures + 1;
    if (failures >= kept.most) {
      say(`Ended after ${failures} failures in a row.`);
      break;
    }
    await sleep(failures ? Math.min(BACK_OFF * 2 ** (failures - 1), LONGEST) : PAUSE, signal);
  }
  running = null;
  draw();
}

function say(text) {
  const line = document.getElementById("loop-state");
  if (line) line.textContent = text;
}

function start() {
  if (running || !kept.prompts.length) return;
  running = new AbortController();
  draw();
  loop(running.signal);
}

function stop() {
  running?.abort();
  say("Stopped. The conversation in progress goes on; stop it if it should not.");
}

/** Draws the bar that takes the place of the composer's text while the loop is enabled. */
function draw() {
  document.getElementById("loop")?.remove();
  at("composer").classList.toggle("looping", kept.enabled);
  if (!kept.enabled) return;
  at("composer").prepend(h("div", { id: "loop", class: "bar" },
    running ? button("Stop the loop", stop, { class: "danger" }) : button("Start the loop", start, { class: "primary", disabled: !kept.prompts.length }),
    h("span", { id: "loop-state", role: "status" }, running ? "Running" : kept.prompts.length ? `${kept.prompts.length} prompts` : "No prompts yet. Add them under Models."),
    h("span", { class: "fill" })));
}

/** The settings of the loop. */
export function settings() {
  const list = h("ol", { class: "prompts" });
  const rows = () => list.replaceChildren(...kept.prompts.map((prompt, index) => h("li", null,
    h("textarea", { rows: "1", "aria-label": `Prompt ${index + 1}`, value: prompt, onchange: change => { kept.prompts[index] = change.target.value; save(); } }),
    button("↑", () => { if (index) kept.prompts.splice(index - 1, 0, ...kept.prompts.splice(index, 1)); save(); rows(); }, { class: "icon", "aria-label": `Move prompt ${index + 1} up`, disabled: !index }),
    button("×", () => { kept.prompts.splice(index, 1); save(); rows(); draw(); }, { class: "icon", "aria-label": `Remove prompt ${index + 1}` }))));
  rows();
  const box = (name, label) => h("label", null, h("input", { type: "checkbox", checked: kept[name], onchange: change => { kept[name] = change.target.checked; save(); draw(); } }), " ", label);
  return h("section", { class: "card" },
    h("h2", null, "Sisyphus"),
    h("p", null, "Sends these prompts one after the other, each round in a new conversation, until you stop it."),
    list,
    h("p", { class: "bar" }, button("Add a prompt", () => { kept.prompts.push(""); save(); rows(); list.lastChild.querySelector("textarea").focus(); draw(); })),
    h("p", { class: "bar" }, box("enabled", "Enable, in place of the composer"), box("auto", "Start when this page is opened")),
    h("p", null, h("label", null, "End after failures in a row ",
      h("input", { type: "number", min: "1", max: "100", value: String(kept.most), onchange: change => { kept.most = Math.max(1, Number(change.target.value) || 3); save(); } }))));
}

/** `how`: `create()` makes a conversation and `open(id)` opens it. */
export async function begin(how) {
  make = how;
  try {
    kept = { ...kept, ...JSON.parse(localStorage.getItem(STORE)) };
  } catch {
    // What is stored is not ours.
  }
  draw();
  if (kept.enabled && kept.auto) start();
}
