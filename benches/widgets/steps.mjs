// The steps of a task: plain data that both tools execute.
//
// A target is `{role, name?}`, `{text}` or `{css, role?, name?, text?}`, with `nth` (from 0) and `in` (a target around
// it). With `css`, playwright-core takes the selector and cdpilot role and name, or the text; with `css` alone, the node
// that the selector matches must have a ref in the snapshot. `frame` is the selector of the iframe, for playwright-core:
// snapshots of cdpilot contain frames. A name or text is a string, matched as a whole, or a regular expression.

export const role = (kind, name, more = {}) => ({ role: kind, name, ...more });
export const button = (name, more) => role('button', name, more);
export const text = (content, more = {}) => ({ text: content, ...more });
export const css = (selector, more = {}) => ({ css: selector, ...more });

/** `how`: `double`, `button`, `modifiers`. */
export const click = (target, how = {}) => ({ kind: 'click', target, ...how });
/** A click at a point of the viewport: `at` is an expression of the page whose value is `{x, y}`. */
export const clickAt = (at) => ({ kind: 'clickAt', at });
export const hover = (target) => ({ kind: 'hover', target });
export const fill = (target, value) => ({ kind: 'fill', target, value });
/** Key events for every character, at the end of the field; without a target into the focused element. */
export const type = (target, content) => ({ kind: 'type', target, text: content });
export const keys = (content) => type(undefined, content);
export const press = (key, target) => ({ kind: 'press', key, target });
export const select = (target, value) => ({ kind: 'select', target, value });
export const check = (target) => ({ kind: 'check', target });
export const uncheck = (target) => ({ kind: 'uncheck', target });
export const drag = (from, to) => ({ kind: 'drag', target: from, to });
/** As `drag`, to a point: `at` is an expression of the page whose value is `{x, y}`. */
export const dragAt = (from, at) => ({ kind: 'drag', target: from, at });
/** Drags between two points: expressions of the page. */
export const dragPoints = (start, at) => ({ kind: 'dragPoints', start, at });
/** Clicks the element that opens the file chooser, and sets one file. */
export const upload = (target, name, content = 'text') => ({ kind: 'upload', target, file: { name, content } });
export const scroll = (target, pixels) => ({ kind: 'scroll', target, pixels });
/** Waits until an expression of the page is true; not measured. */
export const waitFor = (condition) => ({ kind: 'waitFor', condition });

/** An expression: a point within the first element of a selector, by fractions of its size. */
export const within = (selector, x = 0.5, y = 0.5) =>
  `(() => { const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
    return {x: Math.round(box.left + box.width * ${x}), y: Math.round(box.top + box.height * ${y})}; })()`;
