// The accessibility tree of a document as a flat list.
// Uses: act, content, context, describe, hint, name, native, node, node-cache, role, state, style, text, value.

// Kinds that are only shown with a name or state: they structure or position their content.
const QUIET_KINDS = new Set(["generic", "none", "LabelText", "LayoutTable", "LayoutTableRow", "LayoutTableCell", "RubyAnnotation", "SvgRoot"]);

// Inside an element that is named by its content, only these get a line of their own.
const TELLING_KINDS = new Set(
  (
    "button checkbox ColorWell combobox ComboBoxGrouping ComboBoxMenuButton ComboBoxSelect Date DateTime DisclosureTriangle " +
    "DisclosureTriangleGrouped Iframe InputTime link listbox menuitem menuitemcheckbox menuitemradio meter option " +
    "MenuListOption PopUpButton progressbar radio scrollbar searchbox slider spinbutton switch tab textbox " +
    "TextFieldWithComboBox ToggleButton tree treeitem grid table treegrid Video Audio"
  ).split(" "),
);

const NEVER = new Set("script style template head meta link noscript base datalist param source track".split(" "));
const OPAQUE = new Set("input textarea iframe frame fencedframe embed audio video meter progress br hr wbr canvas".split(" "));
const INLINE_TAGS = new Set(
  "a abbr acronym b bdi bdo big cite code data dfn em font i kbd label mark q s samp small span strike strong sub sup time tt u var".split(" "),
);
const FRAMES = new Set("iframe frame fencedframe object embed".split(" "));
// Maximum depth: a deeper page, made by a script, would exhaust the stack.
const MOST_LEVELS = 700;
// Maximum length of a value and of a URL, and of all text of a document, because of the limit of a message.
const MOST_VALUE = 100000;
const MOST_ADDRESS = 10000;
const MOST_TOLD = 8e6;

const GET_HREF = getterOf(HTMLAnchorElement.prototype, "href");
const GET_URL = getterOf(Document.prototype, "URL");
const GET_BASE = getterOf(Node.prototype, "baseURI");
const GET_AREA_HREF = getterOf(HTMLAreaElement.prototype, "href");

// The text of details besides the name.
const TEXTS = ["value", "placeholder", "description", "url"];

class Walk {
  constructor(options) {
    this.urls = !!options.urls;
    this.describe = !!options.description;
    this.max = options.max > 0 ? options.max : Infinity;
    this.nodes = [];
    this.room = MOST_TOLD;
    this.frames = [];
    this.unsure = [];
    this.unknown = [];
    this.text = "";
    this.textDepth = 0;
    this.level = 0;
    this.editor = false; // whether it is inside an editor whose value is shown
    this.tooDeep = false;
    this.cut = false;
    this.inerts = mayBeInertByStyle();
  }

  // Adds the collected text: it belongs to one block, and nothing else has come in between.
  flush() {
    if (!this.text) return;
    const text = fold(this.text);
    this.text = "";
    if (text && !isGlyphs(text)) this.push([this.textDepth, "text", text, 0, 0]);
  }

  push(node) {
    const more = node[4];
    if (node[2].length > this.room) node[2] = node[2].slice(0, this.room);
    this.room -= node[2].length + 20;
    if (more) for (const name of TEXTS) if (more[name]) this.room -= more[name].length;
    if (this.nodes.length < this.max && this.room > 0) this.nodes.push(node);
    else this.cut = true;
  }

  children(element, depth, named, pointer) {
    if (this.level > MOST_LEVELS) {
      this.tooDeep = true;
      return;
    }
    this.level++;
    this.childrenOf(element, depth, named, pointer);
    this.level--;
  }

  childrenOf(element, depth, named, pointer) {
    const owned = ownedBy(element);
    const generated = !named && memory().generating !== null && isHtml(element) && mayHavePseudo(element);
    if (generated) this.generated(element, "::before", depth);
    if (isReordered(element)) {
      for (const child of childrenOf(element)) this.child(child, element, depth, named, pointer);
    } else {
      for (let child = firstOf(element); child; child = nextOf(child)) this.child(child, element, depth, named, pointer);
    }
    if (owned) for (const child of owned) this.element(child, depth, named, pointer);
    if (generated) this.generated(element, "::after", depth);
  }

  // Text of ::before and ::after.
  generated(element, which, depth) {
    const text = generatedBy(element, which);
    if (!text) return;
    this.textDepth = depth;
    const gap = getComputedStyle(element, which).display === "inline" ? "" : " ";
    this.text += gap + text + gap;
  }

  // White space, so that the previous text and the next one stay apart.
  gap() {
    if (this.text) this.text += " ";
  }

  child(node, parent, depth, named, pointer) {
    if (this.cut) return;
    const type = typeOf(node);
    if (type === 1) {
      if (!ownerOf(node)) this.element(node, depth, named, pointer);
    } else if ((type === 3 || type === 4) && !named) {
      const data = GET_DATA.call(node);
      if (isBlank(data)) {
        if (this.text) this.text += " ";
        return;
      }
      this.textDepth = depth;
      this.text += transformed(data, parent, node);
    }
  }

  element(element, depth, named, pointer) {
    const tag = nameOfTag(element);
    if (NEVER.has(tag) && isHtml(element)) return;
    const it = known(element);
    const marks = it.marks >= 0 ? it.marks : marksOf(element);
    if (marks & (HIDDEN | INERT) && this.isOut(element)) {
      if (marks & HIDDEN && !pointer) this.unread(element, depth);
      return;
    }
    if (this.inerts && isInertByStyle(element)) return;
    if ((tag === "option" || tag === "optgroup") && isHtml(element)) return this.option(element, depth);
    if (tag === "area" && imageOf(element)) return; // listed below its image
    const shown = it.shown || shownOf(element);
    if (shown === GONE) return;
    if (shown === VEILED) return this.veiled(element, depth, named, pointer);
    const kind = it.kind || kindOf(element);
    if (kind === "LabelText" && isRedundantLabel(element)) named = true;
    if (QUIET_KINDS.has(kind) || (SOMETIMES_QUIET.has(kind) && isQuiet(element, tag, kind))) {
      return this.quiet(element, tag, kind, marks, depth, named, pointer);
    }
    if (named) {
      if (tag === "br") return;
      if (!TELLING_KINDS.has(kind) && (pointer || !isClickable(element))) {
        const { source: from } = namedOf(element);
        if (from === "contents" || from === "" ? passesOn(kind, element) : kind === "image") {
          return this.children(element, depth, true, pointer);
        }
        named = false;
      }
    }
    if (tag === "br" && isHtml(element)) {
      this.text += "\n";
      return;
    }
    this.shown(element, tag, finalKind(element), depth, pointer);
  }

  // Inside an invisible element, descendants may be visible, but not its own text.
  veiled(element, depth, named, pointer) {
    for (const child of childrenOf(element)) if (isElement(child)) this.child(child, element, depth, named, pointer);
  }

  // Excluded from the tree by attributes.
  isOut(element) {
    if (isAriaHiddenRoot(element)) return true;
    if (!has(element, "inert")) return false;
    const modal = modalElement();
    return !(modal && holds(element, modal)) && isInert(element);
  }

  // Hidden from the accessibility tree, but visible: only clickable elements, by role and text.
  unread(element, depth) {
    const all = allIn(element, "*");
    if (all.length > MOST_INSIDE || isInert(element)) return;
    let before = null;
    for (const one of [element, ...all]) {
      if ((before && CONTAINS.call(before, one)) || !isUsedBySight(one)) continue;
      before = one;
      this.flush();
      const more = this.clickable(one, {});
      this.push([depth, shownRole(roleOf(one)), nameOf(one), this.number(one), more]);
      const text = nameOf(one) ? "" : fold(textIn(one));
      if (text && text.length <= MOST_OF_TEXT) this.push([depth + 1, "text", text, 0, 0]);
    }
  }

  shown(element, tag, kind, depth, pointer) {
    this.flush();
    const { name, source: from, cut, leaf } = namedOf(element);
    let more = this.more(element, tag, kind, name, from);
    const byFocus = isNamedByFocus(element, kind, from);
    if (byFocus) more.byFocus = true;
    const isControl = isWidget(kind) || kind === "link";
    const clickable = !pointer && !isControl && isClickable(element);
    if (clickable) more = this.clickable(element, more || {});
    if (!isControl && isDropPlace(element)) (more || (more = {})).place = true;
    if (!name && (isControl || clickable)) more = this.hinted(element, more);
    this.push([depth, wordFor(kind), name, this.number(element), more]);
    if (leaf) return;
    if (isHtml(element)) {
      if (FRAMES.has(tag)) this.frames.push(idOf(element));
      if (OPAQUE.has(tag)) return;
      if (tag === "img") return this.areas(element, depth + 1);
    }
    const said = more && more.value && isEditingHost(element);
    const whole = said || (from === "contents" && name !== "" && !cut && !byFocus && kind !== "row");
    // An editor is a control, but parts of it may be clicked: folded lines, mentions, links.
    const inside = (isControl && !HOLDING.has(kind) && !said) || (clickable && hasPointer(element));
    const around = this.editor;
    this.editor = around || !!said;
    this.children(element, depth + 1, whole, !HOLDING.has(kind) && ((pointer && !said) || inside));
    this.editor = around;
    this.flush();
  }

  // Without a name and text: what it seems to be.
  hinted(element, more) {
    const text = fold(textIn(element).slice(0, MOST_OF_TEXT));
    if (text && !isGlyphs(text)) return more;
    const seems = hintOf(element);
    if (seems) (more || (more = {})).hint = seems;
    return more;
  }

  // Clickable, but not a control.
  clickable(element, more) {
    more.cursor = true;
    if (!hasEffect(element)) more.idle = true;
    return more;
  }

  // Generic elements and similar: shown if they are interactive or named, otherwise replaced by their content.
  quiet(element, tag, kind, marks, depth, named, pointer) {
    if (kind === "SvgRoot") return this.drawing(element, depth, named, pointer);
    if (tag === "label" && !pointer && isStandIn(element)) return this.usable(element, "LabelText", depth, named, pointer, pointer);
    let hand = pointer;
    if (kind === "none") {
      if (!pointer && isClickable(element) && (hasEffect(element) || !isEmptyBox(element))) {
        return this.usable(element, "generic", depth, named, hasPointer(element), false);
      }
    } else {
      const worth = (marks & (TITLE | LABEL | TAB) && (isNamedByAuthor(element) || marks & TAB)) || isEditingHost(element);
      const focused = focus() === element;
      // A visible label receives the clicks of its control.
      const isRedundant = named && tag === "label" && isRedundantLabel(element);
      const place = isDropPlace(element);
      if (worth || focused || place || (!pointer && !isRedundant && isClickable(element))) {
        const exact = finalKind(element);
        hand = hand || hasPointer(element);
        if (exact !== "generic" || focused || place || nameOf(element) || (isClickable(element) && (hasEffect(element) || !isEmptyBox(element)))) {
          if ((tag === "body" || tag === "html") && !isEditingHost(element)) return this.children(element, depth, named, false);
          return this.usable(element, exact, depth, named, hand, pointer);
        }
      }
    }
    const gaps = INLINE_TAGS.has(tag) ? (named ? 0 : gapsOf(element)) : -1;
    if (gaps >= 0) {
      if (gaps & BEFORE) this.gap();
      this.children(element, depth, named, hand);
      if (gaps & BEHIND) this.gap();
      return;
    }
    this.flush();
    this.children(element, depth, named, hand);
    this.flush();
  }

  usable(element, kind, depth, named, hand, pointer) {
    this.flush();
    const { name, source: from, cut } = namedOf(element);
    const more = this.more(element, nameOfTag(element), kind, name, from) || {};
    if (!pointer && isClickable(element)) this.clickable(element, more);
    else if (kind === "LabelText") more.cursor = true;
    if (isDropPlace(element)) more.place = true;
    const byFocus = isNamedByFocus(element, kind, from);
    if (byFocus) more.byFocus = true;
    if (!name && more.cursor) this.hinted(element, more);
    this.push([depth, wordFor(kind), name, this.number(element), Object.keys(more).length ? more : 0]);
    // The value of an editor does not tell which text is that of this part.
    const isSaid = named && !(this.editor && more.cursor);
    this.children(element, depth + 1, name && !byFocus ? from === "contents" && !cut : isSaid, hand);
    this.flush();
  }

  // An <svg>: one image, unless it contains text or interactive elements.
  drawing(element, depth, named, pointer) {
    const inside = allIn(element, "a,text,foreignObject,title,[role],[tabindex],[aria-label],[onclick]").length > 0;
    const { name } = namedOf(element);
    const clickable = !pointer && isClickable(element);
    if (((name || isNamedByAuthor(element)) && !named) || clickable) {
      this.shownDrawing(element, depth, name, clickable);
      depth++;
    }
    if (inside || (!pointer && listensInside(element))) this.children(element, depth, named, pointer);
  }

  shownDrawing(element, depth, name, clickable) {
    this.flush();
    let more = this.more(element, "svg", "SvgRoot", name, "related");
    if (clickable) more = this.clickable(element, more || {});
    if (clickable && !name) more = this.hinted(element, more);
    this.push([depth, "img", name, this.number(element), more]);
  }

  option(element, depth) {
    this.flush();
    const kind = kindOf(element);
    const { name } = namedOf(element);
    this.push([depth, wordFor(kind), name, this.number(element), this.more(element, "option", kind, name, "contents")]);
    if (element instanceof HTMLOptGroupElement) this.children(element, depth + 1, true, true);
  }

  areas(image, depth) {
    const map = attr(image, "usemap");
    if (!map || map[0] !== "#") return;
    for (const area of allIn(GET_ROOT_NODE.call(image), "area")) {
      if (!has(area, "href") || shownOf(area) !== SHOWN || imageOf(area) !== image) continue;
      const { name } = namedOf(area);
      this.push([depth, "link", name, this.number(area), this.more(area, "area", "link", name, "attribute")]);
    }
  }

  number(element) {
    const id = idOf(element);
    if (memory().unsure.has(element)) this.unsure.push(id);
    if (mayHaveInternals(element)) this.unknown.push(id);
    return id;
  }

  /**
   * States, value and other details of a node; 0 when it has none.
   * @returns {any}
   */
  more(element, tag, kind, name, from) {
    const plain = PLAIN_KINDS.has(kind) && !(marksOf(element) & (ARIA | ROLE | EDITS | OPENS)) && focus() !== element;
    let more = plain && !memory().disables ? null : statesOf(element);
    if (!plain) this.addValue(element, from, more);
    if (this.urls && kind === "link") {
      const url = urlOf(element);
      if (url) (more || (more = {})).url = url.slice(0, MOST_ADDRESS);
    }
    if (this.describe && (!plain || marksOf(element) & TITLE)) {
      const description = descriptionOf(element);
      if (description && description !== name) (more || (more = {})).description = description;
    }
    if (FRAMES.has(tag) && isHtml(element)) (more || (more = {})).frame = true;
    for (const _ in more) return more;
    return 0;
  }

  addValue(element, from, more) {
    const value = valueOf(element);
    if (value) more.value = value.slice(0, MOST_VALUE);
    if (value && isSecretField(element)) more.secret = true;
    if (from === "placeholder" || !(isTextControl(element) || marksOf(element) & ARIA)) return;
    const placeholder = attr(element, "placeholder") || attr(element, "aria-placeholder");
    if (placeholder) more.placeholder = fold(placeholder.slice(0, MOST_READ)).slice(0, MOST_NAME);
  }
}

// The sides on which an inline element is separated from adjacent text.
const BEFORE = 1;
const BEHIND = 2;
const IN_LINE = new Set("inline contents ruby ruby-text math".split(" "));
const BOXES_IN_LINE = new Set("inline-block inline-flex inline-grid inline-table table-cell".split(" "));

// A box of its own is separated on both sides, and -1 means not inline at all. An inline element is separated where it
// has a visible margin, border or padding.
function gapsOf(element) {
  const style = styleOf(element);
  const { display } = style;
  if (BOXES_IN_LINE.has(display)) return BEFORE | BEHIND;
  if (!IN_LINE.has(display)) return -1;
  if (display !== "inline") return 0;
  const space = (side) =>
    parseFloat(style["margin" + side]) + parseFloat(style["padding" + side]) + parseFloat(style[`border${side}Width`]) >= 2;
  return (space("Left") ? BEFORE : 0) | (space("Right") ? BEHIND : 0);
}

// Whether the content of an element is its name only while it has the focus.
const isNamedByFocus = (element, kind, from) =>
  from === "contents" && focus() === element && PASSING_KINDS.has(kind) && !CONTENT_KINDS.has(kind);

const SOMETIMES_QUIET = new Set(["rowgroup", "image", "Canvas", "graphics-symbol", "graphics-object", "group"]);

// Controls that contain others.
const HOLDING = new Set("listbox tree grid treegrid menu menubar tablist radiogroup toolbar".split(" "));

// Left out by Chromium too: bodies of tables, empty images, unnamed parts of drawings.
function isQuiet(element, tag, kind) {
  if (kind === "rowgroup") return tag === "tbody" && !attr(element, "role") && !isNamedByAuthor(element);
  if (kind === "image" && tag === "img") {
    return attr(element, "alt") === "" && !isNamedByAuthor(element) && !supportsFocus(element);
  }
  if (kind === "Canvas") return !firstOf(element) && !isNamedByAuthor(element) && !supportsFocus(element);
  if (!(element instanceof SVGElement) || attr(element, "role")) return false;
  if (kind !== "graphics-symbol" && kind !== "graphics-object" && kind !== "group" && kind !== "image") return false;
  return !nameOf(element) && !supportsFocus(element);
}

// Kinds without states or values of their own, except by attributes.
const PLAIN_KINDS = new Set(
  (
    "link listitem list paragraph cell row rowgroup table strong emphasis code article term definition banner navigation main " +
    "Section region Header Footer Figcaption figure blockquote time mark image columnheader rowheader"
  ).split(" "),
);

const passesOn = (kind, element) =>
  CONTENT_KINDS.has(kind) || PASSING_KINDS.has(kind) || (kind === "group" && nameOfTag(element) === "address");

function urlOf(element) {
  if (element instanceof HTMLAnchorElement) return GET_HREF.call(element);
  if (element instanceof HTMLAreaElement) return GET_AREA_HREF.call(element);
  const href = attr(element, "href") || attr(element, "xlink:href");
  if (!href) return "";
  try {
    return new URL(href, GET_BASE.call(document)).href;
  } catch {
    return href;
  }
}

// A label that is clicked in place of a hidden checkbox, radio button or file input.
function isStandIn(label) {
  const control = GET_CONTROL.call(label);
  if (!(control instanceof HTMLInputElement) || !/^(checkbox|radio|file)$/.test(typeOfInput(control))) return false;
  return shownOf(control) === GONE || shownOf(control) === VEILED;
}

// A label that adds nothing to its checkbox or radio button.
function isRedundantLabel(label) {
  const control = GET_CONTROL.call(label);
  if (!(control instanceof HTMLInputElement) || !/^(checkbox|radio)$/.test(typeOfInput(control))) return false;
  if (shownOf(control) !== SHOWN || attr(control, "aria-label") || labellersOf(control).length) return false;
  const first = GET_FIRST_ELEMENT.call(label);
  return !first || (first === control && !GET_NEXT_ELEMENT.call(first));
}

// Text hidden from the accessibility tree is an icon or a word.
const MOST_OF_TEXT = 80;

// Whether a person sees an element and would click it although it is hidden from the accessibility tree. Not if pointer
// events cannot reach it, as on a page behind a dialog; where that cannot be tested, not if containers clip it.
function isUsedBySight(element) {
  if (!isClickable(element) && !hasHoverStyle(element)) return false;
  if (shownOf(element) !== SHOWN || isControlElement(element) !== (element instanceof HTMLButtonElement)) return false;
  if (isEmptyBox(element) || isSecondLink(element)) return false;
  if (styleOf(element).pointerEvents === "none") return false;
  return rectsOf(element).some((rect) => {
    const part = shownPart(element, rect, true);
    if (!part) return false;
    const point = middle(part);
    const isInView = point.x >= 0 && point.y >= 0 && point.x < innerWidth && point.y < innerHeight;
    return !isInView || receives(element, hitAt(point));
  });
}

/** Whether another link has the same URL: images beside the link of a title are hidden like this. */
function isSecondLink(element) {
  const href = element instanceof HTMLAnchorElement && attr(element, "href");
  return !!href && allIn(document, `a[href="${CSS.escape(href)}"]`).length > 1;
}

// Drop targets: lists like those that contain draggable elements, but empty.

const MOST_PLACES = 50;
const GET_CLASS = getterOf(Element.prototype, "className");
/** Whether an element has the same tag and classes as one with draggable elements, and contains none itself. */
function isDropPlace(element) {
  const store = memory();
  if (store.places === null) {
    store.places = new Set();
    findPlaces(store.places);
  }
  return store.places.has(element);
}

function findPlaces(places) {
  const holders = new Set();
  for (const one of [...allIn(document, "[draggable=true]"), ...allWithDragCursor()]) {
    const parent = parentElementOf(one);
    if (parent) holders.add(parent);
    if (holders.size >= MOST_PLACES) break;
  }
  const known = new Set();
  for (const holder of holders) {
    const name = isHtml(holder) ? fold(GET_CLASS.call(holder)) : "";
    const selector = name && nameOfTag(holder) + name.split(" ").map((one) => "." + CSS.escape(one)).join("");
    if (!name || known.has(selector)) continue;
    known.add(selector);
    const like = Array.from(allIn(document, selector)).filter((one) => fold(GET_CLASS.call(one)) === name);
    if (like.length > MOST_PLACES) continue;
    for (const one of like) if (!holders.has(one) && rectsOf(one).length) places.add(one);
  }
}

/** The first match of a selector in document order, through open shadow roots; throws for an invalid selector. */
function findFirst(scope, selector) {
  const match = allIn(scope, selector)[0] || null;
  for (const host of allIn(scope, "*")) {
    const root = GET_SHADOW.call(host);
    if (!root || host === match) continue;
    // The content of a root comes after its host and before the host's children.
    if (match && COMPARE.call(match, host) & Node.DOCUMENT_POSITION_FOLLOWING) break;
    const inside = findFirst(root, selector);
    if (inside) return inside;
  }
  return match;
}

const COMPARE = Node.prototype.compareDocumentPosition;

// Counts the elements below a document or shadow root, and the known shadow roots that contain elements.
function countIn(scope, into) {
  const all = scope === document ? BY_TAG_IN_DOCUMENT.call(document, "*") : allIn(scope, "*");
  const { length } = all;
  into.elements += length;
  for (let i = 0; i < length; i++) {
    const element = all[i];
    const root = GET_SHADOW.call(element) || (hasClosedRoots && closedRoots.get(element));
    if (!root) continue;
    into.shadows++;
    if (GET_FIRST_IN_ROOT.call(root)) into.roots++;
    countIn(root, into);
  }
  return into;
}

const GET_FIRST_IN_ROOT = getterOf(DocumentFragment.prototype, "firstElementChild");

// Collects facts about the whole document that save checks during the walk.
function survey() {
  const store = memory();
  const counted = countIn(document, { elements: 0, shadows: 0, roots: 0 });
  store.flat = counted.shadows === 0;
  if (store.flat) {
    store.owns = allIn(document, "[aria-owns]").length > 0;
    store.disables = allIn(document, "[aria-disabled],button:disabled,option:disabled").length > 0;
  }
  return counted;
}

/**
 * The tree below an element (`root`, `selector`) or of the whole document, in order. A node is `[depth, role, name, id,
 * more]`; `more` contains states, value, placeholder, description, url, cursor, frame; or is 0. `count` is the number of
 * all elements, `roots` that of known shadow roots with elements; `unsure` are the numbers of elements whose role or
 * name only the browser knows; `cut` says that something is missing because of `max` or the depth of the page.
 */
calls.tree = (options) => {
  let top = GET_DOCUMENT_ELEMENT.call(document);
  if (options.root) top = nodeOf(options.root);
  else if (options.selector) {
    try {
      top = findFirst(document, options.selector);
    } catch (error) {
      return { error: String((error && error.message) || error) };
    }
  }
  listening = new WeakSet((options.listening || []).map(nodeOf).filter(Boolean));
  hasListeners = (options.listening || []).length > 0;
  if (options.internals) learnInternals(options.internals);
  forget();
  const { elements: count, roots } = survey();
  const walk = new Walk(options);
  const answer = { url: GET_URL.call(document), title: "", nodes: walk.nodes, count, roots, frames: walk.frames, focused: 0, unsure: walk.unsure, unknown: walk.unknown };
  if (isPdf()) answer.pdf = true;
  answer.title = GET_TITLE.call(document).slice(0, MOST_ADDRESS);
  if (top && isConnected(top)) {
    const modal = modalElement();
    try {
      if (!modal || holds(modal, top)) {
        if (!isUnderHidden(top)) walk.element(top, 0, false, false);
        else walk.unread(top, 0);
      } else if (holds(top, modal)) walk.element(modal, 0, false, false);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      walk.tooDeep = true;
    }
    walk.flush();
    distinguish(alikeAmong(shownBy(walk.nodes)));
  } else if (options.root) answer.gone = true;
  else if (options.selector) answer.missing = true;
  if (walk.cut || walk.tooDeep) answer.cut = true;
  const focused = focus();
  if (focused) answer.focused = idOf(focused);
  return answer;
};

/** The nodes of a tree that have a number and a role to be told by. */
function* shownBy(nodes) {
  for (const [, role, name, id, more] of nodes) if (id && (name || (more && more.cursor) || NAMELESS_ROLES.has(role))) yield { id, role, name };
}

// Controls that are used without a name, too.
const NAMELESS_ROLES = new Set("button checkbox combobox link listbox menuitem option radio searchbox slider spinbutton switch tab textbox treeitem".split(" "));

// Whether an ancestor excludes an element from the tree.
function isUnderHidden(element) {
  for (let up = axParentOf(element); up; up = axParentOf(up)) if (isAriaHiddenRoot(up)) return true;
  return isInert(element);
}
