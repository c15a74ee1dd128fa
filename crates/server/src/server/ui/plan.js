// The plan: the to-do list of the agent. While it rests, a person may change it; the agent reads the change as a message.

import { at, attempt, button, h } from "/ui/dom.js";

const STATUSES = ["pending", "in_progress", "completed", "cancelled"];
const text = value => typeof value === "string" ? value : "";
let conversation = null, send = () => {}, isEditing = false, drawn = "";

/** The to-do list: the last one that replaced all, and what was merged into it since. */
function items() {
  let list = [];
  for (const event of conversation?.events ?? []) {
    const change = event.todos?.todos;
    if (!Array.isArray(change)) continue;
    if (!event.todos.merge) list = [];
    for (const it of change) {
      if (!it || typeof it !== "object") continue;
      const known = list.findIndex(other => other.id === it.id);
      if (known < 0) list.push(it);
      else list[known] = it;
    }
  }
  return list.map(it => ({ content: text(it.content), status: STATUSES.includes(it.status) ? it.status : "pending" })).slice(0, 100);
}

/** Whether a message may be sent now. */
const mayChange = () => Boolean(conversation?.info) && conversation.info.status !== "waiting" && (conversation.info.paused || conversation.info.status !== "active");

const shown = it => h("li", { class: it.status }, it.content, h("span", { class: "hidden-label" }, ` (${it.status.replace("_", " ")})`));

function edit() {
  [isEditing, drawn] = [true, ""];
  let list = items();
  const rows = h("ol", { class: "prompts" });
  const draw = focus => {
    rows.replaceChildren(...list.map((it, index) => h("li", null,
      h("input", { type: "text", value: it.content, "aria-label": `Step ${index + 1}`, oninput: change => { it.content = change.target.value; } }),
      button("↑", () => { list.splice(index - 1, 0, ...list.splice(index, 1)); draw(index - 1); }, { class: "icon", disabled: !index, "aria-label": `Move step ${index + 1} up` }),
      button("×", () => { list = list.filter(other => other !== it); draw(); }, { class: "icon", "aria-label": `Remove step ${index + 1}` }))));
    rows.children[focus]?.querySelector("input").focus();
  };
  const done = () => { isEditing = false; show(conversation); };
  const tell = () => {
    const steps = list.map(it => it.content.trim()).filter(Boolean);
    const text = `Follow this plan instead, and keep it in your to-do list:\n${steps.map((step, index) => `${index + 1}. ${step}`).join("\n")}`;
    if (steps.length) attempt(() => send(text)).then(done);
  };
  draw();
  at("plan").replaceChildren(h("h2", null, "Change the plan"), rows, h("p", { class: "bar" },
    button("Add a step", () => { list.push({ content: "", status: "pending" }); draw(list.length - 1); }),
    h("span", { class: "fill" }), button("Cancel", done), button("Send to the agent", tell, { class: "primary" })));
}

/** Shows the plan of a conversation. */
export function show(other) {
  if (other !== conversation) isEditing = false;
  conversation = other;
  if (isEditing) return;
  const list = items(), may = mayChange();
  // A button must not be replaced while it is being clicked.
  const state = JSON.stringify([conversation?.id, list, may]);
  if (state === drawn) return;
  drawn = state;
  at("plan").hidden = !list.length;
  at("plan").replaceChildren(h("div", { class: "bar" }, h("h2", null, "Plan"), h("span", { class: "fill" }), may ? button("Change", edit) : ""),
    h("ol", { id: "todos" }, list.map(shown)));
}

/** `sends`: sends a message to the open conversation. */
export function begin(sends) {
  send = sends;
}
