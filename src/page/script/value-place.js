// Where a value that was read from a page stands in it, and what stands there later.
// Uses: act, anchor, find, hint, node, node-cache, table, text, trace-element, tree.

// Limits in characters: of the text around a value, and of a value.
const PLACE_TEXT = 300;
const PLACE_VALUE = 200;
const PLACE_LEVELS = 3;
const MOST_VALUE_PLACES = 3;
const MOST_VALUES = 5;

const isLetter = (text) => /\p{L}/u.test(text);

/** The only place of a value in a text that is not within a word or number; -1 if there is none, or several. */
function placeIn(text, value) {
  let found = -1;
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const before = text.slice(0, at);
    const after = text.slice(at + value.length);
    const isPart = (/[\p{L}\p{N}]$|\p{N}[.,]$/u.test(before) && /^[\p{L}\p{N}]/u.test(value)) || (/^[\p{L}\p{N}]|^[.,]\p{N}/u.test(after) && /[\p{L}\p{N}]$/u.test(value));
    if (isPart) continue;
    if (found >= 0) return -1;
    found = at;
  }
  return found;
}

/** The innermost elements whose text has a value. */
function innermostWith(value) {
  const found = [];
  const visit = (node) => {
    let inner = false;
    for (const child of gatherChildren(node, [])) {
      if (typeOf(child) === 1 && !hiddenWhy(child) && fold(textIn(child)).includes(value)) {
        inner = true;
        if (found.length < 20) visit(child);
      }
    }
    if (!inner && node instanceof Element) found.push(node);
  };
  const whole = TEXT_ONE.call(document, "body");
  if (whole && fold(textIn(whole)).includes(value)) visit(whole);
  return found;
}

/** What names a cell or definition: the head of its column, or its term. */
function headingOf(element) {
  let cell = element;
  for (let level = 0; cell && level <= PLACE_LEVELS; level++, cell = parentElementOf(cell)) {
    if (nameOfTag(cell) === "dd") {
      let term = GET_PREVIOUS_ELEMENT.call(cell);
      while (term && nameOfTag(term) === "dd") term = GET_PREVIOUS_ELEMENT.call(term);
      return term ? cutText(readText(term)) : "";
    }
    if (!(cell instanceof HTMLTableCellElement)) continue;
    const row = parentElementOf(cell);
    return row instanceof HTMLTableRowElement ? headOfColumn(row, Array.from(GET_CELLS.call(row)).indexOf(cell)) : "";
  }
  return "";
}

const lastingSelectors = (element) => traceSelectors(element).filter((one) => !one.includes(":nth-"));

/** Describes where a value stands; null for a place that could not be found again. */
function describedPlace(element, value) {
  const heading = headingOf(element);
  for (let level = 0; element && level <= PLACE_LEVELS; level++, element = parentElementOf(element)) {
    const text = fold(textIn(element));
    const at = text.length <= PLACE_TEXT ? placeIn(text, value) : -1;
    if (at < 0) return null;
    const [before, after] = [text.slice(0, at), text.slice(at + value.length)];
    const around = containerOf(element);
    // What is around it must not change with it.
    if (around && around.title.includes(value)) return null;
    const container = around && /^(row|item|card|dialog|section|form)$/.test(around.kind) ? around : null;
    const testId = firstAttr(element, TEST_MARKS).slice(0, TRACE_TEXT);
    const selectors = lastingSelectors(element);
    if (isLetter(before) || isLetter(after) || heading || testId || selectors.length) {
      return { tag: nameOfTag(element), before, after, heading, container, test_id: testId, selectors };
    }
    if (/^(td|th|tr|body)$/.test(nameOfTag(element))) return null;
  }
  return null;
}

/** What stands at a place: the different values that fit. */
function valuesAt(place, elements) {
  const isSame = (one, other) => fold(one || "").toLowerCase() === fold(other || "").toLowerCase();
  const isBare = !isLetter(place.before) && !isLetter(place.after);
  let found = [];
  for (const element of elements) {
    if (nameOfTag(element) !== place.tag) continue;
    const text = fold(textIn(element));
    const length = text.length - place.before.length - place.after.length;
    if (length < 1 || length > PLACE_VALUE || !text.startsWith(place.before) || !text.endsWith(place.after)) continue;
    if (isBare && !place.heading && !isMarkedBy(element, place.selectors, place.test_id)) continue;
    if (hiddenWhy(element) || !isSame(headingOf(element), place.heading)) continue;
    const container = containerOf(element);
    if ((container ? container.kind : "") !== (place.container ? place.container.kind : "")) continue;
    if (container && !isSame(container.title, place.container.title)) continue;
    const value = text.slice(place.before.length, text.length - place.after.length).trim();
    if (value) found.push({ element, value });
  }
  const marked = found.length > 1 ? found.filter(({ element }) => isMarkedBy(element, place.selectors, place.test_id)) : [];
  if (marked.length) found = marked;
  return [...new Set(found.map(({ value }) => value))].slice(0, MOST_VALUES);
}

/** Where a value stands: places at which it is the only one that fits. */
calls.valuePlaces = ({ value }) => {
  forget();
  survey();
  const wanted = fold(value);
  if (!wanted || wanted.length > PLACE_VALUE) return [];
  const all = elementsOf(null);
  const places = [];
  for (const element of innermostWith(wanted)) {
    const place = describedPlace(element, wanted);
    if (!place) continue;
    const now = valuesAt(place, all);
    if (now.length === 1 && now[0] === wanted) places.push(place);
    if (places.length === MOST_VALUE_PLACES) break;
  }
  return places;
};

/** What stands at some places now: the values of each. */
calls.valuesAt = ({ places }) => {
  forget();
  survey();
  const all = elementsOf(null);
  return places.map((place) => valuesAt(place, all));
};
