// Capturing what is outside the viewport: the page is scrolled from tile to tile, and back. Its size does not change, and its
// listeners do not learn of it.
// Uses: act, box, find, node, node-cache, settle.

const ANIMATE = Element.prototype.animate;
const GET_IMAGES = getterOf(Document.prototype, "images");
const GET_COMPLETE = getterOf(HTMLImageElement.prototype, "complete");
// A capture that was given up ends by itself after this time, in milliseconds.
const CAPTURE_IDLE = 20000;
const NOT_SHOWN = [{ opacity: 0 }, { opacity: 0 }];

let capture = null;

const swallowScroll = (event) => event.stopImmediatePropagation();

/** Keeps scroll events from the page. A listener that it added to its window before, for capturing, still receives them. */
function hushScrolling() {
  for (const type of ["scroll", "scrollend"]) addEventListener(type, swallowScroll, true);
}

/** Lets the page have scroll events again, once those that are due have come: with the next frame. */
async function tellScrolling() {
  const mine = capture;
  for (let frames = 2; frames > 0 && (await drawn()); ) frames--;
  if (capture === mine) for (const type of ["scroll", "scrollend"]) removeEventListener(type, swallowScroll, true);
}

/** Where an element is in the document. */
const placeInDocument = (element) => {
  const { left, top, bottom } = BOX.call(element);
  return { x: left + scrollX, y: top + scrollY, top, bottom };
};

/** Whether an element is behind all others, as a background. */
function isBehind(element) {
  const rect = BOX.call(element);
  const points = [0.5, 0.1, 0.9].map((part) => ({ x: rect.left + rect.width * part, y: rect.top + rect.height * part }));
  return !points.some((point) => {
    const hit = point.x >= 0 && point.y >= 0 && hitAt(point);
    return hit && CONTAINS.call(element, hit);
  });
}

/** An element that keeps its place in the viewport while the page scrolls. Measured at the start of the page. */
function followerOf(element) {
  const style = styleOf(element);
  const position = style.position;
  if (position !== "fixed" && position !== "sticky") return null;
  const place = placeInDocument(element);
  if (place.bottom <= place.top) return null;
  const middleY = (place.top + place.bottom) / 2;
  const isLow =
    position === "fixed"
      ? middleY > innerHeight * 0.6 && place.bottom - place.top < innerHeight / 2
      : Math.abs(place.bottom + parseFloat(style.bottom) - innerHeight) < 2; // stuck to the bottom
  return { element, place, isLow, isBehind: position === "fixed" && isBehind(element), hidden: null };
}

/** Whether an element, or one around it, keeps its place in the viewport: it cannot be scrolled to. */
calls.isPinned = ({ id }) => {
  for (let up = nodeOf(id); up; up = parentElementOf(up)) {
    if (up instanceof Element && /fixed|sticky/.test(styleOf(up).position)) return true;
  }
  return false;
};

/** The largest area that scrolls by itself, as a person would name it; `null` if none is large. */
calls.innerScroller = () => {
  let largest = null;
  for (const element of elementsOf(null)) {
    const [height, all] = [GET_CLIENT_HEIGHT.call(element), GET_SCROLL_HEIGHT.call(element)];
    if (all <= height + 20 || height < innerHeight * 0.3 || GET_CLIENT_WIDTH.call(element) < innerWidth * 0.3) continue;
    if (element === GET_DOCUMENT_ELEMENT.call(document) || !/auto|scroll/.test(styleOf(element).overflowY)) continue;
    if (nameOfTag(element) === "body" || !CHECK_VISIBLE.call(element, { visibilityProperty: true })) continue;
    if (!largest || all > largest.all) largest = { element, height, all };
  }
  if (!largest) return null;
  const { element, height, all } = largest;
  const plain = (text) => /^[\w-]{1,40}$/.test(text || "");
  const [id, first] = [attr(element, "id"), (attr(element, "class") || "").trim().split(/\s+/)[0]];
  const name = nameOfTag(element).slice(0, 40) + (plain(id) ? "#" + id : plain(first) ? "." + first : "");
  return { name, height, all };
};

/** Begins at the start of the page. */
calls.captureBegins = () => {
  if (capture) restoreCapture();
  hushScrolling();
  const before = { left: scrollX, top: scrollY, behavior: "instant" };
  scrollTo({ left: 0, top: 0, behavior: "instant" });
  capture = { before, followers: elementsOf(null).map(followerOf).filter(Boolean), idle: 0 };
  idleCapture();
};

function idleCapture() {
  const mine = capture;
  const turn = ++mine.idle;
  startTimer(() => capture === mine && mine.idle === turn && calls.captureEnds(), CAPTURE_IDLE);
}

/** The images in view that are still loading. */
const loadingImages = () =>
  Array.from(GET_IMAGES.call(document)).filter((image) => {
    if (GET_COMPLETE.call(image)) return false;
    const { left, top, right, bottom } = BOX.call(image);
    return right > left && bottom > top && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
  });

/**
 * Scrolls to a point of the document. What keeps its place in the viewport is shown once: at the start of the page, or on the last
 * tile, at the `end` of the area. Images in view are waited for up to `ms`. Returns the view, its size without scroll bars, and how many images were missing.
 */
calls.captureAt = async ({ x, y, end, ms }) => {
  if (!capture) return null;
  idleCapture();
  scrollTo({ left: x, top: y, behavior: "instant" });
  const last = y + visualViewport.height >= end - 0.5;
  for (const follower of capture.followers) {
    const { element, place, isLow } = follower;
    const now = placeInDocument(element);
    const moves = Math.abs(now.x - place.x) > 1 || Math.abs(now.y - place.y) > 1;
    const hide = !follower.isBehind && (isLow ? !last : moves);
    if (hide && !follower.hidden) follower.hidden = ANIMATE.call(element, NOT_SHOWN, { duration: 1e8, fill: "both" });
    if (!hide && follower.hidden) follower.hidden = void follower.hidden.cancel();
  }
  forget();
  for (let frames = 2; frames > 0 && (await drawn()); ) frames--;
  // After a frame, observers of the page run for what has come into view, and may request images.
  await rest(0);
  await drawn();
  const until = performance.now() + ms;
  let missing = loadingImages().length;
  if (missing) {
    while ((missing = loadingImages().length) && performance.now() < until) await rest(25);
    for (let frames = 2; frames > 0 && (await drawn()); ) frames--;
  }
  return { view: viewNow(), room: [visualViewport.width, visualViewport.height], missing };
};

function restoreCapture() {
  for (const { hidden } of capture.followers) if (hidden) hidden.cancel();
  scrollTo(capture.before);
  capture = null;
  forget();
}

/** Scrolls back. */
calls.captureEnds = async () => {
  if (!capture) return;
  restoreCapture();
  await tellScrolling();
};
