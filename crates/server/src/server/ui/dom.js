// Elements are made by code: a text of a page or a model is only ever text.

export const at = id => document.getElementById(id);

/** An element with properties and children; texts become text nodes, empty children are left out. */
export function h(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element[key] = value;
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else if (["value", "textContent", "src", "id", "href"].includes(key)) element[key] = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

export const button = (text, then, properties) => h("button", { type: "button", onclick: then, ...properties }, text);

/** Replaces the content of a list; `none` is shown if there are no items. */
export function fill(list, items, none) {
  list.replaceChildren(...(items.length ? items : [h("li", { class: "none" }, none)]));
}

/** A text cut to a number of characters. */
export const cut = (text, most) => text.length > most ? text.slice(0, most) + "…" : text;

const two = number => String(number).padStart(2, "0");

/** A time of the day, from seconds since 1970. */
export function clock(seconds) {
  const date = new Date(seconds * 1000);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** How long ago something was. */
export function ago(seconds) {
  const past = Math.max(0, Date.now() / 1000 - seconds);
  if (past < 60) return "just now";
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86400) return `${Math.floor(past / 3600)} h ago`;
  return new Date(seconds * 1000).toLocaleDateString();
}

/** Copies a text, and says so on the button for a moment. */
export async function copy(text, from) {
  const before = from.textContent;
  try {
    await navigator.clipboard.writeText(text);
    from.textContent = "Copied";
  } catch {
    from.textContent = "Not copied";
  }
  setTimeout(() => { from.textContent = before; }, 1500);
}

/** A button that does something only with a second click within four seconds. */
export function sureButton(text, question, then, properties) {
  let timer = 0;
  const it = button(text, () => {
    if (timer) {
      reset();
      return then();
    }
    // A double click is one decision.
    it.disabled = true;
    setTimeout(() => {
      it.disabled = false;
      if (document.activeElement === document.body) it.focus();
    }, 400);
    it.textContent = question;
    it.setAttribute("aria-label", question);
    it.classList.add("sure");
    timer = setTimeout(reset, 4000);
  }, properties);
  const label = it.getAttribute("aria-label");
  const reset = () => {
    clearTimeout(timer);
    timer = 0;
    it.textContent = text;
    it.classList.remove("sure");
    if (label) it.setAttribute("aria-label", label);
    else it.removeAttribute("aria-label");
  };
  return it;
}

let problemTimer = 0;

/** Shows a problem below the header; an empty text removes it. */
export function problem(text) {
  const line = at("problem");
  line.hidden = !text;
  line.textContent = text;
  clearTimeout(problemTimer);
  if (text) problemTimer = setTimeout(() => problem(""), 15000);
}

/** A problem in words for the person at this page. */
export function worded(error) {
  if (error instanceof TypeError && /fetch|network|load failed/i.test(error.message)) return "The server does not answer. Is cdpilot still running?";
  if (error.code === "NOT_FOUND" && /no conversation/.test(error.message)) return "This conversation no longer exists.";
  if (/no model is configured/.test(error.message)) return "No model is set up yet. Set one up under Models.";
  return error.message;
}

/** Runs something and shows its problem. Returns its result; undefined after a problem. */
export async function attempt(run) {
  try {
    problem("");
    return await run();
  } catch (error) {
    problem(worded(error));
    return undefined;
  }
}
