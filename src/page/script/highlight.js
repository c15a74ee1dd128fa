// The elements that a person can use in the viewport: kinds, stable keys, HTML and facts about their position.
// Uses: act, box, element-html, element-key, find, fitness, forms, identity, label-texts, meaning, node, node-cache, role, state, style, tree, upload, wait.


// Kinds of use.

const isRange = (element) => element instanceof HTMLInputElement && GET_INPUT_TYPE.call(element) === "range";
// Fields that take a value, but are used with the mouse.
const MOUSE_INPUTS = /^(range|file|checkbox|radio|color|button|submit|reset|image)$/;

/** "inputable", "selectable" or "clickable" for an element that the snapshot lists as interactive. */
function useOf(element) {
  if (isHtml(element) && nameOfTag(element) === "select") return "selectable";
  if (element instanceof HTMLInputElement) return MOUSE_INPUTS.test(GET_INPUT_TYPE.call(element)) ? "clickable" : "inputable";
  if (element instanceof HTMLTextAreaElement) return "inputable";
  return isEdited(element) && editingHost(element) === element ? "inputable" : "clickable";
}

// An area with less to scroll, or smaller, is a rounding error or an ornament.
const LEAST_SCROLL = 8;
const LEAST_AREA = 24;
const SCROLLS = /^(auto|scroll|overlay)$/;

/** Whether an element, other than the page itself, scrolls its content. */
function isScrollable(element) {
  const tag = nameOfTag(element);
  if (tag === "body" || tag === "html" || tag === "textarea" || (tag === "input" && isHtml(element))) return false;
  const [width, height] = [GET_CLIENT_WIDTH.call(element), GET_CLIENT_HEIGHT.call(element)];
  if (width < LEAST_AREA || height < LEAST_AREA) return false;
  const down = GET_SCROLL_HEIGHT.call(element) - height >= LEAST_SCROLL;
  const across = GET_SCROLL_WIDTH.call(element) - width >= LEAST_SCROLL;
  if (!down && !across) return false;
  const { overflowX, overflowY } = styleOf(element);
  return (down && SCROLLS.test(overflowY)) || (across && SCROLLS.test(overflowX));
}

// An element with more below it listens for all of them.
const MOST_HOVERED = 60;

/** The elements that react to the mouse above them: those with some ids, which listen to it, and those that a style sheet changes. */
function hoverableElements(ids) {
  const found = revealingElements();
  for (const id of ids) {
    const element = nodeOf(id);
    if (element instanceof Element && isConnected(element) && allIn(element, "*").length <= MOST_HOVERED) found.add(element);
  }
  for (const whole of [GET_BODY.call(document), GET_DOCUMENT_ELEMENT.call(document)]) found.delete(whole);
  return found;
}

/** Whether an element declares in an attribute that it reacts to the mouse above it. */
const isHoverable = (element) =>
  has(element, "onmouseover") || has(element, "onmouseenter") || has(element, "data-hover") || attr(element, "aria-haspopup") === "true";

/** The rectangles of an element in the viewport, measured at most once per call. */
function boxesOf(element) {
  const { rects } = memory();
  let own = rects.get(element);
  if (own === undefined) {
    own = rectsOf(element);
    rects.set(element, own);
  }
  return own;
}

// Modal dialogs.

/** The visible `aria-modal` element that is in front, if no modal <dialog> is open. */
function ariaModal() {
  let front = null;
  for (const one of elementsOf(null)) {
    if (attr(one, "aria-modal") !== "true" || hiddenWhy(one) || !boxesOf(one).length) continue;
    front = one;
  }
  return front;
}

const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Whether an element can be used while `modal` is in front: it belongs to it, or is a popup over it. */
function isInFront(element, modal, box) {
  if (!modal || holds(modal, element)) return true;
  return boxesOf(element).some((rect) => overlaps(rect, box));
}

// Keywords.

const COMPARED = ["id", "name", "value", "title", "alt", "placeholder", "aria-label", "href", "for", "type"];
const withoutCounts = (text) => fold(text.replace(/\p{Nd}+/gu, " ")).toLowerCase();

/** Whether a keyword is the text, the name or a lasting attribute (`data-*` included) of an element. */
function hasKeyword(element, keyword) {
  const wanted = fold(keyword).toLowerCase();
  if (!wanted) return false;
  const bare = wanted.replace(/^\[|\]$/g, "");
  for (const name of ATTRIBUTE_NAMES.call(element)) {
    if (!COMPARED.includes(name) && !name.startsWith("data-")) continue;
    if (name === "value" && isCovered(element)) continue;
    const value = fold(attr(element, name) || "").toLowerCase();
    if (value === wanted || `${name}=${value}` === bare || `${name}="${value}"` === bare || (name === "id" && "#" + value === wanted)) return true;
  }
  const texts = [readText(element), nameFor(element)];
  return texts.some((text) => fold(text).toLowerCase() === wanted || (text && withoutCounts(text) === wanted));
}

// Facts about the position, for hints.

const CAROUSEL = /(^|[-_ ])(swiper|carousel|slick|splide|embla|flickity|glide|keen-slider|slider|slideshow|gallery)($|[-_ ])/i;
const CAROUSEL_ROLE = /carousel|slideshow|slide\b/i;

/** Whether content of an element is moved sideways by a swipe. */
function isSwipable(element) {
  if (!isHtml(element) || /^(a|button|input)$/.test(nameOfTag(element))) return false;
  if (CAROUSEL_ROLE.test(attr(element, "aria-roledescription") || "")) return true;
  const across = GET_SCROLL_WIDTH.call(element) - GET_CLIENT_WIDTH.call(element) >= LEAST_SCROLL;
  if (across && SCROLLS.test(styleOf(element).overflowX) && styleOf(element).scrollSnapType.includes("x")) return true;
  return GET_CLIENT_WIDTH.call(element) >= 120 && GET_CLIENT_HEIGHT.call(element) >= 60 && CAROUSEL.test(attr(element, "class") || "");
}

const isSlidable = (element) => isRange(element) || attr(element, "role") === "slider";
const isUploadable = (element) => {
  const control = element instanceof HTMLLabelElement ? LABEL_CONTROL.call(element) : element;
  return isFileInput(control);
};
const isDroppable = (element) => isDropPlace(element) || has(element, "ondrop") || has(element, "dropzone");

/** The nearest element around that scrolls. */
function scrollAround(element) {
  for (let up = parentElementOf(element); up; up = parentElementOf(up)) if (isScrollable(up)) return up;
  return null;
}

const STAYS = /^(fixed|sticky)$/;

/** The fixed and sticky ones of some elements, with their boxes. */
const stayingAmong = (elements) =>
  elements
    .filter((element) => STAYS.test(styleOf(element).position))
    .map((element) => ({ element, rects: boxesOf(element) }));

/** Whether one of the fixed and sticky elements covers one of four points of an element's box. */
function isUnderSticky(element, box, staying) {
  if (!staying.some((one) => !holds(one.element, element) && one.rects.some((rect) => overlaps(rect, box)))) return false;
  const inset = (from, to) => Math.min(Math.max((to - from) * 0.1, 1), (to - from) / 2);
  const [dx, dy] = [inset(box.left, box.right), inset(box.top, box.bottom)];
  for (const x of [box.left + dx, box.right - dx]) {
    for (const y of [box.top + dy, box.bottom - dy]) {
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      const hit = hitAt({ x, y });
      if (!hit || receives(element, hit) || holds(hit, element)) continue;
      for (let up = hit; up && !holds(up, element); up = parentElementOf(up)) if (STAYS.test(styleOf(up).position)) return true;
    }
  }
  return false;
}

const isInView = (rect) => rect.right > 0 && rect.bottom > 0 && rect.left < innerWidth && rect.top < innerHeight;

/** Whether an element is rendered in the viewport of its frame and not transparent. */
function isSeen(element) {
  const rects = boxesOf(element);
  if (!rects.some(isInView)) return false;
  return CHECK_VISIBLE.call(element, { visibilityProperty: true }) || styleOf(element).display === "contents";
}

/** Whether an element or one around it is transparent, and not only replaced by a painted widget. */
function isClear(element) {
  for (let up = element; up; up = parentElementOf(up)) if (styleOf(up).opacity === "0") return up !== element || fieldKind(element) === "other";
  return false;
}

const mayBeDrawnElsewhere = (element) => element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || has(element, "contenteditable");

// Wrappers.

const AREA_OF_WRAPPER = 0.6;
const sizeOf = (rect) => (rect.right - rect.left) * (rect.bottom - rect.top);

/** Whether an element is a cell only because its table is a grid: nothing says that it is used by itself. */
const isPlainCell = (element) =>
  isHtml(element) && /^t[dh]$/.test(nameOfTag(element)) && attr(element, "role") === null && !has(element, "tabindex") && !has(element, "onclick") &&
  !has(element, "aria-selected") && !isEdited(element) && styleOf(element).cursor !== "pointer";

/**
 * Leaves out wrappers: clickable elements without a role around a control of about the same size, and elements without
 * a role inside a control of about the same size.
 */
function withoutWrappers(found) {
  const boxes = new Map(found.map((one) => [one.element, boxAround(boxesOf(one.place))]));
  const byElement = new Map(found.map((one) => [one.element, one]));
  const dropped = new Set();
  for (const inner of found) {
    const box = boxes.get(inner.element);
    for (let up = parentElementOf(inner.element); up; up = parentElementOf(up)) {
      const outer = byElement.get(up);
      if (!outer || dropped.has(outer) || outer.use !== "clickable" || inner.use === "scrollable") continue;
      const isAlike = sizeOf(box) >= AREA_OF_WRAPPER * sizeOf(boxes.get(up));
      if (!isAlike) continue;
      if (outer.weak) dropped.add(outer);
      else if (inner.weak && inner.use === "clickable") dropped.add(inner);
    }
  }
  return found.filter((one) => !dropped.has(one));
}

/**
 * The usable elements of this document in the viewport, in document order: those with some `ids`, which the snapshot
 * lists as interactive, and scrollable and hoverable ones; those with the ids `hovers` listen to the mouse above them. `keys` are those of the elements with the ids `owners`,
 * which hold frames.
 */
calls.highlight = ({ ids, hovers, owners, keywords }) => {
  forget();
  const [native, keys] = [modalElement(), new Keys()];
  const modal = native || ariaModal();
  const modalBox = modal && boxesOf(modal).length ? boxAround(boxesOf(modal)) : { left: 0, top: 0, right: 0, bottom: 0 };
  const isUsable = (element) => isSeen(element) && !isClear(element) && (native ? holds(native, element) : isInFront(element, modal, modalBox));
  let found = [];
  const listed = new Map();
  for (const [id, weak] of ids) {
    const element = nodeOf(id);
    if (!(element instanceof Element) || !isConnected(element) || isPlainCell(element)) continue;
    // Most elements of a long page are elsewhere in it.
    const box = BOX.call(element);
    if ((box.width > 0 || box.height > 0) && !isInView(box) && !isBoxBeyondPage(box)) continue;
    const place = mayBeDrawnElsewhere(element) ? standInFor(element) || element : element;
    if (!isUsable(place) || styleOf(place).pointerEvents === "none") continue;
    const one = { element, place, weak: !!weak, use: useOf(element), also: null };
    listed.set(element, one);
    found.push(one);
  }
  // A label that stands for its control is not another element.
  const places = new Set(found.filter(({ element, place }) => place !== element).map(({ place }) => place));
  found = withoutWrappers(found.filter(({ element }) => !places.has(element)));
  const hoverable = hoverableElements(hovers);
  const all = elementsOf(null);
  for (const element of all) {
    const scrolls = isScrollable(element);
    const use = scrolls ? "scrollable" : isHoverable(element) || hoverable.has(element) ? "hoverable" : null;
    if (!use || styleOf(element).pointerEvents === "none" || !isUsable(element)) continue;
    const known = listed.get(element);
    if (known) known.also = use;
    else found.push({ element, place: element, weak: true, use, also: null });
  }
  if (keywords) found = found.filter(({ element }) => keywords.some((keyword) => hasKeyword(element, keyword)));
  const order = new Map(all.map((element, at) => [element, at]));
  const placeOf = ({ element }) => order.get(element) ?? all.length;
  found.sort((a, b) => placeOf(a) - placeOf(b));
  const staying = stayingAmong(all);
  const shown = found.map(({ element }) => ({ id: idOf(element), role: shownRole(roleFor(element)), name: steadyNameOf(element).slice(0, MOST_SHOWN_NAME), setting: settingOf(element) }));
  const { was, recycled } = redrawnAmong(shown);
  const elements = found.map(({ element, place, use, also }, at) => {
    const box = boxAround(boxesOf(place));
    const around = scrollAround(element);
    const { id, role, name, setting } = shown[at];
    mean(id, role, name, setting);
    const facts = { id, use, role, name, html: shortHtmlOf(element), key: keys.of(element) };
    if (setting) facts.setting = setting;
    if (was.has(id)) facts.was = was.get(id);
    if (recycled.has(id)) facts.recycled = true;
    if (also) facts.also = also;
    if (place !== element) facts.place = idOf(place);
    if (disabledWhy(element)) facts.disabled = true;
    if (isTickedNow(element)) facts.checked = true;
    facts.held = heldBeside(element);
    if (around) facts.scroller = { id: idOf(around), key: keys.of(around) };
    if (isUnderSticky(element, box, staying)) facts.sticky = true;
    if (isSwipable(element)) facts.swipable = true;
    if (isDroppable(element)) facts.droppable = true;
    if (isSlidable(element)) facts.slidable = true;
    if (isUploadable(element)) facts.uploadable = true;
    return facts;
  });
  const ownerKey = (id) => {
    const element = nodeOf(id);
    return element instanceof Element && isConnected(element) ? keys.of(element) : "";
  };
  return { elements, keys: owners.map(ownerKey), lines: linesInView(all), status: statusTexts() };
};

/** For each frame element, whether it receives events at some points of this viewport. */
calls.passes = ({ holes }) =>
  holes.map(({ id, points }) => {
    const element = nodeOf(id);
    if (!(element instanceof Element)) return points.map(() => false);
    return points.map(([x, y]) => {
      const hit = hitAt({ x, y });
      return !!hit && receives(element, hit);
    });
  });
