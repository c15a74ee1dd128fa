// Pointer and mouse events by script, in the order in which a browser dispatches them.
// https://www.w3.org/TR/pointerevents3/ and https://www.w3.org/TR/uievents/#events-mouseevent-event-order
// Uses: act, input-probe, node, record.

const FOCUS = HTMLElement.prototype.focus;
const BLUR = HTMLElement.prototype.blur;
const BUTTON_BITS = [1, 4, 2];
const MODIFIER_BITS = { altKey: 1, ctrlKey: 2, metaKey: 4, shiftKey: 8 };
let hovered = null;
let hoveredAt = { x: 0, y: 0 };

/** The mouse of one action: position, buttons, modifier keys. */
function mouseAt(point, modifiers) {
  const keys = {};
  for (const key of Object.keys(MODIFIER_BITS)) keys[key] = (modifiers & MODIFIER_BITS[key]) !== 0;
  return { point, keys, button: 0, buttons: 0, detail: 0, quiet: false };
}

function initOf(mouse, more) {
  const { x, y } = mouse.point;
  return {
    bubbles: true,
    cancelable: true,
    composed: true,
    view: window,
    clientX: x,
    clientY: y,
    screenX: x + window.screenX,
    screenY: y + window.screenY,
    movementX: 0,
    movementY: 0,
    button: mouse.button,
    buttons: mouse.buttons,
    ...mouse.keys,
    ...more,
  };
}

const POINTER = { pointerId: 1, pointerType: "mouse", isPrimary: true, width: 1, height: 1 };
const whole = (init) => ({ ...init, clientX: Math.floor(init.clientX), clientY: Math.floor(init.clientY), screenX: Math.floor(init.screenX), screenY: Math.floor(init.screenY) });

const sendPointer = (target, type, mouse, more) =>
  DISPATCH.call(target, new PointerEvent(type, initOf(mouse, { ...POINTER, pressure: mouse.buttons ? 0.5 : 0, ...more })));
const sendMouse = (target, type, mouse, more) => {
  if (recorder && type === "click") recorder.ownClick(target);
  return DISPATCH.call(target, new MouseEvent(type, whole(initOf(mouse, more))));
};
// Legacy mouse events that Chromium dispatches as pointer events: click, auxclick, contextmenu.
const sendClick = (target, type, mouse, more) =>
  DISPATCH.call(target, new PointerEvent(type, whole(initOf(mouse, { ...POINTER, isPrimary: false, pressure: 0, ...more }))));

function lineage(node) {
  const line = [];
  for (let at = node; at instanceof Element; at = parentElementOf(at)) line.push(at);
  return line;
}

/** Moves the pointer to an element: out of the previous one, into this one. */
function goOver(target, mouse) {
  const before = hovered && hovered.deref();
  const old = before && isConnected(before) ? before : null;
  if (old === target) return;
  const [out, into] = [lineage(old), lineage(target)];
  const none = { button: 0, cancelable: true };
  const once = { bubbles: false, cancelable: false, composed: false };
  const steps = (type, at, other, line, reverse) => {
    const crossed = line.filter((element) => !(other ? lineage(other) : []).includes(element));
    if (reverse) crossed.reverse();
    return [type, at, other, crossed];
  };
  const leave = old && steps("leave", old, target, out, false);
  const enter = steps("enter", target, old, into, true);
  /** @type {[string, typeof sendPointer][]} */
  const senders = [["pointer", sendPointer], ["mouse", sendMouse]];
  for (const [prefix, send] of senders) {
    const button = prefix === "pointer" ? -1 : 0;
    if (leave) {
      send(old, prefix + "out", mouse, { ...none, button, relatedTarget: target });
      for (const element of leave[3]) send(element, prefix + "leave", mouse, { ...none, ...once, button, relatedTarget: target });
    }
    send(target, prefix + "over", mouse, { ...none, button, relatedTarget: old });
    for (const element of enter[3]) send(element, prefix + "enter", mouse, { ...none, ...once, button, relatedTarget: old });
  }
  hovered = new WeakRef(target);
}

/**
 * Moves the pointer over an element. While dragging, pointer events go to the element where the button was pressed:
 * pointer capture is not visible for synthetic events.
 */
function moveOver(target, mouse, captor) {
  goOver(target, mouse);
  const movementX = Math.round(mouse.point.x - hoveredAt.x);
  const movementY = Math.round(mouse.point.y - hoveredAt.y);
  hoveredAt = mouse.point;
  sendPointer(captor || target, "pointermove", mouse, { button: -1, movementX, movementY });
  if (!mouse.quiet) sendMouse(target, "mousemove", mouse, { button: mouse.buttons ? mouse.button : 0, movementX, movementY });
}

/** Presses a button. Returns whether default actions may follow. */
function press(target, mouse, count) {
  mouse.buttons = BUTTON_BITS[mouse.button];
  mouse.quiet = !sendPointer(target, "pointerdown", mouse, { detail: 0 });
  const go = mouse.quiet || sendMouse(target, "mousedown", mouse, { detail: count });
  if (go && isConnected(target)) focusFrom(target);
  if (mouse.button === 2 && isConnected(target) && !/^Win/.test(navigator.platform)) sendClick(target, "contextmenu", mouse, { detail: 0 });
  return go;
}

function focusFrom(target) {
  for (let node = target; node instanceof Element; node = parentElementOf(node)) {
    const before = focusedElement();
    if (node === before) return;
    const control = node instanceof HTMLLabelElement ? LABEL_CONTROL.call(node) : null;
    if (control) return; // the click on its label focuses it
    if (isHtml(node) && (GET_TAB_INDEX.call(node) >= 0 || has(node, "tabindex") || GET_EDITABLE.call(node))) {
      FOCUS.call(node, { preventScroll: true });
      return;
    }
  }
  const before = focusedElement();
  if (before && isHtml(before)) BLUR.call(before);
}

/** Releases the button over an element; `down` is where it was pressed. The click goes to their common ancestor. */
function release(down, up, mouse, count, captor) {
  mouse.buttons = 0;
  sendPointer(captor || up, "pointerup", mouse, { detail: 0 });
  if (!mouse.quiet) sendMouse(up, "mouseup", mouse, { detail: count });
  mouse.quiet = false;
  if (mouse.button === 2 && isConnected(up) && /^Win/.test(navigator.platform)) sendClick(up, "contextmenu", mouse, { detail: 0 });
  if (!isConnected(down) || !isConnected(up)) return null;
  const line = lineage(down);
  const target = lineage(up).find((element) => line.includes(element));
  if (!target) return null;
  sendClick(target, mouse.button === 0 ? "click" : "auxclick", mouse, { detail: count });
  return target;
}

/** A point where an element receives events, and the element that receives them. */
function aim(element) {
  for (const point of candidates(element, rectsOf(element))) {
    const hit = hitAt(point);
    if (hit && receives(element, hit)) return { point, hit };
  }
  const [rect] = rectsOf(element);
  return { point: rect ? middle(rect) : { x: 0, y: 0 }, hit: element };
}

/** Clicks an element `count` times; 0 only hovers. */
calls.syntheticClick = ({ id, button, count, modifiers, instead }) => {
  const element = nodeOf(id);
  if (!element || !isConnected(element)) return { gone: true };
  if (instead) swallow();
  const { point, hit } = aim(element);
  const mouse = mouseAt(point, modifiers);
  moveOver(hit, mouse);
  mouse.button = button;
  let target = hit;
  for (let n = 1; n <= count; n++) {
    press(target, mouse, n);
    // An element that the page inserted on the press receives the release.
    const up = isConnected(target) ? target : hitAt(point) || target;
    const clicked = release(target, up, mouse, n);
    if (n % 2 === 0 && button === 0 && clicked) sendMouse(clicked, "dblclick", mouse, { detail: n });
    if (!isConnected(target)) target = hitAt(point) || target;
  }
  return {};
};
