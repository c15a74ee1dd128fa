// Nodes of the page: numbering, reading and order.
//
// A named control shadows the properties of its form (and a named image those of the document): `form.firstChild` may
// be an <input name=firstChild>. So all properties are read through the getters of this world's own prototypes.
// Uses: node-cache, record.

const getterOf = (proto, name) => Object.getOwnPropertyDescriptor(proto, name).get;

const GET_FIRST = getterOf(Node.prototype, "firstChild");
const GET_NEXT = getterOf(Node.prototype, "nextSibling");
const GET_PREVIOUS = getterOf(Node.prototype, "previousSibling");
const GET_PARENT = getterOf(Node.prototype, "parentNode");
const GET_TYPE = getterOf(Node.prototype, "nodeType");
const GET_TEXT = getterOf(Node.prototype, "textContent");
const GET_OWNER = getterOf(Node.prototype, "ownerDocument");
const GET_CONNECTED = getterOf(Node.prototype, "isConnected");
const GET_ROOT_NODE = Node.prototype.getRootNode;
const CONTAINS = Node.prototype.contains;
const GET_DATA = getterOf(CharacterData.prototype, "data");
const GET_TEXT_SLOT = getterOf(Text.prototype, "assignedSlot");
const GET_SLOT = getterOf(Element.prototype, "assignedSlot");
const GET_LOCAL = getterOf(Element.prototype, "localName");
const GET_SHADOW = getterOf(Element.prototype, "shadowRoot");
const GET_FIRST_ELEMENT = getterOf(Element.prototype, "firstElementChild");
const GET_NEXT_ELEMENT = getterOf(Element.prototype, "nextElementSibling");
const GET_PREVIOUS_ELEMENT = getterOf(Element.prototype, "previousElementSibling");
const GET_LAST_ELEMENT = getterOf(Element.prototype, "lastElementChild");
const GET_ATTRIBUTE = Element.prototype.getAttribute;
const HAS_ATTRIBUTE = Element.prototype.hasAttribute;
const HAS_ATTRIBUTES = Element.prototype.hasAttributes;
const ATTRIBUTE_NAMES = Element.prototype.getAttributeNames;
const MATCHES = Element.prototype.matches;
const CLOSEST = Element.prototype.closest;
const ALL_IN_ELEMENT = Element.prototype.querySelectorAll;
const ALL_IN_FRAGMENT = DocumentFragment.prototype.querySelectorAll;
const ALL_IN_DOCUMENT = Document.prototype.querySelectorAll;
const BY_ID_IN_FRAGMENT = DocumentFragment.prototype.getElementById;
const BY_ID_IN_DOCUMENT = Document.prototype.getElementById;
const BY_TAG_IN_DOCUMENT = Document.prototype.getElementsByTagName;
const GET_DOCUMENT_ELEMENT = getterOf(Document.prototype, "documentElement");
const GET_DOCUMENT_FOCUS = getterOf(Document.prototype, "activeElement");
const GET_SHADOW_FOCUS = getterOf(ShadowRoot.prototype, "activeElement");
const GET_HOST = getterOf(ShadowRoot.prototype, "host");
const GET_TITLE = getterOf(Document.prototype, "title");
const ASSIGNED_NODES = HTMLSlotElement.prototype.assignedNodes;
const GET_TAB_INDEX = getterOf(HTMLElement.prototype, "tabIndex");
const GET_SVG_TAB_INDEX = getterOf(SVGElement.prototype, "tabIndex");
const GET_INNER_TEXT = getterOf(HTMLElement.prototype, "innerText");
const DISPATCH = EventTarget.prototype.dispatchEvent;
const GET_EDITABLE = getterOf(HTMLElement.prototype, "isContentEditable");

const firstOf = (node) => GET_FIRST.call(node);
const nextOf = (node) => GET_NEXT.call(node);
const typeOf = (node) => GET_TYPE.call(node);
const nameOfTag = (element) => GET_LOCAL.call(element);
const attr = (element, name) => GET_ATTRIBUTE.call(element, name);
const has = (element, name) => HAS_ATTRIBUTE.call(element, name);
const isElement = (node) => GET_TYPE.call(node) === 1;
const isHtml = (element) => element instanceof HTMLElement;
// A node may have moved to the document of another frame.
const isConnected = (node) => GET_CONNECTED.call(node) && (GET_OWNER.call(node) === document || node === document);
const textIn = (node) => GET_TEXT.call(node) || "";

// Numbers of nodes.

const numbered = new Map();
let lastNumber = 0;
let sweepAt = 8192;

/** The number of a node: positive, the same while its document lives, never reused. */
function idOf(node) {
  const it = Stamp.of(node);
  if (it.id === 0) {
    it.id = ++lastNumber;
    numbered.set(it.id, new WeakRef(node));
    if (numbered.size > sweepAt) sweep();
  }
  return it.id;
}

// Forgets the numbers of collected nodes.
function sweep() {
  for (const [id, reference] of numbered) if (!reference.deref()) numbered.delete(id);
  sweepAt = Math.max(8192, numbered.size * 2);
}

/** The node with a number; null when it does not exist or was collected. It may be detached. */
function nodeOf(id) {
  const reference = numbered.get(id);
  return (reference && reference.deref()) || null;
}

// Shadow roots.

const closedRoots = new WeakMap();
let hasClosedRoots = false;

/** Registers a closed shadow root, which no script in the page can find. */
function adopt(host, root) {
  if (!(root instanceof ShadowRoot) || GET_SHADOW.call(host) || closedRoots.has(host)) return false;
  closedRoots.set(host, root);
  hasClosedRoots = true;
  if (recorder) recorder.adopted(host, root);
  return true;
}

/** The open or registered closed shadow root of an element; never one of the browser's own (of an input or video). */
function rootsOf(element) {
  return GET_SHADOW.call(element) || closedRoots.get(element) || null;
}

// The flat tree: what is rendered, in order.

/** Appends the children of a node in the flat tree to the caller's array, so that a walk creates few arrays. */
function gatherChildren(node, into) {
  if (node instanceof Element) {
    const root = rootsOf(node);
    if (root) return gatherSiblings(firstOf(root), into);
    if (node instanceof HTMLSlotElement) {
      const assigned = ASSIGNED_NODES.call(node);
      if (assigned.length) {
        for (let i = 0; i < assigned.length; i++) into.push(assigned[i]);
        return into;
      }
    } else if (node instanceof HTMLDetailsElement) {
      return gatherDetails(node, into);
    }
  }
  return gatherSiblings(firstOf(node), into);
}

/** Whether the children of an element in the flat tree differ from its child nodes. */
function isReordered(element) {
  if (element instanceof HTMLDetailsElement) return true;
  if (remembered && remembered.flat) return false;
  return element instanceof HTMLSlotElement || rootsOf(element) !== null;
}

function gatherSiblings(first, into) {
  for (let node = first; node; node = GET_NEXT.call(node)) {
    const type = GET_TYPE.call(node);
    if (type === 1 || type === 3 || type === 4) into.push(node);
  }
  return into;
}

// The first <summary> always comes first; the rest is present only while the element is open.
function gatherDetails(details, into) {
  const summary = summaryOf(details);
  if (summary) into.push(summary);
  if (!has(details, "open")) return into;
  const from = into.length;
  gatherSiblings(firstOf(details), into);
  const again = summary ? into.indexOf(summary, from) : -1;
  if (again >= 0) into.splice(again, 1);
  return into;
}

/** The <summary> of a <details>: its first. */
function summaryOf(details) {
  for (let child = GET_FIRST_ELEMENT.call(details); child; child = GET_NEXT_ELEMENT.call(child)) {
    if (child instanceof HTMLElement && nameOfTag(child) === "summary") return child;
  }
  return null;
}

/** The children of a node in the flat tree: elements and text nodes. */
const childrenOf = (node) => gatherChildren(node, []);

/** The parent of a node in the flat tree; null when the node is not in it (a child of a host without a slot for it). */
function parentOf(node) {
  const parent = GET_PARENT.call(node);
  if (!parent || (remembered && remembered.flat)) return parent;
  if (parent instanceof ShadowRoot) return GET_HOST.call(parent);
  if (!(parent instanceof Element)) return parent;
  const root = rootsOf(parent);
  if (root) return slotIn(root, node);
  if (parent instanceof HTMLSlotElement && ASSIGNED_NODES.call(parent).length) return null;
  return parent;
}

function slotIn(root, node) {
  const open = isElement(node) ? GET_SLOT.call(node) : node instanceof Text ? GET_TEXT_SLOT.call(node) : null;
  if (open) return open;
  if (GET_SHADOW.call(GET_HOST.call(root))) return null;
  for (const slot of ALL_IN_FRAGMENT.call(root, "slot")) {
    if (ASSIGNED_NODES.call(slot).includes(node)) return slot;
  }
  return null;
}

/** The parent element of a node in the flat tree, or null. */
function parentElementOf(node) {
  const parent = parentOf(node);
  return parent instanceof Element ? parent : null;
}

/** The focused element of the document, through open and registered shadow roots; null when that is the body or nothing. */
function focusedElement() {
  let focused = GET_DOCUMENT_FOCUS.call(document);
  while (focused) {
    const root = rootsOf(focused);
    const inner = root && GET_SHADOW_FOCUS.call(root);
    if (!inner) break;
    focused = inner;
  }
  return !focused || focused === GET_DOCUMENT_ELEMENT.call(document) || nameOfTag(focused) === "body" ? null : focused;
}

/** The first element with an id in the tree scope (document or shadow root) of `element`. */
function byIdFrom(element, id) {
  const root = GET_ROOT_NODE.call(element);
  if (root instanceof Document) return BY_ID_IN_DOCUMENT.call(root, id);
  return root instanceof DocumentFragment ? BY_ID_IN_FRAGMENT.call(root, id) : null;
}

/** All matches of a selector below a document, shadow root or element. */
function allIn(node, selector) {
  if (node instanceof Document) return ALL_IN_DOCUMENT.call(node, selector);
  return (node instanceof DocumentFragment ? ALL_IN_FRAGMENT : ALL_IN_ELEMENT).call(node, selector);
}
