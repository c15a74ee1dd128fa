// Events of a recording as elements: their lines, their fields and their screenshots.

import { ask, picture } from "/ui/api.js";
import { attempt, button, h, worded } from "/ui/dom.js";
import { about, oneLine } from "/ui/recording-lines.js";

const COMPILE = { running: ["Compiling", "running"], asking: ["Needs your answer", "waiting"], review: ["Ready to review", "waiting"], completed: ["Routine saved", ""], error: ["Compilation failed", "failed"] };
/** Events of a step that are shown at once. */
const MOST_SHOWN = 4;
/** Most events of one request, and the largest distance of two events that are read with one. */
const [AT_ONCE, APART] = [500, 50];
const BIDI = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export const time = seconds => new Date(seconds * 1000).toLocaleString();
export const pathOf = (id, end = "") => `/recordings/${encodeURIComponent(id)}${end}`;
export const eventsAfter = async (id, after, limit) => (await ask("GET", pathOf(id, `/events?after=${after}&limit=${limit}`))).events;
const fields = value => JSON.stringify(value, null, 2).replace(BIDI, c => "\\u" + c.charCodeAt(0).toString(16));

/** Whether the compilation of a recording waits for the person. */
export const needsPerson = status => status === "asking" || status === "review";

/** The state of a compilation in words; empty if there is none. */
export const compileWords = status => COMPILE[status]?.[0] ?? "";

/** The state of the compilation of a recording; null if there is none. */
export function compileBadge(info) {
  const [text, kind] = info.compile.code === "CANCELLED" ? ["Compilation stopped", ""] : COMPILE[info.compile.status] ?? [];
  return text ? h("span", { class: `badge ${kind}` }, text) : null;
}

/** The type of an event and what it was about. */
export const lineOf = event => [h("b", null, event.event_type), " ", about(event), event.element?.sensitive && h("span", { class: "badge" }, "sensitive")].filter(Boolean);

/** Numbers of events in words. */
export function named(events) {
  if (events.length === 1) return `event ${events[0]}`;
  return `events ${events.slice(0, 6).join(", ")}${events.length > 6 ? ` and ${events.length - 6} more` : ""}`;
}

/** All that is known of an event. */
export function detail(own, event) {
  const { page: of, element: it } = event, index = event.event_index;
  const facts = [
    ["Page", oneLine(of?.title)], ["Address", oneLine(of?.url)], ["Tab", event.tab || ""],
    ["Frame", event.frame.map(one => oneLine(one.name || one.url) || String(one.index)).join(" › ")],
    ["Text", oneLine(it?.text)], ["Selectors", it?.selectors.map(oneLine).join("  ")],
    ["Sensitive", it?.sensitive && "what this field holds is not recorded"],
    ["Done by", event.by === "agent" ? "an agent or another program, through cdpilot" : "a person"],
    ["Time", event.timestamp ? time(event.timestamp) : ""],
  ].filter(([, value]) => value);
  const shot = (has, label, end) => has ? screenshot(pathOf(own.id, `/keyframes/${index}${end}`), `The page ${label} event ${index}`, label) : null;
  const shots = [shot(event.keyframe, "before", ""), shot(event.keyframe_after, "after", "?after=true")].filter(Boolean);
  return [shots.length ? h("div", { class: "pair" }, shots) : h("p", { class: "none" }, "This event has no screenshot."),
    h("dl", null, facts.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, h("bdi", null, String(value)))])),
    h("details", null, h("summary", null, "All fields"), h("pre", { tabindex: "0", "aria-label": `Fields of event ${index}` }, fields(event)))];
}

/** A screenshot, which a click enlarges. */
function screenshot(path, alt, label) {
  const image = h("img", { alt, hidden: true }), note = h("figcaption", null, label === "before" ? "Before" : "After");
  const figure = h("figure", null, note, h("button", { type: "button", class: "shot", "aria-pressed": "false", "aria-label": `${alt}: enlarge`, onclick: click => {
    const isLarge = figure.classList.toggle("large");
    click.currentTarget.setAttribute("aria-pressed", String(isLarge));
  } }, image));
  picture(path).then(blob => {
    const url = URL.createObjectURL(blob);
    image.onload = () => URL.revokeObjectURL(url);
    image.src = url;
    image.hidden = false;
  }, error => { note.textContent += `: ${worded(error)}`; });
  return figure;
}

/** Reads the events with these numbers, except those that are `known` already; those that the recording does not have stay unknown. */
async function read(id, indexes, known) {
  const missing = [...new Set(indexes)].filter(index => !known.has(index)).sort((a, b) => a - b);
  while (missing.length) {
    const first = missing[0];
    let last = missing.shift();
    while (missing.length && missing[0] - last <= APART && missing[0] - first < AT_ONCE) last = missing.shift();
    for (const event of await eventsAfter(id, first - 1, last - first + 1)) if (event.event_index <= last) known.set(event.event_index, event);
  }
}

/** Pictures are read once they are about to be seen. */
const waiting = new WeakMap();
const seen = new IntersectionObserver(entries => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    waiting.get(target)?.();
  }
}, { rootMargin: "300px" });

function load(image, path, failed = () => {}) {
  picture(path).then(blob => {
    const url = URL.createObjectURL(blob);
    image.onload = () => URL.revokeObjectURL(url);
    image.src = url;
    image.hidden = false;
  }, failed);
}

/** A small screenshot, which opens at its full size. */
function thumbnail(id, event) {
  const index = event.event_index, isBefore = Boolean(event.keyframe);
  const image = h("img", { alt: "", hidden: true });
  const shot = h("button", { type: "button", class: "shot thumbnail", "aria-label": `Screenshot ${isBefore ? "before" : "after"} event ${index}: enlarge`, onclick: () => enlarge(id, event) }, image);
  waiting.set(shot, () => load(image, pathOf(id, `/keyframes/${index}${isBefore ? "" : "?after=true"}`), () => shot.remove()));
  seen.observe(shot);
  return shot;
}

/** Shows the screenshots of an event above the page. */
function enlarge(id, event) {
  const index = event.event_index;
  const figure = (label, end) => {
    const image = h("img", { alt: `The page ${label.toLowerCase()} event ${index}`, hidden: true }), note = h("figcaption", null, label);
    load(image, pathOf(id, `/keyframes/${index}${end}`), error => { note.textContent += `: ${worded(error)}`; });
    return h("figure", null, note, image);
  };
  const dialog = h("dialog", { class: "lightbox", "aria-label": `Screenshots of event ${index}` },
    h("p", { class: "bar" }, h("span", { class: "number" }, String(index)), h("span", { class: "line fill" }, lineOf(event)), button("Close", () => dialog.close())),
    event.keyframe && figure("Before", ""), event.keyframe_after && figure("After", "?after=true"));
  dialog.onclick = click => { if (click.target === dialog) dialog.close(); };
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
}

/** A list of events with small screenshots. `known`: events that were read before, by number. */
export function eventList(id, indexes, known) {
  const list = h("ul", { class: "beside" });
  const row = index => {
    const event = known.get(index);
    if (!event) return h("li", { class: "none" }, `Event ${index} is not in the recording.`);
    const has = event.keyframe || event.keyframe_after;
    return h("li", null, h("span", { class: "bar" }, h("span", { class: "number" }, String(index)), h("span", { class: "line" }, lineOf(event))), has && thumbnail(id, event));
  };
  attempt(async () => {
    await read(id, indexes, known);
    const more = indexes.length - MOST_SHOWN;
    list.replaceChildren(...indexes.slice(0, MOST_SHOWN).map(row));
    if (more > 0) list.append(h("li", null, button(more === 1 ? "Show 1 more event" : `Show ${more} more events`, click => {
      const at = list.childElementCount - 1;
      click.currentTarget.parentElement.replaceWith(...indexes.slice(MOST_SHOWN).map(row));
      list.children[at].querySelector("button")?.focus();
    })));
  });
  return list;
}
