// Carousels and sliders: how they are moved.
// Uses: act, box, forms, highlight, node, node-cache.

const NEXT = /(^|[^a-z])(next|forward|right)($|[^a-z])/i;
const PREVIOUS = /(^|[^a-z])(prev|previous|back|left)($|[^a-z])/i;
const MOST_UP = 4;
const ACTIVE = /(^|[-_ ])(active|current|selected)($|[-_ ])/i;

/** The carousel that an element is, holds or belongs to. */
function carouselOf(element) {
  for (let up = element, level = 0; up && level <= MOST_UP; up = parentElementOf(up), level++) if (isSwipable(up)) return up;
  return Array.from(allIn(element, "*")).slice(0, 200).find(isSwipable) || null;
}

const tellsOf = (element) => [attr(element, "aria-label"), attr(element, "title"), attr(element, "class"), GET_ID.call(element), nameFor(element)].join(" ");

/** What changes when a carousel moves: offsets, transforms, the active parts, and a text such as "2 / 5". */
function swipeState(carousel) {
  const parts = [];
  for (const one of [carousel, ...Array.from(allIn(carousel, "*")).slice(0, 300)]) {
    const { transform } = styleOf(one);
    if (transform !== "none") parts.push(transform);
    const left = GET_SCROLL_LEFT.call(one);
    if (left) parts.push(Math.round(left));
    if (ACTIVE.test(attr(one, "class") || "") || attr(one, "aria-selected") === "true" || attr(one, "aria-current") === "true") parts.push(idOf(one));
    const box = BOX.call(one);
    if (one.tagName === "IMG" || firstOf(one) === null) parts.push(Math.round(box.left));
  }
  return String(digest(parts.join(" ")));
}

/** How a carousel can be moved: its state, its control for the direction, and whether it scrolls. */
calls.swipe = ({ id, next, scroll }) => {
  forget();
  const element = nodeOf(id);
  if (!(element instanceof Element) || !isConnected(element)) return { gone: true };
  const carousel = carouselOf(element);
  if (!carousel) return {};
  const words = next ? NEXT : PREVIOUS;
  const around = [carousel, parentElementOf(carousel)].filter(Boolean);
  const controls = around.flatMap((one) => Array.from(allIn(one, "button,[role=button],a,[tabindex]"))).filter((one) => words.test(tellsOf(one)) && !(next ? PREVIOUS : NEXT).test(attr(one, "aria-label") || "") && !hiddenWhy(one) && rectsOf(one).length);
  const control = controls.find((one) => !disabledWhy(one));
  const scroller = [carousel, ...Array.from(allIn(carousel, "*")).slice(0, 100)].find((one) => isScrollable(one) && GET_SCROLL_WIDTH.call(one) - GET_CLIENT_WIDTH.call(one) >= LEAST_SCROLL);
  if (scroll && scroller) {
    const by = GET_CLIENT_WIDTH.call(scroller) * 0.85 * (next ? 1 : -1);
    SCROLL_TO.call(scroller, { left: GET_SCROLL_LEFT.call(scroller) + by, behavior: "instant" });
  }
  return { state: swipeState(carousel), carousel: idOf(carousel), control: control ? idOf(control) : 0, scrolls: !!scroller };
};

/** The limits of a slider. */
calls.slider = ({ id }) => {
  const element = nodeOf(id);
  if (!(element instanceof Element) || !isConnected(element)) return { gone: true };
  const number = (name, otherwise) => {
    const value = attr(element, name);
    return value !== null && value !== "" && Number.isFinite(Number(value)) ? Number(value) : otherwise;
  };
  if (isRange(element)) return { min: number("min", 0), max: number("max", 100), step: number("step", 1) };
  if (attr(element, "role") === "slider") return { min: number("aria-valuemin", 0), max: number("aria-valuemax", 100), step: 0, now: number("aria-valuenow", 0), keys: true };
  return {};
};
