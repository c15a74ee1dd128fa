// Keys by script: the events of a key, and its default actions.
//
// Insertions and deletions dispatch beforeinput, as real input does. Enter ends a line or submits a form, Enter and
// Space activate buttons, links and checkboxes, Backspace and Delete delete, Control+a selects all, Tab moves to the
// next field. Other keys only send their events.
// Uses: act, forms, node, record, role, synthetic-pointer, wait.

const GET_INPUT_FORM = getterOf(HTMLInputElement.prototype, "form");
const GET_DEFAULT_ELEMENTS = getterOf(HTMLFormElement.prototype, "elements");
const REQUEST_SUBMIT = HTMLFormElement.prototype.requestSubmit;
const KEY_BITS = { altKey: 1, ctrlKey: 2, metaKey: 4, shiftKey: 8 };

/** The target of keys: the focused element. */
const keyTarget = () => focusedElement() || GET_BODY.call(document) || GET_DOCUMENT_ELEMENT.call(document);

function sendKey(type, key, bits, again) {
  const pressed = type === "keypress";
  const code = pressed ? key.text.charCodeAt(0) : key.keyCode;
  const init = {
    key: key.key,
    code: key.code,
    location: key.location,
    keyCode: code,
    charCode: pressed ? code : 0,
    repeat: again,
    bubbles: true,
    cancelable: true,
    composed: true,
    view: window,
  };
  for (const name of Object.keys(KEY_BITS)) init[name] = (bits & KEY_BITS[name]) !== 0;
  return SEND_EVENT.call(keyTarget(), new KeyboardEvent(type, init));
}

/** Presses a key. Returns whether the page allows its default action. */
function keyDown(key, bits, again) {
  if (!sendKey("keydown", key, bits, again)) return;
  if (key.text && !(bits & ~KEY_BITS.shiftKey)) {
    if (!sendKey("keypress", key, bits, again)) return;
    if (key.key === "Enter") return enterPressed(bits);
    const target = keyTarget();
    const kind = fieldKind(target);
    if (kind === "line" || kind === "lines" || kind === "rich") return putIn(target, "insertText", key.text);
    return;
  }
  const target = keyTarget();
  if (key.key === "Backspace") putIn(target, "deleteContentBackward", null);
  else if (key.key === "Delete") putIn(target, "deleteContentForward", null);
  else if (key.key === "Tab" && !(bits & ~KEY_BITS.shiftKey)) toNextField(target, (bits & KEY_BITS.shiftKey) !== 0);
  else if (key.key.toLowerCase() === "a" && (bits & ~KEY_BITS.shiftKey) && !(bits & KEY_BITS.altKey)) selectIn(target);
}

function keyUp(key, bits) {
  const target = keyTarget();
  if (!sendKey("keyup", key, bits, false) || key.key !== " " || bits) return;
  const tag = nameOfTag(target);
  if (tag === "button" || tag === "summary" || (tag === "input" && /^(ticked|other)$/.test(fieldKind(target)))) CLICK_FIELD.call(target);
}

// Text.

const changedFields = new WeakMap();

/** A field changed by script dispatches no `change` when it loses the focus: it is dispatched here. */
function tellOnLeave(element) {
  if (changedFields.has(element)) return;
  changedFields.set(element, heldBy(element));
  const leave = (event) => {
    if (event.composedPath()[0] !== element) return;
    window.removeEventListener("blur", leave, true);
    commitChange(element);
  };
  window.addEventListener("blur", leave, true);
}

function commitChange(element) {
  const before = changedFields.get(element);
  changedFields.delete(element);
  if (before !== undefined && before !== heldBy(element)) SEND_EVENT.call(element, new Event("change", { bubbles: true }));
}

function editEvent(type, inputType, data) {
  return new InputEvent(type, { inputType, data, bubbles: true, cancelable: type === "beforeinput", composed: true, view: window });
}

/** Inserts text at the selection, or deletes the selection or the character beside the caret. */
function putIn(element, inputType, data) {
  const kind = fieldKind(element);
  if (!/^(line|lines|rich)$/.test(kind) || readOnlyWhy(element) || MATCHES.call(element, ":disabled")) return;
  if (!SEND_EVENT.call(element, editEvent("beforeinput", inputType, data))) return;
  if (kind === "rich") {
    const command = { deleteContentBackward: "delete", deleteContentForward: "forwardDelete", insertParagraph: "insertParagraph" }[inputType];
    document.execCommand(command || "insertText", false, data === null ? undefined : data); // dispatches `input` by itself
    return;
  }
  tellOnLeave(element);
  if (!replaceIn(element, kind, inputType, data)) return;
  SEND_EVENT.call(element, editEvent("input", inputType, data));
  if (recorder) recorder.ownChange(element);
}

function replaceIn(element, kind, inputType, data) {
  const area = kind === "lines";
  const value = heldBy(element);
  const set = (text) => (area ? SET_AREA_VALUE : SET_INPUT_VALUE).call(element, text);
  // Number and email fields do not expose their selection.
  const blind = !area && !SELECTABLE_INPUTS.has(GET_INPUT_TYPE.call(element));
  if (blind) return replaceBlind(element, value, inputType, data, set);
  let [start, end] = area ? [AREA_START.call(element), AREA_END.call(element)] : [INPUT_START.call(element), INPUT_END.call(element)];
  if (start === end && inputType === "deleteContentBackward") start = stepBack(value, start);
  if (start === end && inputType === "deleteContentForward") end = stepOn(value, end);
  let text = data === null ? "" : data;
  const most = Number(attr(element, "maxlength"));
  if (has(element, "maxlength") && most >= 0) text = text.slice(0, Math.max(most - (value.length - (end - start)), 0));
  if (text === "" && start === end) return false;
  set(value.slice(0, start) + text + value.slice(end));
  const caret = start + text.length;
  (area ? AREA_RANGE : INPUT_RANGE).call(element, caret, caret);
  return true;
}

const isHighHalf = (code) => code >= 0xd800 && code < 0xdc00;
const stepBack = (text, at) => (at > 1 && isHighHalf(text.charCodeAt(at - 2)) ? at - 2 : Math.max(at - 1, 0));
const stepOn = (text, at) => Math.min(at + (isHighHalf(text.charCodeAt(at)) ? 2 : 1), text.length);

// A partial value ("1.", "-") is not readable.
const halfWay = new WeakMap();
const allSelected = new WeakSet();

function replaceBlind(element, value, inputType, data, set) {
  const known = halfWay.get(element);
  let text = known && known.held === value ? known.text : value;
  const all = allSelected.has(element);
  allSelected.delete(element);
  if (data !== null) text = (all ? "" : text) + data;
  else if (all) text = "";
  else if (inputType === "deleteContentBackward") text = text.slice(0, -1);
  else return false;
  set(text);
  halfWay.set(element, { text, held: heldBy(element) });
  return true;
}

// Keys with default actions.

function enterPressed(bits) {
  const target = keyTarget();
  const kind = fieldKind(target);
  if (kind === "lines") return putIn(target, "insertLineBreak", "\n");
  if (kind === "rich") return putIn(target, bits & KEY_BITS.shiftKey ? "insertLineBreak" : "insertParagraph", bits & KEY_BITS.shiftKey ? "\n" : null);
  if (target instanceof HTMLInputElement) {
    if (/^(button|submit|reset|image|file|color)$/.test(GET_INPUT_TYPE.call(target))) return CLICK_FIELD.call(target);
    commitChange(target);
    return submitFrom(target);
  }
  const tag = nameOfTag(target);
  if (tag === "button" || tag === "summary" || (tag === "a" && has(target, "href"))) CLICK_FIELD.call(target);
}

/** Submits the form of a field like Enter: by the form's first button, or without one if it has a single field. */
function submitFrom(field) {
  const form = GET_INPUT_FORM.call(field);
  if (!form) return;
  const elements = Array.from(GET_DEFAULT_ELEMENTS.call(form));
  const submits = (one) => (one instanceof HTMLButtonElement ? one.type === "submit" : one instanceof HTMLInputElement && /^(submit|image)$/.test(GET_INPUT_TYPE.call(one)));
  const button = elements.find(submits);
  if (button) {
    if (!MATCHES.call(button, ":disabled")) CLICK_FIELD.call(button);
    return;
  }
  const fields = elements.filter((one) => one instanceof HTMLInputElement && /^(line|picked)$/.test(fieldKind(one)));
  if (fields.length <= 1) REQUEST_SUBMIT.call(form);
}

const FOCUSABLE = "a[href], area[href], button, input, select, textarea, summary, iframe, [tabindex], [contenteditable]";

/** Focuses the next element in tab order, or the previous one. */
function toNextField(from, back) {
  const index = (element) => (element instanceof SVGElement ? GET_SVG_TAB_INDEX : GET_TAB_INDEX).call(element);
  const able = (element) => (isHtml(element) || element instanceof SVGElement) && index(element) >= 0 && !hiddenWhy(element) && !MATCHES.call(element, ":disabled");
  const all = Array.from(allIn(GET_ROOT_NODE.call(from), FOCUSABLE)).filter((element) => element === from || able(element));
  const order = all.filter((element) => index(element) > 0).sort((a, b) => index(a) - index(b)).concat(all.filter((element) => index(element) <= 0));
  const at = order.indexOf(from);
  const next = order[back ? (at < 0 ? order.length : at) - 1 : at + 1];
  if (next) focusOn(next);
  else if (isHtml(from)) BLUR.call(from);
  const now = focusedElement();
  if (now && now !== from && fieldKind(now) === "line") selectIn(now);
}

// Calls.

/** Focuses the element for keys. Returns why that failed, otherwise null. */
function prepare(id, mode) {
  const element = id ? nodeOf(id) : null;
  if (!element) return id ? "it was removed from the document" : null;
  const problem = mode === "focused" ? null : focusOn(element);
  if (problem) return problem;
  if (mode === "replace") {
    selectIn(element);
    if (fieldKind(element) === "line") allSelected.add(element);
  }
  if (mode === "append") caretToEnd(element);
  return null;
}

calls.typeByScript = ({ id, mode, keys }) => {
  const problem = prepare(id, mode);
  if (problem) return { problem };
  const target = id ? nodeOf(id) : null;
  if (mode === "replace" && !keys.length && target && heldBy(target) !== "") putIn(target, "deleteContentBackward", null);
  for (const { key, shift, put } of keys) {
    if (put !== undefined) {
      putIn(keyTarget(), "insertText", put);
      continue;
    }
    const bits = shift ? KEY_BITS.shiftKey : 0;
    keyDown(key, bits, false);
    keyUp(key, bits);
  }
  return {};
};

calls.pressByScript = ({ id, held, key, bits, times }) => {
  const problem = prepare(id, "none");
  if (problem) return { problem };
  const own = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };
  let down = 0;
  for (const one of held) {
    down |= own[one.key];
    sendKey("keydown", one, down, false);
  }
  for (let turn = 0; turn < times; turn++) keyDown(key, bits, turn > 0);
  keyUp(key, bits);
  for (const one of held.slice().reverse()) {
    down &= ~own[one.key];
    sendKey("keyup", one, down, false);
  }
  return {};
};

calls.isMac = () => /^Mac/.test(navigator.platform);
