// Whether trusted events have arrived in this document.

const ARRIVALS = ["mousemove", "pointerdown", "mousedown", "mouseup", "click", "dragstart", "dragover", "drop", "dragend", "keydown"];
let arrived = null;

/** Counts trusted events from now on; the element is the one that they are for. */
function arm(element) {
  disarm();
  const state = { counts: {}, element, waiting: null };
  state.on = (event) => {
    if (!event.isTrusted) return;
    state.counts[event.type] = (state.counts[event.type] || 0) + 1;
    if (state.waiting) state.waiting();
  };
  for (const type of ARRIVALS) addEventListener(type, state.on, { capture: true, passive: true });
  arrived = state;
  setTimeout(() => arrived === state && disarm(), 30000);
}

function disarm() {
  if (!arrived) return;
  for (const type of ARRIVALS) removeEventListener(type, arrived.on, { capture: true });
  arrived = null;
}

/** Counts trusted events from now on. */
calls.arm = () => arm(null);

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
