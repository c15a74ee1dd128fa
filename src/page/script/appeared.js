// Text that appeared since an action began, in elements without a role that would tell: popups of plain elements.
// Uses: find, node, node-cache, notices, settle, style, wait.

// Maximum number of elements looked at, of lines and of characters of a line and of texts that went away.
const [MOST_APPEARED, MOST_LINES, LINE_LENGTH, MOST_GONE] = [60, 5, 120, 20000];
const HIDING_NAMES = new Set(["class", "style", "hidden", "open", "aria-hidden"]);
const HIDING_STYLE = /display:\s*none|visibility:\s*(?:hidden|collapse)|opacity:\s*0*(?:\.0+)?\s*(?:;|$)/i;

// Elements that were added since the action began; for others, what their attributes were before.
let added = new Set();
let looked = new Map();
let goneText = "";

function watchAppearing() {
  [added, looked, goneText] = [new Set(), new Map(), ""];
}

/** Changes that the action caused. */
function noteAppearing(records) {
  for (const { type, target, attributeName, oldValue, addedNodes, removedNodes } of records) {
    if (added.size + looked.size >= MOST_APPEARED) return;
    if (type === "childList") {
      for (const node of removedNodes) if (goneText.length < MOST_GONE) goneText += " " + textIn(node).slice(0, MOST_GONE);
      // Text where there was none: a status, the result of a calculation.
      if (isElement(target) && !removedNodes.length && addedNodes.length && Array.from(addedNodes).every(IS_TEXT) && isNewText(target, addedNodes)) added.add(target);
      for (const node of addedNodes) if (isElement(node) && added.size < MOST_APPEARED) added.add(node);
    } else if (type === "attributes" && HIDING_NAMES.has(attributeName)) {
      const before = looked.get(target) || new Map();
      if (!before.has(attributeName)) before.set(attributeName, oldValue);
      looked.set(target, before);
    }
  }
}

const isNewText = (element, nodes) => {
  const text = Array.from(nodes).map(textIn).join("");
  return fold(text) !== "" && fold(textIn(element)) === fold(text);
};
// Letters, digits, punctuation or symbols: not only what is not seen.
const SEEN = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** The first lines of text that appeared. `reported`: elements whose text is in other notices. */
function appearedLines(reported) {
  const candidates = [...Array.from(added), ...Array.from(looked.keys()).filter((one) => wasHidden(one, looked.get(one)))];
  const shown = candidates.filter((one) => isConnected(one) && isVisible(one));
  const outer = shown.filter((one) => !shown.some((other) => other !== one && CONTAINS.call(other, one)));
  const gone = fold(goneText);
  const lines = [];
  for (const element of outer) {
    // Live regions report what they want to.
    if (CLOSEST.call(element, "[aria-live]") || reported.some((one) => CONTAINS.call(one, element))) continue;
    const text = element instanceof HTMLElement ? GET_INNER_TEXT.call(element) : textIn(element);
    for (const part of text.slice(0, MOST_GONE).split("\n")) {
      const line = fold(part);
      if (!SEEN.test(line) || lines.includes(line) || gone.includes(line)) continue;
      lines.push(line);
      if (lines.length >= MOST_LINES) return lines.map((one) => clipped(one, LINE_LENGTH));
    }
  }
  return lines.map((one) => clipped(one, LINE_LENGTH));
}

// Whether an element that is visible was hidden by its attributes before.
function wasHidden(element, before) {
  if (before.has("hidden") && before.get("hidden") !== null) return true;
  if (before.has("open") && before.get("open") === null) return true;
  if (before.get("aria-hidden") === "true") return true;
  if (before.has("style") && HIDING_STYLE.test(before.get("style") || "")) return true;
  return before.has("class") && hidesByClass(element, before.get("class") || "");
}

let twins = null;

// Whether a style sheet hides an element with these classes: tried on one like it in another document.
function hidesByClass(element, classes) {
  readSheets();
  if (!sheets.hides.length) return false;
  twins ||= document.implementation.createHTMLDocument("");
  const twin = twins.createElement(/^[a-z][a-z0-9-]*$/.test(nameOfTag(element)) ? nameOfTag(element) : "div");
  SET_ATTRIBUTE.call(twin, "class", classes);
  const id = attr(element, "id");
  if (id) SET_ATTRIBUTE.call(twin, "id", id);
  return sheets.hides.some(([last, around]) => {
    try {
      return MATCHES.call(twin, last) && MATCHES.call(element, around);
    } catch {
      return false;
    }
  });
}
