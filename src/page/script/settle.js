// When what an action caused has come to an end in this document.

const EVERYTHING = {subtree: true, childList: true, attributes: true, characterData: true};

// Timers and frame callbacks are numbered for the page and for our world together: by ours, which are counted here, it is
// known how many of the page's there have been.
let ownTimers = 0;
let ownFrames = 0;
const setTimeout = (body, ms) => {
  ownTimers++;
  return globalThis.setTimeout(body, ms);
};
const requestAnimationFrame = (body) => {
  ownFrames++;
  return globalThis.requestAnimationFrame(body);
};

/** How many timers and frame callbacks the page has asked for since its beginning. */
function putOff() {
  const [timer, frame] = [setTimeout(() => 0, WATCHED), requestAnimationFrame(() => 0)];
  clearTimeout(timer);
  cancelAnimationFrame(frame);
  return timer - ownTimers + frame - ownFrames;
}

let changes = 0;
// How much the page had put off when it was looked at last.
let waiting = 0;
let lastChange = 0;
let lastMove = 0;
// The last two frames that were waited for.
let [frameBefore, lastFrame] = [0, 0];
let watchedSince = 0;
let observer = null;
// The document and the shadow roots that are observed.
let watchedRoots = new Set();
let unwatch = 0;
// Clicks on links whose address is to be saved.
let saving = [];
// Nobody asks after an action for so long.
const WATCHED = 15000;
// Milliseconds from one frame to the next.
const FRAME = 17;
// What has not scrolled for so many milliseconds has come to rest, on a slow machine too.
const SCROLLED = 1000;
// So many steps with a change are no end of changes.
const RESTLESS = 10;

/** Counts changes of the document from now on, those in shadow roots included. */
calls.watch = () => {
  watch();
  noteBefore(watchedRoots);
  return 0;
};

function watch() {
  changes = 0;
  saving = [];
  waiting = putOff();
  clearTimeout(unwatch);
  unwatch = setTimeout(() => {
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

// What moves things without a change of the document.
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
  [frameBefore, lastFrame] = [lastFrame, performance.now()];
}

/**
 * Whether the document has been watched for so many milliseconds and nothing has changed or scrolled meanwhile. On a slow
 * machine frames come late, and with them what moves: where something may move, whole frames count.
 */
function isCalm(milliseconds) {
  if (!observer) return false;
  counted();
  const [now, last] = [performance.now(), Math.max(lastChange, watchedSince)];
  if (now - last < milliseconds) return false;
  return (waiting === 0 && now - lastMove > SCROLLED) || last < frameBefore;
}

function count(records) {
  if (!records.length) return;
  changes += records.length;
  lastChange = performance.now();
  noteTouched(records);
  for (const {addedNodes} of records) {
    for (const node of addedNodes) if (isElement(node)) observeIn(node);
  }
}

/** Shadow roots that came with an element. */
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
    // Of another origin it is followed like any link.
    if (url.origin === location.origin || url.protocol === "data:" || url.protocol === "blob:") saving.push(event);
    return;
  }
}

/**
 * Waits until what runs now has run, and then until the document has come to rest, `most` milliseconds at most where it
 * changes all the time. Where the page has put something off to a timer or a frame, that is `steps` steps and `quiet`
 * milliseconds without a change, or `look` steps where nothing has changed yet. Where it has not, a step without a change
 * after one, and at least `least` steps.
 */
calls.quiet = async ({least, look, steps, quiet, most}) => {
  if (!observer) watch(); // another document than the one that was acted on
  const end = performance.now() + most;
  await turn();
  await turn();
  await turn();
  let [seen, calm, busy, done, undrawn, rest, late] = [counted(), 0, 0, 0, 0, true, hasPutOff()];
  for (;;) {
    const now = performance.now();
    // Without timers and frame callbacks in all its life there are none that change it now and then.
    const still = waiting === 0 || now - lastChange >= (late || busy ? quiet : FRAME);
    if (done >= least && (seen ? calm >= (late || busy ? steps : 1) && still : calm >= (late ? look : 0))) break;
    // Few changes in a long time are those of a slow machine.
    if (done >= steps && now >= end && (busy >= RESTLESS || now >= end + 3 * most)) {
      rest = !seen;
      break;
    }
    if (!(await step())) undrawn++;
    done++;
    const before = seen;
    seen = counted();
    late = hasPutOff() || late;
    if (seen === before) calm++;
    else [calm, busy] = [0, busy + 1];
  }
  changes = 0; // what comes after that is counted by the next look
  return {changes: seen, rest, undrawn, saves: saving.some((event) => !event.defaultPrevented), notices: calls.notices()};
};

/** Whether the page has put something off since this was asked last. */
function hasPutOff() {
  const before = waiting;
  waiting = putOff();
  return waiting !== before;
}

function counted() {
  if (observer) count(observer.takeRecords());
  return changes;
}

/** Waits until the document and what it embeds are loaded. */
calls.loaded = async () => {
  if (GET_READY.call(document) !== "complete") await new Promise((done) => addEventListener("load", done, {once: true}));
  await turn();
  return true;
};

/**
 * A frame and a timer. A callback for a frame and a timer of zero that the page has set before have run then: whoever goes
 * from one to the next is followed, however slow the machine.
 */
async function step() {
  const frame = await drawn();
  await after(0);
  return frame;
}

// Whether no frames are drawn of this document: the last one that was waited for has not come.
let undrawable = false;

/**
 * Waits for the next frame; whether it came. Where none are drawn, many turns in its place: a machine under load, where the
 * processes that draw come late, still gets there first.
 */
function drawn() {
  return new Promise((done) => {
    let [turns, over] = [document.hidden || undrawable ? 2 : 200, false];
    const end = (frame) => {
      [undrawable, over] = [!frame, true];
      done(frame);
    };
    requestAnimationFrame(() => {
      noteFrame();
      end(true);
    });
    const go = () => {
      if (over) return;
      if (turns-- > 0) setTimeout(go, 10);
      else end(false);
    };
    go();
  });
}

/** Waits for so many frames; less where none are drawn. */
calls.drawn = async (frames) => {
  while (frames-- > 0 && (await drawn()));
};

let frameCount = null;

/** How many frames have been drawn since it was last asked anew, so many at most. */
calls.counted = ({ anew, most }) => {
  if (anew) {
    const count = (frameCount = { frames: 0 });
    const next = () => ++count.frames < most && requestAnimationFrame(next);
    requestAnimationFrame(next);
  }
  return frameCount ? frameCount.frames : most;
};

/** A turn of the event loop: tasks that were due before it have run. */
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
  return new Promise((done) => setTimeout(done, milliseconds));
}
