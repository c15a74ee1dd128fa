// Whether trusted events have arrived in this document.

const ARRIVALS = ["mousemove", "pointerdown", "mousedown", "mouseup", "click", "dragstart", "dragover", "drop", "dragend", "keydown"];
let arrived = null;

// What a press consists of. Its first event says where it goes.
const PRESS = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"];

// Milliseconds that a press may take to come.
const GUARDED = 5000;

/**
 * Counts trusted events from now on. The element is the one that they are for; with `inner` it holds the frame that they are
 * for, and none should come here. So many presses are kept from the page when they go to something else, which a page may put
 * there when the mouse comes.
 */
function arm(element, presses, inner) {
  disarm();
  const shown = presses && !inner ? { role: roleFor(element), name: nameFor(element) } : null;
  const state = { counts: {}, element, inner: !!inner, waiting: null, presses: presses || 0, shown, over: null, received: 0, clicked: false, isDown: false, at: null, reached: false, press: null, until: performance.now() + GUARDED };
  state.on = (event) => {
    if (!event.isTrusted) return;
    state.counts[event.type] = (state.counts[event.type] || 0) + 1;
    if (event.type === "mousedown") state.press = { event, target: event.composedPath()[0] };
    if (event.type === "mousemove") {
      state.at = { x: event.clientX, y: event.clientY };
      state.reached = state.reached || (!!state.element && !state.inner && isFor(state.element, event));
    }
    if (state.waiting) state.waiting();
  };
  state.keep = (event) => {
    if (!event.isTrusted) return;
    // A page may stop pointerdown before it comes here. Then mousedown says where the press goes.
    if (event.type === "pointerdown" || (event.type === "mousedown" && !state.isDown)) {
      const isOurs = state.presses-- > 0 && event.timeStamp < state.until;
      state.over = isOurs ? astray(state, event) : null;
      if (state.over === null) state.received++;
    }
    state.isDown = event.type === "pointerdown";
    if (event.type === "click" && state.over === null && !state.inner) state.clicked = state.clicked || isFor(element, event);
    if (state.over === null) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  for (const type of ARRIVALS) addEventListener(type, state.on, { capture: true, passive: true });
  if (presses) for (const type of PRESS) addEventListener(type, state.keep, { capture: true, passive: false });
  arrived = state;
  setTimeout(() => arrived === state && disarm(), 30000);
}

function disarm() {
  if (!arrived) return;
  for (const type of ARRIVALS) removeEventListener(type, arrived.on, { capture: true });
  for (const type of PRESS) removeEventListener(type, arrived.keep, { capture: true });
  arrived = null;
}

/** Whether a mouse event is for an element. */
function isFor(element, event) {
  const path = event.composedPath();
  // The nodes of a closed shadow root are not on the path.
  return path.includes(element) || receives(element, path[0]) || receives(element, hitAt({ x: event.clientX, y: event.clientY }));
}

/** What a press goes to instead of an element; `null` when it is for that element. */
function astray({ element, shown, inner }, event) {
  const hit = event.composedPath()[0];
  if (inner) return described(hit instanceof Element ? hit : GET_DOCUMENT_ELEMENT.call(document));
  if (isFor(element, event)) return null;
  const innermost = hitAt({ x: event.clientX, y: event.clientY });
  // A page may draw an element anew when the mouse comes: one that reads the same is taken for it.
  for (let node = innermost; node instanceof Element && !isConnected(element); node = parentOf(node)) {
    if (!changedFrom(shown, node)) return null;
  }
  return cover(element, hit instanceof Element ? hit : innermost);
}

/**
 * What a press went to instead of the element that it was meant for (`over`), whether it was kept from it, and how many
 * presses the element received before. No more are kept back. `unseen`: no event of the press came here.
 */
calls.landed = () => {
  const state = arrived;
  if (!state || !state.element) return {};
  state.presses = 0;
  const { over, received } = state;
  if (over !== null) return { over, kept: true, received };
  if (state.inner || received || state.clicked) return { received };
  // Nothing came here: a frame may have received it, or the page stops events on its window before they come to us.
  const hit = isConnected(state.element) ? hitAt(state.at || middle(BOX.call(state.element))) : null;
  if (!hit || !FRAMES.has(nameOfTag(hit))) return { unseen: true, received };
  return receives(state.element, hit) ? { received } : { over: cover(state.element, hit), received };
};

/** What a press went to that was kept from it, so far. */
calls.strayed = () => (arrived && arrived.over !== null ? { over: arrived.over, kept: true } : {});

/** Whether the mouse has come to the element; what it came to otherwise. */
calls.hovered = () => {
  const state = arrived;
  if (!state || !state.element || state.reached || !isConnected(state.element)) return {};
  if (!state.at) return hoveredUnseen(state.element);
  const hit = hitAt(state.at);
  return receives(state.element, hit) ? {} : { over: cover(state.element, hit) };
};

/** The same where no move has come: the page may stop them on its window. Whether the element can be hit now is all that is known. */
function hoveredUnseen(element) {
  if (hitPoints(element, rectsOf(element)).length) return {};
  return { over: cover(element, hitAt(middle(BOX.call(element)))) };
}

/** Counts trusted events from now on; what is armed for an element stays so. */
calls.arm = () => {
  if (!arrived || !arrived.element) return arm(null);
  [arrived.counts, arrived.press] = [{}, null];
};

/** Whether something that can be dragged was pressed, and the page left that to the browser. */
calls.draggable = () => {
  const press = arrived && arrived.press;
  if (!press || press.event.defaultPrevented) return false;
  for (let node = press.target; node instanceof Element; node = parentOf(node)) {
    if (isHtml(node) && has(node, "draggable")) return GET_DRAGGABLE.call(node);
  }
  return false;
};

/** Waits at most `ms` until one of some types has come. The counts of all. */
calls.came = async ({ types, ms, last }) => {
  const state = arrived;
  if (!state) return {};
  const end = performance.now() + ms;
  while (!types.some((type) => state.counts[type])) {
    const left = end - performance.now();
    if (left <= 0) break;
    await Promise.race([rest(left), new Promise((done) => (state.waiting = done))]);
  }
  if (last && arrived === state) disarm();
  return state.counts;
};

// Input comes to a page with its frames. Where some have been drawn it would have come. Where none is drawn in so many turns
// of the event loop, none will be: turns are what a slow machine has few of, unlike time.
const TURNS_ENOUGH = 20;

/** Waits until one of some types has come, or is not to be expected any more; at most `ms`. The counts of all. */
calls.missed = async ({ types, ms, frames }) => {
  const state = arrived;
  const end = performance.now() + ms;
  let drawn = 0;
  const draw = () => {
    drawn++;
    if (drawn < frames) requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
  for (let passed = 0; !(state && types.some((type) => state.counts[type])); passed++) {
    if (drawn >= frames || (drawn === 0 && passed >= TURNS_ENOUGH) || performance.now() >= end) break;
    await new Promise((done) => {
      if (state) state.waiting = done;
      turnAfter(20, done);
    });
  }
  return state ? state.counts : {};
};

/** A turn of the event loop so many milliseconds later, also where timers come once a second. */
function turnAfter(ms, done) {
  if (document.hidden) turns(performance.now() + ms, done);
  else setTimeout(done, ms);
}

// What comes late, after its place has been taken by events of ours, is kept from the page. It is older than ours: input
// has the time at which the browser made it. A listener that the page has put on its window before us sees it all the same.
const LATE = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"].concat(
  ["over", "enter", "move", "out", "leave"].flatMap((what) => ["pointer" + what, "mouse" + what]),
);

/** Keeps trusted mouse events of before from the page, should they still come. */
function swallow() {
  const now = performance.now();
  const stop = (event) => {
    if (!event.isTrusted || event.timeStamp >= now) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  for (const type of LATE) addEventListener(type, stop, true);
  setTimeout(() => LATE.forEach((type) => removeEventListener(type, stop, true)), 30000);
}
