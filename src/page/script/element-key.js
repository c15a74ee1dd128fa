// Keys of elements: selectors that stay the same while the document does, without classes, texts and states.
// Uses: node.

const KEY_ATTRIBUTES = ["data-testid", "data-test-id", "data-test", "data-cy", "data-qa", "data-id", "data-key", "data-value"];
const NATIVE_ATTRIBUTES = ["name", "for", "href", "aria-controls", "placeholder", "alt", "type"];
const HOLDING_KEYS = ["[id]", ...[...KEY_ATTRIBUTES, ...NATIVE_ATTRIBUTES].map((name) => `[${name}]`)].join(",");
const MOST_KEY = 200;
// Texts that a script generates anew for each document: counters of frameworks, long numbers, hashes.
const GENERATED = /:[rR][0-9a-z]*:|«|_r_[0-9a-z]+_|\d{5}|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8}|^(ember|radix-|headlessui-|mui-)/;

const isLasting = (value) => value.length > 0 && value.length <= MOST_KEY && !GENERATED.test(value);

// The attributes that a selector may use, the most lasting first.
const SELECTING = new Map(["id", ...KEY_ATTRIBUTES, "name+value", ...NATIVE_ATTRIBUTES].map((name, rank) => [name, rank]));
const NAME_AND_VALUE = SELECTING.get("name+value") || 0;

/** Selectors of an element that may be unique, the most lasting first. */
function selectorsOf(element) {
  /** @type {[number, string][]} */
  const found = [];
  // Most elements have one or two of them: asking for each by name would cost more.
  for (const name of ATTRIBUTE_NAMES.call(element)) {
    const rank = SELECTING.get(name);
    if (rank === undefined) continue;
    const value = attr(element, name);
    if (!value || !isLasting(value)) continue;
    if (name === "id") found.push([rank, "#" + value]);
    else if (KEY_ATTRIBUTES.includes(name)) found.push([rank, `[${name}="${value}"]`]);
    else found.push([rank, `${nameOfTag(element)}[${name}="${value}"]`]);
    if (name !== "name" || !(element instanceof HTMLInputElement)) continue;
    const choice = attr(element, "value");
    if (choice && isLasting(choice)) found.push([NAME_AND_VALUE, `${nameOfTag(element)}[name="${value}"][value="${choice}"]`]);
  }
  if (found.length > 1) found.sort(([a], [b]) => a - b);
  return found.map(([, selector]) => selector);
}

class Keys {
  constructor() {
    this.scopes = new Map();
    this.known = new Map();
    this.places = new Map();
  }

  /** How often each selector occurs in a document or shadow root. */
  countsIn(root) {
    let counts = this.scopes.get(root);
    if (counts) return counts;
    counts = new Map();
    for (const element of allIn(root, HOLDING_KEYS)) for (const one of selectorsOf(element)) counts.set(one, (counts.get(one) || 0) + 1);
    this.scopes.set(root, counts);
    return counts;
  }

  /** The number of an element among its siblings of the same name, from 1; 0 when it is the only one. */
  placeOf(element) {
    const parent = GET_PARENT.call(element);
    if (!parent) return 0;
    let places = this.places.get(parent);
    if (!places) {
      places = new Map();
      const totals = new Map();
      for (let child = firstOf(parent); child; child = nextOf(child)) {
        if (!isElement(child)) continue;
        const tag = nameOfTag(child);
        totals.set(tag, (totals.get(tag) || 0) + 1);
        places.set(child, totals.get(tag));
      }
      for (const [child, place] of places) if (place === 1 && totals.get(nameOfTag(child)) === 1) places.set(child, 0);
      this.places.set(parent, places);
    }
    return places.get(element) || 0;
  }

  /** The key of an element: the shortest unique selector, with positions only where there is no other. */
  of(element) {
    const known = this.known.get(element);
    if (known !== undefined) return known;
    const root = GET_ROOT_NODE.call(element);
    const counts = this.countsIn(root);
    const own = selectorsOf(element).find((one) => counts.get(one) === 1);
    let key = own;
    if (!key) {
      const place = this.placeOf(element);
      const step = nameOfTag(element) + (place ? `:nth-of-type(${place})` : "");
      const parent = GET_PARENT.call(element);
      key = parent instanceof Element && parent !== GET_DOCUMENT_ELEMENT.call(document) ? this.of(parent) + ">" + step : step;
      if (parent instanceof ShadowRoot) key = this.of(GET_HOST.call(parent)) + ">>>" + step;
    } else if (root instanceof ShadowRoot) key = this.of(GET_HOST.call(root)) + ">>>" + key;
    this.known.set(element, key);
    return key;
  }
}
