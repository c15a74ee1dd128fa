// States and values of elements, and whether they are in the accessibility tree at all.
// Uses: name, node, node-cache, role, style, table.

const SHOWN = 1; // rendered and visible
const VEILED = 2; // visibility: hidden, which descendants can override
const GONE = 3; // not rendered, with all descendants

const CHECK_VISIBILITY = Element.prototype.checkVisibility;
const VISIBILITY = { visibilityProperty: true };

/** The visibility of an element: SHOWN, VEILED or GONE. */
function shownOf(element) {
  const it = known(element);
  if (it.shown === 0) {
    if (CHECK_VISIBILITY.call(element, VISIBILITY)) it.shown = SHOWN;
    else it.shown = element instanceof HTMLAreaElement ? shownArea(element) : whyNotShown(element);
  }
  return it.shown;
}

// An area is where its image is, if that is rendered as an image.
function shownArea(area) {
  const image = imageOf(area);
  return image && GET_NATURAL_WIDTH.call(image) > 0 ? shownOf(image) : GONE;
}

const GET_NATURAL_WIDTH = getterOf(HTMLImageElement.prototype, "naturalWidth");

function whyNotShown(element) {
  const style = styleOf(element);
  const display = style.display;
  if (display === "none" || display === "") return GONE;
  if (style.visibility !== "visible") return VEILED;
  if (display !== "contents") return GONE; // in a skipped or hidden subtree
  const parent = parentElementOf(element);
  return parent && shownOf(parent) === GONE ? GONE : SHOWN;
}

/** Whether aria-hidden removes an element's subtree from the tree; it does not while the focus is inside. */
function isAriaHiddenRoot(element) {
  if (!(marksOf(element) & HIDDEN)) return false;
  const value = attr(element, "aria-hidden");
  if (!value || value === "false" || !isTrue(value)) return false;
  if (isHtml(element)) {
    const tag = nameOfTag(element);
    if (tag === "body" || tag === "html" || tag === "option") return false;
  }
  const focused = focus();
  return !focused || !holds(element, focused);
}

/** The focused element, read once per call. */
function focus() {
  const store = memory();
  if (store.focused === undefined) store.focused = focusedElement();
  return store.focused;
}

/** Whether a node is inside an element (or is that element) in the flat tree. */
function holds(element, node) {
  for (let up = node; up; up = parentOf(up)) if (up === element) return true;
  return false;
}

/** The modal dialog (or full-screen element) that makes the rest of the document inert, or null. */
function modalElement() {
  const store = memory();
  if (store.modal === undefined) store.modal = findModal();
  return store.modal;
}

function findModal() {
  const modals = allIn(document, ":modal");
  if (modals.length <= 1) return modals[0] || null;
  // Of several, only the last opened one receives pointer events.
  for (const modal of modals) {
    const box = Element.prototype.getBoundingClientRect.call(modal);
    const hit = Document.prototype.elementFromPoint.call(document, box.left + 1, box.top + 1);
    if (hit && holds(modal, hit)) return modal;
  }
  return modals[modals.length - 1];
}

/** Whether an element is inert, by `inert` or a modal dialog. */
function isInert(element) {
  const modal = modalElement();
  for (let up = element; up; up = parentElementOf(up)) {
    if (up === modal) return false; // a modal dialog is never inert
    if (marksOf(up) & INERT) return true;
  }
  return !!modal || isInertByStyle(element);
}

const isInertByStyle = (element) => mayBeInertByStyle() && styleOf(element).interactivity === "inert";

/** Whether an element is excluded from Chromium's accessibility tree: not rendered, hidden by the author, or inert. */
function isHidden(element) {
  const at = element instanceof HTMLAreaElement ? imageOf(element) : selectOf(element) || element;
  if (!at) return true;
  if (shownOf(at) !== SHOWN || isInert(at)) return true;
  for (let up = at; up; up = axParentOf(up)) if (isAriaHiddenRoot(up)) return true;
  return false;
}

/** The <select> of an option or group; null for other elements. */
function selectOf(element) {
  if (!(element instanceof HTMLOptionElement || element instanceof HTMLOptGroupElement)) return null;
  return CLOSEST.call(element, "select");
}

/** The image of an area, or null. */
function imageOf(area) {
  const map = CLOSEST.call(area, "map");
  const name = map && (attr(map, "name") || attr(map, "id"));
  if (!name) return null;
  for (const image of allIn(GET_ROOT_NODE.call(area), "img[usemap]")) {
    if (attr(image, "usemap") === "#" + name) return image;
  }
  return null;
}

// aria-owns: children set by the author.

/** The owner of an element by a valid aria-owns, or null. */
function ownerOf(element) {
  if (!memory().owns) return null;
  const scope = ownsIn(GET_ROOT_NODE.call(element));
  return (scope && scope.owner.get(element)) || null;
}

/** The elements that an element owns by aria-owns: an array, or null. */
function ownedBy(element) {
  if (!(marksOf(element) & OWNS)) return null;
  const scope = ownsIn(GET_ROOT_NODE.call(element));
  return (scope && scope.owned.get(element)) || null;
}

function ownsIn(root) {
  const store = memory();
  if (!store.owned) store.owned = new Map();
  let scope = store.owned.get(root);
  if (scope === undefined) {
    scope = null;
    store.owned.set(root, scope);
    const owners = root instanceof Element ? [] : allIn(root, "[aria-owns]");
    if (owners.length) {
      scope = { owner: new Map(), owned: new Map() };
      store.owned.set(root, scope);
      for (const owner of owners) takeOwned(scope, owner);
    }
  }
  return scope;
}

const CHILDLESS = new Set("img br hr input textarea iframe frame progress map area option".split(" "));
const OWNING_NOTHING = new Set(["image", "textbox", "searchbox"]);

function takeOwned(scope, owner) {
  if (isHtml(owner) && (CHILDLESS.has(nameOfTag(owner)) || isEditingHost(owner))) return;
  const kind = rawRole(attr(owner, "role") || "");
  if (OWNING_NOTHING.has(kind) || shownOf(owner) === GONE || isTrue(attr(owner, "aria-hidden"))) return;
  const taken = [];
  for (const id of fold(attr(owner, "aria-owns") || "").split(" ")) {
    const child = id && byIdFrom(owner, id);
    if (!child || child instanceof HTMLBodyElement || !parentOf(child) || holds(child, owner)) continue;
    if (scope.owner.has(child)) {
      // With several owners, the result depends on the order in which the browser saw them.
      for (const one of [child, owner, scope.owner.get(child)]) doubtText(one);
    } else if (!closesCircle(scope, owner, child)) {
      scope.owner.set(child, owner);
      taken.push(child);
    }
  }
  if (taken.length) scope.owned.set(owner, taken);
}

function closesCircle(scope, owner, child) {
  for (let up = owner; up; up = scope.owner.get(up) || parentElementOf(up)) if (up === child) return true;
  return false;
}

// States.

const isTrue = (value) => !!value && !/^(false|undefined)$/i.test(value);

/** The value of a boolean attribute: true, false, or null when it is absent. */
function ariaBoolean(element, name) {
  const value = attr(element, name);
  return !value || /^undefined$/i.test(value) ? null : !/^false$/i.test(value);
}

const CHECKABLE = new Set(["checkbox", "menuitemcheckbox", "menuitemradio", "radio", "switch"]);
const CHECKED_IF_SAID = new Set(["treeitem", "option", "MenuListOption"]);
const MIXABLE = new Set(["checkbox", "menuitemcheckbox", "option", "ToggleButton", "treeitem"]);
const EXPANDABLE = new Set(
  (
    "application button checkbox columnheader combobox gridcell link listbox listitem menuitem menuitemcheckbox " +
    "menuitemradio row rowheader switch tab treeitem doc-backlink doc-biblioref doc-glossref doc-noteref ToggleButton " +
    "PopUpButton ComboBoxGrouping ComboBoxMenuButton TextFieldWithComboBox DisclosureTriangle DisclosureTriangleGrouped"
  ).split(" "),
);
const SELECTABLE = new Set("option MenuListOption tab treeitem gridcell row columnheader rowheader cell".split(" "));
const READABLE = new Set(
  (
    "checkbox ComboBoxGrouping ComboBoxMenuButton TextFieldWithComboBox grid gridcell listbox radiogroup slider spinbutton " +
    "switch textbox searchbox treegrid columnheader rowheader"
  ).split(" "),
);

const GET_CHECKED = getterOf(HTMLInputElement.prototype, "checked");
const GET_INDETERMINATE = getterOf(HTMLInputElement.prototype, "indeterminate");
const GET_SELECTED = getterOf(HTMLOptionElement.prototype, "selected");

/** The states of an element that are set, including `checked: false` of checkable roles. */
function statesOf(element) {
  /** @type {Record<string, any>} */
  const states = {};
  const kind = kindOf(element);
  const aria = (marksOf(element) & ARIA) !== 0;
  if (focus() === element) states.active = true;
  if (CHECKABLE.has(kind)) states.checked = checkedState(element, kind, "aria-checked");
  else if (kind === "ToggleButton") states.pressed = checkedState(element, kind, "aria-pressed");
  else if (aria && CHECKED_IF_SAID.has(kind) && attr(element, "aria-checked")) {
    states.checked = checkedState(element, kind, "aria-checked");
  }
  if (isDisabled(element)) states.disabled = true;
  if (EXPANDABLE.has(kind) || kind === "ComboBoxSelect") {
    const expanded = expandedState(element, kind);
    if (expanded !== null) states.expanded = expanded;
  }
  if (SELECTABLE.has(kind)) {
    const selected = selectedState(element);
    if (selected !== null) states.selected = selected;
  }
  if (isControlElement(element)) nativeStates(element, states);
  const level = levelOf(element, kind);
  if (level) states.level = level;
  if (kind === "listbox" && element instanceof HTMLSelectElement && GET_SELECT_MULTIPLE.call(element)) {
    states.multiselectable = true;
  }
  if (aria) saidStates(element, kind, states);
  if (internals !== null) Object.assign(states, (internals.get(element) || NO_INTERNALS).states);
  if (kind === "gridcell" && !states.readonly && isInReadonlyGrid(element)) states.readonly = true;
  return states;
}

function isInReadonlyGrid(cell) {
  if (attr(cell, "aria-readonly")) return false;
  for (let up = axParentOf(cell); up; up = axParentOf(up)) {
    if (isTableKind(kindOf(up))) return ariaBoolean(up, "aria-readonly") === true;
  }
  return false;
}

function saidStates(element, kind, states) {
  if (isTrue(attr(element, "aria-required"))) states.required = true;
  const invalid = attr(element, "aria-invalid");
  if (invalid && invalid !== "undefined") {
    if (invalid === "false") delete states.invalid;
    else states.invalid = invalid === "grammar" || invalid === "spelling" ? invalid : true;
  }
  if (READABLE.has(kind) && !isTextControl(element) && ariaBoolean(element, "aria-readonly")) states.readonly = true;
  if (ariaBoolean(element, "aria-multiselectable")) states.multiselectable = true;
  const popup = popupOf(element);
  if (popup) states.haspopup = popup;
}

function checkedState(element, kind, name) {
  if (element instanceof HTMLInputElement) {
    const type = typeOfInput(element);
    if (type === "checkbox" && GET_INDETERMINATE.call(element)) return "mixed";
    if (type === "checkbox" || type === "radio") return GET_CHECKED.call(element);
  }
  const value = attr(element, name);
  if (!value || value === "undefined") return false;
  if (/^mixed$/i.test(value)) return MIXABLE.has(kind) ? "mixed" : false;
  return !/^false$/i.test(value);
}

function expandedState(element, kind) {
  if (kind === "ComboBoxSelect") return MATCHES.call(element, ":open") ? true : null;
  if (isHtml(element) && nameOfTag(element) === "summary") {
    const details = CLOSEST.call(element, "details");
    return details ? has(details, "open") : ariaBoolean(element, "aria-expanded");
  }
  if (has(element, "popovertarget") && !(CLOSEST.call(element, "form") && submits(element))) {
    const popover = byIdFrom(element, attr(element, "popovertarget"));
    if (popover && has(popover, "popover") && !holds(popover, element)) return MATCHES.call(popover, ":popover-open");
  }
  return ariaBoolean(element, "aria-expanded");
}

// A button that submits its form opens nothing.
const submits = (element) => !/^(button|reset)$/i.test(attr(element, "type") || "");

function selectedState(element) {
  const said = ariaBoolean(element, "aria-selected");
  if (said !== null) return said;
  return element instanceof HTMLOptionElement && !isDisabled(element) ? GET_SELECTED.call(element) : null;
}

function nativeStates(control, states) {
  if (MATCHES.call(control, ":required")) states.required = true;
  const text = isTextControl(control);
  if (text && MATCHES.call(control, ":read-only") && has(control, "readonly")) states.readonly = true;
  if (MATCHES.call(control, ":invalid")) {
    const empty = text && states.required && !control.value && !control.validity.customError;
    if (!empty) states.invalid = true;
  }
}

/** Disabled by the browser, by the author, or (if focusable) by an ancestor. */
function isDisabled(element) {
  if (element instanceof HTMLOptGroupElement) return false;
  if (isDisabledControl(element)) return true;
  const said = ariaBoolean(element, "aria-disabled");
  if (said !== null) return said;
  if (element instanceof HTMLMediaElement && isUnplayable(element)) return true;
  if (!memory().disables || !supportsFocus(element)) return false;
  for (let up = axParentOf(element); up; up = axParentOf(up)) {
    if (isDisabledControl(up)) return true;
    const above = ariaBoolean(up, "aria-disabled");
    if (above !== null) return above;
  }
  return false;
}

// The attribute disables a control; a <fieldset> only disables its controls.
function isDisabledControl(element) {
  if (!isHtml(element) || element instanceof HTMLFieldSetElement) return false;
  const can = isControlElement(element) || element instanceof HTMLOptionElement || isCustom(element);
  return can && MATCHES.call(element, IS_DISABLED);
}

function levelOf(element, kind) {
  if (kind !== "heading" && kind !== "treeitem") return 0;
  const value = attr(element, "aria-level");
  const said = value ? Math.max(1, parseInt(value, 10) || 0) : 0;
  if (said && (said <= 9 || kind === "treeitem")) return said;
  if (kind === "treeitem") return 0;
  const tag = isHtml(element) ? nameOfTag(element) : "";
  return tag.length === 2 && tag[0] === "h" ? tag.charCodeAt(1) - 48 : 2;
}

// Interactivity.

/** Whether an element accepts typed text. */
function isEditable(element) {
  if (isTextControl(element)) return !has(element, "readonly") && !MATCHES.call(element, IS_DISABLED);
  return isHtml(element) && GET_EDITABLE.call(element);
}

/**
 * Whether a generic element appears clickable: by its cursor (its own, not its parent's), by its attributes, or because
 * it changes under the pointer and an ancestor listens.
 */
function isClickable(element) {
  return hasEffect(element) || hasPointer(element) || isHoverItem(element);
}

// Maximum number of levels up to search for a listener.
const MOST_LEVELS_TO_LISTENER = 6;

/** Whether an element has a hover style of its own and is inside one that listens to clicks, like an item of a menu. */
function isHoverItem(element) {
  if (!hasListeners || !hasHoverStyle(element)) return false;
  const listensAround = (node) => {
    const root = GET_PARENT.call(node);
    return root instanceof ShadowRoot && listening.has(root);
  };
  if (listensAround(element)) return true;
  let up = parentElementOf(element);
  for (let level = 0; up && level < MOST_LEVELS_TO_LISTENER; level++) {
    if (listensAround(up)) return true;
    const tag = nameOfTag(up);
    if (tag === "body" || tag === "html") return false;
    if (listening.has(up)) return true;
    up = parentElementOf(up);
  }
  return false;
}

const CONTROLS = /^\s*(button|link|option|tab|menuitem|menuitemcheckbox|menuitemradio|checkbox|radio|switch|treeitem)\b/i;

// Elements that listen to clicks, as reported for the last snapshot.
let listening = new WeakSet();
let hasListeners = false;
// An element with more descendants delegates clicks.
const MOST_INSIDE = 60;
const USED = "a[href],button,input,select,textarea,summary,[tabindex],[onclick],[contenteditable],[role=button],[role=link],[role=option],[role=menuitem],[role=tab],[role=treeitem]";

/** Whether an element itself listens to clicks. */
function listens(element) {
  if (!hasListeners) return false;
  if (!listening.has(element)) return isItem(element) && isListening(GET_PARENT.call(element));
  const tag = nameOfTag(element);
  if (tag === "body" || tag === "html" || allIn(element, "*").length > MOST_INSIDE) return false;
  const kind = kindOf(element);
  return (kind !== "generic" && kind !== "none") || allIn(element, USED).length === 0;
}

// Lists often listen for their items.
const isItem = (element) => /^(li|tr)$/.test(nameOfTag(element)) && isHtml(element);

const isListening = (list) => list instanceof HTMLElement && /^(ul|ol|menu|tbody|table)$/.test(nameOfTag(list)) && listening.has(list);

/** Whether a descendant of an element listens to clicks. */
function listensInside(element) {
  if (!hasListeners) return false;
  for (const inner of allIn(element, "*")) if (listening.has(inner)) return true;
  return false;
}

/**
 * Whether an element is interactive: by its attributes (a handler, tabindex, editable text) or because it listens to
 * clicks.
 */
function hasEffect(element) {
  if (listens(element)) return true;
  const marks = marksOf(element);
  // A control by its author's role that the browser does not accept in this context.
  if (marks & ROLE && kindOf(element) === "generic" && CONTROLS.test(attr(element, "role") || "")) return true;
  if (marks & HANDLER && (attr(element, "draggable") !== "false" || has(element, "onclick"))) return true;
  if (marks & TAB && !(parseInt(attr(element, "tabindex"), 10) < 0)) return true;
  return isEditingHost(element);
}

const DRAWN = "img,svg,canvas,video,picture,input,button,select,textarea,iframe,object,embed,progress,meter";
const MOST_BOXES = 12;
const GET_BOX = Element.prototype.getBoundingClientRect;

/** Whether an element is blank: it has neither text nor images, and draws nothing itself. */
function isEmptyBox(element) {
  if (!isBlank(textIn(element)) || rootsOf(element) || MATCHES.call(element, DRAWN)) return false;
  const inside = allIn(element, "*");
  if (inside.length > MOST_BOXES || allIn(element, DRAWN).length > 0) return false;
  if (draws(element)) return false;
  for (const box of inside) if (rootsOf(box) || draws(box)) return false;
  return true;
}

function draws(element) {
  const { width, height } = GET_BOX.call(element);
  const isClear = (color) => color === "transparent" || /^rgba.*, 0\)$|\/ 0\)$/.test(color);
  for (const which of [null, "::before", "::after"]) {
    const style = which ? getComputedStyle(element, which) : styleOf(element);
    if (which ? style.content === "none" || style.content === "normal" : width < 1 || height < 1) continue;
    if (which && style.content !== '""') return true;
    if (style.backgroundImage !== "none" || style.maskImage !== "none" || style.boxShadow !== "none") return true;
    if (!isClear(style.backgroundColor)) return true;
    for (const side of ["Top", "Right", "Bottom", "Left"]) {
      if (parseFloat(style[`border${side}Width`]) > 0 && !isClear(style[`border${side}Color`])) return true;
    }
  }
  return false;
}

// Cursors that indicate something clickable or draggable.
const HANDS = /(^|,\s*)(pointer|grab|grabbing|move|all-scroll|copy|zoom-in|zoom-out|[a-z]+-resize)$/;

/** Whether the cursor becomes a pointer at this element, and not already around it. */
function hasPointer(element) {
  if (!mayPoint(element)) return false;
  const { cursor } = styleOf(element);
  if (!HANDS.test(cursor)) return false;
  const parent = parentElementOf(element);
  return !parent || styleOf(parent).cursor !== cursor;
}
