// Names: the accessible name and description computation, as in Chromium where the specification leaves it open.
// https://w3c.github.io/accname/ https://w3c.github.io/html-aam/#accessible-name-and-description-computation
//
// A name has no white space at its ends (Chromium may keep one space there).
// Uses: content, native, node, node-cache, role, state, style, value.

/** The source of the last text; spacing and descriptions depend on it. */
let source = "";

const CONTENT_KINDS = new Set(
  (
    "button cell checkbox columnheader gridcell heading link math menuitem menuitemcheckbox menuitemradio option radio " +
    "rowheader switch tab term tooltip treeitem doc-backlink doc-biblioref doc-glossref doc-noteref doc-subtitle " +
    "graphics-object ToggleButton PopUpButton MenuListOption DisclosureTriangle DisclosureTriangleGrouped LayoutTableCell"
  ).split(" "),
);

// Not named by their content, but part of the content of their ancestors.
const PASSING_KINDS = new Set(
  (
    "generic none Abbr Canvas caption code deletion insertion definition DescriptionList Details emphasis Figcaption Footer " +
    "LabelText LayoutTable LayoutTableRow Legend list listitem mark paragraph region Ruby Section strong subscript SvgRoot " +
    "superscript time"
  ).split(" "),
);

// A title does not name these (ARIA: naming prohibited), unless they are focusable.
const NAMELESS_KINDS = new Set(
  "caption code definition deletion emphasis generic insertion mark none paragraph strong subscript suggestion superscript term time".split(" "),
);

// Chromium cuts a text with more parts than this.
const MOST_PARTS = 100;

// Maximum length of a name. A page can create one of any length, and messages have a limit.
const MOST_NAME = 10000;
// Maximum length that is read for a name, including white space.
const MOST_READ = 16 * MOST_NAME;

/** The accessible name of an element; "" when it has none. */
function nameOf(element) {
  return namedOf(element).name;
}

// Characters for private use, which icon fonts draw as icons: nobody can read them.
const GLYPHS = /^(?:\s|[\ue000-\uf8ff]|[\udb80-\udbff][\udc00-\udfff])+$/;
const isGlyphs = (name) => name !== "" && name.charCodeAt(0) >= 0xdb80 && name.charCodeAt(0) <= 0xf8ff && GLYPHS.test(name);

const NO_NAME = { name: "", source: "", cut: false, leaf: false };

// Kinds that are named by attributes only, or when they have the focus.
const UNNAMED_KINDS = new Set(
  (
    "article banner blockquote caption code complementary contentinfo definition deletion DescriptionList emphasis Figcaption " +
    "figure Footer form generic group Header insertion list listitem main mark navigation none paragraph rowgroup Section " +
    "strong subscript superscript time LayoutTable LayoutTableRow LabelText Legend"
  ).split(" "),
);

/** The name of an element with its source, whether Chromium cut it, and whether the whole content is one text. */
function namedOf(element) {
  const it = known(element);
  if (it.named === null) {
    const store = memory();
    const { doubts } = store;
    const named = quicklyNamed(element) || slowlyNamed(element);
    if (store.doubts !== doubts) doubt(element);
    it.named = isGlyphs(named.name) ? NO_NAME : named;
  }
  return it.named;
}

// Most elements have no name, or one text and no other content.
function quicklyNamed(element) {
  if (marksOf(element) & (LABEL | TITLE | EDITS | ROLE | OWNS) || focus() === element) return null;
  if (!(element instanceof HTMLElement)) return null;
  const kind = kindOf(element);
  if (UNNAMED_KINDS.has(kind)) {
    return kind === "group" || kind === "generic" || element instanceof HTMLTableElement ? null : NO_NAME;
  }
  if (kind !== "link" && kind !== "button" && kind !== "cell" && kind !== "heading") return null;
  const only = GET_FIRST.call(element);
  if (!only || GET_TYPE.call(only) !== 3 || GET_NEXT.call(only) || mayHavePseudo(element)) return null;
  if (rootsOf(element) || element instanceof HTMLInputElement || (kind === "button" && labelsOf(element))) return null;
  if (shownOf(element) !== SHOWN) return null;
  const data = GET_DATA.call(only);
  if (data.length > MOST_NAME) return null;
  const name = fold(transformed(data, element, only));
  return name ? { name, source: "contents", cut: false, leaf: true } : null;
}

function slowlyNamed(element) {
  source = "";
  /** @type {Set<any> & { long?: boolean, cut?: boolean, passed?: any[] }} */
  const visited = new Set();
  const text = textOf(element, false, null, visited);
  const name = fold(text.length > MOST_READ ? text.slice(0, MOST_READ) : text);
  const long = visited.long === true || text.length > MOST_READ || name.length > MOST_NAME;
  return { name: long ? name.slice(0, MOST_NAME) : name, source, cut: visited.cut === true || long, leaf: false };
}

// The text of an element: as its own name, or (recursive) as a part of another one's; `root` is the target of
// aria-labelledby or aria-describedby while its content is collected.
function textOf(element, recursive, root, visited) {
  const html = element instanceof HTMLElement;
  const tag = nameOfTag(element);
  if (html && tag === "br") {
    visited.add(element);
    source = "contents";
    return "\n";
  }
  let kind = kindOf(element);
  if (kind === "generic" && !recursive) kind = finalKind(element);
  if (html && (tag === "video" || tag === "audio") && isUnplayable(element)) {
    source = "contents";
    return "Unable to play media.";
  }
  const again = visited.has(element);
  if (recursive && !again) {
    const value = valueInName(element, kind, visited);
    if (value !== null) {
      source = "value";
      return value;
    }
  }
  visited.add(element);
  const marks = marksOf(element);
  if (!html || tag !== "slot") {
    if (isHiddenInName(element, root)) return "";
    if (marks & LABEL) {
      const text = ariaText(element, root, again, visited);
      if (text !== null) return recursive ? withFiles(element, tag, text) : text;
    }
  }
  source = "";
  const native = nativeText(element, kind, visited);
  const emptied = source === "empty";
  if (source === "none") return "";
  if (native) return recursive ? withFiles(element, tag, native) : native;
  if (givesContent(element, kind, recursive, root)) {
    const text = textInside(element, root, visited);
    source = "contents";
    if (text) return text;
  }
  if (marks & TITLE && !(emptied && (tag === "img" || tag === "area")) && (root || !isNameless(element, kind))) {
    const text = titleText(element);
    if (text) {
      source = "title";
      return text;
    }
  }
  source = emptied ? "empty" : "";
  return "";
}

// Inside another element's name, a file input also contributes the chosen files.
function withFiles(element, tag, text) {
  if (tag !== "input" || !(element instanceof HTMLInputElement) || typeOfInput(element) !== "file") return text;
  if (!navigator.language.startsWith("en")) doubtText(element);
  return text + (styleOf(element).direction === "rtl" ? " :" : ": ") + (filesIn(element) || "No file chosen");
}

function ariaText(element, root, again, visited) {
  if (!root && !again) {
    const labellers = labellersOf(element);
    if (labellers.length) {
      const text = textOfAll(labellers, true, visited);
      if (!isBlank(text)) {
        source = "related";
        return text;
      }
    }
  }
  const label = attr(element, "aria-label");
  if (!label || isBlank(label)) return null;
  source = "attribute";
  return label;
}

/** The targets of aria-labelledby, in the element's own tree. */
function labellersOf(element) {
  const by = has(element, "aria-labelledby") ? "aria-labelledby" : "aria-labeledby";
  return referencesOf(element, by, GET_LABELLED_BY);
}

const GET_LABELLED_BY = getterOf(Element.prototype, "ariaLabelledByElements");
const GET_DESCRIBED_BY = getterOf(Element.prototype, "ariaDescribedByElements");

function referencesOf(element, name, getter) {
  const value = attr(element, name);
  if (value === null) return [];
  if (value === "") return getter.call(element) || []; // set by script, not by id
  const found = [];
  for (const id of fold(value).split(" ")) {
    const other = id && byIdFrom(element, id);
    if (other) found.push(other);
  }
  return found;
}

function textOfAll(elements, pointedAt, visited) {
  let text = "";
  for (const element of elements) {
    if (pointedAt && isOutOfTree(element)) continue;
    const part = textAgain(element, pointedAt ? element : null, visited);
    visited.add(element);
    if (part) text = text ? text + " " + part : part;
  }
  return text;
}

// Their content has no layout of its own, so nothing can refer to it.
const HOLDERS = "option,progress,meter,video,audio,iframe";

function isOutOfTree(element) {
  const parent = GET_PARENT.call(element);
  return parent instanceof Element && CLOSEST.call(parent, HOLDERS) !== null;
}

function textAgain(element, root, visited) {
  return visited.has(element) && !root ? "" : textOf(element, true, root, visited);
}

function isHiddenInName(element, root) {
  const html = element instanceof HTMLElement;
  if (!html && (element instanceof SVGTitleElement || element instanceof SVGDescElement)) return false;
  if (html) {
    const tag = nameOfTag(element);
    if (tag === "noscript") return true;
    if ((tag === "option" || tag === "optgroup") && selectOf(element)) return false;
  }
  if (marksOf(element) & INERT && isInert(element)) return true;
  if (root && isOutOfSight(root)) return false;
  return isAriaHiddenRoot(element) || shownOf(element) !== SHOWN;
}

// Whether the target of a label is hidden itself: then all of its content counts.
function isOutOfSight(element) {
  if (shownOf(element) !== SHOWN) return true;
  for (let up = element; up; up = axParentOf(up)) if (isAriaHiddenRoot(up)) return true;
  return isInert(element);
}

const GET_NETWORK_STATE = getterOf(HTMLMediaElement.prototype, "networkState");
const GET_MEDIA_ERROR = getterOf(HTMLMediaElement.prototype, "error");

// Media without a source are named by that, in the browser's language.
function isUnplayable(media) {
  const state = GET_NETWORK_STATE.call(media);
  if (state !== 0 && state !== 3 && !GET_MEDIA_ERROR.call(media)) return false;
  if (!navigator.language.startsWith("en")) doubtText(media);
  return true;
}

// The value that a control contributes to another element's name.
function valueInName(element, kind, visited) {
  if (kind === "generic" || kind === "none" || kind === "link" || kind === "paragraph") {
    return isEditingHost(element) ? writtenIn(element) : null;
  }
  if (isTextControl(element)) return controlText(element) || null;
  if (kind === "textbox" || kind === "searchbox" || kind === "TextFieldWithComboBox" || isEditingHost(element)) {
    return element instanceof HTMLInputElement && typeOfInput(element) !== "text" ? null : writtenIn(element);
  }
  if (RANGES.has(kind)) return rangeValue(element, kind);
  if (kind === "ComboBoxSelect" || kind === "listbox") return chosenInName(element, kind, visited);
  if (kind === "ComboBoxMenuButton" || kind === "ComboBoxGrouping") {
    const list = childrenOf(element).find((child) => isElement(child) && kindOf(child) === "listbox");
    const chosen = list ? chosenInName(list, "listbox", visited) : null;
    if (chosen) return chosen;
    return kind === "ComboBoxMenuButton" ? textInside(element, null, visited) : null;
  }
  return null;
}

function chosenInName(element, kind, visited) {
  const chosen =
    element instanceof HTMLSelectElement
      ? [...GET_SELECTED_OPTIONS.call(element)]
      : childrenOf(element).filter((child) => isElement(child) && ariaBoolean(child, "aria-selected"));
  if (!chosen.length) return kind === "ComboBoxSelect" ? chosenLabel(element) : null;
  let text = "";
  for (const option of chosen) {
    if (visited.has(option)) continue;
    visited.add(option);
    text = text ? text + " " + nameOf(option) : nameOf(option);
  }
  return text;
}

function isNameless(element, kind) {
  if (!NAMELESS_KINDS.has(kind) || isCustom(element)) return false;
  return !supportsFocus(element) || shownOf(element) !== SHOWN || styleOf(element).display === "contents";
}

// Whether the content of an element is its name, or a part of the name being collected.
function givesContent(element, kind, recursive, root) {
  if (element instanceof HTMLSelectElement) return false;
  const field = kind === "textbox" || kind === "searchbox" || kind === "TextFieldWithComboBox";
  if ((field || isTextControl(element) || isEditingHost(element)) && root !== element) return false;
  if (root) return true;
  if (kind === "MenuListOption") return true;
  if (CONTENT_KINDS.has(kind)) return true;
  if (kind === "row") return isRowOfGrid(element);
  if (kind === "RubyAnnotation") return !recursive;
  const passing = PASSING_KINDS.has(kind) || (kind === "group" && nameOfTag(element) === "address");
  if (!passing || (isHtml(element) && /^(body|html)$/.test(nameOfTag(element)))) return false;
  if (recursive) return true;
  return focus() === element && !isEditable(element) && !has(element, "aria-activedescendant");
}

function isRowOfGrid(row) {
  for (let up = axParentOf(row); up; up = axParentOf(up)) {
    const kind = kindOf(up);
    if (kind === "grid" || kind === "treegrid") return true;
    if (kind !== "generic" && kind !== "none" && kind !== "group" && kind !== "rowgroup") return false;
  }
  return false;
}
