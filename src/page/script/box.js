// Boxes of nodes, for screenshots. All are [x, y, width, height] in CSS pixels of this frame's viewport.
// Uses: act, capture, node, node-cache.

const GET_HIDDEN = getterOf(Document.prototype, "hidden");
const GET_CLIENT_LEFT = getterOf(Element.prototype, "clientLeft");
const GET_CLIENT_TOP = getterOf(Element.prototype, "clientTop");
const GET_CLIENT_WIDTH = getterOf(Element.prototype, "clientWidth");
const GET_CLIENT_HEIGHT = getterOf(Element.prototype, "clientHeight");
const GET_OFFSET_WIDTH = getterOf(HTMLElement.prototype, "offsetWidth");
const GET_OFFSET_HEIGHT = getterOf(HTMLElement.prototype, "offsetHeight");
const GET_SCROLL_LEFT = getterOf(Element.prototype, "scrollLeft");
const GET_SCROLL_TOP = getterOf(Element.prototype, "scrollTop");
const GET_SCROLL_WIDTH = getterOf(Element.prototype, "scrollWidth");
const GET_SCROLL_HEIGHT = getterOf(Element.prototype, "scrollHeight");
const SCROLL_TO = Element.prototype.scrollTo;

const listed = ({ left, top, right, bottom }) => [left, top, right - left, bottom - top];

/** The bounding box of some rectangles. */
function boxAround(rects) {
  const side = (pick, name) => pick(...rects.map((rect) => rect[name]));
  return { left: side(Math.min, "left"), top: side(Math.min, "top"), right: side(Math.max, "right"), bottom: side(Math.max, "bottom") };
}

/**
 * Whether an element is visible at the centre or near a corner of a part of it. Outside the viewport it counts as
 * visible.
 */
function isOnTop(element, part) {
  const inset = (from, to) => Math.min(Math.max((to - from) * 0.2, 2), (to - from) / 2);
  const [dx, dy] = [inset(part.left, part.right), inset(part.top, part.bottom)];
  const points = [middle(part)];
  for (const x of [part.left + dx, part.right - dx]) for (const y of [part.top + dy, part.bottom - dy]) points.push({ x, y });
  return points.some((point) => {
    if (point.x < 0 || point.y < 0 || point.x >= innerWidth || point.y >= innerHeight) return true;
    const hit = hitAt(point);
    return !!hit && (receives(element, hit) || styleOf(element).pointerEvents === "none");
  });
}

/** The box of an element and its visible part; for a wrapped link also the part of each line. */
function boxOf(id, { whole, uncovered }) {
  const node = nodeOf(id);
  const element = node && typeOf(node) === 3 ? parentElementOf(node) : node;
  if (!(element instanceof Element) || !isConnected(element)) return null;
  const rects = rectsOf(element);
  if (!rects.length || !CHECK_VISIBLE.call(element, { visibilityProperty: true })) return { all: null, part: null, lines: [] };
  const all = boxAround(rects);
  let part = shownPart(element, all, whole);
  const parts = rects.length === 1 ? [part] : rects.map((rect) => shownPart(element, rect, whole));
  const lines = parts.filter(Boolean);
  if (uncovered && !lines.some((line) => isOnTop(element, line))) part = null;
  return { all: listed(all), part: part && listed(part), lines: rects.length > 1 && part ? lines.map(listed) : [] };
}

/** The position of the document of an <iframe>, its scale, and its visible part. */
function holeOf(id, whole) {
  const element = nodeOf(id);
  if (!(element instanceof HTMLElement) || !isConnected(element)) return null;
  const box = BOX.call(element);
  const style = styleOf(element);
  const scale = (shown, real) => (shown > 0 && real > 0 ? shown / real : 1);
  const sx = scale(box.width, GET_OFFSET_WIDTH.call(element));
  const sy = scale(box.height, GET_OFFSET_HEIGHT.call(element));
  const px = (text) => parseFloat(text) || 0;
  const left = box.left + sx * (GET_CLIENT_LEFT.call(element) + px(style.paddingLeft));
  const top = box.top + sy * (GET_CLIENT_TOP.call(element) + px(style.paddingTop));
  const right = left + sx * (GET_CLIENT_WIDTH.call(element) - px(style.paddingLeft) - px(style.paddingRight));
  const bottom = top + sy * (GET_CLIENT_HEIGHT.call(element) - px(style.paddingTop) - px(style.paddingBottom));
  const part = right > left && bottom > top && shownPart(element, { left, top, right, bottom }, whole);
  return { x: left, y: top, sx, sy, all: listed({ left, top, right, bottom }), part: part ? listed(part) : null };
}

/** Size and scroll position of the viewport. */
const viewNow = () => ({
  width: innerWidth,
  height: innerHeight,
  x: scrollX,
  y: scrollY,
  ratio: devicePixelRatio,
  bars: Math.max(0, innerWidth - GET_CLIENT_WIDTH.call(GET_DOCUMENT_ELEMENT.call(document))),
  hidden: GET_HIDDEN.call(document),
  pinch: [visualViewport.offsetLeft, visualViewport.offsetTop, visualViewport.scale],
});

calls.view = () => viewNow();

/** Boxes of the nodes with some `ids`, and of the documents in the frame elements `holes`. */
calls.boxes = (args) => ({
  view: viewNow(),
  boxes: args.ids.map((id) => boxOf(id, args)),
  holes: args.holes.map((id) => holeOf(id, args.whole)),
});

/** The element that matches a selector. */
calls.pick = ({ selector }) => {
  const { element, answer } = found({ selector });
  return element ? { id: idOf(element) } : answer;
};

/** Scrolls an element into view. Returns the positions for `putBack`. */
calls.bring = ({ id }) => {
  const element = nodeOf(id);
  if (!(element instanceof Element) || !isConnected(element)) return { gone: true };
  hushScrolling();
  const before = [[0, scrollX, scrollY]];
  for (let node = parentElementOf(element); node; node = parentElementOf(node)) {
    const scrolls = GET_SCROLL_HEIGHT.call(node) > GET_CLIENT_HEIGHT.call(node) || GET_SCROLL_WIDTH.call(node) > GET_CLIENT_WIDTH.call(node);
    if (scrolls) before.push([idOf(node), GET_SCROLL_LEFT.call(node), GET_SCROLL_TOP.call(node)]);
  }
  const target = RECTS.call(element).length ? element : boxedIn(element);
  SCROLL_INTO_VIEW.call(target, { block: "center", inline: "nearest", behavior: "instant" });
  forget();
  return { before };
};

/** Scrolls back. */
calls.putBack = async ({ before }) => {
  for (const [id, left, top] of before) {
    const element = id ? nodeOf(id) : null;
    if (!id) scrollTo({ left, top, behavior: "instant" });
    else if (element) SCROLL_TO.call(element, { left, top, behavior: "instant" });
  }
  await tellScrolling();
};
