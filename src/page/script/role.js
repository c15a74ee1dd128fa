// Roles: what Chromium's accessibility tree calls an element, in ARIA's words.
//
// A "kind" is finer than a role: Chromium keeps <header> and role=banner, or a button and a toggle button, apart while it
// computes, and names them alike in the end. ARIA roles are their own kind; kinds of the host language are capitalised.
// https://w3c.github.io/html-aam/ https://w3c.github.io/aria/ https://w3c.github.io/svg-aam/

/** Names Chromium gives that ARIA does not have, and what we say instead; anything else is said as Chromium says it. */
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

/** Kinds that Chromium itself calls by another name. */
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

const ARIA_ROLES = new Map();
for (const role of (
  "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
  "comment complementary contentinfo definition deletion dialog document emphasis feed figure form generic grid gridcell " +
  "group heading image insertion link list listbox listitem log main mark marquee math menu menubar menuitem " +
  "menuitemcheckbox menuitemradio meter navigation none note option paragraph progressbar radio radiogroup region row " +
  "rowgroup rowheader scrollbar search searchbox sectionfooter sectionheader separator slider spinbutton status strong " +
  "subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree " +
  "treegrid treeitem doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-biblioentry " +
  "doc-bibliography doc-biblioref doc-chapter doc-colophon doc-conclusion doc-cover doc-credit doc-credits " +
  "doc-dedication doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-footnote doc-foreword " +
  "doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice doc-pagebreak doc-pagefooter " +
  "doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip doc-toc " +
  "graphics-document graphics-object graphics-symbol"
).split(" ")) {
  ARIA_ROLES.set(role, role);
}
ARIA_ROLES.set("directory", "list").set("img", "image").set("presentation", "none");

/** HTML elements whose kind does not depend on anything else. */
const TAG_KINDS = {
  abbr: "Abbr", address: "group", area: "link", article: "article", aside: "complementary", audio: "Audio",
  blockquote: "blockquote", canvas: "Canvas", caption: "caption", code: "code", dd: "definition", del: "deletion",
  details: "Details", dfn: "term", dialog: "dialog", dir: "list", dl: "DescriptionList", dt: "term", em: "emphasis",
  embed: "EmbeddedObject", fencedframe: "Iframe", fieldset: "group", figcaption: "Figcaption", figure: "figure",
  footer: "Footer", form: "form", frame: "Iframe", h1: "heading", h2: "heading", h3: "heading", h4: "heading",
  h5: "heading", h6: "heading", header: "Header", hgroup: "group", hr: "separator", iframe: "Iframe", img: "image",
  ins: "insertion", label: "LabelText", legend: "Legend", main: "main", mark: "mark", menu: "list", meter: "meter",
  nav: "navigation", object: "PluginObject", ol: "list", optgroup: "group", output: "status", p: "paragraph",
  progress: "progressbar", rp: "RubyAnnotation", rt: "RubyAnnotation", ruby: "Ruby", s: "deletion", search: "search",
  section: "Section", strong: "strong", sub: "subscript", sup: "superscript", textarea: "textbox", time: "time",
  ul: "list", video: "Video",
};

const INPUT_KINDS = {
  checkbox: "checkbox", color: "ColorWell", date: "Date", "datetime-local": "DateTime", file: "button", image: "button",
  month: "DateTime", number: "spinbutton", radio: "radio", range: "slider", search: "searchbox", time: "InputTime",
  week: "DateTime",
};

const MATH_ROWS = "mrow annotation-xml maction merror mpadded mphantom mstyle semantics";

// Attributes that make a presentational role void: ARIA's global states and properties that are not on their way out.
const GLOBAL_ARIA = new Set(
  (
    "atomic braillelabel brailleroledescription busy controls current describedby description details flowto keyshortcuts " +
    "label labeledby labelledby live owns relevant roledescription"
  ).split(" ").map((name) => "aria-" + name),
);

/** The role of an element as Chromium's accessibility tree has it, in our words. */
function roleOf(element) {
  return wordFor(finalKind(element));
}

function wordFor(kind) {
  const name = KIND_NAMES[kind] || kind;
  const word = CHROME_NAMES[name] || name;
  return word.startsWith("MathML") ? "generic" : word;
}

/** The kind of an element, but for what only its style says (`display: table`); see `finalKind`. */
function kindOf(element) {
  const { kinds } = memory();
  let kind = kinds.get(element);
  if (kind === undefined) {
    kinds.set(element, "generic"); // Whoever asks again meanwhile (aria-owns in a circle) gets an answer.
    kind = (has(element, "role") && ariaKind(element)) || nativeKind(element);
    kinds.set(element, kind);
  }
  return kind;
}

/** The kind as it is said in the end: some depend on what is around or inside. */
function finalKind(element) {
  let kind = kindOf(element);
  switch (kind) {
    case "generic":
      return has(element, "role") && ariaKind(element) ? kind : kindByStyle(element);
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

// Roles that authors give.

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

// An item outside of what it is an item of is none (ARIA "required context"): its next role or its element's counts.
function hasContext(element, kind) {
  if (kind === "listitem") return isWithin(element, "list", null);
  if (kind === "option") return isWithin(element, "listbox", null);
  return kind === "treeitem" ? isWithin(element, "tree", "treeitem") : true;
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

// The first known role in a role attribute, whatever is around.
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
  switch (tag) {
    case "div":
    case "span":
      return minimumKind(element);
    case "a":
      return linkKind(element);
    case "button":
      return buttonKind(element);
    case "input":
      return inputKind(element);
    case "select":
      return isMenuList(element) ? "ComboBoxSelect" : "listbox";
    case "option": {
      const select = CLOSEST.call(element, "select");
      return select && isMenuList(select) ? "MenuListOption" : "option";
    }
    case "li":
      return isForeignListItem(element) ? "none" : "listitem";
    case "summary":
      return summaryKind(element);
    case "table":
      return isDataTable(element) ? "table" : "LayoutTable";
    case "tr":
      return rowKind(element);
    case "td":
    case "th":
      return cellKind(element, tag);
    case "thead":
    case "tbody":
    case "tfoot":
      return sectionKind(element);
    default: {
      const kind = TAG_KINDS[tag];
      return kind !== undefined && typeof kind === "string" && Object.hasOwn(TAG_KINDS, tag) ? kind : minimumKind(element);
    }
  }
}

// What is shown, found or moved by itself is at least a group.
function minimumKind(element) {
  if (!HAS_ATTRIBUTES.call(element) || attr(element, "role")) return "generic";
  if (has(element, "popover") || has(element, "autofocus") || has(element, "draggable")) return "group";
  return "generic";
}

function linkKind(element) {
  if (has(element, "href") || has(element, "onclick") || has(element, "onmousedown") || has(element, "onmouseup")) return "link";
  doubt(element); // A listener makes it a link, and this world does not see the page's listeners.
  return "generic";
}

function buttonKind(element) {
  const pressed = attr(element, "aria-pressed");
  if (pressed && pressed !== "undefined") return "ToggleButton";
  const popup = popupOf(element);
  return popup && popup !== "dialog" ? "PopUpButton" : "button";
}

/** What aria-haspopup says, in one of ARIA's words; null when it says nothing. */
function popupOf(element) {
  const value = attr(element, "aria-haspopup");
  if (!value) return null;
  const word = value.toLowerCase();
  if (word === "true" || word === "menu") return "menu";
  return word === "listbox" || word === "tree" || word === "grid" || word === "dialog" ? word : null;
}

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

/** Whether a <select> is shown as one line that opens. */
function isMenuList(select) {
  return !GET_SELECT_MULTIPLE.call(select) && GET_SELECT_SIZE.call(select) <= 1;
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
  if (!(parent instanceof HTMLDetailsElement) || summaryOf(parent) !== element) return "generic";
  return attr(parent, "name") ? "DisclosureTriangleGrouped" : "DisclosureTriangle";
}

function mathKind(element) {
  const tag = nameOfTag(element);
  if (tag === "math") return "MathMLMath";
  return element instanceof MathMLElement ? "MathML" + (MATH_ROWS.includes(tag) ? "Row" : tag) : "generic";
}

const SVG_SHAPES = new Set(["path", "rect", "circle", "ellipse", "line", "polyline", "polygon"]);

function svgKind(element) {
  const tag = nameOfTag(element);
  if (tag === "a") {
    if (has(element, "href") || has(element, "xlink:href") || has(element, "onclick")) return "link";
    return CLOSEST.call(element, "text") ? "generic" : "group";
  }
  if (tag === "svg") return isNestedSvg(element) ? "group" : "SvgRoot";
  if (tag === "g" || tag === "foreignObject") return "group";
  if (tag === "image") return "image";
  if (tag === "use") return "graphics-object";
  return SVG_SHAPES.has(tag) ? "graphics-symbol" : minimumKind(element);
}

const GET_OWNER_SVG = getterOf(SVGElement.prototype, "ownerSVGElement");
const isNestedSvg = (svg) => !!GET_OWNER_SVG.call(svg);

// Whether Chromium would show anything inside an <svg>: one with nothing inside is an image.
function hasAccessibleChild(element) {
  for (const child of childrenOf(element)) {
    if (!isElement(child)) {
      if (typeOf(child) === 3 && nameOfTag(element) !== "svg" && !isBlank(GET_DATA.call(child))) return true;
      continue;
    }
    if (isHtml(child)) {
      if (shownOf(child) === SHOWN) return true;
      continue;
    }
    if (child instanceof SVGElement && isSvgShown(child)) return true;
  }
  return false;
}

// Kinds by layout.

const DISPLAY_KINDS = { "list-item": "listitem", table: "LayoutTable", "inline-table": "LayoutTable" };

function kindByStyle(element) {
  if (!isHtml(element) || nameOfTag(element) === "html" || nameOfTag(element) === "body") return "generic";
  const tag = nameOfTag(element);
  if (tag === "summary" || tag === "a" || shownOf(element) !== SHOWN) return "generic";
  const display = styleOf(element).display;
  switch (display) {
    case "list-item":
    case "table":
    case "inline-table":
      return DISPLAY_KINDS[display];
    case "table-row":
      return tag === "tr" ? "generic" : rowKind(element);
    case "table-cell":
      return tag === "td" || tag === "th" ? "generic" : cellKind(element, tag);
    case "table-row-group":
    case "table-header-group":
    case "table-footer-group":
      return tag === "tbody" || tag === "thead" || tag === "tfoot" ? "generic" : sectionKind(element);
    default:
      return "generic";
  }
}

// What an element is inside of.

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

function listItemKind(element) {
  let up = axParentOf(element);
  if (!up || kindOf(up) !== "list") return "listitem";
  for (up = axParentOf(up); up; up = axParentOf(up)) {
    const kind = kindOf(up);
    if (kind === "doc-bibliography") return "doc-biblioentry";
    if (kind === "doc-endnotes") return "doc-endnote";
    if (kind === "list") break;
  }
  return "listitem";
}

/** The parent element in the accessibility tree: an aria-owns counts before the flat tree. */
function axParentOf(element) {
  return ownerOf(element) || parentElementOf(element);
}

// Small questions.

const isFrameElement = (element) => isHtml(element) && /^(iframe|frame|fencedframe)$/.test(nameOfTag(element));
const isCustom = (element) => isHtml(element) && nameOfTag(element).includes("-");
const isTextInput = (type) => !Object.hasOwn(INPUT_KINDS, type) && !/^(button|submit|reset|hidden)$/.test(type);

/** <textarea> and the inputs whose text is edited as one. */
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

/** Whether an author has named an element by attribute. */
function isNamedByAuthor(element) {
  if (!HAS_ATTRIBUTES.call(element)) return false;
  if (has(element, "title")) return true;
  const label = attr(element, "aria-label");
  return (!!label && !isBlank(label)) || labellersOf(element).length > 0;
}

const IS_DISABLED = ":disabled";

/** Whether an element could take the focus if it were shown. */
function supportsFocus(element) {
  const tab = attr(element, "tabindex");
  if (tab !== null && /^\s*[+-]?\d/.test(tab)) return true;
  if (element instanceof HTMLElement) {
    if (GET_TAB_INDEX.call(element) >= 0 && !(isControlElement(element) && MATCHES.call(element, IS_DISABLED))) return true;
    return isEditingHost(element);
  }
  return element instanceof SVGElement && GET_SVG_TAB_INDEX.call(element) >= 0;
}

const isControlElement = (element) =>
  element instanceof HTMLInputElement ||
  element instanceof HTMLButtonElement ||
  element instanceof HTMLSelectElement ||
  element instanceof HTMLTextAreaElement;

/** Whether contenteditable is set on the element itself. */
function isEditingHost(element) {
  const value = attr(element, "contenteditable");
  return value !== null && /^(|true|plaintext-only)$/i.test(value) && isHtml(element);
}
