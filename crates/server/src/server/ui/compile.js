// The compilation of a recording into a routine: what is sent, what the model does, its questions, and how it ended. The state is
// that of the server, so that a reload loses nothing.

import { ask, stream } from "/ui/api.js";
import { log } from "/ui/compile-log.js";
import { answered, questions, reviewed } from "/ui/compile-review.js";
import { Conversation } from "/ui/conversation.js";
import { attempt, button, copy, h, problem, worded } from "/ui/dom.js";
import { eventsAfter, needsPerson, pathOf } from "/ui/recording-events.js";
import { oneLine } from "/ui/recording-lines.js";
import { formatted, visible } from "/ui/routine-text.js";

/** Most events that are read to count their screenshots, and how many at once. */
const [MOST_COUNTED, AT_ONCE] = [2000, 500];
const TEXTS = ["answer", "changes", "name"];
const ENDS = { CANCELLED: "The compilation was stopped", INTERRUPTED: "The compilation was interrupted", LIMIT_REACHED: "The compilation has reached its limit" };
const SAID = { none: "", running: "The model is compiling.", asking: "The model asks something.", review: "The routine is ready to be read.", completed: "The routine is saved.", error: "The compilation has ended without a routine." };

/** Where a text is kept that is not sent yet. */
const keptAt = (id, name) => `cdpilot-compile-${name}-${id}`;
/** A problem as a sentence of its own. */
const sentence = text => visible(text).replace(/^cannot store the change: /, "").replace(/^\p{Ll}/u, first => first.toUpperCase());
const count = (number, one) => number === 1 ? `1 ${one}` : `${number} ${one}s`;

/** The part of a recording in which it is compiled. `changed`: takes the status of the compilation. */
export function part(own, changed) {
  const it = own.compile = { id: own.id, own, changed, body: h("div", { class: "compile" }, h("p", { class: "none" }, "Reading…")),
    status: h("p", { role: "status", class: "hidden-label" }), state: null, shown: "", known: new Map(), live: null, timer: 0, isOpen: true };
  attempt(() => read(it));
  return h("div", null, it.status, it.body);
}

/** Ends what follows the model. */
export function leave(own) {
  if (!own.compile) return;
  own.compile.isOpen = false;
  rest(own.compile);
}

/** Reads the state again: another page or program may have changed it. */
export const refresh = own => own.compile?.isOpen ? read(own.compile) : undefined;

/** Forgets the texts of a recording that were not sent. */
export function forget(id) {
  for (const name of TEXTS) sessionStorage.removeItem(keptAt(id, name));
}

function rest(it) {
  clearInterval(it.timer);
  it.live?.close();
  it.live = null;
}

const route = (it, end = "") => pathOf(it.id, "/compile" + end);

async function read(it) {
  const state = await ask("GET", route(it)).catch(error => {
    if (it.isOpen && error.status === 404) location.hash = "#/recordings";
    throw error;
  });
  if (!it.isOpen) return;
  const isRunning = state.status === "running";
  // The draft of a running compilation changes all the time.
  const now = JSON.stringify([it.own.info.status, isRunning ? [state.status, state.conversation_id] : state]);
  it.state = state;
  if (isRunning) it.draft?.(state.draft);
  if (now === it.shown) return;
  const isFirst = it.shown === "";
  it.shown = now;
  rest(it);
  const isUsed = it.body.contains(document.activeElement) || document.activeElement === document.body;
  it.draft = null;
  it.body.replaceChildren(...draw(it, state).flat().filter(Boolean));
  it.changed(state.status);
  if (isFirst) return;
  it.status.textContent = SAID[state.status];
  if (isUsed) (it.body.querySelector("[data-focus]") ?? it.body.querySelector("h3"))?.focus({ preventScroll: true });
  it.body.querySelector("h3")?.scrollIntoView({ block: "nearest" });
}

function draw(it, state) {
  if (it.own.info.status === "active") return [h("p", { class: "card" }, "Stop the recording first. Then a model can make a routine of it.")];
  switch (state.status) {
    case "running": return running(it, state);
    case "asking": return asking(it, state);
    case "review": return [...reviewed(it, state, actions(it)), again(it, "Discard this routine and compile again")];
    case "completed": return completed(it, state);
    case "error": return failed(it, state);
  }
  return [before(it, "Compile")];
}

const heading = text => h("h3", { tabindex: "-1" }, text);

/** Sends what makes the model work. The stream is left at once, which does not stop the model. */
async function send(it, end, body, sent) {
  const leaving = new AbortController();
  let isBegun = false;
  const take = () => {
    isBegun = true;
    leaving.abort();
  };
  await stream("POST", route(it, end), { body, signal: leaving.signal, take }).catch(error => {
    if (!isBegun) throw error;
  });
  if (sent) sessionStorage.removeItem(keptAt(it.id, sent));
  await read(it);
}

/** A text that is kept in this tab of the browser until it is sent. */
function kept(it, name, control) {
  const stored = sessionStorage.getItem(keptAt(it.id, name));
  if (stored !== null) control.value = stored;
  control.addEventListener("input", () => sessionStorage.setItem(keptAt(it.id, name), control.value));
  return control;
}

/** A form with one text; Enter with Ctrl or Cmd sends it. */
function textForm(it, { name, label, action, placeholder = "", isFocused, className = "primary" }) {
  const text = kept(it, name, h("textarea", { rows: "3", maxlength: "10000", placeholder, data: isFocused ? { focus: "" } : {} }));
  const submit = h("button", { class: className }, action);
  const form = h("form", { class: "start-form", "aria-label": label }, h("label", null, h("span", { class: "none" }, label), text),
    h("p", { class: "bar" }, h("small", { class: "fill" }, "Ctrl+Enter or Cmd+Enter sends it."), submit));
  text.onkeydown = key => {
    if (key.key !== "Enter" || !(key.ctrlKey || key.metaKey) || key.isComposing) return;
    key.preventDefault();
    form.requestSubmit();
  };
  form.onsubmit = event => {
    event.preventDefault();
    if (!text.value.trim()) return text.focus();
    submit.disabled = true;
    return attempt(() => send(it, "/answer", { text: text.value.trim(), round: it.state.result?.round ?? 0 }, name)).finally(() => { submit.disabled = false; });
  };
  return form;
}

const actions = it => ({ heading, kept: (name, control) => kept(it, name, control), textForm: given => textForm(it, given), save: name => save(it, name), more: () => more(it, it.state) });

/** Saves the routine. Returns why not, for a problem of the name. */
async function save(it, name) {
  try {
    await ask("POST", route(it, "/finalize"), { name, routine_markdown: it.state.result?.routine_markdown });
    forget(it.id);
  } catch (error) {
    await read(it);
    if (it.state.status === "review" && [400, 409].includes(error.status)) return sentence(error.message);
    throw error;
  }
  await read(it);
  return "";
}

// Before.

/** What is sent, and the model that gets it. */
function before(it, label) {
  const { own } = it, submit = h("button", { class: "primary", disabled: true }, label), select = h("select"), facts = h("ul", { class: "facts" }), where = h("p");
  const form = h("form", { class: "card start-form", "aria-label": "Compile" }, heading(label === "Compile" ? "Make a routine of this recording" : label),
    h("p", { class: "none" }, "A model reads the recording, asks what it does not show, and writes a routine that you read before it is saved."),
    h("h4", null, "What the model can read"), facts, where,
    h("p", { class: "bar" }, h("label", null, "Model ", select), h("span", { class: "fill" }), submit));
  const left = own.info.event_count - own.excluded.size;
  const draw = (model, shots) => {
    const isSeeing = model?.vision !== false, note = oneLine(own.info.intent_note);
    const isUnsaved = sessionStorage.getItem("cdpilot-note-" + own.id) !== null && h("b", null, " (your changes to the note are not saved)");
    facts.replaceChildren(...[
      h("li", null, `${count(left, "event")}: what was done, with texts, addresses and HTML of the pages`,
        own.excluded.size > 0 && ` (without ${count(own.excluded.size, "excluded event")})`, ". ", h("a", { href: `#/recordings/${own.id}/events` }, "Review them")),
      h("li", null, isSeeing ? shots === null ? "the screenshots of these events" : shots ? count(shots, "screenshot") : "no screenshot, because these events have none" : "no screenshot, because this model does not see pictures"),
      h("li", null, note ? ["your note: ", h("bdi", null, `“${note}”`), isUnsaved] : ["no note: ", h("a", { href: `#/recordings/${own.id}/events` }, "say what you wanted to do"), ", so that it has to ask less", isUnsaved]),
      it.state.draft && it.state.status === "error" && h("li", null, "the draft of the last attempt")].filter(Boolean));
    where.replaceChildren(isSeeing ? "Texts and screenshots of the pages are sent to the endpoint of the model" : "Texts of the pages are sent to the endpoint of the model", ...(model ? [": ", h("code", null, model.base_url)] : []),
      ". Passwords, one-time codes and card numbers are not in the recording.");
  };
  attempt(async () => {
    const [settings, shots] = await Promise.all([ask("GET", "/api/config"), screenshots(own)]);
    const models = settings.llm_configs, wanted = models.find(one => one.alias === it.state.model) ?? models.find(one => one.is_default);
    select.replaceChildren(...models.map(one => h("option", { value: one.alias, selected: one === wanted }, one.alias + (one.is_default ? " (default)" : ""))));
    const chosen = () => draw(models.find(one => one.alias === select.value), shots);
    select.onchange = chosen;
    chosen();
    submit.disabled = !models.length || left <= 0;
    if (!models.length) where.replaceChildren("No model is set up yet. ", h("a", { href: "#/settings" }, "Set one up"));
    else if (left <= 0) where.replaceChildren("All events are excluded. ", h("a", { href: `#/recordings/${own.id}/events` }, "Include some"));
  });
  form.onsubmit = event => {
    event.preventDefault();
    submit.disabled = true;
    attempt(() => send(it, "", { model: select.value, exclude: [...own.excluded] })).finally(() => { submit.disabled = false; });
  };
  return form;
}

/** The number of screenshots of events that are not excluded; null if they are too many to be counted. */
async function screenshots({ id, info, excluded }) {
  if (info.event_count > MOST_COUNTED) return null;
  let last = 0, shots = 0;
  for (;;) {
    const events = await eventsAfter(id, last, AT_ONCE);
    for (const event of events) if (!excluded.has(event.event_index)) shots += Boolean(event.keyframe) + Boolean(event.keyframe_after);
    if (events.length < AT_ONCE) return shots;
    last = events.at(-1).event_index;
  }
}

const again = (it, label) => h("details", { class: "card" }, h("summary", null, label), before(it, "Compile again"));

// While the model works.

const minutes = seconds => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

function running(it, state) {
  const { list, add } = log(), since = h("span", { class: "none" }), usage = h("small"), connection = h("p", { class: "notice", hidden: true }, "No connection to the server. The model goes on.");
  const draft = h("details", { class: "card", hidden: true }, h("summary", null, "Draft so far"));
  let began = Date.now() / 1000, text = null;
  it.draft = now => {
    draft.hidden = !now;
    if (now === text) return;
    text = now;
    draft.lastElementChild.tagName === "SUMMARY" ? draft.append(formatted(now)) : draft.lastElementChild.replaceWith(formatted(now));
  };
  it.draft(state.draft);
  const ended = () => attempt(() => read(it));
  const own = it.live = new Conversation(state.conversation_id, {
    changed: () => {
      const { status, usage: metrics } = own.info, tokens = metrics?.accumulated_token_usage;
      usage.textContent = [state.model, tokens && `${(tokens.prompt_tokens ?? 0) + (tokens.completion_tokens ?? 0)} tokens`,
        metrics?.accumulated_cost !== null && metrics?.accumulated_cost !== undefined && `${metrics.accumulated_cost.toFixed(4)} ${metrics.currency ?? ""}`].filter(Boolean).join(" · ");
      if (status !== "active") ended();
    },
    connected: yes => { connection.hidden = yes; },
    events: (events, isEarlier) => {
      if (isEarlier) return;
      add(events);
      const said = events.findLast(event => event.type === "MessageEvent" && event.role === "user");
      if (said?.time) began = said.time;
      if (events.some(event => event.tool === "draft" || event.tool === "submit_routine")) ended();
    },
    delta: () => {},
    unstored: problem,
    gone: () => {
      if (it.live !== own) return;
      rest(it);
      it.body.append(again(it, "The conversation of this compilation was deleted. Compile again"));
    },
  });
  const beat = () => { since.textContent = `for ${minutes(Math.max(0, Date.now() / 1000 - began))}`; };
  beat();
  it.timer = setInterval(beat, 1000);
  own.open().catch(error => { if (it.live === own) problem(worded(error)); });
  const stop = button("Stop", () => {
    stop.disabled = true;
    attempt(() => own.change("stop")).finally(() => { stop.disabled = false; ended(); });
  });
  return [h("p", { class: "bar" }, heading("The model is compiling"), since, usage, h("span", { class: "fill" }), stop),
    h("p", { class: "none" }, "You can leave this page; the model goes on. It asks you if the recording leaves something open."), connection, list, draft];
}

/** What the model did until now, on demand; the file with all messages. */
function more(it, state) {
  const details = h("details", { class: "card" }, h("summary", null, "What the model did"));
  details.ontoggle = () => {
    if (!details.open || details.childElementCount > 1) return;
    const { list, add } = log();
    details.append(list);
    attempt(async () => {
      const own = new Conversation(state.conversation_id, { changed: () => {}, connected: () => {}, events: add, delta: () => {}, unstored: () => {}, gone: () => {} });
      await own.open().finally(() => own.close());
    });
  };
  return [state.conversation_id && details, state.trace_path && h("p", { class: "none" }, "All messages: ", h("code", { class: "path" }, state.trace_path), " ", button("Copy path", click => copy(state.trace_path, click.currentTarget)))];
}

function asking(it, state) {
  const open = state.questions.filter(one => one.answer === null), { question, round } = state.result ?? {};
  const many = open.length > 1;
  return [h("section", { class: "card start-form calls", "aria-label": "Questions" },
    h("p", { class: "bar" }, heading(many ? "The model asks" : "The model asks you something"), h("small", null, `Round ${round} of 5`)),
    open.length ? questions(it, open) : h("p", { class: "said" }, visible(question)),
    textForm(it, { name: "answer", label: many ? "Your answer to all questions" : "Your answer", action: "Answer", isFocused: true, placeholder: open.map((_, at) => many ? `${at + 1}. …` : "").join("\n") })),
  answered(it, state), ...more(it, state), again(it, "Compile again from the beginning")];
}

// The end.

function completed(it, state) {
  const name = h("strong"), link = `#/routines/${state.routine_id}`;
  const card = h("section", { class: "card start-form", "aria-label": "Routine" }, heading("The routine is saved"), h("p", null, name),
    h("p", { class: "bar" }, h("a", { class: "button primary", href: link, data: { focus: "" } }, "Open the routine"), h("a", { class: "button", href: `${link}/verify` }, "Verify now"),
      h("small", null, "It is done once, step by step, and compared with the recording.")));
  ask("GET", `/routines/${state.routine_id}`).then(({ routine }) => { name.textContent = routine.name; }, error => {
    if (error.status === 404) card.replaceChildren(heading("The routine was saved, and deleted since"));
  });
  return [card, ...reviewed(it, state, actions(it)), again(it, "Compile again")];
}

function failed(it, state) {
  const { code, problem: why } = state.error ?? {};
  return [h("section", { class: `card start-form ${code === "CANCELLED" ? "" : "warning"}`, "aria-label": "Failure" }, heading(ENDS[code] ?? "The compilation has failed"),
    h("p", { class: "said" }, sentence(why)), h("p", { class: "none" }, "Code ", h("code", null, code))),
  before(it, "Compile again"),
  state.draft && h("details", { class: "card" }, h("summary", null, "The draft, which was kept"), formatted(state.draft)), answered(it, state), ...more(it, state)];
}

/** Whether a recording in a list waits for the person. */
export const waits = info => needsPerson(info.compile.status);
