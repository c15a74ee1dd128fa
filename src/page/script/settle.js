// Waiting until the effects of an action in this document have ended.
// Uses: act, appeared, forms, node, notices, wait.

const EVERYTHING = {subtree: true, childList: true, attributes: true, attributeOldValue: true, characterData: true};

// Ids of timers and animation frame callbacks are shared by the page and this world: subtracting those of this world,
// which are counted here, gives the number of the page's.
let ownTimers = 0;
let ownFrames = 0;
const startTimer = (body, ms) => {
  ownTimers++;
  return globalThis.setTimeout(body, ms);
};
const requestFrame = (body) => {
  ownFrames++;
  return globalThis.requestAnimationFrame(body);
};

/** How many timers and animation frame callbacks the page has requested since it was loaded. */
function putOff() {
  const [timer, frame] = [startTimer(() => 0, WATCHED), requestFrame(() => 0)];
  clearTimeout(timer);
  cancelAnimationFrame(frame);
  return { timers: timer - ownTimers, frames: frame - ownFrames };
}

// Changes caused by the action, and the time of the last one.
let caused = 0;
let lastCaused = 0;
// Those that are awaited: animations are not.
let changes = 0;
// What the page had deferred at the last check, and the time of that check.
let waiting = { timers: 0, frames: 0, at: 0 };
// The last change of any kind, and the last one that scrolled or resized something.
let lastChange = 0;
let lastMove = 0;
// The last two frames that were awaited.
let [frameBefore, lastFrame] = [0, 0];
let watchedSince = 0;
let observer = null;
// The observed document and shadow roots.
let watchedRoots = new Set();
let unwatch = 0;
// Clicked download links.
let saving = [];
// How long after an action its effects may be requested.
const WATCHED = 15000;
// Milliseconds from one frame to the next.
const FRAME = 17;
// After this many milliseconds without scrolling, scrolling has ended, also on a slow machine.
const SCROLLED = 1000;
// After this many steps with a change, the changes count as endless.
const RESTLESS = 10;
// Changes of one attribute or text in this many steps are an animation or counter, which is not awaited.
const [ANIMATION, COUNTER] = [3, 5];
// Maximum number of nodes whose changes before an action are remembered.
const MOST_BEFORE = 2000;
// Attributes that roles, names, values and states depend on.
const MEANINGFUL = /^(role|aria-.*|value|checked|disabled|selected|open|hidden|href|src|alt|title|placeholder|label|readonly|required|contenteditable|type)$/;

/**
 * Watches the document, including shadow roots. Changes count as caused by the action from now on if it acts `now`,
 * otherwise from [`begin`]: anything that changed before that continues by itself.
 */
calls.watch = ({ now }) => {
  watch();
  noteBefore(watchedRoots);
  if (now) begin();
  return 0;
};

// Whether the action has begun, and how many changes there were before.
let [begun, early] = [false, 0];
// Changes before the action, per node: when each attribute, text or child list last changed, and how often its elements
// were rebuilt.
let goingOn = new WeakMap();
let goingOnCount = 0;
// Whether child elements of one of them were replaced repeatedly.
let rebuilding = false;
// A change within this many milliseconds before the action continues. An earlier one may have ended.
const GOES_ON = 100;
let beganAt = 0;
// In how many steps each of them has changed since.
let repeats = new WeakMap();
let stepNumber = 0;
// A relevant attribute or text changes repeatedly since the action.
let endless = false;
// Animation frame callbacks per frame, and timers per millisecond, that the page requested before the action.
let pace = { frames: 0, timers: 0 };
let framesBefore = 0;

/**
 * Between the press and the release of a mouse button: waits for a frame if the page asked for one when it was pressed, as when
 * it listens to the release from the next frame on.
 */
calls.heldDown = async () => {
  if (!begun) return 0;
  const frames = putOff().frames - waiting.frames;
  if (frames > 0) await frame();
  return frames;
};

/** The action begins: changes from now on, except those that continue from before, are caused by it. */
function begin() {
  // A document that replaced the one of the last call does not watch yet.
  if (!observer) calls.watch({ now: false });
  if (begun) return;
  count(observer.takeRecords());
  begun = true;
  beganAt = performance.now();
  const [now, before] = [putOff(), waiting];
  const elapsed = beganAt - before.at;
  const [frames, timers] = [now.frames - before.frames, now.timers - before.timers];
  pace = {
    frames: framesBefore > 0 ? Math.ceil(frames / framesBefore) : 0,
    timers: elapsed >= 4 ? timers / elapsed : 0,
  };
  waiting = { ...now, at: beganAt };
}

function watch() {
  [changes, caused, begun, early, framesBefore, stepNumber, endless] = [0, 0, false, 0, 0, 0, false];
  [goingOn, goingOnCount, rebuilding, repeats] = [new WeakMap(), 0, false, new WeakMap()];
  saving = [];
  pace = { frames: 0, timers: 0 };
  waiting = { ...putOff(), at: performance.now() };
  clearTimeout(unwatch);
  unwatch = startTimer(() => {
    if (observer) observer.disconnect();
    observer = null;
    for (const root of watchedRoots) UNLISTEN.call(root, "invalid", noteInvalid, {capture: true});
    watchedRoots = new Set();
    removeEventListener("click", noteSaving, {capture: true});
    onMoves(UNLISTEN);
  }, WATCHED);
  if (observer) {
    if (observer.takeRecords().length) noteMove();
    return;
  }
  watchedSince = performance.now();
  observe();
}

/** Observes the document and its shadow roots. */
function observe() {
  observer = new MutationObserver(count);
  observeRoot(document);
  for (const root of allRoots(document)) observeRoot(root);
  addEventListener("click", noteSaving, {capture: true, passive: true});
  onMoves(LISTEN_TO);
}

function observeRoot(root) {
  observer.observe(root, EVERYTHING);
  if (watchedRoots.has(root)) return;
  watchedRoots.add(root);
  LISTEN_TO.call(root, "invalid", noteInvalid, {capture: true, passive: true});
}

// Events that move things without a change of the document.
const MOVES = ["scroll", "load", "toggle"];
const UNLISTEN = EventTarget.prototype.removeEventListener;

function onMoves(how) {
  for (const type of MOVES) how.call(document, type, noteMove, {capture: true, passive: true});
  how.call(window, "resize", noteMove, {capture: true, passive: true});
}

function noteMove() {
  lastChange = lastMove = performance.now();
}

function noteFrame() {
  framesBefore++;
  [frameBefore, lastFrame] = [lastFrame, performance.now()];
}

/**
 * Whether the document has been watched for so many milliseconds without a change or scroll. On a slow machine frames
 * are late, and movements with them: where something may move, whole frames count.
 */
function isCalm(milliseconds) {
  if (!observer) return false;
  counted();
  const [now, last] = [performance.now(), Math.max(lastChange, watchedSince)];
  if (now - last < milliseconds) return false;
  return (hasNoTimers() && now - lastMove > SCROLLED) || last < frameBefore;
}

/** A page that never requested timers or animation frames has none that change it periodically. */
const hasNoTimers = () => waiting.timers === 0 && waiting.frames === 0;

function count(records) {
  if (!records.length) return;
  lastChange = performance.now();
  for (const record of records) {
    if (begun) countCaused(record);
    else countEarly(record);
  }
  noteTouched(records);
  if (begun) noteAppearing(records);
  for (const {addedNodes} of records) {
    for (const node of addedNodes) if (isElement(node)) observeIn(node);
  }
}

const IS_TEXT = (node) => typeOf(node) === 3;

/** Whether only texts were replaced, as by a counter. */
function isText({ type, addedNodes, removedNodes }) {
  return type !== "childList" || (Array.from(addedNodes).every(IS_TEXT) && Array.from(removedNodes).every(IS_TEXT));
}

const changedPart = ({ type, attributeName }) => (type === "attributes" ? attributeName : type);

function partsOf(map, target) {
  const parts = map.get(target) || new Map();
  map.set(target, parts);
  return parts;
}

/** A change before the action. */
function countEarly(record) {
  early++;
  if (goingOnCount >= MOST_BEFORE) return;
  goingOnCount++;
  const parts = partsOf(goingOn, record.target);
  const part = changedPart(record);
  const known = parts.get(part) || { at: 0, rebuilt: 0 };
  parts.set(part, known);
  known.at = lastChange;
  if (!isText(record) && ++known.rebuilt >= 2) rebuilding = true;
}

/** Whether a change continues from before the action. */
function isGoingOn(record) {
  if (goingOnCount === 0) return false;
  const part = changedPart(record);
  const recent = (known) => known && known.at >= beganAt - GOES_ON;
  const known = (goingOn.get(record.target) || NO_PARTS).get(part);
  if (recent(known) && isText(record)) return true;
  if (!rebuilding) return false;
  for (let node = record.target; node; node = parentOf(node)) {
    const children = (goingOn.get(node) || NO_PARTS).get("childList");
    if (recent(children) && children.rebuilt >= 2) return true;
  }
  return false;
}

const NO_PARTS = new Map();

/** A number that grows with each change of the document while it is watched. */
function changesSoFar() {
  if (observer) count(observer.takeRecords());
  return caused + early;
}

/** A change since the action began. */
function countCaused(record) {
  if (isGoingOn(record)) return;
  caused++;
  const parts = partsOf(repeats, record.target);
  const part = changedPart(record);
  const known = parts.get(part) || { steps: 0, last: -1 };
  parts.set(part, known);
  if (known.last !== stepNumber) [known.steps, known.last] = [known.steps + 1, stepNumber];
  const isDrawing = record.type === "attributes" && !MEANINGFUL.test(part);
  const most = isDrawing ? ANIMATION : isText(record) ? COUNTER : Infinity;
  if (known.steps > most) {
    endless = endless || !isDrawing;
    return;
  }
  const before = known.steps > ANIMATION && (goingOn.get(record.target) || NO_PARTS).get(part);
  if (before && before.rebuilt) {
    // It was rebuilt once before the action, and is rebuilt repeatedly.
    [before.rebuilt, before.at, rebuilding] = [2, beganAt, true];
    return;
  }
  changes++;
  lastCaused = performance.now();
}

/** Shadow roots that were added with an element. */
function observeIn(element) {
  const own = rootsOf(element);
  if (own) observeRoot(own);
  for (const root of own ? allRoots(own) : []) observeRoot(root);
  for (const root of allRoots(element)) observeRoot(root);
}

const GET_LINK_HREF = getterOf(HTMLAnchorElement.prototype, "href");

function noteSaving(event) {
  for (const node of event.composedPath()) {
    if (!(node instanceof HTMLAnchorElement) || !has(node, "download") || !has(node, "href")) continue;
    const url = new URL(GET_LINK_HREF.call(node), location.href);
    // A link to another origin is followed like any link.
    if (url.origin === location.origin || url.protocol === "data:" || url.protocol === "blob:") saving.push(event);
    return;
  }
}

/**
 * Waits until present tasks have run, and then until the document has settled, at most `most` milliseconds if it changes
 * continuously. If the page has deferred something to a timer, or keeps requesting frames, that takes `steps` steps and
 * `quiet` milliseconds without a change, or `look` steps if nothing has changed yet. Otherwise it takes one step without
 * a change after a change or an animation frame callback, and at least `least` steps.
 */
calls.quiet = async ({least, look, steps, quiet, most, timers, timed}) => {
  if (!observer) watch(); // not the document that was acted on
  if (!begun) {
    begin();
    [changes, caused] = [changes + early, caused + early];
    goingOnCount = 0;
  }
  const end = performance.now() + most;
  await turn();
  await turn();
  await turn();
  let [seen, calm, busy, done, undrawn, rest] = [counted(), 0, 0, 0, 0, true];
  // The remaining time of a timer is unknown; an animation frame callback has run after the next step, unless it
  // requests another one.
  let { timers: late, frames: framed } = newlyPutOff();
  let hadFrames = framed;
  // A callback of the action cannot be distinguished from those of a continuing loop.
  const first = pace.frames > 0 ? Math.max(least, 1) : least;
  for (;;) {
    const now = performance.now();
    const still = hasNoTimers() || now - lastCaused >= (late ? timed : busy ? quiet : FRAME);
    const isDone = seen ? calm >= (late || busy || framed ? steps : 1) && still : calm >= (late ? timers : framed ? look : hadFrames ? Math.min(look, 1) : 0);
    if (done >= first && isDone) break;
    // Few changes in a long time are those of a slow machine.
    if (done >= steps && now >= end && (busy >= RESTLESS || now >= end + 3 * most)) {
      rest = !seen;
      break;
    }
    if (!(await step())) undrawn++;
    done++;
    const before = seen;
    seen = counted();
    const next = newlyPutOff();
    [late, framed, hadFrames] = [next.timers || late, next.frames, next.frames || hadFrames];
    stepNumber++;
    if (seen === before) calm++;
    else [calm, busy] = [0, busy + 1];
  }
  const all = caused;
  [changes, caused] = [0, 0]; // later changes are counted by the next call
  return {changes: all, rest: rest && !endless, steps: done, undrawn, saves: saving.some((event) => !event.defaultPrevented), notices: calls.notices()};
};

/**
 * Whether the page has deferred something to timers or frames since the last check, beyond what it did before the
 * action.
 */
function newlyPutOff() {
  const [before, now] = [waiting, { ...putOff(), at: performance.now() }];
  waiting = now;
  const elapsed = now.at - before.at;
  const frames = pace.frames * Math.ceil(elapsed / FRAME);
  const timers = Math.ceil(pace.timers * elapsed * 1.25);
  return { frames: now.frames - before.frames > frames, timers: now.timers - before.timers > timers };
}

function counted() {
  if (observer) count(observer.takeRecords());
  return changes;
}

/** Waits until the document and its resources are loaded. */
calls.loaded = async () => {
  if (GET_READY.call(document) !== "complete") await new Promise((done) => addEventListener("load", done, {once: true}));
  await turn();
  return true;
};

/**
 * A frame and a timer. Any animation frame callback and zero timer that the page had requested have run then: chains of
 * them are followed, however slow the machine is.
 */
async function step() {
  const frame = await drawn();
  await after(0);
  return frame;
}

// Whether this document draws no frames: the last awaited one did not come.
let undrawable = false;

/**
 * Waits for the next frame; resolves to whether it came. If none is drawn, waits many turns instead: a machine under
 * load, where drawing processes are late, still gets there first.
 */
function drawn() {
  return new Promise((done) => {
    let [turns, over] = [document.hidden || undrawable ? 2 : 200, false];
    const end = (frame) => {
      [undrawable, over] = [!frame, true];
      done(frame);
    };
    requestFrame(() => {
      noteFrame();
      end(true);
    });
    const go = () => {
      if (over) return;
      if (turns-- > 0) startTimer(go, 10);
      else end(false);
    };
    go();
  });
}

/** Waits for a number of frames; fewer if none are drawn. */
calls.drawn = async (frames) => {
  while (frames-- > 0 && (await drawn()));
};

let frameCount = null;

/** How many frames have been drawn since the last call, up to a maximum. */
calls.counted = ({ anew, most }) => {
  if (anew) {
    const count = (frameCount = { frames: 0 });
    const next = () => ++count.frames < most && requestFrame(next);
    requestFrame(next);
  }
  return frameCount ? frameCount.frames : most;
};

/** A turn of the event loop: tasks that were due have run. */
function turn() {
  return new Promise((done) => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(0);
  });
}

function after(milliseconds) {
  return new Promise((done) => startTimer(done, milliseconds));
}
