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

/** Points of the viewport at which the wheel scrolls `scroller`. */
function wheelPoints(scroller, along) {
  const page = scroller === pageScroller();
  const part = page ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : shownPart(scroller, BOX.call(scroller));
  if (!part) return [];
  const points = [];
  for (const v of [0.5, 0.25, 0.75, 0.1, 0.9, 0.02]) {
    for (const h of [0.5, 0.25, 0.75, 0.05, 0.95]) {
      const point = { x: part.left + (part.right - part.left) * h, y: part.top + (part.bottom - part.top) * v };
      const hit = hitAt(point);
      if (hit && !HOLDS_FRAMES.test(nameOfTag(hit)) && scrollerOf(hit, along) === scroller) points.push(topMost(point));
      if (points.length === 4) return points;
    }
  }
  return points;
}

let scrolling = null;

/** Finds the scroll container of an element, or of the page, and watches it from now on. */
calls.scroller = ({ id, along, pixels }) => {
  const element = id ? nodeOf(id) : null;
  if (id && (!element || !isConnected(element))) return { gone: true };
  const scroller = element ? scrollerOf(element, along) : scrollerOf(pageScroller(), along);
  if (!scroller) return { none: true };
  if (element && scroller !== pageScroller() && !shownPart(scroller, BOX.call(scroller))) {
    SCROLL_INTO_VIEW.call(scroller, { block: "center", inline: "nearest", behavior: "instant" });
    forget();
  }
  const shown = (along === "x" ? LIMITS[1] : LIMITS[3]).call(scroller);
  const from = placeOf(scroller);
  if (scrolling) removeEventListener("scrollend", scrolling.on, true);
  const state = { scroller, along, from, ended: 0, wake: null };
  state.on = (event) => {
    if (event.target !== scroller && !(scroller === pageScroller() && event.target === document)) return;
    state.ended++;
    if (state.wake) state.wake();
  };
  addEventListener("scrollend", state.on, true);
  scrolling = state;
  // Most of the visible part, so that some of it stays for orientation.
  return { id: idOf(scroller), pixels: pixels === null ? Math.max(Math.round(shown * 0.85), 1) : pixels, points: wheelPoints(scroller, along), size: [innerWidth, innerHeight] };
};

const movedBy = ({ scroller, from, along }) => placeOf(scroller)[along] - from[along];

// On a slow machine wheel scrolling begins late, and pauses between late frames.
const STILL_FRAMES = 5;

/** Within this time, continuing scrolling is visible again. */
async function still() {
  await rest(120);
  for (let drawn = 0; drawn < STILL_FRAMES; drawn++) await frame();
}

/** Waits until the scrolling has ended. */
async function scrollEnd(state) {
  const began = performance.now();
  while (!state.ended && performance.now() - began < 3000) {
    const before = movedBy(state);
    await Promise.race([new Promise((done) => (state.wake = done)), still()]);
    // A turn of the wheel that moves nothing has no end.
    if (!state.ended && movedBy(state) === before && performance.now() - began > 100) break;
  }
}

/** Waits for the end of wheel scrolling, and scrolls the missing distance by script. Returns the distance scrolled. */
calls.scrolled = async ({ by, wheel }) => {
  const state = scrolling;
  if (!state) return { x: 0, y: 0 };
  if (wheel) await scrollEnd(state);
  const { scroller, along } = state;
  const snaps = styleOf(scroller).scrollSnapType !== "none";
  const missing = by - movedBy(state);
  if (Math.abs(missing) > 1 && !(snaps && movedBy(state) !== 0)) {
    SCROLL_BY.call(scroller, { [along === "x" ? "left" : "top"]: missing, behavior: "instant" });
    await frame();
  }
  removeEventListener("scrollend", state.on, true);
  if (scrolling === state) scrolling = null;
  const moved = Math.round(movedBy(state));
  return along === "x" ? { x: moved, y: 0 } : { x: 0, y: moved };
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
