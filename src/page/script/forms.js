// Form fields: focus, values, and changing them.
//
// Values are set through the prototypes of the isolated world. A page that tracks a value by a property of its own on
// the element (as React does) takes that for a change by the user, as intended.
// Uses: act, find, identity, input-probe, node, node-cache, record, role, settle, state, value, wait.

const FOCUS_FIELD = HTMLElement.prototype.focus;
const FOCUS_SVG = SVGElement.prototype.focus;
const CLICK_FIELD = HTMLElement.prototype.click;
const SEND_EVENT = EventTarget.prototype.dispatchEvent;
const LISTEN_TO = EventTarget.prototype.addEventListener;
const SET_INPUT_VALUE = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
const SET_AREA_VALUE = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
const SET_SELECTED = Object.getOwnPropertyDescriptor(HTMLOptionElement.prototype, "selected").set;
const SET_INDEX = Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "selectedIndex").set;
const GET_OPTIONS = getterOf(HTMLSelectElement.prototype, "options");
const GET_OPTION_VALUE = getterOf(HTMLOptionElement.prototype, "value");
const GET_INPUT_LABELS = getterOf(HTMLInputElement.prototype, "labels");
const SELECT_INPUT = HTMLInputElement.prototype.select;
const SELECT_AREA = HTMLTextAreaElement.prototype.select;
const INPUT_RANGE = HTMLInputElement.prototype.setSelectionRange;
const AREA_RANGE = HTMLTextAreaElement.prototype.setSelectionRange;
const INPUT_START = getterOf(HTMLInputElement.prototype, "selectionStart");
const INPUT_END = getterOf(HTMLInputElement.prototype, "selectionEnd");
const AREA_START = getterOf(HTMLTextAreaElement.prototype, "selectionStart");
const AREA_END = getterOf(HTMLTextAreaElement.prototype, "selectionEnd");
const GET_INPUT_VALIDITY = getterOf(HTMLInputElement.prototype, "validity");

const TYPED_INPUTS = new Set(["text", "search", "url", "tel", "email", "password", "number"]);
const PICKED_INPUTS = new Set(["date", "time", "datetime-local", "month", "week", "color", "range"]);
const SELECTABLE_INPUTS = new Set(["text", "search", "url", "tel", "password"]);

/**
 * How a field is filled in: `line`, `lines` and `rich` are typed into, `picked` is set by value, `ticked`, `choice`,
 * `file`; `other` accepts no text.
 */
function fieldKind(element) {
  const tag = isHtml(element) ? nameOfTag(element) : "";
  if (tag === "textarea") return "lines";
  if (tag === "select") return "choice";
  if (tag === "input") {
    const type = GET_INPUT_TYPE.call(element);
    if (TYPED_INPUTS.has(type)) return "line";
    if (PICKED_INPUTS.has(type)) return "picked";
    if (type === "checkbox" || type === "radio") return "ticked";
    return type === "file" ? "file" : "other";
  }
  if (isEdited(element)) return "rich";
  return TICKED_ROLES.has(firstWord(attr(element, "role"))) ? "ticked" : "other";
}

const EDIT_CONTEXT = Object.getOwnPropertyDescriptor(HTMLElement.prototype, "editContext");

/** Whether an element that is not a form field accepts text: it is editable, or its editor uses an EditContext. */
const isEdited = (element) => isHtml(element) && (GET_EDITABLE.call(element) || (!!EDIT_CONTEXT && EDIT_CONTEXT.get.call(element) !== null));

const TICKED_ROLES = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
const firstWord = (text) => (text || "").trim().split(/\s+/)[0].toLowerCase();

/** The content of a field, as text. */
function heldBy(element) {
  if (element instanceof HTMLInputElement) return GET_INPUT_VALUE.call(element);
  if (element instanceof HTMLTextAreaElement) return GET_AREA_VALUE.call(element);
  return textIn(element);
}

/** A hash of a field's content, to detect changes without passing typed text to Rust. */
const digest = (text) => {
  let sum = text.length;
  for (let i = 0; i < text.length; i++) sum = (Math.imul(sum, 31) + text.charCodeAt(i)) | 0;
  return sum;
};

/** The outermost element that is edited together with this one. */
function editingHost(element) {
  let host = element;
  for (let parent = host; parent instanceof HTMLElement && GET_EDITABLE.call(parent); parent = GET_PARENT.call(parent)) host = parent;
  return host;
}

function isWithinTree(node, ancestor) {
  for (let at = node; at; at = parentOf(at)) if (at === ancestor) return true;
  return false;
}

/** Whether the focus is on an element itself, or in its shadow tree. */
const isFocusItself = (element) => {
  const root = GET_ROOT_NODE.call(element);
  return (root instanceof Document ? GET_DOCUMENT_FOCUS : GET_SHADOW_FOCUS).call(root) === element;
};

/**
 * Focuses an element. Returns null, or why that failed. An element inside that has the focus counts as the element; with
 * `itself` only if it receives the focus now, passed on by the page.
 */
function focusOn(element, itself = false) {
  const target = fieldKind(element) === "rich" ? editingHost(element) : element;
  // An editable body has the focus when no other element has it.
  const whole = target === GET_BODY.call(document) || target === GET_DOCUMENT_ELEMENT.call(document);
  const before = focusedElement();
  const there = () => {
    const focused = focusedElement();
    if (!focused) return whole && document.hasFocus();
    return isWithinTree(focused, target) && (!itself || focused !== before || isFocusItself(target));
  };
  if (there() && document.hasFocus()) return null;
  const focus = target instanceof SVGElement ? FOCUS_SVG : FOCUS_FIELD;
  if (whole) window.focus();
  if (target instanceof HTMLElement || target instanceof SVGElement) focus.call(target, { preventScroll: true });
  if (there()) return null;
  const focused = focusedElement();
  if (!focused) return "it cannot be focused";
  if (focused === before) return "it does not take the focus, which stays on " + described(focused);
  return "the focus moved to " + described(focused) + " when it was focused";
}

function selectIn(element) {
  const kind = fieldKind(element);
  if (kind === "line") SELECT_INPUT.call(element);
  else if (kind === "lines") SELECT_AREA.call(element);
  else if (kind === "rich") {
    const count = element.childNodes.length;
    document.getSelection().setBaseAndExtent(element, 0, element, count);
  }
}

/** Puts the caret at the end of the content. */
function caretToEnd(element) {
  const kind = fieldKind(element);
  const length = heldBy(element).length;
  if (kind === "lines") AREA_RANGE.call(element, length, length);
  else if (kind === "line" && SELECTABLE_INPUTS.has(GET_INPUT_TYPE.call(element))) INPUT_RANGE.call(element, length, length);
  else if (kind === "rich") {
    const selection = document.getSelection();
    const count = element.childNodes.length;
    selection.setBaseAndExtent(element, count, element, count);
  } else document.getSelection().modify("move", "forward", "documentboundary");
}

const withNode = (id, then) => {
  const element = nodeOf(id);
  return element && isConnected(element) ? then(element) : { gone: true };
};

/**
 * Focuses a field. `mode` decides on its content: `replace` selects it, `append` moves the caret to its end, `none`
 * leaves the selection as it is, and so does `itself`, for which an element inside must not have the focus already.
 */
calls.focusField = ({ id, mode, identity }) => withNode(id, (element) => {
  const kind = fieldKind(element);
  const type = kind === "line" || kind === "picked" || kind === "file" ? GET_INPUT_TYPE.call(element) : "";
  const typed = kind === "line" || kind === "lines" || kind === "rich";
  if (mode !== "none" && mode !== "itself" && !typed) return { kind, type };
  const isBound = identity !== null && identity !== undefined;
  if (isBound) forget();
  const place = isBound ? placeOfUse(element) : "";
  const changed = "it has changed since the preview, or now belongs or leads to something else";
  let problem = isAnother(element, identity) ? changed : focusOn(element, mode === "itself");
  // The page may also change it when it receives the focus.
  if (isBound) forget();
  if (!problem && isBound && placeOfUse(element) !== place) problem = changed;
  if (problem) return { kind, type, problem };
  if (mode === "replace") selectIn(element);
  if (mode === "append") caretToEnd(element);
  arm(element);
  if (mode === "replace" || mode === "append") guardKeys(element, isBound ? place : null);
  const whole = kind === "lines" || (kind === "rich" && editingHost(element) === element);
  const held = typed ? heldBy(element) : "";
  // Of an empty text area, only an editor that draws its own text has something to select.
  const draws = kind === "lines" && held === "" && isDrawnEditor(element);
  return { kind, type, whole: whole && (kind !== "lines" || held !== "" || draws), empty: held === "" };
});

const EDITOR_CLASS = /codemirror|ace_|monaco|editor/i;
const TERMINAL_CLASS = /term(inal)?\b|xterm|console|shell/i;

/** Whether a person sees a field itself. A page that draws the text elsewhere reads the keys of a field that nobody sees. */
function isSeenItself(field) {
  if (isBeyondPage(field) || standInFor(field)) return false;
  if (!rectsOf(field).some((rect) => rect.width > 1 && rect.height > 1)) return false;
  for (let up = field; up; up = parentElementOf(up)) if (styleOf(up).opacity === "0") return false;
  return true;
}

/** Whether a text area without a size of its own belongs to an editor of code, not to a terminal, for which a chord is input. */
function isDrawnEditor(area) {
  if (isSeenItself(area)) return false;
  let isEditor = false;
  for (let up = area, n = 0; up && n < 6; up = parentElementOf(up), n++) {
    const told = [attr(up, "class"), attr(up, "aria-label"), attr(up, "aria-roledescription")].join(" ");
    if (TERMINAL_CLASS.test(told)) return false;
    isEditor = isEditor || EDITOR_CLASS.test(told);
  }
  return isEditor;
}

// How long a page may take to format what was typed, in milliseconds.
const FORMATTING = 20;
const MOST_FORMATTING = 400;
const MOST_TAKEN = 300;

/** A text without what formatting adds or leaves out. */
const essence = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
const bareText = (text) => text.replace(/[\s\u200b\ufeff]+/g, "");
const isSameNumber = (a, b) => isNumber(a.trim()) && isNumber(b.trim()) && Number(a) === Number(b);

/**
 * What a field holds after `text` was typed into it: `same`, `like` it (formatted, completed), or something else. `unknown` for an
 * editor that keeps its text elsewhere. The field may have been replaced.
 */
function taken(id, text, append) {
  const known = guarded && guarded.element && (idOf(guarded.element) === id || !isConnected(nodeOf(id) || document)) ? guarded.element : null;
  const element = known || nodeOf(id);
  if (!element || !isConnected(element)) return { gone: true };
  const target = fieldKind(element) === "rich" ? editingHost(element) : element;
  const held = heldBy(target);
  const wanted = (append && guarded ? guarded.before : "") + text;
  const rich = fieldKind(element) === "rich";
  const answer = { same: held === wanted || (rich && bareText(held) === bareText(wanted)), empty: held === "", now: digest(held) };
  // The page took the keys, as a console does.
  answer.spent = answer.empty && text !== "" && !!guarded && changesSoFar() > guarded.changes;
  answer.like = essence(held) === essence(wanted) || isSameNumber(held, wanted) || (essence(text) !== "" && essence(held).startsWith(essence(wanted)));
  const broken = (text) => /\S\s*\n\s*\S/.test(text);
  answer.joined = rich && answer.same && broken(text) && !broken(writtenIn(target));
  answer.unknown = (!rich && !isSeenItself(element)) || (!!EDIT_CONTEXT && isHtml(element) && EDIT_CONTEXT.get.call(element) !== null);
  const covered = isPassword(element) || isSecretField(element);
  answer.held = covered ? "•".repeat(Math.min(held.length, 100)) : held.slice(0, MOST_TAKEN);
  if (element instanceof HTMLInputElement) {
    answer.bad = GET_INPUT_VALIDITY.call(element).badInput;
    answer.type = GET_INPUT_TYPE.call(element);
  }
  const most = attr(element, "maxlength");
  if (most !== null && /^\d+$/.test(most) && wanted.length > Number(most)) answer.most = Number(most);
  return answer;
}

/** How a field accepted typed text, once the page has formatted it. */
calls.tookText = async ({ id, text, append }) => {
  const end = performance.now() + MOST_FORMATTING;
  let answer = taken(id, text, append);
  if (answer.gone || text.length < 2) return answer;
  for (;;) {
    const before = answer.now;
    await rest(FORMATTING);
    answer = taken(id, text, append);
    if (answer.gone || performance.now() >= end || (answer.now === before && (answer.same || answer.like || performance.now() > end - MOST_FORMATTING / 2))) return answer;
  }
};

/** Begins a paragraph at the caret of an editor, as Enter does, without a key. */
calls.newParagraph = ({ id }) => {
  const element = nodeOf(id);
  const focus = focusedElement();
  if (element && focus && CONTAINS.call(editingHost(element), focus)) document.execCommand("insertParagraph");
};

function tellChange(element) {
  SEND_EVENT.call(element, new Event("input", { bubbles: true, composed: true }));
  SEND_EVENT.call(element, new Event("change", { bubbles: true }));
  if (recorder) recorder.ownChange(element);
}

const SHAPES = {
  date: "a date like 2024-02-29",
  time: "a time like 13:45",
  "datetime-local": "a date and time like 2024-02-29T13:45",
  month: "a month like 2024-02",
  week: "a week like 2024-W09",
  color: "a colour like #ff8800",
  range: "a number",
};

/** A value as a field with a picker takes it, or why it does not. */
function tryPicked(element, value) {
  const type = GET_INPUT_TYPE.call(element);
  const wanted = type === "color" ? value.trim().toLowerCase() : value.trim();
  // An invalid value must not be in the field even for a moment, so it is first tried in another one.
  const scratch = document.createElement("input");
  scratch.type = type;
  for (const name of ["min", "max", "step"]) if (type === "range" && has(element, name)) scratch.setAttribute(name, attr(element, name));
  scratch.value = wanted;
  const taken = scratch.value;
  const understood = type === "range" ? isNumber(wanted) : type === "color" ? taken === wanted : taken !== "" || wanted === "";
  if (!understood) return { wanted, taken, problem: "it needs " + SHAPES[type] };
  if (type === "range" && Number(taken) !== Number(wanted)) {
    return { wanted, taken, problem: "it accepts numbers from " + (attr(element, "min") || "0") + " to " + (attr(element, "max") || "100") + " in steps of " + (attr(element, "step") || "1") };
  }
  return { wanted, taken, problem: null };
}

/** Sets the value of a field with a picker, once the page has seen the field before it losing the focus. */
calls.setField = async ({ id, value }) => {
  const had = focusedElement();
  const first = withNode(id, (element) => (focusOn(element), {}));
  if (first.gone) return first;
  const moved = had !== focusedElement();
  if (moved) await frame();
  const set = withNode(id, (element) => setPicked(element, value));
  if (set.problem || set.gone || !moved) return set;
  await frame();
  return withNode(id, (element) => (GET_INPUT_VALUE.call(element) === set.taken ? {} : { problem: "the page changed it to another value" }));
};

function setPicked(element, value) {
  const before = GET_INPUT_VALUE.call(element);
  const { wanted, taken, problem } = tryPicked(element, value);
  if (problem) return { problem };
  if (taken !== before) {
    SET_INPUT_VALUE.call(element, wanted);
    tellChange(element);
  }
  const held = GET_INPUT_VALUE.call(element);
  if (held !== taken) return { problem: "the page changed it to another value" };
  const { rangeUnderflow, rangeOverflow, stepMismatch } = GET_INPUT_VALIDITY.call(element);
  if (rangeUnderflow) return { problem: "the value is below the minimum " + attr(element, "min") };
  if (rangeOverflow) return { problem: "the value is above the maximum " + attr(element, "max") };
  if (stepMismatch) return { problem: "the value is not one of its steps (step " + (attr(element, "step") || "1") + ")" };
  return { taken };
}

const isNumber = (text) => text !== "" && Number.isFinite(Number(text));

const labelOfOption = (option) => fold(GET_OPTION_LABEL.call(option));
const optionsOf = (element) => Array.from(GET_OPTIONS.call(element));

/** Selects options by value or label, waiting up to `ms` for them to appear; deselects all others. */
calls.choose = async ({ id, values, ms, identity }) => {
  const end = performance.now() + ms;
  for (;;) {
    const answer = withNode(id, (element) => (forget(), isAnother(element, identity)) ? { gone: true } : choose(element, values));
    if (!(answer.unknown || answer.disabled) || performance.now() >= end) return answer;
    await rest(25);
  }
};

function choose(element, values) {
  if (!(element instanceof HTMLSelectElement)) return { wrong: true };
  const hidden = !isVisible(element) || !rectsOf(element).some(({ width, height }) => width > 2 && height > 2);
  const options = optionsOf(element);
  const many = GET_SELECT_MULTIPLE.call(element);
  if (!many && values.length !== 1) return { single: true };
  const told = (some) => some.map((one) => [GET_OPTION_VALUE.call(one).slice(0, 60), labelOfOption(one).slice(0, 60)]);
  const chosen = [];
  for (const value of values) {
    const { option, several } = optionFor(value, options.filter((one) => !chosen.includes(one)));
    if (several) return { ambiguous: value, options: told(several.slice(0, 20)), more: Math.max(several.length - 20, 0) };
    if (!option) return { unknown: value, options: told(options.slice(0, 20)), more: Math.max(options.length - 20, 0) };
    if (MATCHES.call(option, ":disabled")) return { disabled: value };
    chosen.push(option);
  }
  // Without moving the focus: popups close when it moves without a press inside them.
  const state = () => options.map((option) => GET_SELECTED.call(option)).join();
  const before = state();
  if (many) for (const option of options) SET_SELECTED.call(option, chosen.includes(option));
  else SET_INDEX.call(element, options.indexOf(chosen[0]));
  if (state() !== before) tellChange(element);
  const selected = optionsOf(element).filter((option) => GET_SELECTED.call(option));
  const now = selected.map((option) => GET_OPTION_VALUE.call(option));
  const wanted = chosen.map((option) => GET_OPTION_VALUE.call(option));
  return { values: now, labels: selected.map(labelOfOption), hidden, kept: wanted.every((value) => now.includes(value)) };
}

/**
 * The option that a text names: by its label, which a person sees; by its value only if no label is like that. `several` if the
 * text is the label of more than one option, or of one and the value of another. `label=…` and `value=…` say which is meant.
 */
function optionFor(text, options) {
  const label = (wanted) => options.filter((one) => labelOfOption(one) === fold(wanted));
  const value = (wanted) => options.filter((one) => GET_OPTION_VALUE.call(one) === wanted);
  const pick = (some) => {
    const able = some.filter((one) => !MATCHES.call(one, ":disabled"));
    const [first] = able.length ? able : some;
    return able.some((one) => GET_OPTION_VALUE.call(one) !== GET_OPTION_VALUE.call(first)) ? { several: able } : { option: first };
  };
  const [byLabel, byValue] = [label(text), value(text)];
  const others = byValue.filter((one) => !byLabel.includes(one));
  if (byLabel.length && others.length) return { several: [...byLabel, ...others] };
  if (byLabel.length) return pick(byLabel);
  if (byValue.length) return pick(byValue);
  const [, how, rest] = /^(label|value)=(.*)$/s.exec(text) || [];
  return how ? pick(how === "label" ? label(rest) : value(rest)) : {};
}

/** The checked state: true, false, or null (mixed, or not checkable). */
function tickOf(element) {
  if (element instanceof HTMLInputElement) return GET_INDETERMINATE.call(element) ? null : GET_CHECKED.call(element);
  const checked = (attr(element, "aria-checked") || "").toLowerCase();
  return checked === "mixed" ? null : checked === "true";
}

/** The element with a checked state: the given one, or the control of a label. */
function tickable(element) {
  if (fieldKind(element) === "ticked") return element;
  const control = element instanceof HTMLLabelElement && LABEL_CONTROL.call(element);
  return control && fieldKind(control) === "ticked" ? control : null;
}

/** The element to click to change the checked state: itself, or its label where it cannot be clicked. */
calls.tick = ({ id }) => withNode(id, (element) => {
  const target = tickable(element);
  if (!target) return { wrong: true };
  const radio = target instanceof HTMLInputElement ? GET_INPUT_TYPE.call(target) === "radio" : /radio$/.test(firstWord(attr(target, "role")));
  const answer = { id: idOf(target), checked: tickOf(target), radio };
  const off = disabledWhy(target);
  if (off) answer.off = off;
  if (canBeHit(target)) return { ...answer, via: idOf(target) };
  const instead = standInFor(target);
  return { ...answer, via: instead ? idOf(instead) : null };
});

/** Whether it has a size and is visible; whether it is covered is left to the click. */
function canBeHit(element) {
  const sizes = rectsOf(element);
  return !hiddenWhy(element) && sizes.some((rect) => rect.width > 1 && rect.height > 1);
}

/** Waits until the checked state is as wanted: pages may take a moment to show it. */
calls.ticked = async ({ id, want, ms }) => {
  const end = performance.now() + ms;
  for (;;) {
    const element = nodeOf(id);
    if (!element || !isConnected(element)) return { gone: true };
    if (tickOf(element) === want) return { done: true };
    if (performance.now() >= end) return { done: false };
    await rest(20);
  }
};

/** Whether this frame has the focus, and whether the focused element accepts text. */
// Space or Enter presses these.
const PRESSED_BY_KEYS =
  "button,summary,a[href],area[href],input:is([type=button],[type=submit],[type=reset],[type=image],[type=file],[type=color],[type=checkbox],[type=radio])," +
  "[role=button],[role=link],[role=checkbox],[role=radio],[role=switch]";

calls.focus = () => {
  const focused = focusedElement();
  const inner = focused instanceof HTMLIFrameElement || (focused && nameOfTag(focused) === "frame");
  if (!document.hasFocus() || inner) return {};
  const kind = focused ? fieldKind(focused) : "other";
  const typed = kind === "line" || kind === "lines" || kind === "rich";
  const body = GET_BODY.call(document);
  // An editable body accepts text at its caret.
  const caret = !focused && body instanceof HTMLElement && GET_EDITABLE.call(body) && document.getSelection();
  const rich = !!caret && caret.rangeCount > 0;
  const presses = focused && !typed && MATCHES.call(focused, PRESSED_BY_KEYS) ? described(focused) : null;
  return { has: true, presses, id: focused ? idOf(focused) : 0, kind: rich ? "rich" : kind, typed: typed || rich, locked: typed && !!readOnlyWhy(focused), mac: /^Mac/.test(navigator.platform) };
};
