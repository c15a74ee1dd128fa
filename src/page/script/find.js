// Locators: elements by role and name, text, label, placeholder, test id or CSS, in document order over shadow roots.
// Uses: act, box, context, forms, name, node, node-cache, rendered, role, state, text, tree, value.

const TEST_IDS = ["data-testid", "data-test-id", "data-test"];
const LABELLED = /^(textbox|searchbox|combobox|listbox|checkbox|radio|switch|slider|spinbutton|colorwell|date|datetime|inputtime|progressbar|meter)$/i;

/** The elements below a document, shadow root or element; the content of a root comes before the host's children. */
function gatherIn(scope, into) {
  for (const element of allIn(scope, "*")) {
    into.push(element);
    const root = rootsOf(element);
    if (root) gatherIn(root, into);
  }
  return into;
}

/** The elements of a scope: the whole document, or the content of an element. */
function elementsOf(within) {
  if (!within) return gatherIn(document, []);
  const all = new Set();
  for (const id of within) {
    const element = nodeOf(id);
    if (!(element instanceof Element) || !isConnected(element)) continue;
    if (all.has(element)) continue; // its descendants were added with an ancestor
    const root = rootsOf(element);
    if (root) for (const inner of gatherIn(root, [])) all.add(inner);
    for (const inner of gatherIn(element, [])) all.add(inner);
  }
  return Array.from(all);
}

const isTextThere = (have, want, exact) =>
  exact ? have === fold(want) : have.toLowerCase().includes(fold(want).toLowerCase());

/** Whether an element is rendered; an option of a closed list, if the list is. */
function isRendered(element) {
  const drawn = element instanceof HTMLOptionElement ? CLOSEST.call(element, "select,datalist") || element : element;
  return shownOf(drawn) === SHOWN && !isUnderHidden(drawn);
}

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
      // A no-break space looks like any other, and style sheets can change the case of displayed text.
      const asRead = (name) => fold(name.replace(/\u00a0/g, " ")).toLowerCase();
      const [now, want] = [asRead(nameOf(element)), asRead(value)];
      return op === "=" ? now === want : now.includes(want);
    });
  };
}

/** Of names that differ in case only, those with the given case. */
function exactFirst({ attributes }, matches) {
  const want = attributes.find(({ name, op }) => name === "name" && op === "=");
  const exact = want ? matches.filter((element) => fold(nameOf(element)) === fold(want.value)) : [];
  return exact.length ? exact : matches;
}

/** The text of an element; for an input button, its label. */
function readText(element) {
  if (element instanceof HTMLInputElement) {
    return /^(button|submit|reset)$/.test(GET_INPUT_TYPE.call(element)) ? fold(GET_INPUT_VALUE.call(element)) : "";
  }
  return fold(textIn(element));
}

const isLabelled = (element) =>
  (LABELLED.test(roleOf(element)) || fieldKind(element) !== "other") && !(element instanceof HTMLInputElement && /^(hidden|button|submit|reset|image)$/.test(GET_INPUT_TYPE.call(element)));

const isHiddenInput = (element) => element instanceof HTMLInputElement && GET_INPUT_TYPE.call(element) === "hidden";

function matchedBy(step, elements, within) {
  const { engine, text, exact } = step;
  const quoted = (have) => isTextThere(fold(have), text, exact);
  switch (engine) {
    case "role":
      return exactFirst(step, elements.filter(byRole(step)));
    case "text":
      return withText(step, within);
    case "label":
      return elements.filter((element) => isLabelled(element) && quoted(nameOf(element)));
    case "placeholder":
      return elements.filter((element) => !isHiddenInput(element) && quoted(attr(element, "placeholder") || attr(element, "aria-placeholder") || "") && text !== "");
    case "testid":
      return elements.filter((element) => TEST_IDS.some((name) => attr(element, name) === text));
    default:
      return elements.filter((element) => MATCHES.call(element, text));
  }
}

const MATCH_TEXT = 80;

function matchFor(element) {
  const name = nameFor(element);
  const visible = !hiddenWhy(element) && rectsOf(element).length > 0;
  const text = name || !visible ? "" : fold(readableText(element, MATCH_TEXT).text).slice(0, MATCH_TEXT);
  return { role: roleFor(element), name, text, visible };
}

/**
 * The elements that match a step of a locator, in the whole document or `within` some elements: the ids of all, and
 * descriptions of the first `describe` ones.
 */
calls.find = ({ step, within, describe }) => {
  forget();
  survey();
  let matches;
  try {
    matches = matchedBy(step, step.engine === "text" ? [] : elementsOf(within), within);
  } catch (error) {
    if (step.engine !== "css") throw error;
    return { bad: "it is not valid CSS: " + String((error && error.message) || error) };
  }
  const described = matches.slice(0, describe).map(matchFor);
  if (described.length > 1) distinguish(alikeAmong(described.map(({ role, name }, at) => ({ id: idOf(matches[at]), role, name }))));
  return { ids: matches.map(idOf), described };
};

/** Describes matches; `null` for removed ones. */
calls.describeMatches = (ids) => {
  forget();
  survey();
  return ids.map(nodeOf).map((element) => (element && isConnected(element) ? matchFor(element) : null));
};

/** Whether an element is one of the elements `within`, or inside one of them. */
calls.isWithin = ({ inner, within }) => {
  const element = nodeOf(inner);
  return !!element && within.map(nodeOf).some((outer) => outer && isWithinTree(element, outer));
};

/** Reads a property of an element. */
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
      return text(htmlOf(element));
    case "value":
      // As many bullets as characters, as in a snapshot.
      if (isSecretField(element) || isPassword(element)) return text("•".repeat(Math.min(heldBy(element).length, most + 1)));
      if (element instanceof HTMLSelectElement) {
        const chosen = optionsOf(element).filter((option) => GET_SELECTED.call(option)).map((option) => GET_OPTION_VALUE.call(option));
        return GET_SELECT_MULTIPLE.call(element) ? cutAll(chosen, most) : text(chosen.length ? chosen[0] : "");
      }
      if (fieldKind(element) !== "other") return text(heldBy(element));
      const value = valueOf(element);
      return value ? text(value) : { value: null };
    case "attribute": {
      const isSecret = (isSecretField(element) || isPassword(element)) && name.toLowerCase() === "value";
      const value = attr(element, name);
      // As many bullets as characters, so that it differs from an absent attribute.
      return value === null ? { value } : text(isSecret ? "•".repeat(Math.min(value.length, most + 1)) : value);
    }
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

/** Truncates texts to a total number of characters; an empty text counts as one. */
function cutAll(texts, most) {
  const kept = [];
  let room = most;
  for (const text of texts) {
    if (room <= 0) return { value: kept, truncated: true };
    kept.push(text.slice(0, room));
    room -= Math.max(text.length, 1);
  }
  return { value: kept, truncated: room < 0 };
}

const IMPORT_NODE = Document.prototype.importNode;
const MAKE_DOCUMENT = DOMImplementation.prototype.createHTMLDocument;
const GET_IMPLEMENTATION = getterOf(Document.prototype, "implementation");
const GET_TEMPLATE_CONTENT = getterOf(HTMLTemplateElement.prototype, "content");
const SET_ATTRIBUTE = Element.prototype.setAttribute;
const SET_TEXT = Object.getOwnPropertyDescriptor(Node.prototype, "textContent").set;
const WRITTEN_FIELDS = "input,textarea";

/** The HTML of an element without the values of secret fields. */
function htmlOf(element) {
  const fields = [element, ...allIn(element, WRITTEN_FIELDS)];
  const hasTemplates = nameOfTag(element) === "template" || allIn(element, "template").length > 0;
  const secrets = fields.map((field) => isPassword(field) || isSecretField(field));
  if (!hasTemplates && !secrets.includes(true)) return GET_OUTER.call(element);
  // In a document without a window, nothing of the copy is loaded or run.
  const copy = IMPORT_NODE.call(MAKE_DOCUMENT.call(GET_IMPLEMENTATION.call(document), ""), element, true);
  [copy, ...allIn(copy, WRITTEN_FIELDS)].forEach((field, index) => secrets[index] && coverField(field));
  coverTemplates(copy);
  return GET_OUTER.call(copy);
}

/** Redacts the secrets in templates, whose elements have no style. */
function coverTemplates(within) {
  const inside = Array.from(allIn(within, "template"));
  if (isElement(within) && nameOfTag(within) === "template") inside.push(within);
  for (const template of inside) {
    if (!(template instanceof HTMLTemplateElement)) continue;
    const content = GET_TEMPLATE_CONTENT.call(template);
    for (const field of allIn(content, WRITTEN_FIELDS)) {
      const named = SECRET_NAME.test((attr(field, "name") || "") + " " + (attr(field, "id") || ""));
      if (isPassword(field) || named || SECRET_PURPOSE.test(attr(field, "autocomplete") || "")) coverField(field);
    }
    coverTemplates(content);
  }
}

function coverField(field) {
  const cover = (text) => "•".repeat(Math.min(text.length, 100));
  if (nameOfTag(field) === "textarea") SET_TEXT.call(field, cover(textIn(field)));
  else if (has(field, "value")) SET_ATTRIBUTE.call(field, "value", cover(attr(field, "value")));
}
