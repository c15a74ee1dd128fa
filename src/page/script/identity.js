// What a use of an element is bound to: role and name, its place in the document, and where it leads or its form is sent.
// Uses: act, context, effect, element-html, element-key, find, name, node, node-cache, role, seal, state, tree.

const GET_FORM_ACTION = getterOf(HTMLFormElement.prototype, "action");
const GET_FORM_METHOD = getterOf(HTMLFormElement.prototype, "method");
const FORM_CONTROLS = [HTMLButtonElement, HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement].map((type) => ({ type, form: getterOf(type.prototype, "form") }));
const SUBMITTERS = [HTMLButtonElement, HTMLInputElement].map((type) => ({
  type,
  kind: getterOf(type.prototype, "type"),
  action: getterOf(type.prototype, "formAction"),
  method: getterOf(type.prototype, "formMethod"),
}));
const PRESSED = /^(submit|image|button|reset|checkbox|radio)$/;
const IDENTIFYING = ["id", ...KEY_ATTRIBUTES.filter((name) => name !== "data-value")];

/** The form of an element: that of its `form` attribute, or the one around it. */
function formOf(element) {
  const control = element instanceof HTMLLabelElement ? LABEL_CONTROL.call(element) || element : element;
  const known = FORM_CONTROLS.find(({ type }) => control instanceof type);
  const form = known ? known.form.call(control) : CLOSEST.call(control, "form");
  return form instanceof HTMLFormElement ? form : null;
}

/** The address of the link that an element is or is in. */
function linkOf(element) {
  for (let up = element; up; up = parentElementOf(up)) {
    if (up instanceof HTMLAnchorElement && has(up, "href")) return GET_HREF.call(up);
    if (up instanceof HTMLAreaElement && has(up, "href")) return GET_AREA_HREF.call(up);
    if (up instanceof SVGElement && nameOfTag(up) === "a") return attr(up, "href") || attr(up, "xlink:href") || "";
  }
  return "";
}

/** Where an element leads, or its form is sent, and how. */
function destinationOf(element) {
  const link = linkOf(element);
  if (link) return { destination: String(link), method: "" };
  const form = formOf(element);
  const own = SUBMITTERS.find(({ type }) => element instanceof type);
  const action = own && attr(element, "formaction") ? own.action.call(element) : form && attr(form, "action") !== null ? GET_FORM_ACTION.call(form) : "";
  const method = own && attr(element, "formmethod") ? own.method.call(element) : form ? GET_FORM_METHOD.call(form) : "";
  return { destination: String(action), method: String(method) };
}

const namesIn = (element, names) => names.map((name) => attr(element, name)).filter((value) => value && isLasting(value));

/** The elements around an element with what distinguishes them, and what a press of it sends. */
function surroundingsOf(element) {
  const own = SUBMITTERS.find(({ type }) => element instanceof type);
  const kind = own ? own.kind.call(element) : "";
  const parts = [kind, attr(element, "name"), PRESSED.test(kind) ? attr(element, "value") : null, ...namesIn(element, IDENTIFYING)];
  for (let up = parentElementOf(element); up; up = parentElementOf(up)) parts.push(idOf(up), ...namesIn(up, IDENTIFYING));
  return JSON.stringify(parts);
}

/** What distinguishes an element and those around it also after they were drawn anew: no ids, which pages generate, and no nodes. */
function lastingOf(element) {
  const own = SUBMITTERS.find(({ type }) => element instanceof type);
  const kind = own ? own.kind.call(element) : "";
  const parts = [kind, attr(element, "name"), PRESSED.test(kind) ? attr(element, "value") : null, destinationOf(element)];
  for (let up = element; up; up = parentElementOf(up)) parts.push(...namesIn(up, KEY_ATTRIBUTES));
  return sealOf(JSON.stringify(parts));
}

const MOST_NAME_TEXT = 200;

/**
 * The name of an element. Where only a focused element has one, it is its text, focused or not, unless that is typed into it
 * or is the text of controls in it.
 */
function steadyNameOf(element) {
  if (!UNNAMED_KINDS.has(kindOf(element)) || marksOf(element) & (LABEL | TITLE)) return nameFor(element);
  if (isTyped(element)) return "";
  const text = readText(element);
  return text.length > MOST_NAME_TEXT || allIn(element, USED).length ? "" : text;
}

/** A text that differs when an element is not what it was for a person, whatever its colour, text cursor or counter. */
function identityOf(element) {
  const { destination, method } = destinationOf(element);
  return sealOf([shownRole(roleFor(element)), likeness(steadyNameOf(element)), contextNow(element), destination, method, surroundingsOf(element)].join("\n"));
}

/** Where an element is and leads, without its name. */
const placeOfUse = (element) => JSON.stringify([destinationOf(element), surroundingsOf(element)]);

/** Whether an element is no longer what it was, by its identity or by what is at stake; without an `identity`, it is. */
function isAnother(element, identity) {
  if (identity === null || identity === undefined || identityOf(element) === identity) return false;
  return stakeOf(element, "press") !== identity && stakeOf(element, "enter") !== identity;
}

/** What is confirmed with an element. */
calls.bound = ({ id }) => {
  forget();
  const element = nodeOf(id);
  if (!(element instanceof Element) || !isConnected(element)) return { gone: true };
  const place = standInFor(element) || element;
  return {
    place: idOf(place),
    role: shownRole(roleFor(element)),
    name: steadyNameOf(element),
    elsewhere: otherContext(id, element),
    html: shortHtmlOf(element).slice(0, MOST_HTML),
    ...destinationOf(element),
    identity: identityOf(element),
    lasting: lastingOf(element),
    hidden: hiddenWhy(place) || unreachableWhy(place),
    disabled: disabledWhy(element),
    secret: isCovered(element),
  };
};

/** Why no press reaches an element wherever it is; a field is focused instead. */
function unreachableWhy(element) {
  if (isTyped(element) || styleOf(element).pointerEvents !== "none" || standInFor(element)) return null;
  return "it does not receive pointer events (pointer-events: none)";
}
