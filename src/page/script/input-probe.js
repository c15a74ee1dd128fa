// Whether trusted events have arrived in this document.
// Uses: act, forms, identity, node, node-cache, settle, state, synthetic-drag, tree, wait.

const ARRIVALS = ["mousemove", "pointerdown", "mousedown", "mouseup", "click", "dragstart", "dragover", "drop", "dragend", "keydown"];
let arrived = null;

// The events of a press. The first one shows its target.
const PRESS = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"];

// How long a press may take to arrive, in milliseconds.
const PRESS_LIMIT = 5000;

/**
 * Counts trusted events from now on, for `element`; `inner` is the frame that the events are for, if any: then none should
 * arrive here. Blocks up to `presses` presses that hit something else, which a page may insert when the pointer arrives.
 * If the press is `bound`, an element that is no longer what it was is something else too, and so is a copy of it.
 */
function arm(element, presses, inner, bound) {
  disarm();
  const shown = presses && !inner ? { role: roleFor(element), name: nameFor(element) } : null;
  const state = { counts: {}, element, bound: bound || null, inner: !!inner, waiting: null, presses: presses || 0, shown, over: null, received: 0, clicked: false, clicks: 0, isDown: false, at: null, reached: false, press: null, until: performance.now() + PRESS_LIMIT };
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
    // A page may stop pointerdown before it arrives here. Then mousedown shows the target.
    if (event.type === "pointerdown" || (event.type === "mousedown" && !state.isDown)) {
      const isOurs = state.presses-- > 0 && event.timeStamp < state.until;
      state.over = isOurs ? astray(state, event) : null;
      if (state.over === null) state.received++;
    } else if (state.bound && event.type === "mousedown" && state.over === null && !isExactlyFor(element, event)) state.over = astray(state, event);
    else if (state.bound && event.type === "click" && state.over === null && !activates(state, event)) return block(event);
    state.isDown = event.type === "pointerdown";
    if (event.type === "click") state.clicks++;
    if (event.type === "click" && state.over === null && !state.inner) state.clicked = state.clicked || isFor(element, event);
    if (state.over !== null) block(event);
  };
  for (const type of ARRIVALS) addEventListener(type, state.on, { capture: true, passive: true });
  if (presses) for (const type of PRESS) addEventListener(type, state.keep, { capture: true, passive: false });
  arrived = state;
  startTimer(() => arrived === state && disarm(), 30000);
}

// The events of typing that the page can be kept from.
const KEYS = ["keydown", "beforeinput"];

const MODIFIER_KEYS = /^(Shift|Control|Alt|Meta)$/;
const GUARD_LIMIT = 180000;
let guarded = null;
// The field that was typed into under a preview, and where it was.
let typedInto = null;

/**
 * Keeps keys from everything but one field, also when the page moves the focus: the rest of a password would go elsewhere. A
 * field that replaces it, with the same role and name and the focus, counts as the field. For a use that is bound to a preview,
 * `place` is where the field was: keys are kept from it too if it is elsewhere when the first of them arrives or Enter. The focus
 * and what is typed may change its name. Without an element, keys are kept from the whole document.
 */
function guardKeys(element, place) {
  unguard();
  const state = { element, place, before: element ? heldBy(element) : "", changes: changesSoFar(), role: element ? roleFor(element) : "", name: element ? nameFor(element) : "", isFirst: true, hasText: false, blocked: false, away: null, kept: 0, on: null };
  state.on = (event) => {
    if (!event.isTrusted) return;
    forget();
    const isKey = event.type === "keydown" && !MODIFIER_KEYS.test(event.key);
    if (place !== null) {
      // A page may change between the first key and the text that it types.
      const isText = event.type === "beforeinput" && !state.hasText;
      const isChecked = state.isFirst || event.key === "Enter" || isText;
      state.isFirst = false;
      state.hasText = state.hasText || isText;
      state.blocked = state.blocked || (isChecked && (!isConnected(element) || placeOfUse(element) !== place));
    }
    if (state.away === null && !state.blocked) state.away = focusElsewhere(state);
    if (!state.blocked && state.away === null) return;
    if (isKey || (event.type === "beforeinput" && !state.kept)) state.kept++;
    block(event);
  };
  for (const type of KEYS) addEventListener(type, state.on, { capture: true });
  guarded = state;
  startTimer(() => guarded === state && unguard(), GUARD_LIMIT);
}

/** What has the focus instead of the guarded field; null when that has it. */
function focusElsewhere(state) {
  const focused = focusedElement();
  if (!state.element) return focused ? described(focused) : "another frame";
  const host = fieldKind(state.element) === "rich" ? editingHost(state.element) : state.element;
  if (focused && isWithinTree(focused, host)) return null;
  if (!focused && (host === GET_BODY.call(document) || host === GET_DOCUMENT_ELEMENT.call(document))) return null;
  if (focused && !isConnected(state.element) && roleFor(focused) === state.role && likeness(nameFor(focused)) === likeness(state.name)) {
    state.element = focused;
    return null;
  }
  return focused ? described(focused) : isConnected(state.element) ? "no element" : "no element, because the page replaced the field";
}

function unguard() {
  if (!guarded) return;
  for (const type of KEYS) removeEventListener(type, guarded.on, { capture: true });
  typedInto = guarded.place === null ? null : { element: guarded.element, place: guarded.place };
  guarded = null;
}

/**
 * Guards the Enter that sends what was typed under a preview: only that field receives it, and only while it is where it was when
 * the typing began. `changed`: it is not any more.
 */
calls.guardEnter = () => {
  if (!typedInto) return { changed: true };
  const { element, place } = typedInto;
  forget();
  if (!isConnected(element) || placeOfUse(element) !== place) return { changed: true };
  guardKeys(element, place);
  return { changed: false };
};

/** Keeps all keys from this document, which are for a field in another one. */
calls.keepKeys = () => guardKeys(null, null);

/** Whether keys were blocked: because the field is another one, or because the focus was elsewhere. Ends the blocking. */
calls.keysBlocked = () => {
  const { blocked, away, kept } = guarded || { blocked: false, away: null, kept: 0 };
  unguard();
  disarm();
  return { blocked, away, kept };
};

function disarm() {
  if (!arrived) return;
  for (const type of ARRIVALS) removeEventListener(type, arrived.on, { capture: true });
  for (const type of PRESS) removeEventListener(type, arrived.keep, { capture: true });
  arrived = null;
}

function block(event) {
  event.stopImmediatePropagation();
  event.preventDefault();
}

/** Whether a mouse event is for an element. */
function isFor(element, event) {
  const path = event.composedPath();
  // The path does not contain the nodes of a closed shadow root.
  return path.includes(element) || receives(element, path[0]) || receives(element, hitAt({ x: event.clientX, y: event.clientY }));
}

/** The same, whatever is at the position of the event by now. */
function isExactlyFor(element, event) {
  const path = event.composedPath();
  if (path.includes(element) || receives(element, path[0])) return true;
  const hit = hitAt({ x: event.clientX, y: event.clientY });
  return path[0] instanceof Element && !!hit && hit !== path[0] && holds(path[0], hit) && receives(element, hit);
}

/** Whether a click is for the intended element, or for the control of its label. */
function activates({ element, bound }, event) {
  const control = bound.element instanceof HTMLLabelElement ? LABEL_CONTROL.call(bound.element) : null;
  return [element, bound.element, control].some((one) => one && isExactlyFor(one, event));
}

/** The element that a press hits instead of the intended one; `null` when it hits that. */
function astray({ element, shown, inner, bound }, event) {
  const hit = event.composedPath()[0];
  if (bound) {
    forget();
    if (!isConnected(bound.element) || isAnother(bound.element, bound.identity)) return "the element, which has changed,";
    return isExactlyFor(element, event) ? null : cover(element, hit instanceof Element ? hit : null);
  }
  if (inner) return described(hit instanceof Element ? hit : GET_DOCUMENT_ELEMENT.call(document));
  if (isFor(element, event)) return null;
  const innermost = hitAt({ x: event.clientX, y: event.clientY });
  // A page may render an element anew when the pointer arrives: one with the same role and name counts as the same.
  for (let node = innermost; node instanceof Element && !isConnected(element); node = parentOf(node)) {
    if (!changedFrom(shown, node, idOf(element))) return null;
  }
  return cover(element, hit instanceof Element ? hit : innermost);
}

/**
 * The element that a press hit instead of the intended one (`over`), whether the press was blocked (`kept`), and how
 * many presses the intended element received before. Ends the blocking of presses. `unseen`: no event of the press arrived
 * here.
 */
calls.landed = () => {
  const state = arrived;
  if (!state || !state.element) return {};
  state.presses = 0;
  const { over, received } = state;
  if (over !== null) return { over, kept: true, received };
  // A browser sends no click when what was pressed is gone at the release.
  const isUnclicked = received > 0 && !state.clicks && state.counts.mouseup > 0;
  if (state.inner || received || state.clicked) return isUnclicked ? { received, unclicked: true } : { received };
  // No event arrived: a frame may have received it, or the page stops events on its window before they arrive here.
  const hit = isConnected(state.element) ? hitAt(state.at || middle(BOX.call(state.element))) : null;
  if (!hit || !FRAMES.has(nameOfTag(hit))) return { unseen: true, received };
  return receives(state.element, hit) ? { received } : { over: cover(state.element, hit), received };
};

/** Blocks the next press in this document, which is meant for another one. */
calls.avert = () => arm(GET_DOCUMENT_ELEMENT.call(document), 1, true);

/** The element that a blocked press hit, so far. */
calls.strayed = () => (arrived && arrived.over !== null ? { over: arrived.over, kept: true } : {});

/** Whether the pointer has reached the element; otherwise the element that it reached. */
calls.hovered = () => {
  const state = arrived;
  if (!state || !state.element || state.reached || !isConnected(state.element)) return {};
  if (!state.at) return hoveredUnseen(state.element);
  const hit = hitAt(state.at);
  return receives(state.element, hit) ? {} : { over: cover(state.element, hit) };
};

/** The same without a move event, which the page may stop on its window: only tests whether the element can be hit now. */
function hoveredUnseen(element) {
  if (hitPoints(element, rectsOf(element)).length) return {};
  return { over: cover(element, hitAt(middle(BOX.call(element)))) };
}

/** Counts trusted events from now on, without disarming a watched element. */
calls.arm = () => {
  if (!arrived || !arrived.element) return arm(null);
  [arrived.counts, arrived.press] = [{}, null];
};

/** Whether something draggable was pressed, and the page left the drag to the browser. */
calls.draggable = () => {
  const press = arrived && arrived.press;
  if (!press || press.event.defaultPrevented) return false;
  for (let node = press.target; node instanceof Element; node = parentOf(node)) {
    if (isHtml(node) && has(node, "draggable")) return GET_DRAGGABLE.call(node);
  }
  return false;
};

/** Waits up to `ms` until an event of some types has arrived. Returns all counts. */
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

// Input is delivered with frames, so after some frames it would have arrived. If no frame is drawn within this many
// turns of the event loop, none will be; unlike time, turns are few on a slow machine.
const TURNS_ENOUGH = 20;

/** Waits up to `ms` until an event of some types has arrived, or can no longer be expected. Returns all counts. */
calls.missed = async ({ types, ms, frames }) => {
  const state = arrived;
  const end = performance.now() + ms;
  let drawn = 0;
  const draw = () => {
    drawn++;
    if (drawn < frames) requestFrame(draw);
  };
  requestFrame(draw);
  for (let passed = 0; !(state && types.some((type) => state.counts[type])); passed++) {
    if (drawn >= frames || (drawn === 0 && passed >= TURNS_ENOUGH) || performance.now() >= end) break;
    await new Promise((done) => {
      if (state) state.waiting = done;
      turnAfter(20, done);
    });
  }
  return state ? state.counts : {};
};

/** A turn of the event loop at least `ms` later, even where timers fire once a second. */
function turnAfter(ms, done) {
  if (document.hidden) turns(performance.now() + ms, done);
  else startTimer(done, ms);
}

// Late trusted events that synthetic events have replaced are blocked. They are older than the synthetic ones: input
// has the time of its creation in the browser. A listener that the page added to its window earlier still receives
// them.
const LATE = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"].concat(
  ["over", "enter", "move", "out", "leave"].flatMap((what) => ["pointer" + what, "mouse" + what]),
);

/** Blocks older trusted mouse events, should they still arrive. */
function swallow() {
  const now = performance.now();
  const stop = (event) => {
    if (!event.isTrusted || event.timeStamp >= now) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  for (const type of LATE) addEventListener(type, stop, true);
  startTimer(() => LATE.forEach((type) => removeEventListener(type, stop, true)), 30000);
}
