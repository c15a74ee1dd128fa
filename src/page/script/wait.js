// Waiting for conditions in this document.
// Uses: act, find, forms, node, node-cache, secrets, settle, value.

const GET_BODY = getterOf(Document.prototype, "body");
const GET_READY = getterOf(Document.prototype, "readyState");
const QUIET_NETWORK = 500;

/** All shadow roots of the document, including known closed ones. */
function allRoots(from, into = []) {
  const walker = MAKE_WALKER.call(document, from, NodeFilter.SHOW_ELEMENT);
  for (let element = walker.nextNode(); element; element = walker.nextNode()) {
    const root = rootsOf(element);
    if (root) allRoots(root, into).push(root);
  }
  return into;
}

const squeezed = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();

/** The visible text, over shadow roots. */
function shownTexts() {
  const body = GET_BODY.call(document);
  if (!(body instanceof HTMLElement) || !RECTS.call(body).length) return [];
  const texts = [GET_INNER_TEXT.call(body)];
  for (const root of allRoots(document)) {
    for (let child = firstOf(root); child; child = nextOf(child)) {
      if (child instanceof HTMLElement && CHECK_VISIBLE.call(child)) texts.push(GET_INNER_TEXT.call(child));
      else if (child instanceof Text) texts.push(GET_DATA.call(child));
    }
  }
  return texts;
}

/** Whether a text is shown, as the page breaks it or without any white space: snapshots join what touches. */
function showsText(wanted, texts) {
  const text = squeezed(wanted);
  const bare = text.replace(/\s+/g, "");
  return texts.some((shown) => {
    const folded = squeezed(shown);
    return folded.includes(text) || folded.replace(/\s+/g, "").includes(bare);
  });
}

const VALUED_FIELDS = "input,textarea";

/** What visible fields hold, without secrets. */
function fieldTexts() {
  const texts = [];
  for (const root of [document, ...allRoots(document)]) {
    for (const field of allIn(root, VALUED_FIELDS)) {
      if (!/^(line|lines)$/.test(fieldKind(field)) || isPassword(field) || isSecretField(field) || !isVisible(field)) continue;
      const held = heldBy(field);
      if (held) texts.push(held);
    }
  }
  return texts;
}

const isVisible = (element) => !hiddenWhy(element) && rectsOf(element).length > 0;

/** All matches in the document and its open shadow roots. */
function* matchesOf(selector) {
  yield* allIn(document, selector);
  for (const root of allRoots(document)) if (GET_SHADOW.call(GET_HOST.call(root)) === root) yield* allIn(root, selector);
}

const STATES = {
  visible: isVisible,
  hidden: (element) => !isVisible(element),
  enabled: (element) => !disabledWhy(element),
  disabled: (element) => !!disabledWhy(element),
  checked: (element) => tickOf(element) === true,
  unchecked: (element) => tickOf(element) === false,
  gone: () => false,
};

/** A selector is in a state when some match is; for hidden and gone, when no match is visible or exists. */
function selectorIn(selector, state) {
  const test = state === "hidden" ? isVisible : state === "gone" ? () => true : STATES[state];
  let some = false;
  for (const element of matchesOf(selector)) {
    if (test(element)) {
      some = true;
      break;
    }
  }
  return state === "hidden" || state === "gone" ? !some : some;
}

function elementIn(id, state) {
  const element = nodeOf(id);
  if (!element || !isConnected(element)) return state === "gone" || state === "hidden" ? true : null;
  return STATES[state](element);
}

function isLoaded(state) {
  const now = GET_READY.call(document);
  if (state === "domcontentloaded") return now !== "loading";
  if (now !== "complete") return false;
  return state !== "networkidle" || networkRest() <= 0;
}

/** The time in milliseconds until nothing has been loaded for half a second, if nothing else is loaded. */
function networkRest() {
  let last = 0;
  const resources = /** @type {PerformanceResourceTiming[]} */ (performance.getEntriesByType("resource"));
  for (const entry of resources) last = Math.max(last, entry.responseEnd, entry.startTime);
  const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  if (navigation) last = Math.max(last, navigation.loadEventEnd);
  return last + QUIET_NETWORK - performance.now();
}

/** Which of the conditions hold now. */
function conditions(args) {
  forget();
  const answer = {};
  let texts = args.text || args.textGone ? [...shownTexts(), ...fieldTexts()] : [];
  if (args.needles && args.needles.length) {
    const finder = new Finder(args.needles, args.base);
    texts = texts.map((text) => withoutSecrets(text, finder));
  }
  if (args.text) answer.text = showsText(args.text, texts);
  if (args.textGone) answer.textGone = !showsText(args.textGone, texts);
  if (args.selector) {
    try {
      answer.selector = selectorIn(args.selector, args.selectorState || "visible");
    } catch (error) {
      answer.bad = String((error && error.message) || error);
    }
  }
  if (args.id) {
    const held = elementIn(args.id, args.state);
    if (held === null) answer.gone = true;
    else answer.reference = held;
  }
  if (args.load) answer.load = isLoaded(args.load);
  return answer;
}

/** The next change of the document or its shadow roots, or `ms` later. */
function nextChange(ms) {
  return new Promise((done) => {
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    const over = () => {
      observer.disconnect();
      clearTimeout(timer);
      for (const type of CHANGES) document.removeEventListener(type, over, true);
      done();
    };
    const observer = new MutationObserver(over);
    const timer = startTimer(over, ms);
    observer.observe(document, all);
    for (const root of allRoots(document)) observer.observe(root, all);
    for (const type of CHANGES) LISTEN_TO.call(document, type, over, true);
  });
}

const CONTENT =
  "a[href],button,input:not([type=hidden]),select,textarea,summary,iframe,frame,img,svg,canvas,video,object,embed,[role=button],[role=link],[tabindex]";
// Placeholder texts.
const PLACEHOLDER = /^(loading|please wait)\W*$/i;

/** Whether the document shows text or something interactive. */
function hasContent() {
  forget();
  if (shownTexts().some((text) => text.trim() && !PLACEHOLDER.test(text.trim()))) return true;
  return [document, ...allRoots(document)].some((root) => Array.from(allIn(root, CONTENT)).some(isVisible));
}

/**
 * Waits up to `ms` until there is content. Returns whether there is, or cannot be because there is no script; `null` for
 * a document without content that is older than `young` milliseconds.
 */
calls.content = async ({ ms, young }) => {
  const end = performance.now() + ms;
  for (;;) {
    if (hasContent()) return true;
    const left = end - performance.now();
    if (document.readyState !== "loading" && !allIn(document, "script").length) return true;
    if (young && performance.now() > young) return null;
    if (left <= 0) return false;
    await nextChange(Math.min(left, LOOK_AGAIN));
  }
};

// Events that show, hide or check elements without a change of the tree.
const CHANGES = ["readystatechange", "input", "change", "transitionend", "animationend", "toggle", "load"];
// How often conditions without events are checked: those of style sheets or the window size.
const LOOK_AGAIN = 100;

/**
 * Which conditions hold. With `until`, waits up to `ms` for that one; `change` is any change of the document.
 */
calls.holds = async (args) => {
  const end = performance.now() + (args.ms || 0);
  if (args.until === "change") {
    await nextChange(args.ms);
    return {};
  }
  for (;;) {
    const began = performance.now();
    const answer = conditions(args);
    const left = end - performance.now();
    if (!args.until || answer[args.until] || answer.bad || answer.gone || left <= 0) return answer;
    // A page that changes continuously is not checked continuously.
    const cost = performance.now() - began;
    await nextChange(Math.min(left, LOOK_AGAIN));
    const pause = Math.min(cost * 3, end - performance.now());
    if (pause > 1) await rest(pause);
  }
};
