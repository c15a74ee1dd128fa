// From a point in a frame to the point of the enclosing document that shows it.
// Uses: act, input-probe, node, node-cache, settle.

const pixelsIn = (text) => parseFloat(text) || 0;

// Only the linear part of a transform is used; the position is read from the element's own box. The centre of a box
// stays its centre under every transform without perspective.
function linearOf(style) {
  let matrix = new DOMMatrix();
  if (style.rotate && style.rotate !== "none") matrix = matrix.multiply(rotation(style.rotate));
  if (style.scale && style.scale !== "none") {
    const [x, y = x] = style.scale.split(/\s+/).map(Number);
    matrix = matrix.multiply(new DOMMatrix([x, 0, 0, y, 0, 0]));
  }
  if (style.transform && style.transform !== "none") matrix = matrix.multiply(new DOMMatrix(style.transform));
  return matrix;
}

function rotation(text) {
  const parts = text.trim().split(/\s+/);
  const angle = pixelsIn(parts.pop());
  const axis = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] }[parts[0]] || (parts.length === 3 ? parts.map(Number) : [0, 0, 1]);
  return new DOMMatrix().rotateAxisAngle(axis[0], axis[1], axis[2], angle);
}

/** The vectors of one step right and one step down inside an element, in CSS pixels of this document's viewport. */
function stepsIn(element) {
  let [a, b, c, d] = [1, 0, 0, 1];
  for (let node = element; node; node = parentElementOf(node)) {
    const m = linearOf(styleOf(node));
    [a, b, c, d] = [m.a * a + m.c * b, m.b * a + m.d * b, m.a * c + m.c * d, m.b * c + m.d * d];
  }
  const zoom = element.currentCSSZoom || 1;
  return { a: a * zoom, b: b * zoom, c: c * zoom, d: d * zoom };
}

/** Converts points of the viewport of the frame in `holder` to points of this document's viewport. */
function fromInside(holder, points, [innerW]) {
  const style = styleOf(holder);
  const px = (name) => pixelsIn(style[name]);
  const [left, top] = [px("borderLeftWidth") + px("paddingLeft"), px("borderTopWidth") + px("paddingTop")];
  const edges = [left + px("borderRightWidth") + px("paddingRight"), top + px("borderBottomWidth") + px("paddingBottom")];
  const whole = style.boxSizing === "border-box";
  const [w, h] = [px("width") - (whole ? edges[0] : 0), px("height") - (whole ? edges[1] : 0)];
  const ratio = Math.abs(innerW - w) < 2 || !innerW ? 1 : w / innerW;
  const box = BOX.call(holder);
  const center = middle(box);
  const step = stepsIn(holder);
  return points.map(([x, y]) => {
    const dx = left + x * ratio - (w + edges[0]) / 2;
    const dy = top + y * ratio - (h + edges[1]) / 2;
    return { x: center.x + step.a * dx + step.c * dy, y: center.y + step.b * dx + step.d * dy };
  });
}

const inside = ({ x, y }, { left, top, right, bottom }) => x >= left && x < right && y >= top && y < bottom;

/** Scrolls the scroll containers of an element so that a point of it is in view. The point is computed anew each time. */
function bringIn(element, pointNow) {
  const root = document.scrollingElement || GET_DOCUMENT_ELEMENT.call(document);
  for (let around = parentElementOf(element); around; around = parentElementOf(around)) {
    if (around === root || nameOfTag(around) === "body" || around === GET_DOCUMENT_ELEMENT.call(document)) continue;
    const style = styleOf(around);
    if (!clips(style.overflowX) && !clips(style.overflowY)) continue;
    const box = BOX.call(around);
    const point = pointNow();
    if (!inside(point, box)) scrollFor(around, point, middle(box));
  }
  const view = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const point = pointNow();
  if (!inside(point, view)) scrollFor(root, point, middle(view));
  forget();
}

const SCROLL_BY = Element.prototype.scrollBy;

function scrollFor(scroller, from, to) {
  SCROLL_BY.call(scroller, { left: from.x - to.x, top: from.y - to.y, behavior: "instant" });
}

async function lookThrough(holder, points, size, needsHit) {
  const no = (reason, covered) => ({ not: reason, covered: covered || null });
  const view = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const at = () => fromInside(holder, points, size);
  const hidden = hiddenWhy(holder);
  if (hidden) return no("its frame is hidden: " + hidden);
  const shown = (point) => inside(point, view) && (!needsHit || receives(holder, hitAt(point)));
  if (!at().some(shown)) bringIn(holder, () => at()[0]);
  const before = BOX.call(holder);
  await frame();
  forget();
  if (!isConnected(holder)) return { gone: true };
  if (!sameBoxes([before], [BOX.call(holder)])) return no("its frame is moving");
  const now = at();
  const hit = now.filter(shown);
  if (hit.length) return { points: hit.map(topMost), size: [innerWidth, innerHeight] };
  if (!now.some((point) => inside(point, view))) return no("its frame is outside the viewport and cannot be scrolled into view");
  const over = cover(holder, hitAt(now.find((point) => inside(point, view))));
  return no("its frame is covered by " + over, over);
}

/** Which points of an inner frame receive events through this document, and where they are. */
calls.through = async ({ id, points, size, hit, presses }) => {
  const holder = nodeOf(id);
  if (!holder || !isConnected(holder)) return { gone: true };
  const answer = await lookThrough(holder, points, size, hit);
  begin();
  if (presses && answer.points) arm(holder, presses, true);
  return answer;
};

/** The size of the viewport. */
calls.viewport = () => [innerWidth, innerHeight];

/** Waits until the viewport has a given size. Returns the size it has. */
calls.sized = async ([width, height]) => {
  for (let turn = 0; turn < 60 && (innerWidth !== width || innerHeight !== height); turn++) await frame();
  return [innerWidth, innerHeight];
};
