// Where elements are within what scrolls them.

const TOP_MARGIN = 24;
const BOTTOM_MARGIN = 110;
const MIN_DISTANCE = 60;
const DISTANCE_SHARE = 0.18;
const PAUSE_MS = 120;

function boxOf(container) {
  if (container === window) return { top: 0, bottom: window.innerHeight, height: window.innerHeight };
  return container.getBoundingClientRect();
}

export function isCentred(container, target) {
  const outer = boxOf(container);
  const inner = target.getBoundingClientRect();
  const distance = Math.abs((inner.top + inner.bottom) / 2 - (outer.top + outer.bottom) / 2);
  return inner.top >= outer.top + TOP_MARGIN && inner.bottom <= outer.bottom - BOTTOM_MARGIN
    && distance <= Math.max(MIN_DISTANCE, outer.height * DISTANCE_SHARE);
}

/** Calls back when scrolling pauses. */
export function onScrollPause(container, callback) {
  let timer = 0;
  container.addEventListener('scroll', () => {
    clearTimeout(timer);
    timer = setTimeout(callback, PAUSE_MS);
  });
}

/** Calls back each time that scrolling brings the target to the middle. */
export function whenCentred(container, target, callback) {
  let before = false;
  onScrollPause(container, () => {
    const now = isCentred(container, target);
    if (now && !before) callback();
    before = now;
  });
}
