// Text inside an element, joined as it is read: words of separate boxes are kept apart.
// Uses: drawing, name, native, node, node-cache, role, state, style.

/** The text inside an element, as part of a name. */
const contentOf = (element) => textInside(element, null, new Set([element]));

function textInside(element, root, visited) {
  if (root === element && isInert(element)) return "";
  if (element instanceof SVGUseElement) return usedText(element);
  if (element instanceof HTMLOptionElement) return textIn(element); // one text, whatever it contains
  if (element instanceof HTMLInputElement) return /^(submit|reset)$/.test(typeOfInput(element)) ? defaultText(element) : "";
  if (element instanceof HTMLProgressElement || element instanceof HTMLHRElement) return "";
  const gathering = new Gathering(root, visited);
  gathering.inside(element);
  return gathering.text;
}

// <use> draws a copy of another element, which may have a title.
function usedText(use) {
  const href = attr(use, "href") || attr(use, "xlink:href") || "";
  const used = href[0] === "#" ? byIdFrom(use, href.slice(1)) : null;
  if (!(used instanceof SVGElement) || CONTAINS.call(used, use)) return "";
  return attr(used, "aria-label") || svgText(used) || (SVG_SHAPES.has(nameOfTag(used)) ? "" : textInside(used, null, new Set()));
}

const MOST_LEVELS_IN_NAMES = 400;

class Gathering {
  constructor(root, visited) {
    this.root = root;
    this.visited = visited;
    this.passed = visited.passed || (visited.passed = []); // possible parts, resolved only when they matter
    this.text = "";
    this.before = null; // the previous node (or parent of the text); null at the start
    this.beforeIsText = false;
    this.beforeSource = "";
    this.broken = false; // something in between broke the line
  }

  // Adds the content of an element, up to a maximum depth.
  inside(element) {
    const { visited } = this;
    const level = visited.level || 0;
    if (level > MOST_LEVELS_IN_NAMES) return doubtText(element);
    visited.level = level + 1;
    this.insideOf(element);
    visited.level = level;
  }

  // Adds the children of an element, and its ::before and ::after.
  insideOf(element) {
    const pseudo = isHtml(element) && mayHavePseudo(element) && shownOf(element) !== GONE;
    if (pseudo) this.generated(element, "::before");
    const owned = ownedBy(element);
    if (element instanceof HTMLDetailsElement && !summaryOf(element)) this.untitled(element);
    if (isReordered(element)) {
      for (const child of childrenOf(element)) this.child(child, element);
    } else {
      for (let child = firstOf(element); child; child = nextOf(child)) this.child(child, element);
    }
    if (owned) for (const child of owned) this.child(child, element, true);
    if (pseudo) this.generated(element, "::after");
  }

  child(node, parent, isOwned) {
    if (this.isFull()) return;
    const type = typeOf(node);
    if (type === 3 || type === 4) return this.written(node, parent);
    if (type !== 1) return;
    if (!isOwned && ownerOf(node)) return;
    if (isHiddenInName(node, this.root)) {
      const shown = shownOf(node);
      if (shown === GONE) return;
      if (this.text && !this.broken && !isInline(node)) this.broken = true;
      if (shown === VEILED && !isAriaHiddenRoot(node)) this.unveiled(node);
      return;
    }
    const drawn = node instanceof SVGElement;
    if (drawn ? node instanceof SVGTitleElement || node instanceof SVGDescElement : nameOfTag(node) === "wbr") {
      if (this.text && !drawn) this.text += " ";
      return;
    }
    const kind = kindOf(node);
    if (drawn && kind === "SvgRoot" && !GET_FIRST_ELEMENT.call(node) && passes(node)) return;
    if (kind === "none" || ((kind === "generic" || (drawn && kind === "group")) && passes(node))) {
      if (drawn && (svgChild(node, SVGTitleElement) || svgChild(node, SVGDescElement))) return this.said(node);
      this.empties(node);
      this.passed.push(node);
      return this.inside(node);
    }
    this.said(node);
  }

  // Adds the text that an element contributes itself.
  said(node) {
    source = "";
    const text = textAgain(node, this.root, this.visited);
    const from = source;
    // A line ends before a box, including the white space at its end.
    if (text && from === "contents" && endsInSpace(this.text) && isInline(node) && startsWithBox(node)) this.text = this.text.trimEnd();
    this.add(text, node, false, from);
  }

  // A <details> without a <summary> gets one from the browser, in its language.
  untitled(details) {
    if (!navigator.language.startsWith("en")) doubtText(details);
    this.broken = true;
    this.add(transformed("Details", details, null), details, true, "contents");
    this.broken = true;
  }

  // Whether the text has reached the maximum number of parts.
  isFull() {
    const { passed, visited } = this;
    if (this.text.length > MOST_READ) return (visited.long = true);
    if (visited.size + passed.length <= MOST_PARTS) return false;
    for (const node of passed) if (isElement(node) ? isPart(node) : isLaidOut(node)) visited.add(node);
    passed.length = 0;
    visited.cut = visited.size > MOST_PARTS;
    return visited.cut;
  }

  // Inside an invisible element, descendants may be visible, but not its own text.
  unveiled(element) {
    for (const child of childrenOf(element)) if (isElement(child)) this.child(child, element);
  }

  // A box without text still separates its neighbours.
  empties(node) {
    if (this.text && !this.broken && !GET_FIRST.call(node) && !isInline(node)) this.broken = true;
  }

  written(node, parent) {
    let data = GET_DATA.call(node);
    if (isBlank(data)) {
      if (this.text && data) this.text += " ";
      this.passed.push(node);
      return;
    }
    this.visited.add(node);
    if (data.length > MOST_READ) {
      this.visited.long = true;
      data = data.slice(0, MOST_READ);
    }
    this.add(transformed(data, parent, node), parent, true, "contents");
  }

  generated(element, which) {
    const style = getComputedStyle(element, which);
    const content = contentIn(style);
    if (!content || (style.visibility !== "visible" && shownOf(element) === SHOWN)) return;
    const { text, alternative } = generatedText(content, element);
    this.visited.add({});
    if (!text) return;
    const block = style.display !== "inline";
    this.broken ||= block;
    this.add(alternative ? text : cased(text, style.textTransform, element, null), element, true, alternative ? "css" : "contents");
    this.broken ||= block;
  }

  add(text, node, isText, from) {
    if (text && this.text && !endsInSpace(this.text) && !isSpace(text.charCodeAt(0))) {
      if (this.apart(node, isText, from)) this.text += " ";
    }
    this.text += text;
    this.before = node;
    this.beforeIsText = isText;
    if (text) this.beforeSource = from;
    this.broken = false;
  }

  // Whether the previous text and the next one belong to different boxes.
  apart(node, isText, from) {
    if (this.broken || !this.before || keepsApart(this.beforeSource) || keepsApart(from)) return true;
    if (!this.beforeIsText && standsAlone(this.before)) return true;
    if (!isText && standsAlone(node)) return true;
    const before = this.beforeIsText ? this.before : parentElementOf(this.before);
    const now = isText ? node : parentElementOf(node);
    return before !== now && flowOf(before) !== flowOf(now);
  }
}

// Whether the first content of an inline element is a box of its own.
function startsWithBox(element) {
  if (mayHavePseudo(element) && contentIn(getComputedStyle(element, "::before"))) return false;
  for (const child of childrenOf(element)) {
    if (!isElement(child)) {
      if (!isBlank(GET_DATA.call(child))) return false;
    } else if (shownOf(child) === SHOWN) {
      if (!isInline(child)) return !/^inline/.test(styleOf(child).display) && !isOutOfFlow(child);
      return startsWithBox(child);
    }
  }
  return false;
}

function isOutOfFlow(element) {
  const { position, float } = styleOf(element);
  return float !== "none" || position === "absolute" || position === "fixed";
}

// A box of its own is a part of a text.
const isPart = (element) => kindOf(element) === "generic" && !isInline(element);

// White space is rendered between words, not at the start of a box or between boxes.
function isLaidOut(blank) {
  const before = GET_PREVIOUS.call(blank);
  if (!before) return false;
  return isElement(before) ? isInline(before) && !(before instanceof HTMLBRElement) : typeOf(before) === 3;
}

const keepsApart = (from) => from !== "" && from !== "contents" && from !== "empty";
const endsInSpace = (text) => isSpace(text.charCodeAt(text.length - 1));

const REPLACED = new Set("img input button select textarea video audio canvas iframe embed object meter progress".split(" "));

/** Whether an element is laid out inline. */
function isInline(element) {
  if (element instanceof HTMLBRElement) return true;
  if (shownOf(element) === GONE) return false;
  const display = styleOf(element).display;
  return display === "inline" || display === "ruby" || display === "ruby-text";
}

function standsAlone(element) {
  if (!isInline(element)) return true;
  if (REPLACED.has(nameOfTag(element)) || element instanceof SVGSVGElement) return true;
  const role = attr(element, "role");
  return !!role && isWidget(kindOf(element));
}

// The box whose lines contain an element's text.
function flowOf(element) {
  for (let up = element; up; up = parentElementOf(up)) {
    if (!isInline(up)) return up;
  }
  return null;
}

const WIDGETS = new Set(
  (
    "button checkbox ColorWell ComboBoxGrouping ComboBoxMenuButton ComboBoxSelect Date DateTime InputTime listbox menu " +
    "menubar menuitem menuitemcheckbox menuitemradio MenuListOption option PopUpButton radio radiogroup scrollbar " +
    "searchbox slider spinbutton switch tab textbox TextFieldWithComboBox ToggleButton tree treeitem"
  ).split(" "),
);
const isWidget = (kind) => WIDGETS.has(kind);

// Whether a generic element is ignored in the tree: its children take its place.
const passes = (element) => !(marksOf(element) & (ID | TITLE | LANG | TAB | EDITS | ARIA | HANDLER | MIN));
