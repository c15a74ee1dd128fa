// Names: the accessible name and description computation, as Chromium does it where the specification leaves it open.
// https://w3c.github.io/accname/ https://w3c.github.io/html-aam/#accessible-name-and-description-computation
//
// A name has no white space at its ends (Chromium may keep one space there).

/** Where the last text came from; the spacing of a text and whether there is a description depend on it. */
let source = "";

const CONTENT_KINDS = new Set(
  (
    "button cell checkbox columnheader gridcell heading link math menuitem menuitemcheckbox menuitemradio option radio " +
    "rowheader switch tab term tooltip treeitem doc-backlink doc-biblioref doc-glossref doc-noteref doc-subtitle " +
    "graphics-object ToggleButton PopUpButton MenuListOption DisclosureTriangle DisclosureTriangleGrouped LayoutTableCell"
  ).split(" "),
);

// These have no name of their content, but what they are inside of has.
const PASSING_KINDS = new Set(
  (
    "generic none Abbr Canvas caption code deletion insertion definition DescriptionList Details emphasis Figcaption Footer " +
    "LabelText LayoutTable LayoutTableRow Legend list listitem mark paragraph region Ruby Section strong subscript SvgRoot " +
    "superscript time"
  ).split(" "),
);

// A title is no name for these (ARIA: naming prohibited), unless they can have the focus.
const NAMELESS_KINDS = new Set(
  "caption code definition deletion emphasis generic insertion mark none paragraph strong subscript suggestion superscript term time".split(" "),
);

// Chromium ends a text when it is made of more parts than this.
const MOST_PARTS = 100;

/** The accessible name of an element; "" when it has none. */
function nameOf(element) {
  return namedOf(element).name;
}

const NO_NAME = { name: "", source: "", cut: false, leaf: false };

// Kinds that have a name only by their attributes, or when they have the focus.
const UNNAMED_KINDS = new Set(
  (
    "article banner blockquote caption code complementary contentinfo definition deletion DescriptionList emphasis Figcaption " +
    "figure Footer form generic group Header insertion list listitem main mark navigation none paragraph rowgroup Section " +
    "strong subscript superscript time LayoutTable LayoutTableRow LabelText Legend"
  ).split(" "),
);

/** The name of an element with where it came from, whether Chromium cut it, and whether all that is inside is one text. */
function namedOf(element) {
  const it = known(element);
  if (it.named === null) {
    const store = memory();
    const { doubts } = store;
    const named = quicklyNamed(element) || slowlyNamed(element);
    if (store.doubts !== doubts) doubt(element);
    it.named = named;
  }
  return it.named;
}

// Most elements have no name, or one text and nothing else inside.
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
  const name = fold(transformed(GET_DATA.call(only), element, only));
  return name ? { name, source: "contents", cut: false, leaf: true } : null;
}

function slowlyNamed(element) {
  source = "";
  const visited = new Set();
  const text = textOf(element, false, null, visited);
  return { name: fold(text), source, cut: visited.cut === true, leaf: false };
}

// The text of an element: as its own name, or (recursive) as a part of another's; `root` is what aria-labelledby or
// aria-describedby points at while what is inside of it is gathered.
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
      if (text !== null) return text;
    }
  }
  source = "";
  const native = nativeText(element, kind, visited);
  const emptied = source === "empty";
  if (native) return native;
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

/** What aria-labelledby points at, in the element's own tree. */
function labellersOf(element) {
  const by = has(element, "aria-labelledby") ? "aria-labelledby" : "aria-labeledby";
  return referencesOf(element, by, "ariaLabelledByElements");
}

function referencesOf(element, name, property) {
  const value = attr(element, name);
  if (value === null) return [];
  if (value === "") return element[property] || []; // Set by script, not by id.
  const found = [];
  for (const id of fold(value).split(" ")) {
    const other = id && byIdFrom(element, id);
    if (other && !found.includes(other)) found.push(other);
  }
  return found;
}

function textOfAll(elements, pointedAt, visited) {
  let text = "";
  for (const element of elements) {
    const part = textAgain(element, pointedAt ? element : null, visited);
    visited.add(element);
    if (part) text = text ? text + " " + part : part;
  }
  return text;
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

// Whether what a label points at is hidden itself: then all of it counts.
function isOutOfSight(element) {
  if (shownOf(element) !== SHOWN) return true;
  for (let up = element; up; up = axParentOf(up)) if (isAriaHiddenRoot(up)) return true;
  return isInert(element);
}

const GET_NETWORK_STATE = getterOf(HTMLMediaElement.prototype, "networkState");
const GET_MEDIA_ERROR = getterOf(HTMLMediaElement.prototype, "error");

// Media without anything to play are named by that; in the browser's language.
function isUnplayable(media) {
  const state = GET_NETWORK_STATE.call(media);
  if (state !== 0 && state !== 3 && !GET_MEDIA_ERROR.call(media)) return false;
  if (!navigator.language.startsWith("en")) doubtText(media);
  return true;
}

// What a control says of itself in the middle of another's name: its value.
function valueInName(element, kind, visited) {
  if (kind === "generic" || kind === "none" || kind === "link" || kind === "paragraph") {
    return isEditingHost(element) ? textIn(element) : null;
  }
  if (isTextControl(element)) return controlText(element) || null;
  if (kind === "textbox" || kind === "searchbox" || kind === "TextFieldWithComboBox" || isEditingHost(element)) {
    return element instanceof HTMLInputElement && typeOfInput(element) !== "text" ? null : textIn(element);
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

// Names of the host language.

const GET_CONTROL = getterOf(HTMLLabelElement.prototype, "control");

/** The labels of a control, in order; null when it has none. (The property of the same name searches the whole tree.) */
function labelsOf(element) {
  const { labels } = memory();
  const root = GET_ROOT_NODE.call(element);
  let found = labels.get(root);
  if (found === undefined) {
    found = new Map();
    labels.set(root, found);
    for (const label of root instanceof Element ? [] : allIn(root, "label")) {
      const control = GET_CONTROL.call(label);
      if (!control) continue;
      const others = found.get(control);
      if (others) others.push(label);
      else found.set(control, [label]);
    }
  }
  return (found.size > 0 && found.get(element)) || null;
}

function nativeText(element, kind, visited) {
  if (!(element instanceof HTMLElement)) return element instanceof SVGElement ? svgText(element) : "";
  const labels = labelsOf(element);
  if (labels) {
    const text = textOfAll(labels, false, visited);
    source = "related";
    return text;
  }
  switch (nameOfTag(element)) {
    case "input":
      return inputText(element, kind);
    case "textarea":
      return fieldText(element);
    case "option":
      return optionText(element);
    case "optgroup":
      source = "attribute";
      return attr(element, "label") || "";
    case "img":
    case "area": {
      const alt = attr(element, "alt");
      source = alt === "" ? "empty" : "attribute";
      return alt || "";
    }
    case "table":
      return tableText(element, visited);
    case "fieldset": {
      const legend = legendOf(element);
      const text = legend && !visited.has(legend) ? textAgain(legend, null, visited) : "";
      source = "related";
      return text;
    }
    case "audio":
    case "video":
      return "";
    default:
      if (kind === "textbox" || kind === "searchbox" || kind === "TextFieldWithComboBox" || isEditingHost(element)) {
        source = "placeholder";
        return attr(element, "aria-placeholder") || "";
      }
      return "";
  }
}

function inputText(input, kind) {
  switch (typeOfInput(input)) {
    case "button":
    case "submit":
    case "reset":
      source = "value";
      return attr(input, "value") !== null ? GET_INPUT_VALUE.call(input) : defaultText(input);
    case "image": {
      source = "attribute";
      const text = attr(input, "alt") || attr(input, "value");
      if (text) return text;
      const title = titleText(input);
      if (title) {
        source = "title";
        return title;
      }
      source = "value";
      return defaultText(input);
    }
    case "file":
      source = "contents";
      return defaultText(input);
    default:
      return isTextControl(input) || kind === "TextFieldWithComboBox" ? fieldText(input) : "";
  }
}

const DEFAULT_TEXTS = { button: "", submit: "Submit", reset: "Reset", image: "Submit" };

// What the browser writes on a button of its own accord is in its language, which is most often English.
function defaultText(input) {
  const type = typeOfInput(input);
  source = type === "image" ? "value" : "contents";
  if (type !== "button" && !navigator.language.startsWith("en")) doubtText(input);
  if (type === "file") return has(input, "multiple") ? "Choose Files" : "Choose File";
  return DEFAULT_TEXTS[type];
}

function fieldText(field) {
  const title = titleText(field);
  if (title) {
    source = "title";
    return title;
  }
  source = "placeholder";
  return attr(field, "placeholder") || attr(field, "aria-placeholder") || "";
}

function optionText(option) {
  const only = firstOf(option);
  if (!only || typeOf(only) !== 3 || nextOf(only)) return "";
  source = "contents";
  return attr(option, "label") || fold(GET_DATA.call(only));
}

function tableText(table, visited) {
  const caption = GET_CAPTION.call(table);
  if (caption) {
    source = "caption";
    const text = textAgain(caption, null, visited);
    source = "caption";
    return text;
  }
  source = "attribute";
  return attr(table, "summary") || "";
}

function legendOf(fieldset) {
  for (let child = GET_FIRST_ELEMENT.call(fieldset); child; child = GET_NEXT_ELEMENT.call(child)) {
    if (child instanceof HTMLLegendElement) return child;
  }
  return null;
}

function svgText(element) {
  const title = svgChild(element, SVGTitleElement);
  source = "related";
  const text = title ? textIn(title) : "";
  if (text || nameOfTag(element) !== "a") return text;
  source = "attribute";
  return attr(element, "xlink:title") || "";
}

function svgChild(element, type) {
  for (let child = GET_FIRST_ELEMENT.call(element); child; child = GET_NEXT_ELEMENT.call(child)) {
    if (child instanceof type) return child;
  }
  return null;
}

/** The title attribute, unless it only repeats what is written inside. */
function titleText(element) {
  const title = attr(element, "title");
  if (!title) return "";
  return fold(title) === fold(textIn(element)) ? "" : title;
}

const isNameless = (element, kind) => NAMELESS_KINDS.has(kind) && !supportsFocus(element) && !isCustom(element);

// Whether an element's content is its name, or a part of the name it is gathered for.
function givesContent(element, kind, recursive, root) {
  if (element instanceof HTMLSelectElement) return false;
  const field = kind === "textbox" || kind === "searchbox" || kind === "TextFieldWithComboBox";
  if ((field || isEditingHost(element)) && root !== element) return false;
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
