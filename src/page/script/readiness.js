// Whether a page is drawn far enough to be looked at.
// Uses: act, highlight, node, node-cache.

const MOST_TEXTS = 250;
const MOST_MEDIA = 48;
const MOST_SKELETONS = 120;
const LEAST_TEXT = 24;
const SKELETON = /skeleton|placeholder|shimmer|loading/i;
const SPINNER = /spinner/i;
// A spinner is small, or only shows a text such as "Loading".
const MOST_SPINNER_TEXT = 24;
// An animation with less left to run than this, in milliseconds, is about to end.
const SOON = 1000;
const GET_ANIMATIONS = Document.prototype.getAnimations;

const isShownInView = (element) => {
  const box = BOX.call(element);
  return box.width > 0 && box.height > 0 && isInView(box) && CHECK_VISIBLE.call(element, { visibilityProperty: true, opacityProperty: true });
};

/** Whether a part of the viewport fades, moves or grows, and is done with that soon. */
const isInTransition = () =>
  GET_ANIMATIONS.call(document).some((animation) => {
    const { effect, playState, currentTime } = animation;
    if (playState !== "running" || !(effect instanceof KeyframeEffect) || !(effect.target instanceof Element)) return false;
    const left = Number(effect.getComputedTiming().endTime) - Number(currentTime);
    return left > 0 && left < SOON && isInView(BOX.call(effect.target));
  });

/** Signs of a page that is not drawn yet, counted once; nothing waits in the page. */
calls.readiness = () => {
  forget();
  const seen = (selector, most) => {
    const found = [];
    for (const element of allIn(document, selector)) {
      if (found.length >= most) break;
      if (isShownInView(element)) found.push(element);
    }
    return found;
  };
  const images = seen("img", MOST_MEDIA).filter((image) => image instanceof HTMLImageElement);
  const pending = images.filter((image) => !image.complete).length;
  const texts = seen("main,article,section,aside,nav,div,p,li,td,h1,h2,h3,h4", MOST_TEXTS)
    .map((element) => {
      let text = "";
      for (let child = firstOf(element); child; child = nextOf(child)) if (typeOf(child) === 3) text += GET_DATA.call(child);
      return fold(text).length;
    })
    .filter((length) => length > 0);
  const marked = seen("[class*=skeleton i],[class*=placeholder i],[class*=shimmer i],[class*=loading i],[id*=skeleton i],[aria-busy=true]", MOST_SKELETONS);
  const placeholders = marked.filter((element) => attr(element, "aria-busy") === "true" || SKELETON.test(`${attr(element, "class") || ""} ${attr(element, "id") || ""}`));
  const empty = placeholders.filter((element) => !fold(textIn(element)) && !allIn(element, "img,svg,canvas,video,input,button").length);
  const spinners = seen("[class*=spinner i],[role=progressbar]:not([aria-valuenow])", MOST_SKELETONS).filter(
    (element) =>
      attr(element, "role") === "progressbar" ||
      (SPINNER.test(attr(element, "class") || "") && !allIn(element, "input,button,a,select,textarea").length && fold(textIn(element)).length <= MOST_SPINNER_TEXT),
  );
  const area = empty.reduce((sum, element) => sum + sizeOf(BOX.call(element)), 0);
  return {
    complete: document.readyState === "complete",
    moving: isInTransition(),
    pending,
    media: images.length - pending + seen("svg,canvas,video", MOST_MEDIA).length,
    blocks: texts.filter((length) => length >= LEAST_TEXT).length,
    chars: texts.reduce((sum, length) => sum + length, 0),
    controls: seen("a[href],button,input,select,textarea,[role=button],[role=link]", 60).length,
    skeletons: empty.length,
    spinners: spinners.length,
    placeholders: Math.min(1, area / Math.max(1, innerWidth * innerHeight)),
  };
};
