// Anchors: the elements that a recorded one may be now, by role and name, described as recordings describe them.
// Uses: act, context, element-html, find, forms, hint, list, node, node-cache, record-fields, state, trace-element, tree.

/** A text in lower case, with single blanks, without counters in brackets. */
const anchorKey = (text) => text.replace(/[([][\d.,+]+[)\]]/g, "").split(/\s+/).filter((word) => word).join(" ").toLowerCase();

/** What an element is called in recordings: its name, its label or its text. */
function anchorName(element) {
  const name = cutText(isTyped(element) ? fieldName(element) : nameFor(element));
  if (name.trim()) return name;
  const label = labelTextOf(element);
  if (label.trim()) return label;
  return fieldKind(element) === "other" && !(element instanceof HTMLFormElement) ? cutText(tellingText(element)) : "";
}

/** Whether a person sees an element, or what stands for it. Fields for files are often hidden. */
function isAnchorShown(element) {
  if (fieldKind(element) === "file") return true;
  const place = standInFor(element) || element;
  return !hiddenWhy(place) && rectsOf(place).length > 0;
}

function isMarkedBy(element, selectors, testId) {
  if (testId && firstAttr(element, TEST_MARKS) === testId) return true;
  return selectors.some((selector) => {
    try {
      return MATCHES.call(element, selector);
    } catch {
      return false;
    }
  });
}

/** Whether an element is one that is used: what a name alone stands for. */
const isAnyControl = (element) => fieldKind(element) !== "other" || MATCHES.call(element, USED) || WIDGET_ROLES.has(roleFor(element));

/**
 * The shown elements with a role, or all controls without one, and the name with the key `key`; without a key, those without a name that a selector or the
 * test id finds. The first `most` are described. `lists`: with the entries of the lists that they are in.
 */
calls.anchors = ({ role, key, selectors, testId, most, lists }) => {
  forget();
  survey();
  const found = elementsOf(null).filter((element) => {
    const isOfRole = role ? (shownRole(roleFor(element)) || nameOfTag(element)) === role : isAnyControl(element);
    if (!isOfRole || !isAnchorShown(element)) return false;
    const own = anchorKey(anchorName(element));
    return own === key && (key !== "" || isMarkedBy(element, selectors, testId));
  });
  const shown = found.map((element) => ({ id: idOf(element), role: roleFor(element), name: nameFor(element) }));
  if (shown.length > 1) distinguish(alikeAmong(shown));
  const first = shown.slice(0, most);
  const elements = first.map((one, at) => ({ ...one, element: traced(found[at]) }));
  return { total: found.length, elements, entries: lists ? entriesOfLists(found) : [] };
};

/**
 * What a recording says of an element and of what it holds, as the data of an event; without an id, of the focused one. A sensitive
 * field holds null.
 */
calls.traced = ({ id }) => {
  forget();
  const node = id ? nodeOf(id) : focusedElement();
  if (!(node instanceof Element) || !isConnected(node)) return {};
  const element = controlAround(node);
  const kind = fieldKind(element);
  const described = traced(element);
  if (isCovered(element)) Object.assign(described, { sensitive: true, text: "", html: "" });
  if (/^(line|lines|rich)$/.test(kind)) return { element: described, held: { value: described.sensitive ? null : heldText(element), source_count: 1 } };
  return { element: described, held: kind === "file" ? null : chosenIn(element, kind) };
};
