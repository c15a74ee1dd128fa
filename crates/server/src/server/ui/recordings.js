// Recordings: the list, and one of them with its events, their screenshots, its note and its draft.

import { ask, stream } from "/ui/api.js";
import * as compile from "/ui/compile.js";
import { at, attempt, button, clock, h, problem, sureButton } from "/ui/dom.js";
import { compileBadge, compileWords, detail, eventsAfter, lineOf, named, pathOf, time } from "/ui/recording-events.js";
import { counted, oneLine } from "/ui/recording-lines.js";
import { addressed } from "/ui/settings.js";

const STATUS = { active: "Recording", paused: "Paused", stopped: "Stopped", error: "Failed" };
const REASONS = { browser_disconnected: "the browser ended", server_ended: "the server ended", window_closed: "the window was closed", limit: "it has reached its limit" };
const MODES = { dedicated_window: "a new window", current_window: "the window in front" };
const PARTS = [["events", "Events"], ["draft", "What the compiler will be sent"]];
const NEXT = { none: "Compile", running: "See the compilation", asking: "Answer the model", review: "Read the routine", completed: "See the compilation", error: "See what failed" };
/** Events that are read and shown at once. */
const AT_ONCE = 500;
/** Newest events that are read again at intervals. */
const LATEST = 50;
/** Largest file to import, in bytes. */
const MOST_FILE = 64 << 20;

let shown = 0, review = null, drawn = "", opened = () => null, notes = [];

const stateOf = it => it.paused && it.status === "active" ? "paused" : it.status;
const nameOf = it => oneLine(it.name) || `Recording of ${time(it.started_at)}`;
const badge = it => h("span", { class: `badge ${{ active: "running", paused: "waiting", error: "failed" }[stateOf(it)] ?? ""}` }, STATUS[stateOf(it)] ?? it.status);

/** `conversation`: returns the conversation that is open, or null. */
export function begin(conversation) {
  opened = conversation;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) review?.stream?.abort();
    else if (review) follow(review);
    if (!document.hidden && review) attempt(() => compile.refresh(review));
  });
}

/** Shows the list, or one recording: `id`, and a part of it. */
export async function show(id, part = "events") {
  const turn = ++shown;
  leave();
  if (!id) return list(turn);
  const { recording } = await ask("GET", pathOf(id));
  if (turn !== shown) return;
  const known = part === "compile" || PARTS.some(([name]) => name === part) ? part : "events";
  const own = { id, info: recording, part: known, excluded: excludedOf(id), rows: new Map(), last: null, stream: null, isOver: false };
  const waiting = h("p", { class: "none", role: "status" }, "Reading the steps…");
  // What was used to come here is replaced.
  const used = document.activeElement?.getAttribute("role") === "tab" ? "[role=tab][aria-selected=true]" : document.activeElement?.closest(".stepper, .next") ? ".stepper [aria-current]" : null;
  review = own;
  at("view-recordings").replaceChildren(page(own, known === "draft" ? waiting : known === "compile" ? compile.part(own, status => takeCompiled(own, status)) : eventsPart(own)));
  if (used) at("view-recordings").querySelector(used)?.focus();
  if (known === "compile") return;
  if (known === "draft") {
    const steps = await draftPart(own);
    waiting.replaceWith(steps);
  } else if (recording.status === "active") follow(own);
  else await readMore(own);
}

/** Ends the stream of events. */
export function leave() {
  review?.stream?.abort();
  if (review) compile.leave(review);
  review = null;
}

/** Reads again what is shown: another program may have changed it. */
export async function refresh() {
  const turn = shown;
  if (!review) {
    const { recordings } = await ask("GET", "/recordings");
    if (turn === shown && !review) drawList(recordings);
  } else if (review.info.status === "active") {
    const own = review, [{ recording }, latest] = await Promise.all([ask("GET", pathOf(own.id)), eventsAfter(own.id, Math.max(0, own.info.event_count - LATEST), LATEST)]);
    if (turn !== shown || review !== own) return;
    takeInfo(own, recording);
    // A screenshot is stored after its event, and the stream does not say so.
    for (const event of latest) own.rows.get(event.event_index)?.draw(event);
  } else await compile.refresh(review);
}

/** Numbers of the events that are excluded from compilation. They are kept in this tab of the browser. */
export function excludedOf(id) {
  try {
    return new Set(JSON.parse(sessionStorage.getItem("cdpilot-excluded-" + id) ?? "[]"));
  } catch {
    return new Set();
  }
}

// The list.

async function list(turn) {
  const [{ recordings }, { profiles }] = await Promise.all([ask("GET", "/recordings"), ask("GET", "/profiles")]);
  if (turn !== shown) return;
  const file = h("input", { type: "file", accept: ".json,application/json", "aria-label": "File of a recording", hidden: true });
  file.onchange = () => attempt(() => importFile(file)).finally(() => { file.value = ""; });
  at("view-recordings").replaceChildren(h("div", { class: "recording" },
    h("p", { class: "bar" }, h("h2", null, "Recordings"), h("span", { class: "fill" }), button("Import a file", () => file.click()), file),
    h("p", { class: "none" }, "Events and screenshots of a task that you or an agent did in browser tabs. Passwords, one-time codes and card numbers are not recorded."),
    startForm(profiles), h("ul", { id: "recordings", class: "routines" })));
  drawn = "";
  drawList(recordings);
}

function drawList(recordings) {
  const now = JSON.stringify(recordings), place = at("recordings");
  if (now === drawn || !place) return;
  drawn = now;
  const row = it => h("li", { class: `card ${compile.waits(it) ? "calls" : ""}` }, h("a", { href: `#/recordings/${it.recording_id}${compile.waits(it) || it.compile.status === "running" ? "/compile" : ""}` },
    h("span", { class: "bar" }, h("strong", null, h("bdi", null, nameOf(it))), it.status === "stopped" && it.compile.status !== "none" ? compileBadge(it) : badge(it)),
    it.start_url && h("span", null, oneLine(it.start_url)),
    h("small", null, [counted(it), time(it.started_at), it.profile && `profile ${it.profile}`].filter(Boolean).join(", "))));
  place.replaceChildren(...(recordings.length ? recordings.map(row) : [h("li", { class: "none" }, "There are no recordings yet.")]));
}

function startForm(profiles) {
  const conversation = opened();
  const profile = h("select", null, profiles.map(it => h("option", { value: it.name, selected: it.name === (at("profile").value || profiles.find(one => one.isDefault)?.name) }, it.name)));
  const url = h("input", { type: "text", placeholder: "https://example.com", inputmode: "url", autocomplete: "off" });
  const name = h("input", { type: "text", maxlength: "200", autocomplete: "off" });
  const what = h("select", null, h("option", { value: "dedicated_window" }, "A new window"), h("option", { value: "current_window" }, "The window in front"),
    conversation && h("option", { value: "conversation" }, `The tabs of the conversation “${oneLine(conversation.info?.title) || "no message yet"}”`));
  const field = (label, control) => h("label", null, h("span", null, label), control);
  const ofWindow = [field("Profile", profile), field("Address to open first (optional)", url)];
  what.onchange = () => { for (const one of ofWindow) one.hidden = what.value === "conversation"; };
  const start = h("button", { class: "primary" }, "Start recording"), active = h("p", { role: "alert" });
  const form = h("form", { class: "card start-form", "aria-label": "Start a recording" },
    h("div", { class: "grid" }, field("Record", what), ofWindow, field("Name (optional)", name)),
    h("p", { class: "bar" }, h("span", { class: "none fill" }, "Tabs that are opened from a recorded tab are recorded too; other windows are not."), start), active);
  form.onsubmit = async submit => {
    submit.preventDefault();
    active.replaceChildren();
    start.disabled = true;
    start.textContent = "Starting…";
    const of = what.value === "conversation" ? { conversation_id: conversation.id }
      : { profile: profile.value, launch_mode: what.value, ...(url.value.trim() ? { start_url: addressed(url.value.trim()) } : {}) };
    await attempt(async () => {
      try {
        const { recording_id: id } = await ask("POST", "/recordings", { ...of, ...(name.value.trim() ? { name: name.value.trim() } : {}) });
        location.hash = `#/recordings/${id}`;
      } catch (error) {
        const other = error.details?.recording_id;
        if (other) active.replaceChildren("This browser already has an active recording. ", h("a", { href: `#/recordings/${other}` }, "Open that recording"));
        else throw error;
      }
    });
    start.disabled = false;
    start.textContent = "Start recording";
  };
  return form;
}

/** The format of a file: that of cdpilot names itself, that of DevTools has steps. */
async function importFile(input) {
  const [file] = input.files;
  if (!file) return;
  if (file.size > MOST_FILE) throw new Error("The file is larger than 64 MiB.");
  let content = null;
  try {
    content = JSON.parse(await file.text());
  } catch {
    throw new Error("The file is not JSON.");
  }
  const format = typeof content?.format === "string" ? "cdpilot" : Array.isArray(content?.steps) ? "devtools" : null;
  if (!format) throw new Error("The file is neither a recording of cdpilot nor one of Chrome DevTools.");
  const made = await ask("POST", "/recordings/import", { format, content });
  notes = made.notes;
  location.hash = `#/recordings/${made.recording_id}`;
}

// One recording.

function page(own, body) {
  own.state = h("span", { role: "status" });
  own.facts = h("p", { class: "none" });
  own.controls = h("span", { class: "bar" });
  own.missing = h("p", { class: "notice warning" });
  const exported = (format, label) => button(label, () => attempt(() => save(own, format)));
  own.steps = h("ol", { class: "stepper", "aria-label": "Steps" });
  own.next = h("a", { class: "button primary next", href: `#/recordings/${own.id}/compile` });
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the recording" }, PARTS.map(([name, label]) =>
    h("button", { type: "button", role: "tab", "aria-selected": String(name === own.part), onclick: () => { location.hash = `#/recordings/${own.id}/${name}`; } }, label)));
  const made = notes.splice(0);
  takeInfo(own, own.info);
  return h("div", { class: "recording" },
    h("p", { class: "bar" }, h("a", { href: "#/recordings" }, "← All recordings"), h("span", { class: "fill" }),
      exported("cdpilot", "Export"), exported("devtools", "Export for Chrome DevTools"),
      sureButton("Delete", "Delete it with its screenshots?", () => attempt(async () => {
        await ask("DELETE", pathOf(own.id));
        sessionStorage.removeItem("cdpilot-excluded-" + own.id);
        sessionStorage.removeItem("cdpilot-note-" + own.id);
        compile.forget(own.id);
        location.hash = "#/recordings";
      }))),
    h("p", { class: "bar" }, h("h2", null, h("bdi", null, nameOf(own.info))), own.state, h("span", { class: "fill" }), own.controls, own.part !== "compile" && own.next),
    own.facts, own.steps, own.missing,
    made.length > 0 && h("section", { class: "card" }, h("h3", null, "Changed or left out in the import"), h("ul", { class: "rows" }, made.map(note => h("li", null, oneLine(note))))),
    own.part !== "compile" && [noteForm(own), tabs], body);
}

/** Shows how far the recording is: recorded, reviewed, compiled. */
function drawSteps(own) {
  const { info, part } = own, isActive = info.status === "active", { status } = info.compile, isCompile = part === "compile";
  const step = (name, link, isNow, isDone, note) => {
    const text = [h("span", { class: "number", "aria-hidden": "true" }, isDone ? "✓" : ""), h("strong", null, name), isDone && h("span", { class: "hidden-label" }, "done"), note && h("small", null, note)];
    const of = link ? "a" : "span";
    return h("li", { class: isDone ? "done" : "" }, h(of, { href: link || undefined, "aria-current": isNow ? "step" : null }, text));
  };
  const isFocused = own.steps.contains(document.activeElement);
  own.steps.replaceChildren(
    step("Record", "", isActive && !isCompile, !isActive, isActive ? "in progress" : counted(info)),
    step("Review", isActive ? "" : `#/recordings/${own.id}/events`, !isActive && !isCompile, false, isActive ? "after you stop" : own.excluded.size ? `${own.excluded.size} excluded` : ""),
    step("Compile", isActive && !isCompile ? "" : `#/recordings/${own.id}/compile`, isCompile, status === "completed", compileWords(status)));
  if (isFocused) own.steps.querySelector("[aria-current]")?.focus();
  own.next.hidden = isActive;
  own.next.textContent = NEXT[status] ?? NEXT.none;
}

/** Shows the state of the compilation. */
function takeCompiled(own, status) {
  const isEnded = status === "completed" && own.info.compile.status !== status;
  own.info.compile = { ...own.info.compile, status };
  drawSteps(own);
  // It has a routine now.
  if (isEnded) attempt(async () => takeInfo(own, (await ask("GET", pathOf(own.id))).recording));
}

/** Shows the state of the recording. */
function takeInfo(own, info) {
  const state = stateOf(info);
  if (own.shown !== state) {
    own.shown = state;
    own.state.replaceChildren(badge(info));
    const change = (end, label, more) => button(label, () => attempt(async () => takeInfo(own, (await ask("POST", pathOf(own.id, "/" + end), {})).recording)), more);
    const isFocused = own.controls.contains(document.activeElement);
    own.controls.replaceChildren(...(info.status !== "active" ? [] : [state === "paused" ? change("resume", "Resume") : change("pause", "Pause"), change("stop", "Stop", { class: "primary" })]));
    if (isFocused) own.controls.firstChild?.focus();
    own.list?.classList.toggle("live", info.status === "active");
  }
  const isStopped = own.info.status === "active" && info.status !== "active";
  own.info = info;
  drawSteps(own);
  if (isStopped) attempt(() => compile.refresh(own));
  const ended = info.stop_reason && REASONS[info.stop_reason];
  own.facts.replaceChildren([counted(info), `${info.stopped_at ? "" : "since "}${time(info.started_at)}`, ended && `ended because ${ended}`,
    info.profile && `profile ${info.profile}`, MODES[info.launch_mode], info.viewport && `${info.viewport.width} × ${info.viewport.height} pixels`, oneLine(info.start_url)].filter(Boolean).join(" · "),
    ...info.routine_ids.flatMap((id, index) => [" · ", h("a", { href: `#/routines/${id}` }, info.routine_ids.length === 1 ? "Routine made from it" : `Routine ${index + 1} made from it`)]));
  own.missing.hidden = !info.gaps;
  own.missing.textContent = info.gaps ? `Events are missing in ${info.gaps === 1 ? "1 place" : `${info.gaps} places`}. Each event of type gap states the reason.` : "";
}

function noteForm(own) {
  const key = "cdpilot-note-" + own.id, saved = h("span", { role: "status", class: "none" });
  const text = h("textarea", { rows: "2", maxlength: "10000" });
  text.value = sessionStorage.getItem(key) ?? own.info.intent_note;
  const said = () => { saved.textContent = sessionStorage.getItem(key) === null ? "" : "Not saved yet"; };
  text.oninput = () => {
    sessionStorage.setItem(key, text.value);
    said();
  };
  const form = h("form", { class: "card start-form", "aria-label": "Note" },
    h("label", null, h("span", { class: "none" }, "What you wanted to do. A model that makes a routine of the recording reads it."), text),
    h("p", { class: "bar" }, saved, h("span", { class: "fill" }), h("button", null, "Save note")));
  form.onsubmit = submit => {
    submit.preventDefault();
    const sent = text.value;
    attempt(async () => {
      takeInfo(own, (await ask("POST", pathOf(own.id, "/intent-note"), { intent_note: sent })).recording);
      if (text.value !== sent) return;
      sessionStorage.removeItem(key);
      saved.textContent = "Saved";
    });
  };
  said();
  return form;
}

/** Saves the recording as a file. */
async function save(own, format) {
  const { content, filename } = await ask("GET", pathOf(own.id, `/export?format=${format}`));
  const url = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2) + "\n"], { type: "application/json" }));
  const link = h("a", { href: url });
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// Its events.

function eventsPart(own) {
  own.excludedLine = h("p", { class: "bar", role: "status" });
  own.list = h("ol", { class: "recorded", tabindex: "0", "aria-label": "Events" });
  own.before = button(`Show the ${AT_ONCE} events before`, () => attempt(() => readBefore(own)), { hidden: true });
  own.more = button(`Show the next ${AT_ONCE} events`, () => attempt(() => readMore(own)), { hidden: true });
  drawExcluded(own);
  return h("section", { class: "card events", "aria-label": "Events" }, own.excludedLine, own.before, own.list, own.more);
}

function drawExcluded(own) {
  const count = own.excluded.size;
  own.excludedLine.replaceChildren(h("span", { class: "fill none" }, count === 0 ? "Select an event to exclude it from compilation."
    : `${count === 1 ? "1 event is" : `${count} events are`} excluded from compilation.`),
  ...(count ? [button("Exclude none", () => { own.excluded.clear(); keepExcluded(own); })] : []));
}

function keepExcluded(own) {
  sessionStorage.setItem("cdpilot-excluded-" + own.id, JSON.stringify([...own.excluded]));
  for (const [index, it] of own.rows) {
    it.box.checked = own.excluded.has(index);
    it.row.classList.toggle("excluded", it.box.checked);
  }
  drawExcluded(own);
  drawSteps(own);
}

/** Follows an active recording, also after a lost connection. */
async function follow(own) {
  if (own.isOver || own.part !== "events" || own.info.status !== "active") return;
  own.stream?.abort();
  const leaving = own.stream = new AbortController();
  let pause = 500;
  const take = (name, id, data) => {
    if (own !== review) return;
    [own.last, pause] = [id ?? own.last, 500];
    if (name === "recording_event") takeEvent(own, data);
    if (name === "error") problem(data.error);
    if (name === "error" || name === "complete") own.isOver = true;
    if (name === "complete") takeInfo(own, data.recording);
  };
  while (own === review && own.stream === leaving && !leaving.signal.aborted) {
    try {
      await stream("GET", pathOf(own.id, "/stream"), { after: own.last, signal: leaving.signal, take });
    } catch (error) {
      if (leaving.signal.aborted || error.status === 401) return;
      if (error.status === 404) {
        problem("This recording was deleted.");
        location.hash = "#/recordings";
        return;
      }
    }
    if (own.isOver) return;
    await new Promise(done => setTimeout(done, pause));
    pause = Math.min(2 * pause, 10000);
  }
}

/** Takes an event of the stream, new or changed. */
function takeEvent(own, event) {
  const { list } = own, isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  const known = own.rows.get(event.event_index);
  if (known) known.draw(event);
  else {
    list.append(eventRow(own, event));
    // Earlier ones are read again when they are wanted.
    if (own.rows.size > 2 * AT_ONCE) {
      for (const [index, it] of [...own.rows].slice(0, AT_ONCE)) {
        it.row.remove();
        own.rows.delete(index);
      }
      own.before.hidden = false;
    }
  }
  own.info.event_count = Math.max(own.info.event_count, event.event_index);
  takeInfo(own, own.info);
  if (!known && event.event_type === "gap") refresh().catch(() => {});
  if (isAtEnd) list.scrollTop = list.scrollHeight;
}

async function readMore(own) {
  const last = [...own.rows.keys()].at(-1) ?? 0, events = await eventsAfter(own.id, last, AT_ONCE + 1);
  own.list.append(...events.slice(0, AT_ONCE).filter(event => !own.rows.has(event.event_index)).map(event => eventRow(own, event)));
  own.more.hidden = events.length <= AT_ONCE;
  if (!own.rows.size) own.list.replaceChildren(h("li", { class: "none" }, "There are no events."));
}

async function readBefore(own) {
  const [first] = own.rows.keys(), events = await eventsAfter(own.id, Math.max(0, first - AT_ONCE - 1), AT_ONCE);
  const rows = own.rows;
  own.rows = new Map();
  own.list.prepend(...events.filter(event => event.event_index < first).map(event => eventRow(own, event)));
  for (const [index, row] of rows) own.rows.set(index, row);
  own.before.hidden = !events.length || events[0].event_index <= 1;
}

/** A line of an event, which opens with its fields and screenshots. */
function eventRow(own, event) {
  const index = event.event_index;
  const line = h("span", { class: "line" }), when = h("time"), shots = h("small", { class: "shots" }), body = h("div", { class: "detail" });
  const box = h("input", { type: "checkbox", checked: own.excluded.has(index), "aria-label": `Exclude event ${index}` });
  box.onchange = () => {
    if (box.checked) own.excluded.add(index);
    else own.excluded.delete(index);
    keepExcluded(own);
  };
  const details = h("details", null, h("summary", null, h("span", { class: "number" }, String(index)), line, shots, when), body);
  const row = h("li", { class: box.checked ? "excluded" : "" }, box, details);
  let latest = "";
  const draw = changed => {
    line.replaceChildren(...lineOf(changed));
    when.textContent = changed.timestamp ? clock(changed.timestamp) : "";
    const has = changed.keyframe || changed.keyframe_after;
    shots.replaceChildren(...(has ? [h("span", { "aria-hidden": "true", title: "It has screenshots" }, "▣"), h("span", { class: "hidden-label" }, "has screenshots")] : []));
    row.classList.toggle("gap", changed.event_type === "gap");
    const now = JSON.stringify(changed);
    if (details.open && now !== latest) fill();
    latest = now;
  };
  const fill = () => attempt(async () => {
    const [full] = await eventsAfter(own.id, index - 1, 1);
    if (full?.event_index === index) body.replaceChildren(...detail(own, full));
  });
  details.ontoggle = () => {
    if (details.open) fill();
    else body.replaceChildren();
  };
  own.rows.set(index, { row, box, draw });
  draw(event);
  return row;
}

// What the compiler will be sent.

const effectLine = it => {
  switch (it.kind) {
    case "url": return `the tab shows ${oneLine(it.url)}`;
    case "tab": return `tab ${it.tab} opens with ${oneLine(it.url)}`;
    case "tab_closed": return `tab ${it.tab} closes`;
    case "dialog": return `the page shows the ${oneLine(it.dialog)} dialog “${oneLine(it.message)}”, which is ${it.accepted ? "accepted" : "dismissed"}`;
    case "download": return `the download of “${oneLine(it.filename)}” begins`;
  }
  return oneLine(it.kind);
};

async function draftPart(own) {
  const { normalized_steps: steps, workflow } = await ask("GET", pathOf(own.id, "/workflow-draft"));
  const input = it => h("tr", null, h("td", null, h("code", null, it.name), h("small", null, it.required ? "required" : "optional")), h("td", null, h("bdi", null, oneLine(it.label))),
    h("td", null, it.sensitive ? h("span", { class: "badge waiting" }, "sensitive: not recorded") : h("bdi", null, oneLine(it.default))));
  const list = h("ol", { class: "draft" }), more = button(`Show the next ${AT_ONCE} steps`, () => draw(), { type: "button" });
  let count = 0;
  const draw = () => {
    list.append(...steps.slice(count, count + AT_ONCE).map(step => stepRow(own, step, ++count)));
    more.hidden = count >= steps.length;
  };
  draw();
  return h("section", { class: "card events", "aria-label": "What the compiler will be sent" },
    h("p", { class: "none" }, "The steps derived from the events, without a model. Each step opens with its events."),
    own.info.status === "active" && h("p", { class: "bar" }, h("span", { class: "fill" }, "The recording goes on: later events are not shown here."), button("Read again", () => attempt(() => show(own.id, "draft")))),
    h("p", null, h("strong", null, "Goal: "), h("bdi", null, oneLine(workflow.goal))),
    own.excluded.size > 0 && h("p", null, `${own.excluded.size === 1 ? "1 event is" : `${own.excluded.size} events are`} excluded from compilation.`),
    workflow.warnings.length > 0 && h("ul", { class: "warnings", tabindex: "0", "aria-label": "Warnings" }, workflow.warnings.map(it => h("li", { class: "warning" }, oneLine(it.message)))),
    workflow.inputs.length > 0 && [h("h3", null, "Inputs"), h("table", null, h("thead", null, h("tr", null, ["Name", "Field", "Recorded value"].map(name => h("th", { scope: "col" }, name)))), h("tbody", null, workflow.inputs.map(input)))],
    h("h3", null, "Steps"), steps.length ? list : h("p", { class: "none" }, "There are no steps yet."), more);
}

/** A step, which opens with its events. */
function stepRow(own, step, number) {
  const events = step.source_event_indexes, left = events.filter(index => !own.excluded.has(index));
  const isOut = events.length > 0 && !left.length;
  const body = h("ol", { class: "recorded" });
  const after = step.postcondition === null ? [] : step.postcondition.kind === "all" ? step.postcondition.of : [step.postcondition];
  const details = h("details", null, h("summary", null, h("span", { class: "number" }, String(number)),
    h("span", { class: "line" }, h("b", null, step.type), " ", oneLine(step.description), isOut && h("span", { class: "badge" }, "excluded"), after.length > 0 && h("small", null, `Then ${after.map(effectLine).join("; ")}.`)),
    h("small", null, events.length ? named(events) : "")), body);
  details.ontoggle = () => {
    if (!details.open || body.childElementCount) return;
    attempt(async () => {
      const [first, last] = [Math.min(...events), Math.max(...events)];
      const found = await eventsAfter(own.id, first - 1, Math.min(last - first + 1, 5000));
      body.replaceChildren(...found.filter(event => events.includes(event.event_index)).map(event =>
        h("li", { class: own.excluded.has(event.event_index) ? "excluded" : "" }, h("span", { class: "number" }, String(event.event_index)), h("span", { class: "line" }, lineOf(event)))));
    });
  };
  return h("li", { class: isOut ? "excluded" : "" }, details);
}
