// The list of conversations.

import { ask } from "/ui/api.js";
import { ago, at, attempt, fill, h, sureButton } from "/ui/dom.js";
import { stateName } from "/ui/words.js";

let opened = null, drawn = "";

function row(it, index, all) {
  const state = it.paused ? "paused" : it.status;
  const name = stateName(it);
  const remove = sureButton("×", "Delete?", async () => {
    await attempt(() => ask("DELETE", "/agent/conversations/" + encodeURIComponent(it.id)));
    if (it.id === opened) location.hash = "#/";
    drawn = "";
    refresh();
  }, { class: "icon", "aria-label": `Delete the conversation ${it.title || it.id}` });
  return h("li", { class: it.id === opened ? "current" : "" },
    h("a", { href: "#/c/" + it.id, "aria-current": it.id === opened ? "page" : null },
      h("span", { class: `dot ${state}`, title: name }, h("span", { class: "hidden-label" }, name)),
      h("span", { class: "name", title: it.title || "" }, it.title || "(no message yet)"),
      h("small", null, `${twin(it, all)}${name} · ${it.model} · ${ago(it.updated_at)}`)),
    remove);
}

/** What tells a conversation from others with the same title: its number among them, by time. */
function twin(it, all) {
  const same = all.filter(other => other.title === it.title);
  if (same.length < 2) return "";
  return `no. ${same.length - same.indexOf(it)} · `;
}

/** Reads the list again. */
export async function refresh() {
  const status = at("status-filter").value;
  const { conversations } = await ask("GET", "/agent/conversations" + (status ? "?status=" + status : ""));
  const waiting = conversations.filter(it => it.status === "waiting").length;
  at("drawer-toggle").classList.toggle("calls", waiting > 0);
  const shown = conversations.slice(0, 300);
  const state = JSON.stringify([opened, shown.map(it => [it.id, it.title, it.status, it.paused, it.queued, it.model, ago(it.updated_at)])]);
  if (state === drawn) return shown;
  drawn = state;
  fill(at("conversations"), shown.map(row), status ? "No conversation in this state." : "No conversation yet.");
  return shown;
}

/** Marks the conversation that is open. */
export function mark(id) {
  opened = id;
  refresh().catch(() => {});
}

export function begin() {
  at("status-filter").onchange = () => attempt(refresh);
  at("new").onclick = () => { location.hash = "#/"; at("text").focus(); toggle(false); };
  at("drawer-toggle").onclick = () => toggle(!document.body.classList.contains("with-drawer"));
  at("conversations").addEventListener("click", click => { if (click.target.closest("a")) toggle(false); });
  document.addEventListener("keydown", key => { if (key.key === "Escape") toggle(false); });
  at("views").addEventListener("pointerdown", down => { if (!down.target.closest("#drawer")) toggle(false); });
}

function toggle(isOpen) {
  document.body.classList.toggle("with-drawer", isOpen);
  at("drawer-toggle").setAttribute("aria-expanded", String(isOpen));
}
