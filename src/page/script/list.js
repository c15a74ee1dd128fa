// Lists: the rows, items or cards beside the one that an element is in, by their titles.
// Uses: act, box, find, node, node-cache, scroll, table, trace-element.

/** The most entries of a list that are told, and the longest title of one, in characters. */
const LIST_ENTRIES = 300;
const LIST_TITLE = 120;
/** How many levels of wrappers an entry may be in. */
const LIST_WRAPPERS = 3;
const CARD_KINDS = /^(row|item|card)$/;

/** What an entry and its siblings are children of, and the number of wrappers between; null for what is no entry. */
function listAround(entry) {
  const part = entry instanceof HTMLTableRowElement ? parentElementOf(entry) : null;
  const table = part instanceof HTMLTableElement ? part : part && parentElementOf(part);
  if (table instanceof HTMLTableElement) return { list: table, outer: entry, levels: 0 };
  let outer = entry;
  for (let levels = 0; levels <= LIST_WRAPPERS; levels++) {
    const list = GET_PARENT.call(outer);
    if (!(list instanceof Element) || /^(body|html)$/.test(nameOfTag(list))) return null;
    if (GET_FIRST_ELEMENT.call(list) !== GET_LAST_ELEMENT.call(list)) return { list, outer, levels };
    outer = list;
  }
  return null;
}

/** Whether a row is an entry, and not the head or foot of its table. */
const isEntryRow = (row) => !/^(thead|tfoot)$/.test(nameOfTag(parentElementOf(row))) && Array.from(GET_CELLS.call(row)).some((cell) => nameOfTag(cell) === "td");

/** The entries of a list that look like the one that is given, itself among them. */
function entriesBeside(entry, { list, outer, levels }) {
  if (list instanceof HTMLTableElement) return Array.from(GET_ROWS.call(list)).filter(isEntryRow).slice(0, LIST_ENTRIES + 1);
  const role = shownRole(roleFor(entry));
  const classes = classesOf(entry);
  const found = [];
  for (let one = GET_FIRST_ELEMENT.call(list); one && found.length <= LIST_ENTRIES; one = GET_NEXT_ELEMENT.call(one)) {
    if (nameOfTag(one) !== nameOfTag(outer)) continue;
    let inner = one;
    for (let level = 0; inner && level < levels; level++) inner = GET_FIRST_ELEMENT.call(inner);
    if (!inner || nameOfTag(inner) !== nameOfTag(entry) || (inner instanceof HTMLTableRowElement && !isEntryRow(inner))) continue;
    const isAlike = ITEM_ROLES.test(role) || /^(treeitem|option|figure)$/.test(role) ? shownRole(roleFor(inner)) === role : classesOf(inner).some((one) => classes.includes(one));
    if (isAlike) found.push(inner);
  }
  return found;
}

/** The titles of entries, as `titleIn` has them for an element that is in no heading. */
function entryTitles(entries) {
  const texts = entries.map((one) => titlesIn(one, null));
  // As in `textApart`: a text that is in one of the first siblings tells nothing apart.
  const counts = new Map();
  const others = texts.slice(0, SIBLINGS).map((own) => new Set(own));
  for (const own of others) for (const text of own) counts.set(text, (counts.get(text) || 0) + 1);
  return entries.map((entry, at) => {
    const name = cutText(nameFor(entry));
    if (name && shownRole(roleFor(entry)) !== "row") return name;
    for (const heading of allIn(entry, HEADINGS)) {
      const text = cutText(readText(heading));
      if (text) return text;
    }
    const isApart = (text) => (counts.get(text) || 0) === (at < SIBLINGS && others[at].has(text) ? 1 : 0);
    const apart = texts[at].filter(isApart);
    return cutText(firstTitle(apart) || firstTitle(texts[at]));
  });
}

/**
 * The list that an element is in: its element, and how often each title occurs among its shown entries. Null if it is in none.
 */
function entriesAround(element) {
  const around = containerAround(element);
  if (!around || !CARD_KINDS.test(around.kind)) return null;
  const place = listAround(around.container);
  if (!place) return null;
  const entries = entriesBeside(around.container, place).filter((one) => rectsOf(one).length > 0);
  const titles = new Map();
  if (entries.length > LIST_ENTRIES) return { list: place.list, titles, isLong: true };
  for (const title of entryTitles(entries)) {
    const cut = title.slice(0, LIST_TITLE);
    if (cut) titles.set(cut, (titles.get(cut) || 0) + 1);
  }
  return { list: place.list, titles, isLong: false };
}

/** The part of the visible height by which a list is scrolled, and the time after which what it renders then is there. */
const LIST_PART = 0.8;
const LIST_RENDERS = 50;
/** The lists whose entries were told last. */
let toldLists = [];

function scrollOn(list, start) {
  const scroller = isConnected(list) ? scrollerOf(GET_LAST_ELEMENT.call(list) || list, "y") : null;
  if (!scroller) return false;
  const from = GET_SCROLL_Y.call(scroller);
  const top = start ? 0 : from + LIST_PART * LIMITS[3].call(scroller);
  SCROLL_TO.call(scroller, { top, behavior: "instant" });
  return Math.abs(GET_SCROLL_Y.call(scroller) - from) >= 1;
}

/** Scrolls those lists on, or to their start. Returns whether any moved. */
calls.scrollList = async ({ start }) => {
  forget();
  const moved = toldLists.filter((list) => scrollOn(list, start)).length > 0;
  if (moved) await rest(LIST_RENDERS);
  return moved;
};

/** The entries of each list that some elements are in: `[{title, count}]`; null for a list that is too long. */
function entriesOfLists(elements) {
  const seen = new Set();
  const all = [];
  for (const element of elements) {
    const found = entriesAround(element);
    if (!found || seen.has(found.list)) continue;
    seen.add(found.list);
    all.push(found.isLong ? null : Array.from(found.titles, ([title, count]) => ({ title, count })));
  }
  if (seen.size) toldLists = [...seen];
  return all;
}
