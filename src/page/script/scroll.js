// Scrolling the page or a container.
// Uses: act, frame-geometry, node, node-cache, synthetic-pointer.

const WHEELED = /^(auto|scroll|overlay)$/;
const pageScroller = () => document.scrollingElement || GET_DOCUMENT_ELEMENT.call(document);
const GET_SCROLL_X = getterOf(Element.prototype, "scrollLeft");
const GET_SCROLL_Y = getterOf(Element.prototype, "scrollTop");
const LIMITS = ["scrollWidth", "clientWidth", "scrollHeight", "clientHeight"].map((name) => getterOf(Element.prototype, name));

const placeOf = (scroller) => ({ x: GET_SCROLL_X.call(scroller), y: GET_SCROLL_Y.call(scroller) });

/** The length of the hidden content of an element along an axis. */
function spare(scroller, along) {
  const [whole, shown] = along === "x" ? [LIMITS[0], LIMITS[1]] : [LIMITS[2], LIMITS[3]];
  return whole.call(scroller) - shown.call(scroller);
}

/** The nearest scroll container of an element along an axis; null when there is none in this document. */
function scrollerOf(element, along) {
  const page = pageScroller();
  for (let node = element; node; node = parentElementOf(node)) {
    if (node === page || nameOfTag(node) === "body" || node === GET_DOCUMENT_ELEMENT.call(document)) continue;
    const style = styleOf(node);
    if (WHEELED.test(along === "x" ? style.overflowX : style.overflowY) && spare(node, along) > 0) return node;
  }
  const style = styleOf(GET_DOCUMENT_ELEMENT.call(document));
  const fixed = (along === "x" ? style.overflowX : style.overflowY) === "hidden";
  return spare(page, along) > 0 && !fixed ? page : null;
}

const HOLDS_FRAMES = /^(iframe|frame|object|embed|fencedframe)$/;

/** Points of the viewport at which the wheel scrolls `scroller`, first over `element`. */
function wheelPoints(scroller, along, element) {
  const points = element && element !== scroller ? pointsOver(element, scroller, along) : [];
  return scroller ? points.concat(pointsOver(scroller, scroller, along)) : points;
}

function pointsOver(area, scroller, along) {
  const page = area === pageScroller();
  const part = page ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : shownPart(area, BOX.call(area));
  if (!part) return [];
  const points = [];
  for (const v of [0.5, 0.25, 0.75, 0.1, 0.9, 0.02]) {
    for (const h of [0.5, 0.25, 0.75, 0.05, 0.95]) {
      const point = { x: part.left + (part.right - part.left) * h, y: part.top + (part.bottom - part.top) * v };
      const hit = hitAt(point);
      if (!hit || HOLDS_FRAMES.test(nameOfTag(hit)) || scrollerOf(hit, along) !== scroller) continue;
      if (page || area === scroller || receives(area, hit)) points.push(topMost(point));
      if (points.length === 4) return points;
    }
  }
  return points;
}

let scrolling = null;

/**
 * Finds the scroll container of an element, or of the page, and watches it from now on. With `own` an element without one gets the
 * wheel itself: it may scroll by a script of the page.
 */
calls.scroller = ({ id, along, pixels, own }) => {
  const element = id ? nodeOf(id) : null;
  if (id && (!element || !isConnected(element))) return { gone: true };
  const container = element ? scrollerOf(element, along) : scrollerOf(pageScroller(), along);
  if (!container && !(own && element)) return { none: true };
  const scroller = container || element;
  if (element && scroller !== pageScroller() && !shownPart(scroller, BOX.call(scroller))) {
    SCROLL_INTO_VIEW.call(scroller, { block: "center", inline: "nearest", behavior: "instant" });
    forget();
  }
  const shown = (along === "x" ? LIMITS[1] : LIMITS[3]).call(scroller);
  const from = placeOf(scroller);
  if (scrolling) unwatchScrolling(scrolling);
  const state = { scroller, along, from, ended: 0, wake: null, wheels: [], given: !!element, turn: null };
  state.on = (event) => {
    if (event.target !== scroller && !(scroller === pageScroller() && event.target === document)) return;
    state.ended++;
    if (state.wake) state.wake();
  };
  state.turn = (event) => event.isTrusted && state.wheels.push(event);
  addEventListener("scrollend", state.on, true);
  addEventListener("wheel", state.turn, { capture: true, passive: true });
  scrolling = state;
  // Most of the visible part, so that some of it stays for orientation.
  return { id: idOf(scroller), pixels: pixels === null ? Math.max(Math.round(shown * 0.85), 1) : pixels, points: wheelPoints(container, along, element), size: [innerWidth, innerHeight] };
};

const movedBy = ({ scroller, from, along }) => placeOf(scroller)[along] - from[along];

// On a slow machine wheel scrolling begins late, and pauses between late frames.
const STILL_FRAMES = 5;

/** Within this time, continuing scrolling is visible again. */
async function still() {
  await rest(120);
  for (let drawn = 0; drawn < STILL_FRAMES; drawn++) await frame();
}

/**
 * Waits until the scrolling has ended: the distance is reached, or nothing moves any more. The end of a motion that the page adds
 * itself is not the end of the wheel's.
 */
async function scrollEnd(state, by) {
  const began = performance.now();
  while (Math.abs(by - movedBy(state)) > 1 && performance.now() - began < 5000) {
    const before = movedBy(state);
    const ended = state.ended;
    await Promise.race([new Promise((done) => (state.wake = done)), still()]);
    if (state.ended > ended) await still();
    if (movedBy(state) === before && performance.now() - began > 100) return;
  }
  await frame();
}

function unwatchScrolling(state) {
  removeEventListener("scrollend", state.on, true);
  removeEventListener("wheel", state.turn, true);
  if (scrolling === state) scrolling = null;
}

/** Whether an element is at the end of its range in the direction of a distance. */
function isAtEnd({ scroller, along }, by) {
  const most = spare(scroller, along);
  const at = Math.abs(placeOf(scroller)[along]);
  return most <= 0 || (by > 0 ? at >= most - 1 : at <= 0.5);
}

/**
 * Waits for the end of wheel scrolling. A distance that is missing is turned by the wheel again (`more`), unless it is the `last`
 * turn. Only where the wheel moves nothing, and the element does not handle it itself, a script scrolls. Returns the distance
 * scrolled, and whether the page handles the wheel itself.
 */
calls.scrolled = async ({ by, wheel, last }) => {
  const state = scrolling;
  if (!state) return { x: 0, y: 0 };
  if (wheel) await scrollEnd(state, by);
  const { scroller, along } = state;
  if (scroller instanceof Element && !isConnected(scroller)) {
    // The page has drawn it anew.
    unwatchScrolling(state);
    return { x: 0, y: 0, handledByPage: true };
  }
  const snaps = styleOf(scroller).scrollSnapType !== "none";
  const handled = state.wheels.some((event) => event.defaultPrevented);
  const missing = by - movedBy(state);
  const falls = Math.abs(missing) > 1 && missing * by > 0 && !(snaps && movedBy(state) !== 0) && !isAtEnd(state, by);
  if (falls && wheel && !handled && !last) return { x: 0, y: 0, more: missing };
  if (falls && movedBy(state) === 0 && !(handled && state.given)) {
    SCROLL_BY.call(scroller, { [along === "x" ? "left" : "top"]: missing, behavior: "instant" });
    await frame();
  }
  unwatchScrolling(state);
  const moved = Math.round(movedBy(state));
  return { x: along === "x" ? moved : 0, y: along === "x" ? 0 : moved, handledByPage: handled && state.given };
};

/** Dispatches a wheel event by script. Returns whether the page leaves the scrolling to the browser. */
calls.syntheticWheel = ({ id, along, by }) => {
  const scroller = nodeOf(id);
  if (!scroller) return false;
  const box = scroller === pageScroller() ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : BOX.call(scroller);
  const point = middle(box);
  const target = hitAt(point) || scroller;
  const delta = along === "x" ? { deltaX: by } : { deltaY: by };
  return DISPATCH.call(target, new WheelEvent("wheel", initOf(mouseAt(point, 0), { ...delta, deltaMode: 0 })));
};
