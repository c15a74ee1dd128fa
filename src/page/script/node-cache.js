// Cached facts about nodes, and their lifetime.
// Uses: node.

// The cache of a node is a private field of its wrapper in this world: invisible to others, cheaper than a map, and
// collected with the node. All but the number is valid for one call only.

class Known {
  constructor() {
    this.id = 0;
    this.age = -1;
    this.kind = "";
    this.marks = -1;
    this.shown = 0;
    this.named = null;
  }
}

class Stamp extends class {
  constructor(node) {
    return node;
  }
} {
  #known = new Known();
  static of(node) {
    if (!(#known in node)) new Stamp(node);
    return node.#known;
  }
}

let age = 0;

/** The cache of a node in the present call. */
function known(node) {
  const it = Stamp.of(node);
  if (remembered === null) memory();
  if (it.age !== age) {
    it.age = age;
    it.kind = "";
    it.marks = -1;
    it.shown = 0;
    it.named = null;
  }
  return it;
}

// Facts about elements, valid until the present call ends: the page cannot change before that.

class Memory {
  constructor() {
    this.styles = new Map();
    this.lists = new Map();
    this.labels = new Map();
    this.owned = null;
    // Facts about the whole document, collected in advance to save checks everywhere.
    this.flat = false; // there is no shadow root
    this.owns = true; // there may be an aria-owns
    this.disables = true; // there may be a disabled container
    this.modal = undefined;
    this.focused = undefined;
    this.rects = new Map();
    this.sheets = false;
    this.generating = null; // elements with ::before or ::after text; null: any may have it
    this.pointing = null; // elements that may set cursor: pointer; likewise
    this.hovering = null; // elements with a :hover style of their own; null: none
    this.rootStyles = null; // what the style sheets of shadow roots do, by root
    this.places = null; // drop targets; null: not determined yet
    this.unsure = new Set();
    this.doubts = 0;
  }
}

let remembered = null;

/** The cached facts; code that changes the page calls `forget` before it reads again. */
function memory() {
  if (!remembered) {
    remembered = new Memory();
    age++;
    Promise.resolve().then(forget);
  }
  return remembered;
}

function forget() {
  remembered = null;
}

/** The computed style of an element, at most once per call. */
function styleOf(element) {
  const { styles } = memory();
  let style = styles.get(element);
  if (style === undefined) {
    style = getComputedStyle(element);
    styles.set(element, style);
  }
  return style;
}

// Relevant attributes, read at once: reading each by name costs more.

const ROLE = 1;
const LABEL = 2; // aria-label, aria-labelledby
const TITLE = 4;
const TAB = 8; // tabindex
const HIDDEN = 16; // aria-hidden
const INERT = 32;
const OWNS = 64; // aria-owns
const HANDLER = 128; // onclick and the like, draggable
const EDITS = 256; // contenteditable
const ARIA = 512; // any aria-*
const ID = 1024;
const OPENS = 2048; // popovertarget
const MIN = 4096; // popover, autofocus, draggable
const LANG = 8192;
const OTHER = 16384; // any but class and style

const MARKS = new Map([
  ["role", ROLE],
  ["aria-label", LABEL | ARIA],
  ["aria-labelledby", LABEL | ARIA],
  ["aria-labeledby", LABEL | ARIA],
  ["title", TITLE],
  ["tabindex", TAB],
  ["aria-hidden", HIDDEN | ARIA],
  ["inert", INERT],
  ["aria-owns", OWNS | ARIA],
  ["onclick", HANDLER],
  ["onmousedown", HANDLER],
  ["onmouseup", HANDLER],
  ["draggable", HANDLER | MIN],
  ["contenteditable", EDITS],
  ["id", ID],
  ["popovertarget", OPENS],
  ["popover", MIN],
  ["autofocus", MIN],
  ["lang", LANG],
  ["class", 0],
  ["style", 0],
]);

/** The relevant attributes of an element: a sum of the numbers above. */
function marksOf(element) {
  const it = known(element);
  if (it.marks >= 0) return it.marks;
  let sum = 0;
  if (HAS_ATTRIBUTES.call(element)) {
    const names = ATTRIBUTE_NAMES.call(element);
    for (let i = 0; i < names.length; i++) {
      const mark = MARKS.get(names[i]);
      sum |= mark !== undefined ? mark && mark | OTHER : names[i].startsWith("aria-") ? ARIA | OTHER : OTHER;
    }
  }
  if (sum & INERT && !(element instanceof HTMLElement)) sum &= ~INERT; // it has no meaning on other elements
  it.marks = sum;
  return sum;
}

/** Marks an element whose role only the browser knows for certain. */
function doubt(element) {
  memory().unsure.add(element);
}

/** Marks an element whose text, and so the names that include it, only the browser knows for certain. */
function doubtText(element) {
  const store = memory();
  store.unsure.add(element);
  store.doubts++;
}

// White space as in HTML: without no-break spaces.
const isSpace = (code) => code === 32 || (code >= 9 && code <= 13 && code !== 11);

/** Collapses white space to one space, and removes it at the ends. */
function fold(text) {
  const length = text.length;
  let clean = true;
  let before = true;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (isSpace(code)) {
      if (before || code !== 32) {
        clean = false;
        break;
      }
      before = true;
    } else before = false;
  }
  if (clean && !(before && length)) return text;
  let out = "";
  let start = -1;
  for (let i = 0; i <= length; i++) {
    if (i === length || isSpace(text.charCodeAt(i))) {
      if (start >= 0) {
        out += out ? " " + text.slice(start, i) : text.slice(start, i);
        start = -1;
      }
    } else if (start < 0) start = i;
  }
  return out;
}

/** Whether a text contains only white space. */
function isBlank(text) {
  for (let i = 0; i < text.length; i++) if (!isSpace(text.charCodeAt(i))) return false;
  return true;
}
