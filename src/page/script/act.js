// Finding an element and waiting until it is actionable.
// Uses: context, forms, frame-geometry, identity, input-probe, name, node, node-cache, rendered, role, settle, state, wait.

const RECTS = Element.prototype.getClientRects;
const GET_SCREEN_MATRIX = SVGGraphicsElement.prototype.getScreenCTM;
const BOX = Element.prototype.getBoundingClientRect;
const POINT_IN_DOCUMENT = Document.prototype.elementFromPoint;
const POINT_IN_ROOT = ShadowRoot.prototype.elementFromPoint;
const SCROLL_INTO_VIEW = Element.prototype.scrollIntoView;
const CHECK_VISIBLE = Element.prototype.checkVisibility;
const ONE_IN_DOCUMENT = Document.prototype.querySelector;
const ONE_IN_FRAGMENT = DocumentFragment.prototype.querySelector;
const MAKE_WALKER = Document.prototype.createTreeWalker;
const MAKE_RANGE = Document.prototype.createRange;
const GET_ID = getterOf(Element.prototype, "id");
const LABEL_CONTROL = getterOf(HTMLLabelElement.prototype, "control");

/** The first match in document order over open shadow roots; the content of a root comes before the host's children. */
function firstIn(root, selector) {
  const light = (root instanceof Document ? ONE_IN_DOCUMENT : ONE_IN_FRAGMENT).call(root, selector);
  const walker = MAKE_WALKER.call(document, root, NodeFilter.SHOW_ELEMENT);
  for (let element = walker.nextNode(); element; element = walker.nextNode()) {
    if (element === light) return light;
    const inner = GET_SHADOW.call(element);
    const found = inner && firstIn(inner, selector);
    if (found) return found;
  }
  return light;
}

/** The element that the arguments address, or the answer that says why there is none. */
function found(args) {
  if (args.id) {
    const node = nodeOf(args.id);
    const element = node && typeOf(node) === 3 ? parentElementOf(node) : node;
    return element && isConnected(node) ? { element } : { answer: { gone: true }, last: true };
  }
  try {
    const element = firstIn(document, args.selector);
    return element ? { element } : { answer: { none: true } };
  } catch (error) {
    return { answer: { bad: String((error && error.message) || error) }, last: true };
  }
}

// Identity.

const roleFor = (element) => (typeof roleOf === "function" ? roleOf(element) || "" : "");
const nameFor = (element) => (typeof nameOf === "function" ? nameOf(element) || "" : "");
/**
 * A text without counters, such as the number in `Likes (12)`. All other numbers tell things from each other. Rust returned the
 * shown text with U+FFFD for each lone surrogate.
 */
const likeness = (text) => fold(String(text).replace(/\p{Cs}/gu, "\ufffd").replace(/\s*[([]\p{N}+[)\]]/gu, " "));

// An element without a role is shown as generic where it is clickable.
const shownRole = (role) => (role === "none" ? "generic" : role);

/** Role and name at present, and its context, if they differ from `was` for a reader, or from what was shown with `id`. */
function changedFrom(was, element, id = idOf(element)) {
  if (!was || typeof roleOf !== "function" || typeof nameOf !== "function") return null;
  const now = { role: shownRole(roleFor(element)), name: nameFor(element) };
  const isNamed = [now.name, steadyNameOf(element)].some((name) => likeness(was.name) === likeness(name));
  if (shownRole(was.role) !== now.role || !isNamed) return now;
  const other = otherContext(id, element);
  return other ? { ...now, context: other.now, before: other.was } : null;
}

/** An element in messages: role "name" (tag#id). */
function described(element) {
  const id = GET_ID.call(element);
  const tag = nameOfTag(element) + (id ? "#" + id.slice(0, 60) : "");
  const role = roleFor(element);
  const name = fold(nameFor(element)).slice(0, 60);
  const text = role && role !== "generic" && role !== "none" ? role + (name ? ' "' + name + '"' : "") : "";
  return text ? text + " (" + tag + ")" : tag;
}

// Position.

const area = (rect) => rect.width > 0 && rect.height > 0;

/** The rectangles of an element in the viewport: one for each line of a wrapped link. */
function rectsOf(element) {
  const own = flat(RECTS.call(element));
  if (own.length) return own;
  if (element instanceof HTMLAreaElement) return areaRects(element);
  if (element instanceof SVGGeometryElement) return strokeRects(element);
  if (styleOf(element).display !== "contents") return own;
  const range = MAKE_RANGE.call(document);
  range.selectNodeContents(element);
  return flat(range.getClientRects());
}

/** The rectangle of a straight line, whose box has no area: as wide as its stroke. */
function strokeRects(element) {
  const [rect] = RECTS.call(element);
  const style = styleOf(element);
  const width = style.stroke === "none" ? 0 : parseFloat(style.strokeWidth) || 0;
  const matrix = GET_SCREEN_MATRIX.call(element);
  if (!rect || !width || !matrix) return [];
  const half = (width * Math.hypot(matrix.a, matrix.b)) / 2;
  const [x, y] = [rect.width > 0 ? 0 : half, rect.height > 0 ? 0 : half];
  const [left, top, w, h] = [rect.left - x, rect.top - y, rect.width + 2 * x, rect.height + 2 * y];
  return w > 0 && h > 0 ? [{ x: left, y: top, width: w, height: h, left, top, right: left + w, bottom: top + h }] : [];
}

/** The rectangles with an area, as plain objects: each side of a DOMRect is a call into the browser. */
function flat(rects) {
  const all = [];
  for (let i = 0; i < rects.length; i++) {
    const rect = rects[i];
    const [width, height] = [rect.width, rect.height];
    if (!(width > 0 && height > 0)) continue;
    const [left, top] = [rect.left, rect.top];
    all.push({ x: left, y: top, width, height, left, top, right: left + width, bottom: top + height });
  }
  return all;
}

/** The box of an area of an image map. */
function areaRects(element) {
  const map = CLOSEST.call(element, "map");
  const name = map && (attr(map, "name") || GET_ID.call(map));
  const image = name && Array.from(allIn(GET_ROOT_NODE.call(element), "img[usemap]")).find((img) => attr(img, "usemap") === "#" + name);
  if (!image) return [];
  const box = BOX.call(image);
  const n = (attr(element, "coords") || "").split(/[\s,;]+/).map(Number).filter(Number.isFinite);
  const shape = (attr(element, "shape") || "rect").toLowerCase();
  if (shape === "default") return [box].filter(area);
  let [left, top, right, bottom] = n;
  if (shape.startsWith("circ")) [left, top, right, bottom] = [n[0] - n[2], n[1] - n[2], n[0] + n[2], n[1] + n[2]];
  else if (shape.startsWith("poly")) {
    const [xs, ys] = [n.filter((_, i) => i % 2 === 0), n.filter((_, i) => i % 2 === 1)];
    [left, top, right, bottom] = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  }
  const rect = new DOMRect(box.left + left, box.top + top, right - left, bottom - top);
  return [rect].filter(area);
}

const clips = (overflow) => overflow !== "visible";
const holdsFixed = (style) => style.transform !== "none" || style.filter !== "none" || style.perspective !== "none";

/**
 * The part of a rectangle that its scroll containers and the viewport show; for the `whole` page, the viewport does not
 * count.
 */
function shownPart(element, rect, whole = false) {
  let { left, top, right, bottom } = rect;
  let position = styleOf(element).position;
  const root = GET_DOCUMENT_ELEMENT.call(document);
  for (let around = parentElementOf(element); around; around = parentElementOf(around)) {
    const style = styleOf(around);
    if (around === root || nameOfTag(around) === "body") continue;
    if (position === "fixed" && !holdsFixed(style)) continue;
    if (position === "absolute" && style.position === "static" && !holdsFixed(style)) continue;
    position = style.position;
    if (style.display === "contents" || style.display === "inline") continue;
    const [x, y] = [clips(style.overflowX), clips(style.overflowY)];
    if (!x && !y) continue;
    const box = BOX.call(around);
    if (x) [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
    if (y) [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
  }
  if (!whole) {
    [left, right] = [Math.max(left, 0), Math.min(right, innerWidth)];
    [top, bottom] = [Math.max(top, 0), Math.min(bottom, innerHeight)];
  }
  return right - left > 0.5 && bottom - top > 0.5 ? { left, top, right, bottom } : null;
}

const middle = (part) => ({ x: (part.left + part.right) / 2, y: (part.top + part.bottom) / 2 });

/** The innermost element at a point of the viewport, through all shadow roots. */
function hitAt({ x, y }) {
  let hit = POINT_IN_DOCUMENT.call(document, x, y);
  for (let depth = 0; hit && depth < 100; depth++) {
    const root = rootsOf(hit);
    const inner = root && POINT_IN_ROOT.call(root, x, y);
    if (!inner || inner === hit) return (root && slotAt(hit, x, y)) || hit;
    hit = inner;
  }
  return hit;
}

/** The slot that shows text of a host at a point: hit tests return the host for it. */
function slotAt(host, x, y) {
  for (let child = firstOf(host); child; child = nextOf(child)) {
    if (typeOf(child) !== 3) continue;
    const range = MAKE_RANGE.call(document);
    range.selectNodeContents(child);
    for (const box of range.getClientRects()) if (inside({ x, y }, box)) return parentElementOf(child);
  }
  return null;
}

/** Whether events at `hit` act on `element`. */
function receives(element, hit) {
  for (let node = hit; node instanceof Element; node = parentOf(node)) {
    if (node === element) return true;
    if (node instanceof HTMLLabelElement && LABEL_CONTROL.call(node) === element) return true;
  }
  return false;
}

/** The element that covers another one, and the dialog or container that it belongs to. */
function cover(element, hit) {
  if (!hit) return "another document";
  const around = new Set();
  for (let node = element; node; node = parentOf(node)) around.add(node);
  let outer = hit;
  for (let node = hit; node && !around.has(node); node = parentElementOf(node)) outer = node;
  const inner = toldApart(hit);
  return outer === hit ? inner : inner + " in " + toldApart(outer);
}

// Elements without a role and an id are told by their text, else by their class.
function toldApart(element) {
  const text = described(element);
  if (text !== nameOfTag(element)) return text;
  const start = fold(renderedText([idOf(element)]).text.slice(0, 400)).slice(0, 60);
  if (start) return text + ' "' + start + '"';
  const [first] = (attr(element, "class") || "").trim().split(/\s+/);
  return first ? text + "." + first.slice(0, 60) : text;
}

// Actionability.

function hiddenWhy(element) {
  if (element instanceof HTMLAreaElement) {
    const image = imageOf(element);
    return image ? hiddenWhy(image) : "it is not visible (no image uses its map)";
  }
  const contents = styleOf(element).display === "contents";
  if (contents ? styleOf(element).visibility === "visible" : CHECK_VISIBLE.call(element, { visibilityProperty: true })) return null;
  for (let node = element; node; node = parentElementOf(node)) {
    const style = styleOf(node);
    const at = node === element ? "" : " of " + described(node);
    if (style.display === "none") return "it is not visible (display: none" + at + ")";
    if (style.contentVisibility === "hidden" && node !== element) return "it is not visible (content-visibility: hidden" + at + ")";
  }
  const { visibility } = styleOf(element);
  return "it is not visible" + (visibility === "visible" ? "" : " (visibility: " + visibility + ")");
}

function disabledWhy(element) {
  for (let node = element; node; node = parentElementOf(node)) {
    if (node === element || node instanceof HTMLButtonElement) {
      if (MATCHES.call(node, ":disabled")) {
        const set = has(node, "disabled") ? null : CLOSEST.call(node, "fieldset:disabled");
        return "it is disabled" + (set ? " by " + described(set) : "");
      }
    }
    if (attr(node, "aria-disabled") === "true") return "it is disabled (aria-disabled" + (node === element ? ")" : " of " + described(node) + ")");
    if (has(node, "inert")) return "it is inert" + (node === element ? "" : " with " + described(node));
  }
  return null;
}

const TEXT_TYPES = /^(text|search|url|tel|email|password|number|date|time|datetime-local|month|week|color|range|)$/;

function readOnlyWhy(element) {
  const tag = nameOfTag(element);
  const form = (tag === "input" && TEXT_TYPES.test((attr(element, "type") || "").toLowerCase())) || tag === "textarea";
  if (!form && tag !== "select" && !(isEdited(element))) {
    const odd = tag === "input" && !/^(checkbox|radio|button|submit|reset|image|file|hidden)$/.test((attr(element, "type") || "").toLowerCase());
    if (!odd) return "it is not editable" + (attr(element, "role") === "slider" ? ": press arrow keys on it, or drag it" : "");
  }
  if ((form && has(element, "readonly")) || attr(element, "aria-readonly") === "true") return "it is read-only";
  return null;
}

/** Whether an element is above or to the left of the page, where nothing scrolls to. */
function isBeyondPage(element) {
  const rects = rectsOf(element);
  return rects.length > 0 && rects.every(isBoxBeyondPage);
}

const isBoxBeyondPage = (rect) => rect.right + scrollX <= 0 || rect.bottom + scrollY <= 0;

const LABELLED_INPUTS = /^(checkbox|radio|file)$/;

const isTyped = (element) => /^(line|lines|rich)$/.test(fieldKind(element));

/**
 * The element to click in place of a hidden one: the label of a checkbox, radio button or file input, or the editor
 * around its tiny field.
 */
function standInFor(element) {
  if (isTyped(element)) {
    if (hiddenWhy(element)) return null;
    const rects = rectsOf(element);
    if (rects.some((rect) => rect.width > 1 && rect.height > 1)) return null;
    let around = parentElementOf(element);
    for (let up = 0; around && up < 4 && !canBeHit(around); up++) around = parentElementOf(around);
    const isWhole = around === GET_BODY.call(document) || around === GET_DOCUMENT_ELEMENT.call(document);
    return around && !isWhole && canBeHit(around) ? around : null;
  }
  if (!(element instanceof HTMLInputElement) || !LABELLED_INPUTS.test(GET_INPUT_TYPE.call(element))) return null;
  const style = styleOf(element);
  const isPainted = canBeHit(element) && !isBeyondPage(element) && style.pointerEvents !== "none" && !isClipped(style);
  if (isPainted) return null;
  return Array.from(GET_INPUT_LABELS.call(element) || []).find((label) => canBeHit(label)) || paintedFor(element);
}

/**
 * The painted replacement of a control, in the smallest element around it that listens to clicks and has no other
 * control.
 */
function paintedFor(element) {
  const widget = widgetAround(element, parentElementOf(element));
  if (!widget || Array.from(allIn(widget, "*")).some((one) => one !== element && listening.has(one))) return null;
  const near = [GET_NEXT_ELEMENT.call(element), GET_PREVIOUS_ELEMENT.call(element), widget];
  return near.find((one) => one && canBeHit(one)) || null;
}

const MOST_LEVELS_TO_WIDGET = 4;

/** The element around a control, from `start` on, that listens to clicks for this control only; null when there is none. */
function widgetAround(control, start) {
  let up = start;
  for (let level = 0; up && level < MOST_LEVELS_TO_WIDGET; level++) {
    if (nameOfTag(up) === "body" || Array.from(allIn(up, USED)).some((one) => one !== control && !CONTAINS.call(one, control))) return null;
    if (listening.has(up)) return up;
    up = parentElementOf(up);
  }
  return null;
}

/**
 * The widget that receives the clicks on a transparent control below the widget's own painting; null when the control is
 * visible, or `hit` does something else.
 */
function widgetOver(control, hit) {
  let [around, isClear] = [control, false];
  for (; around && !holds(around, hit); around = parentElementOf(around)) isClear ||= styleOf(around).opacity === "0";
  const widget = isClear && around ? widgetAround(control, around) : null;
  for (let node = hit; widget && node && node !== widget; node = parentElementOf(node)) if (listening.has(node)) return null;
  return widget;
}

// Common ways to hide a control from everything but screen readers.
const isClipped = ({ clip, clipPath }) => /^rect\(0(px)?(,| )/.test(clip) || /^inset\((50|100)%/.test(clipPath);

/** The element to click in place of a hidden one: its painted neighbour. */
// Whether an element gets the mouse events that one inside it lets through, as a person's mouse has it.
function isAround(outer, element) {
  return !!outer && outer !== element && !/^(body|html)$/.test(nameOfTag(outer)) && CONTAINS.call(outer, element);
}

function insteadOf(element) {
  if (!(element instanceof HTMLInputElement)) return "";
  const near = [GET_NEXT_ELEMENT.call(element), GET_PREVIOUS_ELEMENT.call(element), parentElementOf(element)];
  const painted = near.find((one) => one && canBeHit(one));
  return painted ? "; click " + described(painted) + " instead, which is shown in its place" : "";
}

const TIMES = [0, 16, 50, 100, 100, 250];
const ALIGNMENTS = ["center", "center", "end", "start", "nearest"];
// Scroll snap containers return to their position after small scrolls.
const INLINE_ALIGNMENTS = ["nearest", "center", "start", "end", "nearest"];

// Waiting for a frame is limited by turns of the event loop, of which a slow machine also has few. A document that has
// drawn before gets more of them.
let hasDrawn = false;

/** Waits for the next frame; resolves to whether there was one. Hidden tabs and frames out of view draw none. */
function frame() {
  return new Promise((done) => {
    let left = hasDrawn ? 60 : 25;
    requestFrame(() => {
      noteFrame();
      left = 0;
      done((hasDrawn = true));
    });
    const wait = () => (left-- > 0 ? startTimer(wait, 16) : done(false));
    wait();
    if (document.hidden) turns(performance.now() + 20, () => done(false));
  });
}

// Two: the first one may be due at once.
calls.frames = async () => (await frame()) && (await frame());

const ANIMATIONS = Element.prototype.getAnimations;

/**
 * Animations of an element: "pending" when one waits for its first frame, "running", or undefined. Between frames the
 * browser already reports the position of the next one, so that comparing with that frame shows no movement.
 */
function animated(element) {
  let state = null;
  for (let node = element; node; node = parentElementOf(node)) {
    for (const animation of ANIMATIONS.call(node)) {
      if (animation.pending) return "pending";
      if (animation.playState === "running") state = "running";
    }
  }
  return state;
}

// Milliseconds from one frame to the next, and some more.
const CALM = 20;

/** Whether an element and its boxes are where they were one frame before. */
async function atRest(element, turn) {
  if (isCalm(CALM) && !animated(element)) return true;
  let before = rectsOf(element);
  const same = () => {
    forget();
    const was = before;
    before = rectsOf(element);
    return sameBoxes(was, before);
  };
  let drew = await frame();
  if (!same()) return false;
  const state = isConnected(element) && animated(element);
  if (!state) return true;
  // A slow machine draws late, and until then nothing moves; so does a tab that is about to become visible. If nothing
  // is drawn repeatedly, nothing will move.
  for (let n = 0; !drew && n < 2; n++) drew = await frame();
  if (!drew) return !hasDrawn && turn >= 12;
  if (state !== "running") return false;
  // Two frames may show the same moment of an animation: they do not show what moves.
  const began = timeNow();
  for (let n = 0; n < 4; n++) {
    if (!(await frame()) || !same()) return false;
    if (timeNow() >= began + MOMENT) return true;
  }
  return false;
}

const GET_TIMELINE = getterOf(Document.prototype, "timeline");
// Milliseconds in which a movement is visible.
const MOMENT = 8;

/** The time of the document timeline. */
function timeNow() {
  const timeline = GET_TIMELINE.call(document);
  return (timeline && timeline.currentTime) || 0;
}

// In hidden pages timers fire once a second, messages at once.
function turns(until, done) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    if (performance.now() < until) return port2.postMessage(0);
    port1.close();
    done();
  };
  port2.postMessage(0);
}

const rest = (ms) => new Promise((done) => startTimer(done, ms));

function sameBoxes(one, other) {
  return one.length === other.length && one.every((a, i) => {
    const b = other[i];
    return Math.abs(a.left - b.left) < 0.5 && Math.abs(a.top - b.top) < 0.5 && Math.abs(a.width - b.width) < 0.5 && Math.abs(a.height - b.height) < 0.5;
  });
}

/** Points of the viewport that may represent an element: the centre of the visible part of each of its rectangles. */
function candidates(element, rects) {
  return rects.map((rect) => shownPart(element, rect)).filter(Boolean).map(middle);
}

// Other points of a rectangle to try, as fractions of its sides.
const ELSEWHERE = [
  [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75],
  [0.08, 0.5], [0.92, 0.5], [0.5, 0.08], [0.5, 0.92], [0.08, 0.08], [0.92, 0.08], [0.08, 0.92], [0.92, 0.92],
];
const MOST_RECTS = 8;

/** The points at which an element receives events: of the centres, otherwise of others. */
function hitPoints(element, rects) {
  const receiving = (point) => receives(element, hitAt(point));
  const middles = candidates(element, rects).filter(receiving);
  if (middles.length) return middles;
  for (const rect of rects.slice(0, MOST_RECTS)) {
    const part = shownPart(element, rect);
    if (!part) continue;
    const [w, h] = [part.right - part.left, part.bottom - part.top];
    const point = ELSEWHERE.map(([x, y]) => ({ x: part.left + w * x, y: part.top + h * y })).find(receiving);
    if (point) return [point];
  }
  return [];
}

/** Scrolls so that two elements are in view together, if possible. Returns whether anything was scrolled. */
calls.bringBoth = ({ from, to }) => {
  const [start, end] = [nodeOf(from), nodeOf(to)];
  const isShown = (element) => candidates(element, rectsOf(element)).length > 0;
  if (!start || !end || (isShown(start) && isShown(end))) return false;
  for (const element of [end, start]) SCROLL_INTO_VIEW.call(element, { block: "nearest", inline: "nearest", behavior: "instant" });
  forget();
  if (!isShown(end)) {
    // The start at the far edge leaves most room for the target.
    const before = BOX.call(start).top > BOX.call(end).top;
    SCROLL_INTO_VIEW.call(start, { block: before ? "end" : "start", inline: "nearest", behavior: "instant" });
  }
  noteMove();
  forget();
  return true;
};

/** Scrolls an element into view if it is not. */
function reveal(element, turn) {
  if (turn < 2 && candidates(element, rectsOf(element)).length && !isTall(element)) return;
  const block = ALIGNMENTS[turn % ALIGNMENTS.length];
  const target = rectsOf(element).length && RECTS.call(element).length ? element : boxedIn(element);
  const inline = INLINE_ALIGNMENTS[turn % INLINE_ALIGNMENTS.length];
  SCROLL_INTO_VIEW.call(target, { block, inline, behavior: "instant" });
  noteMove();
  forget();
}

// A visible part of a large element is sufficient, of a small one it is not.
function isTall(element) {
  const [rect] = rectsOf(element);
  const part = rect && shownPart(element, rect);
  if (!part) return true;
  const [w, h] = [part.right - part.left, part.bottom - part.top];
  return w < Math.min(rect.width, innerWidth) * 0.5 || h < Math.min(rect.height, innerHeight) * 0.5;
}

// For an element without a box of its own, the first element with one inside or around it is scrolled to.
function boxedIn(element) {
  if (element instanceof HTMLAreaElement) {
    const map = CLOSEST.call(element, "map");
    return (map && allIn(GET_ROOT_NODE.call(element), "img[usemap]")[0]) || element;
  }
  return Array.from(allIn(element, "*")).find((inner) => RECTS.call(inner).length) || element;
}

/** The closed list that an element is an option of. */
function listOf(element) {
  const list = element instanceof HTMLOptionElement ? CLOSEST.call(element, "select") : null;
  return list instanceof HTMLSelectElement && !GET_SELECT_MULTIPLE.call(list) && GET_SELECT_SIZE.call(list) <= 1 ? list : null;
}

/** One check. `last` when waiting cannot change the result. */
async function look(args, turn) {
  const { needs } = args;
  const { element, answer, last } = found(args);
  if (!element) return { answer, last };
  const no = (reason, covered) => ({ answer: { not: reason, covered: covered || null } });
  const changed = () => {
    const now = changedFrom(args.expect, element);
    // A hidden element has no name.
    const hidden = now && !now.name && needs.visible && hiddenWhy(element);
    if (hidden) return no(hidden + insteadOf(element));
    if (now) return { answer: { changed: now }, last: true };
    return isAnother(element, args.identity) ? { answer: { another: true }, last: true } : null;
  };
  const now = changed();
  if (now) return now;
  const list = needs.point && listOf(element);
  if (list) return { answer: { option: { list: idOf(list), role: roleFor(list), name: nameFor(list), value: nameFor(element) } }, last: true };
  // The element to click in place of a hidden control.
  let target = element;
  const able = () => {
    target = (needs.point && standInFor(element)) || element;
    const rects = needs.visible || needs.point ? rectsOf(target) : [];
    const hidden = needs.visible && hiddenWhy(target);
    if (hidden) return hidden + insteadOf(element);
    // Editors have fields without a size.
    const isSized = rects.length || (!needs.point && (isTyped(element) || supportsFocus(element)));
    if (needs.visible && !isSized) return "it is not visible (it has no size)" + insteadOf(element);
    return (needs.enabled && disabledWhy(element)) || (needs.editable && readOnlyWhy(element));
  };
  const why = able();
  if (why) return no(why);
  if (needs.scroll || needs.point) reveal(target, turn);
  let points = [];
  if (needs.stable || needs.point) {
    const resting = !needs.stable || (await atRest(target, turn));
    forget();
    if (!isConnected(element)) return args.id ? { answer: { gone: true }, last: true } : no("it was removed from the document");
    if (!resting) return no("it is moving");
    const later = changed();
    if (later) return later;
    const then = able();
    if (then) return no(then);
    if (needs.point) {
      const rects = rectsOf(target);
      const within = candidates(target, rects);
      if (!within.length) return no("it is outside the viewport and cannot be scrolled into view");
      points = hitPoints(target, rects);
      if (!points.length) {
        const behind = hitAt(within[0]);
        if (styleOf(target).pointerEvents === "none" && isAround(behind, target)) [target, points] = [behind, within.slice(0, 1)];
        else if (styleOf(target).pointerEvents === "none") return no("it does not receive pointer events (pointer-events: none)" + insteadOf(element));
        const widget = points.length ? null : widgetOver(element, behind);
        if (!widget && !points.length) {
          const over = cover(target, behind);
          const covered = no("it is covered by " + over, over);
          Object.assign(covered.answer, { at: topMost(within[0]), size: [innerWidth, innerHeight] });
          return covered;
        }
        if (widget) [target, points] = [widget, within.slice(0, 1)];
      }
    }
  }
  if (needs.scroll && !needs.point) {
    points = candidates(element, rectsOf(element));
    if (!points.length && needs.stable) return no("it is outside the viewport and cannot be scrolled into view");
  }
  if (needs.scroll || needs.arm) begin();
  if (needs.arm) arm(target, needs.presses, null, args.identity === null ? null : { element, identity: args.identity });
  return { answer: ready(element, points), last: true };
}

function ready(element, points) {
  const type = isHtml(element) && attr(element, "type");
  return {
    ready: {
      id: idOf(element),
      points: points.slice(0, 8).map(topMost),
      size: [innerWidth, innerHeight],
      role: roleFor(element),
      name: nameFor(element),
      tag: nameOfTag(element),
      type: (type || "").toLowerCase(),
      editable: isEdited(element),
      mac: /^Mac/.test(navigator.platform),
    },
  };
}

/** Pinch zoom moves the visual viewport. Frames have none. */
function topMost({ x, y }) {
  const { offsetLeft, offsetTop, scale } = visualViewport;
  return [(x - offsetLeft) * scale, (y - offsetTop) * scale];
}

/** Waits up to `ms` until an element is actionable. Returns the last reason if it is not. */
calls.ready = async (args) => {
  const end = performance.now() + args.ms;
  for (let turn = args.turn || 0; ; turn++) {
    const { answer, last } = await look(args, turn);
    if (last || performance.now() >= end) return { ...answer, turn };
    const wait = Math.min(TIMES[Math.min(turn, TIMES.length - 1)], Math.max(end - performance.now(), 0));
    await rest(wait);
    forget();
  }
};
