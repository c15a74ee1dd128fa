// What a model does while it compiles a recording: a line for each call, with its problems.

import { clock, cut, h } from "/ui/dom.js";
import { visible } from "/ui/routine-text.js";
import { toolName } from "/ui/words.js";

const MARKS = { done: "✓", failed: "✗", "": "→" };
const WORDS = { done: "done", failed: "refused", "": "in progress" };
/** Longest text of a line, in characters. */
const MOST = 400;

/** The problems of a routine that was refused, a line each. */
function problemsOf(text) {
  const [, ...lines] = text.split("\n");
  return text.startsWith("the routine has problems") ? lines.filter(Boolean) : [];
}

function counted(lines) {
  const more = Number(lines.at(-1)?.match(/^and (\d+) more$/)?.[1] ?? 0);
  const count = lines.length + (more ? more - 1 : 0);
  return count === 1 ? "1 problem" : `${count} problems`;
}

/** A list, and `add(events)`, which takes events as a conversation has them. */
export function log() {
  const list = h("ol", { class: "card compile-log", role: "log", "aria-label": "What the model does", tabindex: "0" }), open = new Map();
  const line = (event, mark, name, text, kind) => {
    const state = h("span", { class: "mark" }, h("span", { "aria-hidden": "true" }, mark)), told = h("span", { class: "text" }, cut(visible(text), MOST));
    const row = h("li", { class: kind }, state, h("span", null, h("b", null, name), " ", told), event.time && h("time", null, clock(event.time)));
    list.append(row);
    return { row, state, told };
  };
  const settle = (it, kind) => {
    it.row.className = kind;
    it.state.replaceChildren(h("span", { "aria-hidden": "true" }, MARKS[kind]), h("span", { class: "hidden-label" }, WORDS[kind]));
  };
  const take = event => {
    switch (event.type) {
      case "MessageEvent":
        // The first message is made by the program.
        if (event.text && event.id > 2) line(event, event.role === "user" ? "›" : "‹", event.role === "user" ? "You" : "Model", event.text, "said");
        return;
      case "SystemEvent": return void line(event, "·", "Notice", event.text, "notice");
      case "ActionEvent": {
        if (event.text) line(event, "‹", "Model", event.text, "said");
        const it = line(event, "", toolName(event.tool), event.doing, "");
        settle(it, "");
        open.set(event.call, it);
        return;
      }
      case "ObservationEvent": {
        const it = open.get(event.call);
        open.delete(event.call);
        if (!it) return;
        settle(it, event.ok ? "done" : "failed");
        if (event.ok) return;
        const problems = problemsOf(event.text);
        if (!problems.length) it.told.append(`: ${cut(visible(event.text), MOST)}`);
        else it.told.replaceChildren(h("details", null, h("summary", null, `${it.told.textContent}: ${counted(problems)}`), h("ul", null, problems.map(text => h("li", null, visible(text))))));
      }
    }
  };
  const add = events => {
    const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
    events.forEach(take);
    if (isAtEnd) list.scrollTop = list.scrollHeight;
  };
  return { list, add };
}
