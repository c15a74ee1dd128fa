// Locators: elements by role and name, text, label, placeholder, test id or CSS, in document order over shadow roots.

// Matches that are reported of a frame.
const MOST_MATCHES = 1000;
const TEST_IDS = ["data-testid", "data-test-id", "data-test"];
const LABELLED = /^(textbox|searchbox|combobox|listbox|checkbox|radio|switch|slider|spinbutton|colorwell|date|datetime|inputtime|progressbar|meter)$/i;
const UNREAD = new Set("script style template noscript head title".split(" "));

/** The elements below a document, shadow root or element; what is in a root comes before the host's children. */
function gatherIn(scope, into) {
  for (const element of allIn(scope, "*")) {
    into.push(element);
    const root = rootsOf(element);
    if (root) gatherIn(root, into);
  }
  return into;
}

/** The elements of a scope: the whole document, or what is in an element. */
function elementsOf(within) {
  if (!within) return gatherIn(document, []);
  const all = new Set();
  for (const id of within) {
    const element = nodeOf(id);
    if (!(element instanceof Element) || !isConnected(element)) continue;
    const root = rootsOf(element);
    if (root) for (const inner of gatherIn(root, [])) all.add(inner);
    for (const inner of gatherIn(element, [])) all.add(inner);
  }
  return Array.from(all);
}

const isTextThere = (have, want, exact) =>
  exact ? have === fold(want) : have.toLowerCase().includes(fold(want).toLowerCase());

const isRendered = (element) => shownOf(element) === SHOWN && !isUnderHidden(element);

function stateFor(element, name) {
  const states = statesOf(element) || {};
  if (name === "level") return String(states.level || 0);
  const value = states[name];
  return String(value === undefined || value === null ? false : value);
}

function byRole({ text, attributes }) {
  return (element) => {
    if (roleOf(element) !== text || !isRendered(element)) return false;
    return attributes.every(({ name, op, value }) => {
      if (name !== "name") return stateFor(element, name) === value;
      const now = fold(nameOf(element)).toLowerCase();
      // Style sheets change the case of what is shown.
      const want = fold(value).toLowerCase();
      return op === "=" ? now === want : now.includes(want);
    });
  };
}

/** Of names that differ in case only, those that are written as they were given. */
function exactFirst({ attributes }, matches) {
  const want = attributes.find(({ name, op }) => name === "name" && op === "=");
  const exact = want ? matches.filter((element) => fold(nameOf(element)) === fold(want.value)) : [];
  return exact.length ? exact : matches;
}

/** The text of an element; of a button input what is written on it. */
function readText(element) {
  if (element instanceof HTMLInputElement) {
    return /^(button|submit|reset)$/.test(GET_INPUT_TYPE.call(element)) ? fold(GET_INPUT_VALUE.call(element)) : "";
  }
  return fold(textIn(element));
}

/** The innermost elements that hold a text. */
function byText({ text, exact }, elements) {
  const holding = elements.filter((element) => {
    if (UNREAD.has(nameOfTag(element)) || CLOSEST.call(element, "script,style,template,head")) return false;
    return isTextThere(readText(element), text, exact) && isRendered(element);
  });
  const all = new Set(holding);
  for (const element of holding) {
    for (let up = GET_PARENT.call(element); up instanceof Element; up = GET_PARENT.call(up)) all.delete(up);
  }
  return holding.filter((element) => all.has(element));
}

const isLabelled = (element) =>
  (LABELLED.test(roleOf(element)) || fieldKind(element) !== "other") && !(element instanceof HTMLInputElement && /^(hidden|button|submit|reset|image)$/.test(GET_INPUT_TYPE.call(element)));

function matchedBy(step, elements) {
  const { engine, text, exact } = step;
  const quoted = (have) => isTextThere(fold(have), text, exact);
  switch (engine) {
    case "role":
      return exactFirst(step, elements.filter(byRole(step)));
    case "text":
      return byText(step, elements);
    case "label":
      return elements.filter((element) => isLabelled(element) && quoted(nameOf(element)));
    case "placeholder":
      return elements.filter((element) => quoted(attr(element, "placeholder") || attr(element, "aria-placeholder") || "") && text !== "");
    case "testid":
      return elements.filter((element) => TEST_IDS.some((name) => attr(element, name) === text));
    default:
      return elements.filter((element) => MATCHES.call(element, text));
  }
}

/** The elements that a step of a locator matches, in the whole document or `within` some elements. */
calls.find = ({ step, within }) => {
  forget();
  survey();
  let matches;
  try {
    matches = matchedBy(step, elementsOf(within));
  } catch (error) {
    if (step.engine !== "css") throw error;
    return { bad: "it is not valid CSS: " + String((error && error.message) || error) };
  }
  const shown = (element) => ({
    id: idOf(element),
    role: roleFor(element),
    name: nameFor(element),
    visible: !hiddenWhy(element) && rectsOf(element).length > 0,
  });
  return { matches: matches.slice(0, MOST_MATCHES).map(shown) };
};

/** Whether an element is one of some others, or in one of them. */
calls.isWithin = ({ inner, within }) => {
  const element = nodeOf(inner);
  return !!element && within.map(nodeOf).some((outer) => outer && isWithinTree(element, outer));
};

/** Reads something of an element. */
calls.get = (args) => withNode(args.id, (element) => {
  forget();
  const visible = !hiddenWhy(element) && rectsOf(element).length > 0;
  return { ...read(element, args, visible), visible };
});

function read(element, { what, name, most }, visible) {
  const text = (all) => ({ value: all.slice(0, most), truncated: all.length > most });
  switch (what) {
    case "text":
      return text(element instanceof HTMLElement ? GET_INNER_TEXT.call(element) : textIn(element));
    case "html":
      return text(GET_OUTER.call(element));
    case "value":
      // As many bullets as it has characters, as in a snapshot.
      if (isSecretField(element) || isPassword(element)) return { value: "•".repeat(heldBy(element).length) };
      if (element instanceof HTMLSelectElement) {
        const chosen = optionsOf(element).filter((option) => GET_SELECTED.call(option)).map((option) => GET_OPTION_VALUE.call(option));
        return { value: GET_SELECT_MULTIPLE.call(element) ? chosen : chosen.length ? chosen[0] : "" };
      }
      return fieldKind(element) === "other" ? { value: valueOf(element) || null } : text(heldBy(element));
    case "attribute":
      return { value: (isSecretField(element) || isPassword(element)) && name.toLowerCase() === "value" ? null : attr(element, name) };
    case "box": {
      const rects = rectsOf(element);
      if (hiddenWhy(element) || !rects.length) return { value: null };
      const { left, top, right, bottom } = boxAround(rects);
      return { value: { x: left, y: top, width: right - left, height: bottom - top } };
    }
    default:
      return {
        value: {
          visible,
          enabled: !disabledWhy(element),
          editable: !readOnlyWhy(element) && !disabledWhy(element),
          focused: focusedElement() === element,
          checked: fieldKind(element) === "ticked" ? tickOf(element) : null,
        },
      };
  }
}

const isPassword = (element) => element instanceof HTMLInputElement && GET_INPUT_TYPE.call(element) === "password";
const GET_OUTER = getterOf(Element.prototype, "outerHTML");
