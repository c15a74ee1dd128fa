// Dragging by script: with mouse events, and with drag and drop events for draggable elements.
// https://html.spec.whatwg.org/multipage/dnd.html#drag-and-drop-processing-model
// Uses: act, node, synthetic-pointer.

const GET_DRAGGABLE = getterOf(HTMLElement.prototype, "draggable");
let dragged = null;

const sendDrag = (target, type, mouse, data, more) =>
  DISPATCH.call(target, new DragEvent(type, whole(initOf(mouse, { button: 0, buttons: 0, dataTransfer: data, ...more }))));

/** One end of a drag: its position and the element there. */
function endOf({ id, point }) {
  if (!id) {
    const at = { x: point[0], y: point[1] };
    return { point: at, hit: hitAt(at) || GET_DOCUMENT_ELEMENT.call(document) };
  }
  const element = nodeOf(id);
  return element && isConnected(element) ? aim(element) : null;
}

function draggableAround(hit) {
  for (let node = hit; node; node = parentElementOf(node)) if (isHtml(node) && GET_DRAGGABLE.call(node)) return node;
  return null;
}

function emptyTransfer(items, allowed) {
  const data = new DataTransfer();
  data.effectAllowed = allowed;
  for (const [type, text] of items) data.setData(type, text);
  return data;
}

/** Presses the button, and starts to drag what is draggable. */
calls.syntheticDragBegin = ({ from }) => {
  const start = endOf(from);
  if (!start) return { gone: true };
  const mouse = mouseAt(start.point, 0);
  moveOver(start.hit, mouse);
  const free = press(start.hit, mouse, 1);
  const source = free && isConnected(start.hit) ? draggableAround(start.hit) : null;
  dragged = { mouse, down: start.hit, at: start.hit, source: null, data: null, over: null };
  const place = { point: [start.point.x, start.point.y], draggable: false, items: [], allowed: "none" };
  if (!source) return place;
  const data = emptyTransfer([], "uninitialized");
  const link = source instanceof HTMLAnchorElement ? source.href : source instanceof HTMLImageElement ? source.src : "";
  if (link) for (const type of ["text/uri-list", "text/plain"]) data.setData(type, link);
  if (!sendDrag(source, "dragstart", mouse, data)) return place;
  sendPointer(start.hit, "pointercancel", mouse, { cancelable: false, button: 0, buttons: 0, pressure: 0 });
  Object.assign(dragged, { source, data });
  return { ...place, draggable: true, items: data.types.map((type) => [type, data.getData(type)]).filter((item) => item[0] !== "Files"), allowed: data.effectAllowed };
};

/** Moves the pointer to a point in `steps` moves with the button down, and releases the button. */
calls.syntheticMoves = ({ to, steps }) => {
  if (!dragged || dragged.data) return { gone: true };
  const { mouse, down } = dragged;
  const end = endOf(to);
  if (!end) return { gone: true };
  const from = mouse.point;
  let hit = down;
  for (let n = 1; n <= steps; n++) {
    mouse.point = { x: from.x + ((end.point.x - from.x) * n) / steps, y: from.y + ((end.point.y - from.y) * n) / steps };
    hit = hitAt(mouse.point) || (isConnected(down) ? down : GET_DOCUMENT_ELEMENT.call(document));
    moveOver(hit, mouse, isConnected(down) ? down : hit);
  }
  release(down, hit, mouse, 1, isConnected(down) ? down : hit);
  dragged = null;
  return {};
};

/** Drags to a place, and drops if that accepts it. Returns the drop effect. */
calls.syntheticDrop = ({ to, items, allowed, steps, here }) => {
  const end = endOf(to);
  if (!end) return { gone: true };
  const own = here && dragged && dragged.data ? dragged : null;
  const data = own ? own.data : emptyTransfer(items, allowed === "none" ? "uninitialized" : allowed);
  const mouse = mouseAt(end.point, 0);
  const from = own ? own.mouse.point : end.point;
  let over = null;
  let takes = false;
  for (let n = 1; n <= steps; n++) {
    mouse.point = { x: from.x + ((end.point.x - from.x) * n) / steps, y: from.y + ((end.point.y - from.y) * n) / steps };
    const hit = (n === steps && isConnected(end.hit) && end.hit) || hitAt(mouse.point);
    if (own && isConnected(own.source)) sendDrag(own.source, "drag", mouse, data);
    if (!hit) continue;
    if (hit !== over) {
      sendDrag(hit, "dragenter", mouse, data, { relatedTarget: over });
      if (over && isConnected(over)) sendDrag(over, "dragleave", mouse, data, { cancelable: false, relatedTarget: hit });
      over = hit;
    }
    takes = !sendDrag(hit, "dragover", mouse, data);
  }
  if (!over || !isConnected(over)) return { effect: "none" };
  if (!takes) {
    sendDrag(over, "dragleave", mouse, data, { cancelable: false });
    return { effect: "none" };
  }
  const effect = data.dropEffect !== "none" ? data.dropEffect : /move/i.test(data.effectAllowed) ? "move" : "copy";
  data.dropEffect = effect;
  sendDrag(over, "drop", mouse, data);
  return { effect };
};

/** Ends the drag at its source. */
calls.syntheticDragEnd = ({ effect }) => {
  if (!dragged || !dragged.data) return {};
  const { source, data, mouse } = dragged;
  dragged = null;
  data.dropEffect = effect;
  mouse.buttons = 0;
  if (isConnected(source)) sendDrag(source, "dragend", mouse, data, { cancelable: false });
  return {};
};
