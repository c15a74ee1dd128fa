// Roles: those of Chromium's accessibility tree, by their ARIA names.
//
// A "kind" is finer than a role: while computing, Chromium distinguishes <header> from role=banner, or a button from a
// toggle button, but names them alike in the end. ARIA roles are their own kind; kinds of the host language are
// capitalised.
// https://w3c.github.io/html-aam/ https://w3c.github.io/aria/ https://w3c.github.io/svg-aam/
// Uses: drawing, kinds, name, node, node-cache, state, table.

/** Roles of Chromium without an ARIA name, and the names used instead; all others keep Chromium's name. */
const CHROME_NAMES = {
  Abbr: "abbr",
  Audio: "audio",
  Canvas: "canvas",
  ColorWell: "textbox",
  Date: "textbox",
  DateTime: "textbox",
  DescriptionList: "list",
  DisclosureTriangle: "button",
  DisclosureTriangleGrouped: "button",
  EmbeddedObject: "embed",
  Figcaption: "figcaption",
  Iframe: "iframe",
  IframePresentational: "iframe",
  InputTime: "textbox",
  LabelText: "label",
  LayoutTable: "table",
  LayoutTableCell: "cell",
  LayoutTableRow: "row",
  Legend: "legend",
  LineBreak: "text",
  MathMLMath: "math",
  PluginObject: "object",
  Ruby: "ruby",
  RubyAnnotation: "none",
  StaticText: "text",
  SvgRoot: "img",
  Video: "video",
  image: "img",
};

/** Kinds that Chromium itself names differently. */
const KIND_NAMES = {
  ComboBoxGrouping: "combobox",
  ComboBoxMenuButton: "combobox",
  ComboBoxSelect: "combobox",
  Details: "group",
  Footer: "contentinfo",
  Header: "banner",
  MenuListOption: "option",
  PopUpButton: "button",
  Section: "generic",
  TextFieldWithComboBox: "combobox",
  ToggleButton: "button",
};

// Attributes that override a presentational role: ARIA's global states and properties that are not deprecated.
const GLOBAL_ARIA = new Set(
  (
    "atomic braillelabel brailleroledescription busy controls current describedby description details flowto keyshortcuts " +
    "label labeledby labelledby live owns relevant roledescription"
  ).split(" ").map((name) => "aria-" + name),
);

/** The role of an element in Chromium's accessibility tree. */
function roleOf(element) {
  return wordFor(finalKind(element));
}

const WORDS = new Map();

function wordFor(kind) {
  let word = WORDS.get(kind);
  if (word === undefined) {
    const name = KIND_NAMES[kind] || kind;
    word = CHROME_NAMES[name] || (name.startsWith("MathML") ? "generic" : name);
    WORDS.set(kind, word);
  }
  return word;
}

/** The kind of an element, except for what depends on its style (`display: table`); see `finalKind`. */
function kindOf(element) {
  const it = known(element);
  if (it.kind === "") {
    it.kind = "generic"; // the answer for circular requests (aria-owns)
    it.kind = (marksOf(element) & ROLE && ariaKind(element)) || (internals !== null && internalKind(element)) || nativeKind(element);
  }
  return it.kind;
}

// Roles and states that the browser reported for custom elements (`ElementInternals`).
let internals = null;

function learnInternals(reported) {
  for (const { id, role, states } of reported) {
    const element = nodeOf(id);
    if (!element) continue;
    internals = internals || new WeakMap();
    internals.set(element, { kind: ARIA_ROLES.get(role) || "", states });
  }
}

calls.learn = (reported) => {
  learnInternals(reported);
  return 0;
};

const internalKind = (element) => (internals.get(element) || NO_INTERNALS).kind;
const NO_INTERNALS = { kind: "", states: {} };

/** Whether a custom element may have a role that only the browser knows. */
const mayHaveInternals = (element) =>
  isCustom(element) && !(marksOf(element) & ROLE) && (marksOf(element) & (TAB | LABEL)) !== 0 && !(internals && internals.has(element));

/** The final kind: some kinds depend on ancestors or content. */
function finalKind(element) {
  let kind = kindOf(element);
  switch (kind) {
    case "generic":
      if (nameOfTag(element) === "body" && isEditingHost(element)) return "textbox"; // the frame is an editor
      return marksOf(element) & ROLE && ariaKind(element) ? kind : kindByStyle(element);
    case "Header":
      return isInSectioning(element, true) ? "sectionheader" : kind;
    case "Footer":
      return isInSectioning(element, true) ? "sectionfooter" : kind;
    case "complementary":
      if (ariaKind(element) !== kind && !isNamedByAuthor(element) && isInSectioning(element, false)) return "generic";
      return kind;
    case "Section":
      return isNamedByAuthor(element) ? "region" : "generic";
    case "cell":
      return isInGrid(element) ? "gridcell" : kind;
    case "listitem":
      return listItemKind(element);
    case "SvgRoot":
      return hasAccessibleChild(element) ? kind : "image";
    default:
      return kind;
  }
}

// Roles set by authors.

function ariaKind(element) {
  const value = attr(element, "role");
  if (!value) return null;
  let kind = firstRole(element, value, false);
  if (!kind) return null;
  if ((kind === "form" || kind === "region") && !isNamedByAuthor(element) && !has(element, "aria-roledescription")) {
    kind = firstRole(element, value, true);
    if (!kind) return null;
  }
  switch (kind) {
    case "none":
      if (isFrameElement(element)) return "IframePresentational";
      return supportsFocus(element) || undoesPresentation(element) ? null : kind;
    case "button":
      return buttonKind(element);
    case "combobox":
      if (isTextControl(element)) return "TextFieldWithComboBox";
      if (element instanceof HTMLSelectElement) return isMenuList(element) ? null : "ComboBoxGrouping";
      return supportsFocus(element) || isButtonElement(element) ? "ComboBoxMenuButton" : "ComboBoxGrouping";
    default:
      return kind;
  }
}

function firstRole(element, value, noLandmark) {
  let start = -1;
  for (let i = 0; i <= value.length; i++) {
    if (i < value.length && !isSpace(value.charCodeAt(i))) {
      if (start < 0) start = i;
      continue;
    }
    if (start < 0) continue;
    const kind = ARIA_ROLES.get(value.slice(start, i).toLowerCase());
    start = -1;
    if (kind && !(noLandmark && (kind === "form" || kind === "region")) && hasContext(element, kind)) return kind;
  }
  return null;
}

// An item without its required context (ARIA) loses its role: the next role of the attribute, or that of its element,
// is used.
function hasContext(element, kind) {
  if (kind === "listitem") return isWithin(element, "list", null);
  // Chromium drops these where an element without a role is in between. The author's role says more than "generic".
  if (kind === "option") return isWithin(element, "listbox", null) || isSomewhereIn(element, "listbox");
  return kind === "treeitem" ? isWithin(element, "tree", "treeitem") || isSomewhereIn(element, "tree") : true;
}

function isSomewhereIn(element, wanted) {
  for (let up = parentElementOf(element); up; up = parentElementOf(up)) {
    if (marksOf(up) & ROLE && rawRole(attr(up, "role") || "") === wanted) return true;
    const kind = kindOf(up);
    if (kind !== "none" && kind !== "generic") return false;
  }
  return false;
}

function isWithin(element, wanted, passing) {
  const owner = ownerOf(element);
  if (owner) {
    const kind = kindOf(owner);
    if (kind === wanted || kind === "group") return true;
  }
  for (let up = parentElementOf(element); up; up = parentElementOf(up)) {
    const tag = isHtml(up) ? nameOfTag(up) : "";
    if (wanted === "list" && (tag === "ul" || tag === "ol" || tag === "menu")) return true;
    if (wanted === "listbox" && tag === "select") return true;
    const value = attr(up, "role");
    const kind = value ? rawRole(value) : null;
    if (kind === wanted || kind === "group") return true;
    if (kind === "none" || (passing && kind === passing)) continue;
    if (!value && (tag === "div" || tag === "span" || tag === "slot" || isCustom(up))) continue;
    return false;
  }
  return false;
}

// The first known role of a role attribute, regardless of context.
function rawRole(value) {
  for (const token of fold(value).toLowerCase().split(" ")) {
    const kind = ARIA_ROLES.get(token);
    if (kind) return kind;
  }
  return null;
}

function undoesPresentation(element) {
  for (const name of ATTRIBUTE_NAMES.call(element)) if (GLOBAL_ARIA.has(name)) return true;
  return false;
}

// Roles of the host language.

function nativeKind(element) {
  if (!(element instanceof HTMLElement)) return element instanceof SVGElement ? svgKind(element) : mathKind(element);
  const tag = nameOfTag(element);
  const kind = KINDS.get(tag);
  if (typeof kind === "string") return kind;
  return kind ? kind(element, tag) : minimumKind(element);
}

// HTML elements whose kind depends on more than the tag.
/** @type {Map<string, string | ((element: any, tag?: string) => string)>} */
const KINDS = new Map(Object.entries(TAG_KINDS));
KINDS.set("a", (element) => linkKind(element));
KINDS.set("area", (element) => (has(element, "href") ? "link" : "generic"));
KINDS.set("button", (element) => buttonKind(element));
KINDS.set("input", (element) => inputKind(element));
KINDS.set("select", (element) => (isMenuList(element) ? "ComboBoxSelect" : "listbox"));
KINDS.set("option", (element) => optionKind(element));
KINDS.set("li", (element) => (isForeignListItem(element) ? "none" : "listitem"));
KINDS.set("summary", (element) => summaryKind(element));
KINDS.set("table", (element) => (isDataTable(element) ? "table" : "LayoutTable"));
KINDS.set("tr", (element) => rowKind(element));
for (const tag of ["td", "th"]) KINDS.set(tag, (element, tag) => cellKind(element, tag));
for (const tag of ["thead", "tbody", "tfoot"]) KINDS.set(tag, (element) => sectionKind(element));

function optionKind(option) {
  const select = CLOSEST.call(option, "select");
  return select && isMenuList(select) ? "MenuListOption" : "option";
}

// An element that is visible, focusable or movable by itself is at least a group.
function minimumKind(element) {
  return marksOf(element) & MIN && !attr(element, "role") ? "group" : "generic";
}

function linkKind(element) {
  if (has(element, "href") || has(element, "onclick") || has(element, "onmousedown") || has(element, "onmouseup")) return "link";
  doubt(element); // a listener makes it a link, and listeners are not visible in this world
  return "generic";
}

function buttonKind(element) {
  const pressed = attr(element, "aria-pressed");
  if (pressed && pressed !== "undefined") return "ToggleButton";
  const popup = popupOf(element);
  return popup && popup !== "dialog" ? "PopUpButton" : "button";
}

/** The value of aria-haspopup as one of ARIA's words; null when there is none. */
function popupOf(element) {
  const value = attr(element, "aria-haspopup");
  if (!value) return null;
  const word = value.toLowerCase();
  if (word === "true" || word === "menu") return "menu";
  return word === "listbox" || word === "tree" || word === "grid" || word === "dialog" ? word : null;
}

const GET_DESIGN_MODE = getterOf(Document.prototype, "designMode");
const GET_INPUT_TYPE = getterOf(HTMLInputElement.prototype, "type");
const GET_INPUT_LIST = getterOf(HTMLInputElement.prototype, "list");
const typeOfInput = (input) => GET_INPUT_TYPE.call(input);

function inputKind(input) {
  const type = typeOfInput(input);
  if (type !== "color" && has(input, "list") && GET_INPUT_LIST.call(input)) return "TextFieldWithComboBox";
  if (type === "button" || type === "reset" || type === "submit") return buttonKind(input);
  return Object.hasOwn(INPUT_KINDS, type) ? INPUT_KINDS[type] : "textbox";
}

const GET_SELECT_SIZE = getterOf(HTMLSelectElement.prototype, "size");
const GET_SELECT_MULTIPLE = getterOf(HTMLSelectElement.prototype, "multiple");

/** Whether a <select> is rendered as a menu; a multiple one is if its size is explicitly 1. */
function isMenuList(select) {
  const size = GET_SELECT_SIZE.call(select);
  return size === 1 || (size === 0 && !GET_SELECT_MULTIPLE.call(select));
}

function isForeignListItem(item) {
  const parent = parentElementOf(item);
  if (!parent || !isHtml(parent)) return false;
  const tag = nameOfTag(parent);
  if (tag !== "ul" && tag !== "ol" && tag !== "menu") return false;
  const role = attr(parent, "role");
  return !!role && role !== "list" && role !== "directory";
}

function summaryKind(element) {
  let parent = parentElementOf(element);
  if (parent instanceof HTMLSlotElement) parent = parentElementOf(parent);
  if (!(parent instanceof HTMLDetailsElement)) return "generic";
  return attr(parent, "name") ? "DisclosureTriangleGrouped" : "DisclosureTriangle";
}

// Context of an element.

function isInSectioning(element, mainToo) {
  for (let up = axParentOf(element); up; up = axParentOf(up)) {
    const kind = kindOf(up);
    if (kind === "article" || kind === "complementary" || kind === "navigation" || kind === "Section") return true;
    if (mainToo && kind === "main") return true;
  }
  return false;
}

function isInGrid(element) {
  for (let up = axParentOf(element); up; up = axParentOf(up)) {
    const kind = kindOf(up);
    if (isTableKind(kind)) return kind === "grid" || kind === "treegrid";
  }
  return false;
}

// The items of a list of footnotes or sources.
function listItemKind(element) {
  const list = axParentOf(element);
  if (!list || kindOf(list) !== "list") return "listitem";
  const { lists } = memory();
  let kind = lists.get(list);
  if (kind === undefined) {
    kind = itemKindIn(list);
    lists.set(list, kind);
  }
  return kind;
}

function itemKindIn(list) {
  for (let up = axParentOf(list); up; up = axParentOf(up)) {
    const kind = kindOf(up);
    if (kind === "doc-bibliography") return "doc-biblioentry";
    if (kind === "doc-endnotes") return "doc-endnote";
    if (kind === "list") break;
  }
  return "listitem";
}

/** The parent element in the accessibility tree: aria-owns precedes the flat tree. */
function axParentOf(element) {
  return ownerOf(element) || parentElementOf(element);
}

// Predicates.

const isFrameElement = (element) => isHtml(element) && /^(iframe|frame|fencedframe)$/.test(nameOfTag(element));
const isCustom = (element) => isHtml(element) && nameOfTag(element).includes("-");
const isTextInput = (type) => !Object.hasOwn(INPUT_KINDS, type) && !/^(button|submit|reset|hidden)$/.test(type);

/** <textarea> and the inputs that are edited as text. */
function isTextControl(element) {
  if (element instanceof HTMLTextAreaElement) return true;
  if (!(element instanceof HTMLInputElement)) return false;
  const type = typeOfInput(element);
  return type === "number" || type === "search" || isTextInput(type);
}

function isButtonElement(element) {
  if (element instanceof HTMLButtonElement) return true;
  return element instanceof HTMLInputElement && /^(button|submit|reset|image|file)$/.test(typeOfInput(element));
}

/** Whether the author has named an element by attribute. */
function isNamedByAuthor(element) {
  const marks = marksOf(element);
  if (!(marks & (TITLE | LABEL))) return false;
  if (marks & TITLE) return true;
  const label = attr(element, "aria-label");
  return (!!label && !isBlank(label)) || labellersOf(element).length > 0;
}

const IS_DISABLED = ":disabled";

/** Whether an element would be focusable if it were visible. */
function supportsFocus(element) {
  const tab = marksOf(element) & TAB ? attr(element, "tabindex") : null;
  if (tab !== null && /^\s*[+-]?\d/.test(tab)) return true;
  if (element instanceof HTMLElement) {
    if (element instanceof HTMLObjectElement || element instanceof HTMLEmbedElement) return false;
    if (GET_TAB_INDEX.call(element) >= 0 && !(isControlElement(element) && MATCHES.call(element, IS_DISABLED))) return true;
    return isEditingHost(element);
  }
  if (!(element instanceof SVGElement)) return false;
  if (nameOfTag(element) === "a") return has(element, "href") || has(element, "xlink:href");
  return GET_SVG_TAB_INDEX.call(element) >= 0;
}

const isControlElement = (element) =>
  element instanceof HTMLInputElement ||
  element instanceof HTMLButtonElement ||
  element instanceof HTMLSelectElement ||
  element instanceof HTMLTextAreaElement;

/** Whether contenteditable is set on the element itself. */
function isEditingHost(element) {
  if (nameOfTag(element) === "body" && GET_DESIGN_MODE.call(document) === "on") return true;
  if (!(marksOf(element) & EDITS)) return false;
  const value = attr(element, "contenteditable");
  return value !== null && /^(|true|plaintext-only)$/i.test(value) && isHtml(element);
}
