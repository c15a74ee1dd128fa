// Recording: what a person does in this document, as intent.
//
// Only trusted events count. The listeners are on the window, before those of the page when the document begins with them, so a
// page that stops its events stops nothing here. One gesture (a press of the pointer or of a key) causes at most one event of each
// kind.
// Uses: act, forms, list, node, node-cache, record-fields, record-reports, settle, state, trace-element, value.

// A run of typing is reported with each key; in a text longer than this, at most once in this time.
const LONG_TEXT = 4000;
const TYPING_MS = 200;
const SCROLL_MS = 400;
// How long after a gesture its consequences may come.
const GESTURE_MS = 5000;
const SCROLLED_MS = 2500;
const HOVER_MS = 1500;
const DRAG_DISTANCE = 8;

// Events that tell what else is in the list.
const LISTED = /^(click|change|focus)$/;
const FROM_POINT_IN_ROOT = ShadowRoot.prototype.elementFromPoint;
const IS_TOP = window.top === window;
/** @type {any} */
const NAVIGATION = globalThis["navigation"];
const MEANT_KEYS = new Set("Enter Tab Escape Backspace Delete F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12".split(" "));
const MOVING_KEYS = new Set("ArrowUp ArrowDown ArrowLeft ArrowRight Home End PageUp PageDown".split(" "));
const MODIFIERS = new Set("Shift Control Alt Meta AltGraph CapsLock Fn Dead Process Unidentified".split(" "));
const SCROLL_KEYS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown", " ", "Tab"]);
// What the browser does itself, unless the page handles the key.
const BROWSER_KEYS = /^(F1|F3|F5|F6|F7|F11|F12|(Ctrl\+)(Shift\+)?([acdfghjklnoprstuw]|F5|[-+0=])|Alt\+(ArrowLeft|ArrowRight|Home|[df]))$/i;
// Roles in which arrow keys choose.
const CHOOSING_ROLES = /^(listbox|option|menu|menubar|menuitem|menuitemcheckbox|menuitemradio|tree|treeitem|grid|gridcell|row|tab|tablist|combobox|radiogroup|toolbar|slider|spinbutton)$/;
const SHOWING = /(^|;)\s*(display|visibility|opacity|max-height|height|transform|clip-path|pointer-events|left|top)\s*:/i;

/** @type {any} */
let recorder = null;

class Recorder extends Reports {
  constructor({ binding, signal }) {
    super(binding);
    this.signal = signal;
    this.gesture = null;
    this.typing = null;
    this.scrolling = null;
    this.latest = null; // the last event that was reported: its number, kind and element
    this.values = new WeakMap();
    this.lists = new WeakMap(); // what was reported of their entries
    this.told = { of: 0, list: [] }; // the last event that told some
    this.trail = [];
    this.mutations = [];
    this.drag = null;
    this.sheets = { count: -1, rules: [] };
    this.isOver = false;
    this.isKept = false;
    this.lastOver = null;
    this.suspected = false;
    this.onHost = null;
    this.lastClick = 0;
    this.absorbed = null; // the option whose click is part of a change
    this.typedCount = 0;
    this.rolling = -SCROLLED_MS;
    // Adding a listener twice adds it once, so that a window that is used again has each once.
    this.on = (event) => this.seen(event);
    this.onHide = (event) => {
      this.decide();
      this.settle();
      this.isKept = event.persisted;
    };
    this.onSignal = (event) => this.met(event);
    this.onParsed = () => this.searched();
    this.onShown = () => {
      this.send("page_view", null, {});
      this.send("ready", null, {});
    };
    // A document that is kept for going back is hidden, but its tab is not.
    this.onVisibility = () => this.isKept || this.send(document.visibilityState === "visible" ? "shown" : "hidden", null, {});
    this.onCached = (event) => event.persisted && this.cached();
    this.onTraversal = (event) => event.isTrusted && event.navigationType === "traverse" && !event.userInitiated && this.send("traversal", null, {});
    this.observer = new MutationObserver((records) => this.mutated(records));
    this.document = null;
  }

  /** Begins in the present document. The empty document of a new window and the one after it may share the window. */
  begin() {
    const isFirst = this.document === null;
    this.document = document;
    this.listen();
    this.observer.observe(document, { subtree: true, childList: true, attributeFilter: ["class", "style", "hidden", "open", "aria-expanded"] });
    const hello = { top: IS_TOP, existed: document.readyState !== "loading", navigation: navigationType() };
    this.send("hello", null, hello);
    if (document.readyState === "loading") LISTEN_TO.call(document, "DOMContentLoaded", this.onParsed, { once: true, capture: true });
    else this.searched();
    if (IS_TOP) this.whenLoaded();
    if (isFirst) this.tick();
  }

  /** Listens. A page that opens its document again removes all listeners; adding one twice adds it once. */
  listen() {
    for (const type of Object.keys(HANDLERS)) LISTEN_TO.call(window, type, this.on, { capture: true, passive: true });
    LISTEN_TO.call(window, "pagehide", this.onHide, { capture: true });
    LISTEN_TO.call(window, this.signal, this.onSignal, { capture: true });
  }

  whenLoaded() {
    if (document.readyState === "loading") LISTEN_TO.call(document, "DOMContentLoaded", this.onShown, { once: true, capture: true });
    else this.onShown();
    LISTEN_TO.call(document, "visibilitychange", this.onVisibility, { capture: true });
    LISTEN_TO.call(window, "pageshow", this.onCached, { capture: true });
    if (NAVIGATION) LISTEN_TO.call(NAVIGATION, "navigate", this.onTraversal, { capture: true });
  }

  /** The document is shown again. What it reported while it was left may be lost. */
  cached() {
    this.isKept = false;
    for (const one of this.waiting.values()) one.at = -RESEND_MS;
    this.resend();
    this.send("hello", null, { top: true, existed: true, navigation: "back_forward" });
  }

  /** Another session of this program runs in this document: this recorder goes on, that one does not begin. */
  met(event) {
    event.preventDefault();
    for (const one of this.waiting.values()) one.at = 0;
    this.resend();
  }

  end() {
    this.decide();
    this.isOver = true;
    this.settle();
    this.observer.disconnect();
    for (const root of [window, ...this.roots]) for (const type of Object.keys(HANDLERS)) UNLISTEN.call(root, type, this.on, { capture: true });
  }

  tick() {
    if (this.isOver) return;
    this.listen();
    if (this.waiting.size) this.resend();
    startTimer(() => this.tick(), RESEND_MS);
  }

  /** An event of a person: what was in progress ends before it. Returns its number. */
  report(kind, element, data, more = {}) {
    const subject = more.described || (element ? traced(element) : null);
    const earlier = more.replaces && this.told.of === more.replaces ? this.told.list : [];
    const list = LISTED.test(kind) && element ? [...earlier, ...this.newEntries(element)] : [];
    const n = this.send(kind, subject, list.length ? { ...data, list } : data, more);
    const of = more.replaces || n;
    if (list.length) this.told = { of, list };
    this.latest = { of, kind, element };
    return of;
  }

  /** The entries of the list that an element is in, which were not reported so far: a run asks whether there are others. */
  newEntries(element) {
    const found = entriesAround(element);
    if (!found) return [];
    const known = this.lists.get(found.list) || new Map();
    this.lists.set(found.list, known);
    const list = [];
    for (const [title, count] of found.titles) {
      if ((known.get(title) || 0) >= count) continue;
      known.set(title, count);
      list.push({ title, count });
    }
    return list;
  }

  /** What is in progress is complete: typing and scrolling. */
  settle(except = null) {
    if (except !== "typing") this.typed(true);
    if (except !== "scrolling") this.scrolled();
  }

  // Events.

  seen(event) {
    if (!event.isTrusted || this.isOver) return;
    if (event.type === "pointermove") {
      if (event.target === this.lastOver) return;
      this.lastOver = event.target;
    }
    try {
      forget();
      const handle = HANDLERS[event.type];
      if (handle) handle.call(this, event, this.target(event));
    } catch (error) {
      this.send("gap", null, { count: 1, why: "the recorder failed at an event of type " + event.type + ": " + String(error).slice(0, 200) });
    }
  }

  /** The element that an event is for, through shadow roots; also closed ones that are known. */
  target(event) {
    const path = event.composedPath();
    for (const node of path) if (node instanceof ShadowRoot) this.listenIn(node);
    let at = path[0];
    if (at instanceof Text) at = parentElementOf(at);
    while (at instanceof Element) {
      const root = closedRoots.get(at);
      if (!root) break;
      this.listenIn(root);
      const isPointer = event instanceof MouseEvent && event.clientX + event.clientY > 0;
      const inner = isPointer ? FROM_POINT_IN_ROOT.call(root, event.clientX, event.clientY) : GET_SHADOW_FOCUS.call(root);
      if (!(inner instanceof Element) || inner === at || GET_ROOT_NODE.call(inner) !== root) break;
      at = inner;
    }
    if (at instanceof Element && isHostOfUnknown(at)) this.suspect();
    return at instanceof Element ? at : GET_DOCUMENT_ELEMENT.call(document);
  }

  /** Changes and submits do not leave a shadow root. */
  listenIn(root) {
    if (this.roots.has(root)) return;
    this.roots.add(root);
    for (const type of ["change", "submit", "scroll", "scrollend"]) LISTEN_TO.call(root, type, this.on, { capture: true, passive: true });
  }

  /** A closed shadow root has become known: a click on its host was for something in it. */
  adopted(host, root) {
    this.listenIn(root);
    const click = this.onHost;
    if (!click || click.host !== host || performance.now() - click.at > GESTURE_MS || !isConnected(host)) return;
    this.onHost = null;
    const inner = FROM_POINT_IN_ROOT.call(root, click.x, click.y);
    if (!(inner instanceof Element) || GET_ROOT_NODE.call(inner) !== root) return;
    const control = controlAround(inner);
    const isLatest = this.latest && this.latest.of === click.of;
    const latest = this.latest;
    this.report("click", control, click.data, { replaces: click.of, at: click.at });
    if (!isLatest) this.latest = latest;
    if (this.gesture && this.gesture.row === click.of) this.gesture.control = control;
  }

  /** Whether elements have come that may have closed shadow roots. */
  searched() {
    forget();
    for (const element of BY_TAG_IN_DOCUMENT.call(document, "*")) if (isHostOfUnknown(element)) return this.suspect();
  }

  /** There may be a closed shadow root that is not known. */
  suspect() {
    if (this.suspected) return;
    this.suspected = true;
    this.send("closed", null, {});
    startTimer(() => (this.suspected = false), 2000);
  }

  isRecent(event, limit = GESTURE_MS) {
    return this.gesture !== null && event.timeStamp - this.gesture.at < limit;
  }

  // Pointer.

  pressed(event, target) {
    this.decide();
    this.settle();
    const control = controlAround(target);
    this.hovered(control, event);
    this.gesture = { type: "pointer", at: event.timeStamp, target, control, described: traced(control), row: 0, clicked: false, changed: null, x: event.clientX, y: event.clientY, button: event.button, modifiers: modifiersOf(event), isInside: false };
    this.drag = null;
  }

  clicked(event, target) {
    const isKey = event.detail === 0 && this.gesture && this.gesture.type === "key";
    const gesture = this.gesture;
    if (event.type === "click" && event.button !== 0) return;
    if (!gesture || (gesture.type === "key" && !isKey)) return;
    // A label causes a second click, on its control.
    if (gesture.clicked) return;
    gesture.clicked = true;
    this.settle();
    // A list that closes as soon as the button is released leaves the click to what is under it.
    const isOfPress = gesture.type === "pointer" && (gesture.isInside || CONTAINS.call(gesture.control, target) || !isConnected(gesture.target));
    const control = isOfPress ? gesture.control : controlAround(target);
    // The change that a slider, picker or list reports came before its click.
    if (gesture.changed === control) return;
    if (gesture.changed && event.detail < 2 && CONTAINS.call(gesture.changed, control)) {
      this.absorbed = control;
      return;
    }
    // Enter in a field presses the default button of its form: the key is what was done.
    if (isKey && control !== gesture.control && gesture.row) return;
    const described = (control === gesture.control && gesture.described) || traced(control);
    const button = ["left", "middle", "right"][event.button] || "left";
    const before = this.latest;
    const isAgain = event.detail > 1 && event.type === "click" && before && before.kind === "click" && before.element === control && this.lastClick;
    const count = isAgain || (event.detail > 1 && this.absorbed === control) ? event.detail : 1;
    this.absorbed = null;
    const data = { button, count, modifiers: modifiersOf(event) };
    const isOfKey = isKey && before && before.of === gesture.row && before.kind === "keydown";
    const isOfFocus = before && before.kind === "focus" && before.element === control;
    const replaces = isAgain ? this.lastClick : isOfKey || isOfFocus ? before.of : 0;
    gesture.row = this.report("click", control, data, { described, replaces, at: event.timeStamp, pressed: gesture.at });
    this.lastClick = gesture.row;
    this.onHost = isHostOfUnknown(target) ? { host: target, x: event.clientX, y: event.clientY, of: gesture.row, data, at: event.timeStamp } : null;
  }

  released(event, target) {
    const gesture = this.gesture;
    if (!gesture || gesture.type !== "pointer" || gesture.button !== 0 || this.drag) return;
    gesture.isInside = CONTAINS.call(gesture.control, target);
    const far = Math.hypot(event.clientX - gesture.x, event.clientY - gesture.y) >= DRAG_DISTANCE;
    if (!far) this.later(gesture, () => this.unclicked(gesture, event));
    if (!far || fieldKind(gesture.control) === "picked" || isTyped(gesture.control)) return;
    const selection = getSelection();
    if (selection && !selection.isCollapsed) return; // text was selected
    this.dragged(gesture, target, event);
  }

  /** A menu that is removed when the button is released gets no click. */
  unclicked(gesture, event) {
    if (gesture.clicked || gesture.row || isConnected(gesture.target)) return;
    gesture.clicked = true;
    this.settle();
    const data = { button: "left", count: 1, modifiers: gesture.modifiers };
    gesture.row = this.report("click", gesture.control, data, { described: gesture.described, at: event.timeStamp, pressed: gesture.at });
  }

  dragged(gesture, target, event) {
    this.settle();
    const end = controlAround(target);
    const place = (x, y, element) => {
      const { role, name, selectors } = traced(element);
      return { x, y, role, name, selector: selectors[0] || "" };
    };
    const data = { from: place(gesture.x, gesture.y, gesture.control), to: place(event.clientX, event.clientY, end) };
    gesture.clicked = true;
    gesture.row = this.report("drag", gesture.control, data, { described: gesture.described, at: event.timeStamp, pressed: gesture.at });
  }

  // Keyboard.

  keyed(event, target) {
    if (event.isComposing || MODIFIERS.has(event.key)) return;
    this.decide();
    const control = controlAround(target);
    const isMoving = MOVING_KEYS.has(event.key);
    const isField = isTyped(control);
    const isShortcut = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
    const previous = this.gesture;
    this.gesture = { type: "key", key: event.key, at: event.timeStamp, target, control, described: null, row: 0, clicked: false, changed: null };
    const isOfText = /^(Backspace|Delete)$/.test(event.key) || (event.key === "Enter" && /^(lines|rich)$/.test(fieldKind(control)));
    const isEditing = isShortcut && isField && /^[acvxyz]$/i.test(event.key);
    const isMeant = (MEANT_KEYS.has(event.key) && !(isOfText && isField)) || (isShortcut && !isEditing) || (isMoving && !isField && CHOOSING_ROLES.test(roleFor(control))) || (isMoving && attr(control, "role") === "combobox");
    const isOfBrowser = BROWSER_KEYS.test((isShortcut ? (event.altKey ? "Alt+" : "Ctrl+") : "") + (event.shiftKey ? "Shift+" : "") + event.key);
    if (isMeant && isOfBrowser) return this.watchKey(event, control, true);
    if (!isMeant) {
      if (previous && event.repeat) this.gesture.row = previous.row;
      const isOfLine = isMoving && fieldKind(control) === "line";
      if (isOfLine || (event.key === "Enter" && isOfText)) this.watchKey(event, control);
      return;
    }
    this.settle();
    this.gesture.described = traced(control);
    if (this.gesture.described.sensitive && event.key.length === 1) return;
    this.gesture.row = this.report("keydown", control, { key: event.key, modifiers: modifiersOf(event) }, { described: this.gesture.described, at: event.timeStamp, pressed: event.timeStamp });
  }

  /** A key that only edits a field or is one of the browser is an event if the page uses it, as Enter in the field of a chat. */
  watchKey(event, control, isOfBrowser = false) {
    const gesture = this.gesture;
    if (event.key === "Enter") this.settle();
    gesture.described = traced(control);
    if (gesture.described.sensitive && event.key.length === 1) return;
    const lines = event.key === "Enter" ? linesIn(control) : 0;
    this.later(gesture, () => {
      if (isOfBrowser && !event.defaultPrevented) this.send("browser_key", null, {});
      if (gesture.row || !event.defaultPrevented) return;
      if (event.key === "Enter" && isConnected(control) && linesIn(control) > lines) return;
      this.settle();
      gesture.row = this.report("keydown", control, { key: event.key, modifiers: modifiersOf(event) }, { described: gesture.described, at: event.timeStamp, pressed: event.timeStamp });
    });
  }

  /** Decides on a gesture after the listeners of the page, but before the next gesture. */
  later(gesture, decide) {
    gesture.pending = decide;
    startTimer(() => this.gesture === gesture && this.decide(), 0);
  }

  /** What depends on the listeners of the page is decided now. */
  decide() {
    const pending = this.gesture && this.gesture.pending;
    if (!pending || this.isOver) return;
    this.gesture.pending = null;
    forget();
    pending();
  }

  // Fields.

  entered(event, target) {
    const control = controlAround(target);
    const kind = fieldKind(control);
    if (!/^(line|lines|rich)$/.test(kind)) return;
    if (event.type === "input" && !this.isRecent(event)) return;
    if (this.typing && this.typing.element !== control) this.typed(true);
    if (!this.typing) {
      this.settle("typing");
      const before = this.latest;
      // The field goes on with the run that it has reported last.
      const goesOn = before && before.kind === "input" && before.element === control;
      this.typing = { element: control, count: goesOn ? this.typedCount : 0, of: goesOn ? before.of : 0, at: event.timeStamp, sent: -TYPING_MS, timer: false };
    }
    this.typing.count++;
    this.typing.at = event.timeStamp;
    if (performance.now() - this.typing.sent >= TYPING_MS || heldBy(control).length <= LONG_TEXT) {
      this.typed(false);
      // The listeners of the page come later, and may change what was typed.
      const mine = this.typing;
      startTimer(() => this.typing === mine && this.formatted(mine), 0);
    }
    else if (!this.typing.timer) {
      this.typing.timer = true;
      const mine = this.typing;
      startTimer(() => {
        mine.timer = false;
        if (this.typing === mine) this.typed(false);
      }, TYPING_MS);
    }
  }

  /** Reports the run of typing again, if the page has changed what was typed. */
  formatted(typing) {
    if (isSensitive(typing.element) || heldText(typing.element) === this.values.get(typing.element)) return;
    typing.reported = -1;
    this.typed(false);
  }

  /** Reports the run of typing. */
  typed(isOver) {
    const typing = this.typing;
    if (isOver) this.typing = null;
    if (!typing || typing.reported === typing.count) return;
    forget();
    const described = traced(typing.element);
    const value = described.sensitive ? null : heldText(typing.element);
    if (described.sensitive) keepSecret(typing.element, heldText(typing.element));
    this.values.set(typing.element, described.sensitive ? "" : value);
    typing.reported = typing.count;
    typing.sent = performance.now();
    this.typedCount = typing.count;
    typing.of = this.report("input", typing.element, { value, source_count: typing.count }, { described, replaces: typing.of, at: typing.at });
  }

  changed(event, target) {
    const kind = fieldKind(target);
    // Lists, pickers and file choosers are used in windows of their own, for as long as a person likes.
    if (!/^(choice|picked|file)$/.test(kind) && !this.isRecent(event)) return;
    if (/^(line|lines|rich)$/.test(kind)) return this.changedText(event, target);
    this.settle();
    const data = chosenIn(target, kind);
    if (!data) return;
    const gesture = this.gesture || { row: 0, changed: null, at: event.timeStamp };
    const before = this.latest;
    const isOfGesture = gesture.row && before && before.of === gesture.row && /^(click|keydown)$/.test(before.kind) && belongs(before.element, target);
    const isAgain = before && before.kind === "change" && before.element === target;
    gesture.changed = target;
    if (kind === "file") {
      const names = Array.from(GET_FILES.call(target) || [], (file) => String(file.name).slice(0, TRACE_TEXT)).slice(0, 100);
      this.report("file_chosen", target, { names }, { replaces: isOfGesture ? gesture.row : 0, at: event.timeStamp });
      return;
    }
    gesture.row = this.report("change", target, data, { replaces: isOfGesture ? gesture.row : isAgain ? before.of : 0, at: event.timeStamp, pressed: gesture.at });
  }

  /** A text field says that it was changed: new only if it holds something else than was reported, as after a completion. */
  changedText(event, target) {
    this.settle();
    if (isSensitive(target)) {
      keepSecret(target, heldText(target));
      if (!this.values.has(target)) this.report("input", target, { value: null, source_count: 1 }, { at: event.timeStamp });
      this.values.set(target, "");
      return;
    }
    const value = heldText(target);
    if (this.values.get(target) === value) return;
    const before = this.latest;
    const replaces = before && before.kind === "input" && before.element === target ? before.of : 0;
    this.values.set(target, value);
    this.report("input", target, { value, source_count: 1 }, { replaces, at: event.timeStamp });
  }

  /** An action of this program has changed a field by script: that event is not trusted. */
  ownChange(element) {
    this.settle();
    const kind = fieldKind(element);
    const data = chosenIn(element, kind);
    if (data && kind !== "file") this.report("change", element, data);
    else if (/^(line|lines|rich)$/.test(kind)) {
      this.typing = { element, count: 1, of: 0, at: performance.now(), sent: 0, timer: false };
      this.typed(true);
    }
  }

  /** An action of this program clicks by script. */
  ownClick(target) {
    this.settle();
    this.report("click", controlAround(target), { button: "left", count: 1, modifiers: [] });
  }

  submitted(event, target) {
    if (!this.isRecent(event)) return;
    this.decide();
    this.settle();
    const cause = this.gesture.row;
    this.report("submit", target, {}, { at: event.timeStamp, cause, pressed: this.gesture.at });
  }

  focused(event, target) {
    if (noteFocusIn(target)) this.suspect();
    const control = controlAround(target);
    if (this.typing && this.typing.element !== control) this.typed(true);
    const gesture = this.gesture;
    if (!gesture || gesture.type !== "key" || gesture.key !== "Tab" || event.timeStamp - gesture.at > 1000) return;
    if (fieldKind(control) === "other") return;
    this.report("focus", control, {}, { at: event.timeStamp });
  }

  left(event) {
    if (event.type === "blur" && event.target !== window) return;
    this.typed(true);
    // What is typed here later is another run.
    if (event.type === "blur" && this.latest && this.latest.kind === "input") this.latest = null;
  }

  // Scrolling.

  rolled(event) {
    this.rolling = event.timeStamp;
  }

  moved(event) {
    const container = event.target instanceof Element ? event.target : null;
    const isMeant = event.timeStamp - this.rolling < SCROLLED_MS || (this.isRecent(event, SCROLLED_MS) && this.isScrolledBy(this.gesture, container));
    if (!isMeant) return;
    if (this.scrolling && this.scrolling.container !== container) this.scrolled();
    if (!this.scrolling) {
      this.settle("scrolling");
      const before = this.latest;
      const goesOn = before && before.kind === "scroll" && before.element === container;
      this.scrolling = { container, of: goesOn ? before.of : 0, at: event.timeStamp, timer: 0 };
    }
    this.scrolling.at = event.timeStamp;
    const timer = ++this.scrolling.timer;
    const mine = this.scrolling;
    startTimer(() => this.scrolling === mine && mine.timer === timer && this.scrolled(), SCROLL_MS);
  }

  /** Whether a gesture scrolls: a press of the scroll bar, or a key that does nothing else. */
  isScrolledBy(gesture, container) {
    if (gesture.row) return false;
    if (gesture.type === "key") return SCROLL_KEYS.has(gesture.key);
    return container ? gesture.target === container : /^(html|body)$/.test(nameOfTag(gesture.target));
  }

  scrolled() {
    const scrolling = this.scrolling;
    this.scrolling = null;
    if (!scrolling) return;
    forget();
    const { container } = scrolling;
    const described = container ? traced(container) : null;
    const data = container ? { container: { role: described.role, name: described.name, selector: described.selectors[0] || "" }, x: Math.round(container.scrollLeft), y: Math.round(container.scrollTop) } : { x: Math.round(scrollX), y: Math.round(scrollY) };
    this.report("scroll", container, data, { described, replaces: scrolling.of, at: scrolling.at });
  }

  // Hovering: reported only if it showed what is used then.

  /** The pointer was moved to another element. `pointerover` also comes when the page moves under a pointer that rests. */
  over(event, target) {
    if (event.pointerType !== "mouse") return;
    const control = controlAround(target);
    const last = this.trail[this.trail.length - 1];
    if (last && last.element === control) return;
    // A large area opens nothing.
    if (/^(html|body)$/.test(nameOfTag(control))) return;
    const { width, height } = BOX.call(control);
    if (width * height > (innerWidth * innerHeight) / 4) return;
    // What can be seen in it already is not shown by hovering over it.
    const seen = new WeakSet(Array.from(allIn(control, USED)).slice(0, 60).filter((one) => CHECK_VISIBLE.call(one, { visibilityProperty: true })));
    this.trail.push({ element: control, at: event.timeStamp, seen });
    if (this.trail.length > 12) this.trail.shift();
  }

  mutated(records) {
    const at = performance.now();
    for (const { type, target, addedNodes } of records) {
      if (target === document) this.listen();
      if (this.mutations.length > 200) this.mutations.splice(0, 100);
      if (type === "attributes") this.mutations.push({ node: target, at, isNew: false });
      else
        for (const node of addedNodes) {
          if (!(node instanceof Element)) continue;
          this.mutations.push({ node, at, isNew: true });
          if (isHostOfUnknown(node)) this.suspect();
        }
    }
  }

  /** Before a press: whether hovering over something has shown what is pressed. */
  hovered(control, event) {
    const since = this.gesture ? this.gesture.at : 0;
    const trail = this.trail.filter(({ element, at }) => at > since && element !== control && !CONTAINS.call(control, element) && isConnected(element));
    // What the pointer has caused since it is over the control was not shown by what it was over before.
    const last = this.trail[this.trail.length - 1];
    const arrived = last && CONTAINS.call(control, last.element) ? last.at : event.timeStamp;
    const isUsed = MATCHES.call(control, USED) || WIDGET_ROLES.has(roleFor(control));
    this.trail = this.trail.slice(-1);
    for (let i = trail.length; i-- > 0; ) {
      const { element, at, seen } = trail[i];
      const isTrigger = !seen.has(control) && (CONTAINS.call(element, control) || shownRole(roleFor(element)) !== "generic");
      const shown = isTrigger && this.mutations.some((one) => (one.isNew || isUsed) && one.at >= at && one.at < arrived && one.at - at < HOVER_MS && one.node !== element && CONTAINS.call(one.node, control) && !CONTAINS.call(one.node, element));
      if (shown || this.isShownByHover(control, element)) {
        this.report("hover", element, {}, { at });
        return;
      }
    }
  }

  /** Whether a style sheet shows an element only while the pointer is over another one around or before it. */
  isShownByHover(control, element) {
    const rules = this.hoverRules();
    if (!rules.length) return false;
    for (let level = 0, at = control; at && level < 8 && !CONTAINS.call(at, element); level++, at = parentElementOf(at)) {
      const found = rules.some((selector) => {
        try {
          return MATCHES.call(at, selector);
        } catch {
          return false;
        }
      });
      if (found) return true;
    }
    return false;
  }

  hoverRules() {
    const sheets = document.styleSheets;
    if (this.sheets.count === sheets.length) return this.sheets.rules;
    const rules = [];
    const read = (list, depth) => {
      for (const rule of list) {
        if (rules.length >= 500) return;
        if (rule instanceof CSSStyleRule) {
          // The hovered part is not the last one of the selector.
          if (/:(hover|focus-within)\b[^,]*[\s>+~]/.test(rule.selectorText) && SHOWING.test(rule.style.cssText)) rules.push(rule.selectorText);
        } else if (rule instanceof CSSMediaRule && depth < 3) read(rule.cssRules, depth + 1);
      }
    };
    for (const sheet of Array.from(sheets).slice(0, 100)) {
      try {
        read(sheet.cssRules, 0);
      } catch {
        // A sheet of another origin cannot be read.
      }
    }
    this.sheets = { count: sheets.length, rules };
    return rules;
  }
}

const HANDLERS = {
  pointerdown(event, target) { this.pressed(event, target); },
  pointerup(event, target) { this.released(event, target); },
  pointermove(event, target) { this.over(event, target); },
  click(event, target) { this.clicked(event, target); },
  auxclick(event, target) { if (event.button === 1) this.clicked(event, target); },
  contextmenu(event, target) { if (event.button === 2) this.clicked(event, target); },
  keydown(event, target) { this.keyed(event, target); },
  input(event, target) { this.entered(event, target); },
  compositionend(event, target) { this.entered(event, target); },
  change(event, target) { this.changed(event, target); },
  submit(event, target) { this.submitted(event, target); },
  focusin(event, target) { this.focused(event, target); },
  focusout(event) { this.left(event); },
  blur(event) { this.left(event); },
  wheel(event) { this.rolled(event); },
  touchmove(event) { this.rolled(event); },
  scroll(event) { this.moved(event); },
  scrollend() { this.scrolled(); },
  dragstart(event, target) {
    if (this.gesture && this.gesture.type === "pointer") this.drag = { gesture: this.gesture, element: controlAround(target) };
  },
  drop(event, target) {
    const files = event.dataTransfer ? Array.from(event.dataTransfer.files, (file) => String(file.name).slice(0, TRACE_TEXT)) : [];
    if (files.length) this.report("file_chosen", controlAround(target), { names: files.slice(0, 100) }, { at: event.timeStamp });
    else if (this.drag) this.dragged(this.drag.gesture, target, event);
    this.drag = null;
  },
};

/** How this document was reached. */
function navigationType() {
  const [entry] = performance.getEntriesByType("navigation");
  return entry instanceof PerformanceNavigationTiming ? entry.type : "navigate";
}

/** Begins to record this document, unless a recorder of another session is at work here. */
calls.record = ({ binding, signal }) => {
  if (recorder) {
    if (recorder.document !== document) recorder.begin();
    return false;
  }
  const ask = new CustomEvent(signal, { cancelable: true });
  if (!DISPATCH.call(window, ask)) return false;
  recorder = new Recorder({ binding, signal });
  recorder.begin();
  return true;
};

/** The reports up to a number are stored. */
calls.recorded = (n) => recorder && recorder.acknowledge(n);

/** Ends the recorder; what it still has is reported. */
calls.recordingOver = () => {
  if (recorder) recorder.end();
  recorder = null;
};

/** Where sensitive fields are in view. */
calls.sensitiveParts = () => {
  forget();
  return sensitiveAreas(recorder ? recorder.roots : []);
};
