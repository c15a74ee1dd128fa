// The context of elements that look alike: the text that tells the row, card or dialog of one from those of the others.
// Uses: act, node.

// Limits: elements with a context in one call, levels up to an item, and texts of an item.
const CONTEXT_ELEMENTS = 3000;
const CONTEXT_LEVELS = 30;
const CONTEXT_TEXTS = 10;
const CONTEXT_LENGTH = 80;
const CONTEXT_NODES = 300;

/**
 * By the number of an element: how many levels above it its item is, and the text of the item that was shown with it.
 * @type {Map<number, { levels: number, text: string }>}
 */
const contexts = new Map();
let sweepContextsAt = 4096;

const WORTHLESS = new Set("script style template noscript option".split(" "));

/** The first texts of an item in the flat tree, without those of one element and of elements with the tag `skipped`. */
function textsOf(item, without, skipped = "", read = likeness) {
  const texts = [];
  let left = CONTEXT_NODES;
  const visit = (node) => {
    if (left-- <= 0 || texts.length >= CONTEXT_TEXTS || node === without) return;
    const type = typeOf(node);
    if (type === 3 || type === 4) {
      const text = read(GET_DATA.call(node).slice(0, 4 * CONTEXT_LENGTH)).slice(0, CONTEXT_LENGTH);
      if (text) texts.push(text);
    } else if (type === 1 && !WORTHLESS.has(nameOfTag(node)) && nameOfTag(node) !== skipped) {
      for (const child of gatherChildren(node, [])) visit(child);
    }
  };
  visit(item);
  return texts;
}

/** The element some levels above another one, or the last one below the root. */
function above(element, levels) {
  let item = element;
  for (let n = 0; n < levels; n++) {
    const up = parentElementOf(item);
    if (!up) break;
    item = up;
  }
  return item;
}

/** The largest element around each of some elements that has none of the others, and how many levels above it that is. */
function itemsAround(elements) {
  const holders = new Map();
  for (const element of elements) {
    let up = parentElementOf(element);
    for (let n = 0; up && n < CONTEXT_LEVELS; n++, up = parentElementOf(up)) holders.set(up, (holders.get(up) || 0) + 1);
  }
  return elements.map((element) => {
    let levels = 0;
    for (let up = parentElementOf(element); up && holders.get(up) === 1; up = parentElementOf(up)) levels++;
    return { element, levels };
  });
}

// A text without digits changes less often than a time, a price or a count.
const isSteady = (text) => /\p{L}{2}/u.test(text) && !/\p{Nd}/u.test(text);

/** Stores what tells elements from each other that have the same role and name; `groups` are lists of them. */
function distinguish(groups) {
  let left = CONTEXT_ELEMENTS;
  for (const elements of groups) {
    left -= elements.length;
    if (left < 0) return;
    const items = itemsAround(elements);
    const texts = items.map(({ element, levels }) => (levels ? textsOf(above(element, levels), element) : []));
    const counts = new Map();
    for (const own of texts) for (const text of new Set(own)) counts.set(text, (counts.get(text) || 0) + 1);
    items.forEach(({ element, levels }, index) => {
      const own = texts[index].filter((text) => counts.get(text) === 1);
      const text = own.find(isSteady) || own[0];
      if (text) contexts.set(idOf(element), { levels, text });
      else contexts.delete(idOf(element));
    });
  }
  if (contexts.size > sweepContextsAt) {
    for (const id of contexts.keys()) if (!nodeOf(id)) contexts.delete(id);
    sweepContextsAt = Math.max(4096, contexts.size * 2);
  }
}

/** The lists of elements among some that have the same role and name. Others have no context from now on. */
function alikeAmong(shown) {
  const groups = new Map();
  for (const { id, role, name } of shown) {
    const key = role + "\n" + likeness(name);
    const group = groups.get(key);
    if (group) group.push(id);
    else groups.set(key, [id]);
  }
  const alike = [];
  for (const ids of groups.values()) {
    if (ids.length === 1) contexts.delete(ids[0]);
    else alike.push(ids.map(nodeOf).filter((element) => element instanceof Element));
  }
  return alike;
}

/** Whether an element is in another row, card or dialog than the element with a number was: `{ was, now }`, else null. */
function otherContext(id, element) {
  const known = contexts.get(id);
  if (!known) return null;
  const texts = textsOf(above(element, known.levels), element);
  return texts.includes(known.text) ? null : { was: known.text, now: texts.find(isSteady) || texts[0] || "" };
}

/** The context of an element as a part of its identity: empty, or different from what it was. */
function contextNow(element) {
  const other = otherContext(idOf(element), element);
  const known = contexts.get(idOf(element));
  return other ? "\n" + other.now : known ? known.text : "";
}
