// The timeline of a conversation: a line for each event, with details on demand.

import { at, button, clock, copy, cut, h, worded } from "/ui/dom.js";
import { quoted, result, toolName } from "/ui/words.js";

/** How many lines are shown. */
const SHOWN = 200;
const KINDS = {
  said: event => event.type === "MessageEvent",
  done: event => event.type === "ActionEvent" || event.type === "ObservationEvent",
  asked: event => event.name === "help_request",
  system: event => event.type === "SystemEvent" || ["dialog", "complete", "error"].includes(event.name),
};

let conversation = null, kind = "", most = SHOWN;
/** Whether the newest line stays in view. */
let isAtEnd = true;

const toEnd = () => { at("timeline").scrollTop = at("timeline").scrollHeight; };

let isScheduled = false;
/** Scrolls to the end with the next frame: once for all lines that were added before it, since scrolling needs a layout. */
function toEndSoon() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    if (isAtEnd) toEnd();
  });
}

const isShown = event => event.name !== "usage_metrics" && (!kind || KINDS[kind](event));

function words(event) {
  switch (event.name) {
    case "help_request": return ["?", event.question?.kind === "approval" ? "Approval" : "Question", event.text];
    case "dialog": return ["▣", "Dialog of the page", event.text];
    case "complete": return ["■", event.stopped ? "Stopped" : event.ok ? "Done" : "Ended", ""];
    case "error": return ["!", "Failed", event.text];
  }
  switch (event.type) {
    case "MessageEvent": return event.role === "user" ? ["›", "You", event.text] : ["‹", "Model", event.text];
    case "ActionEvent": return ["→", toolName(event.tool), [event.text || event.thinking, event.doing].filter(Boolean).join("\n")];
    case "ObservationEvent": return [event.ok ? "✓" : "✗", toolName(event.tool), result(event)];
    default: return ["·", "Notice", event.text];
  }
}

function kindOf(event) {
  const found = Object.entries(KINDS).find(([, is]) => is(event));
  return found ? found[0] : "system";
}

function line(event) {
  const [mark, name, text] = words(event);
  const failed = event.ok === false || event.name === "error";
  const body = h("div", { class: "detail" });
  const details = h("details", {
    ontoggle: () => { if (details.open && !body.childElementCount) detail(event, body); },
  },
  h("summary", null,
    h("span", { class: "mark", "aria-hidden": "true" }, mark),
    h("span", { class: "name" }, name),
    event.time && h("time", null, clock(event.time)),
    text && h("span", { class: "text" }, cut(text, 300))),
  body);
  return h("li", { class: `${kindOf(event)}${failed ? " failed" : ""}`, data: { id: event.id } }, details);
}

async function detail(event, body) {
  body.replaceChildren(h("p", { class: "none" }, "Loading…"));
  try {
    const { data } = await conversation.whole(event.id);
    const buttons = [];
    if (data.type === "ActionEvent") {
      const given = JSON.stringify(data.action ?? {});
      buttons.push(
        button("Copy as tool call", click => copy(JSON.stringify({ name: data.tool_name, arguments: data.action ?? {} }, null, 2), click.target)),
        button("Copy as command", click => copy(`cdpilot tool ${data.tool_name} ${quoted(given)}`, click.target)),
        button("Copy as curl", click => copy(curl(data.tool_name, data.action ?? {}), click.target)));
    }
    buttons.push(button("Copy as JSON", click => copy(JSON.stringify(data, null, 2), click.target)));
    body.replaceChildren(h("pre", null, cut(JSON.stringify(data, null, 2), 20000)), h("p", { class: "bar" }, buttons));
  } catch (problem) {
    body.replaceChildren(h("p", { class: "none" }, worded(problem)));
  }
}

/** A call as a request to the MCP route; the token is that of the home, in the environment. */
function curl(name, given) {
  const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } });
  return `curl ${quoted(`${location.origin}/mcp?toolsets=all`)} -H "Authorization: Bearer $CDPILOT_TOKEN" -H 'Content-Type: application/json' -H 'Accept: application/json' --data-raw ${quoted(call)}`;
}

function earlier() {
  const more = button("Show earlier events", async () => {
    most += SHOWN;
    if (conversation.events.filter(isShown).length < most && conversation.first > 0) {
      more.disabled = true;
      await conversation.loadEarlier().catch(() => {});
    }
    render(true);
  });
  return h("li", { class: "more" }, more);
}

/** Draws all lines. `keeps`: the place of reading is kept; otherwise the newest line is shown. */
export function render(keeps) {
  const list = at("timeline"), before = list.scrollHeight - list.scrollTop;
  const shown = conversation ? conversation.events.filter(isShown) : [];
  const lines = shown.slice(-most).map(line);
  const hasMore = conversation && (shown.length > most || conversation.first > 0);
  list.replaceChildren(...(hasMore ? [earlier()] : []), ...lines);
  if (!lines.length) list.append(h("li", { class: "none" }, "Nothing has happened yet."));
  if (keeps) list.scrollTop = list.scrollHeight - before;
  else toEnd();
  isAtEnd = !keeps;
}

/** Adds lines of new events. */
export function append(events) {
  const list = at("timeline");
  const lines = events.filter(isShown).slice(-most).map(line);
  if (!lines.length) return;
  list.querySelector(":scope > .none")?.remove();
  list.append(...lines);
  const surplus = list.querySelectorAll(":scope > li[data-id]").length - most;
  if (surplus > 0) {
    if (!list.querySelector(":scope > .more")) list.prepend(earlier());
    for (const old of [...list.querySelectorAll(":scope > li[data-id]")].slice(0, surplus)) old.remove();
  }
  if (isAtEnd) toEndSoon();
}

/** Shows the events of another conversation; `null`: of none. */
export function show(other) {
  [conversation, most] = [other, SHOWN];
  render(false);
}

export function begin() {
  const list = at("timeline");
  let height = 0;
  // Before a scroll that is due, the list also moves because lines were added and removed.
  let usedAt = -1000;
  for (const kind of ["wheel", "keydown", "pointerdown", "pointermove", "touchmove"]) {
    list.addEventListener(kind, event => { if (kind !== "pointermove" || event.buttons) usedAt = performance.now(); }, { passive: true });
  }
  const isMovedByUser = () => performance.now() - usedAt < 500;
  list.onscroll = () => { if ((!isScheduled || isMovedByUser()) && list.clientHeight === height) isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40; };
  new ResizeObserver(() => {
    height = list.clientHeight;
    if (isAtEnd) toEnd();
  }).observe(list);
  at("kind-filter").onchange = change => {
    [kind, most] = [change.target.value, SHOWN];
    render(false);
  };
}
