// What a recording says of an element: role and name as in snapshots, what is around it, how it can be found again.
// Uses: act, box, context, element-html, element-key, find, forms, hint, node, node-cache, state, table, tree, value.

// Limits of the texts of an element, in characters, and of the levels that are searched around it.
const TRACE_TEXT = 200;
const TRACE_HTML = 1500;
const TRACE_SELECTORS = 6;
const TRACE_LEVELS = 6;
const CONTAINER_LEVELS = 12;

const GET_AREA_LABELS = getterOf(HTMLTextAreaElement.prototype, "labels");
const GET_SELECT_LABELS = getterOf(HTMLSelectElement.prototype, "labels");
const GET_FORM_LABELS = [[HTMLInputElement, GET_INPUT_LABELS], [HTMLTextAreaElement, GET_AREA_LABELS], [HTMLSelectElement, GET_SELECT_LABELS]];

// A purpose that `autocomplete` gives decides alone, whatever the field is called.
const SENSITIVE_PURPOSE = /(^|\s)(current-password|new-password|one-time-code|cc-number|cc-csc|cc-exp|cc-exp-month|cc-exp-year)(\s|$)/i;
const PLAIN_PURPOSE = /(^|\s)(name|honorific-prefix|given-name|additional-name|family-name|nickname|username|email|tel[a-z-]*|street-address|address-[a-z0-9-]+|country|country-name|postal-code|organization|organization-title|url|language|bday[a-z-]*|sex|photo|impp)(\s|$)/i;
const SENSITIVE_WORDS = new Set(
  "password passwd passphrase passcode pwd pass secret token otp totp pin cvc cvv csc iban ssn kennwort passwort geheimzahl contraseña motdepasse".split(" "),
);
const SENSITIVE_PAIRS = ["card number", "credit card", "security code", "one time", "api key", "access key", "private key", "mot de passe", "verification code"];

/** The words of a name: `cardNumber`, `card_number` and "Card number" have the same. */
const nameWords = (text) =>
  text
    .slice(0, TRACE_TEXT)
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word);

const soundsSensitive = (text) => {
  const words = nameWords(text);
  const line = words.join(" ");
  return words.some((word) => SENSITIVE_WORDS.has(word)) || SENSITIVE_PAIRS.some((pair) => ` ${line} `.includes(` ${pair} `));
};

/** Fields that have been password fields: what is typed into them stays secret when the page shows it. */
const oncePasswords = new WeakSet();

/** What was typed into sensitive fields of this document, by field; shorter texts may be anything. */
const typedSecrets = new Map();
const SECRET_LENGTH = 6;
const MOST_SECRETS = 50;

function keepSecret(element, text) {
  if (text.length < SECRET_LENGTH || (!typedSecrets.has(element) && typedSecrets.size >= MOST_SECRETS)) return;
  typedSecrets.set(element, text);
}

const holdsSecret = (text) => text.length >= SECRET_LENGTH && [...typedSecrets.values()].some((secret) => text.includes(secret));

/** A value with all its texts, in which nothing of the sensitive fields stands any more. */
function withoutTyped(value) {
  if (!typedSecrets.size) return value;
  if (typeof value === "string") {
    let text = value;
    for (const secret of typedSecrets.values()) for (const form of [secret, encodeURIComponent(secret)]) text = text.split(form).join("•••");
    return text;
  }
  if (Array.isArray(value)) return value.map(withoutTyped);
  if (!value || typeof value !== "object") return value;
  const covered = Object.create(null);
  for (const name of Object.keys(value)) covered[name] = withoutTyped(value[name]);
  return covered;
}

/** Whether what a field holds must never leave the page. */
function isSensitive(element) {
  if (isPassword(element)) oncePasswords.add(element);
  if (oncePasswords.has(element) || coveredFields.has(element)) return true;
  if (fieldKind(element) === "other") return false;
  // The page has put it into another field, as to show a password.
  if (typedSecrets.size && isTyped(element) && holdsSecret(heldBy(element))) {
    coveredFields.add(element);
    return true;
  }
  const purpose = attr(element, "autocomplete") || "";
  if (SENSITIVE_PURPOSE.test(purpose)) return true;
  if (PLAIN_PURPOSE.test(purpose)) return false;
  if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || isEdited(element))) return false;
  if (fieldKind(element) === "ticked" || fieldKind(element) === "file") return false;
  const masking = styleOf(element).webkitTextSecurity;
  if (masking && masking !== "none") return true;
  return [attr(element, "name"), attr(element, "id"), attr(element, "placeholder"), nameFor(element)].some((text) => !!text && soundsSensitive(text));
}

const WIDGET_ROLES = new Set(
  "button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option treeitem combobox slider spinbutton textbox searchbox gridcell columnheader".split(" "),
);

const ITEM_ROLES = /^(row|listitem|article)$/;

/** The control that an event at an element is for: the nearest one around it, or the element itself. */
function controlAround(target) {
  let at = target;
  for (let level = 0; at && level <= TRACE_LEVELS; level++, at = parentElementOf(at)) {
    if (isEdited(at)) return editingHost(at);
    if (fieldKind(at) !== "other" || MATCHES.call(at, USED) || at instanceof HTMLLabelElement || WIDGET_ROLES.has(roleFor(at))) return itemBetween(target, at) || at;
  }
  return target;
}

/** The item of a list that only can have the focus: it is what is used, not the list. */
function itemBetween(target, list) {
  if (target === list || shownRole(roleFor(list)) !== "generic" || attr(list, "tabindex") === null || attr(list, "onclick") !== null) return null;
  for (let at = target; at && at !== list; at = parentElementOf(at)) if (ITEM_ROLES.test(shownRole(roleFor(at))) || isRepeated(at)) return at;
  return null;
}

function labelTextOf(element) {
  const known = GET_FORM_LABELS.find(([type]) => element instanceof type);
  const labels = known ? known[1].call(element) : null;
  return labels && labels.length ? cutText(readText(labels[0])) : "";
}

const cutText = (text) => fold(String(text).slice(0, 8 * TRACE_TEXT)).slice(0, TRACE_TEXT);

// What an ancestor is for the elements in it.
const CONTAINER_KINDS = { row: "row", listitem: "item", article: "card", dialog: "dialog", alertdialog: "dialog", form: "form", region: "section", group: "section", treeitem: "item", option: "item", tabpanel: "section", figure: "card" };
const GROUP_HEADINGS = "h1,h2,h3,h4,h5,h6,[role=heading],caption,legend,summary,figcaption";
const HEADINGS = GROUP_HEADINGS + ",th,[role=rowheader]";

/** How many classes more a marked one of several alike elements may have. */
const MARKING = 2;

/** Whether an element is one of several siblings that are built alike, as cards without semantics are. One may be marked by a class. */
function isRepeated(element) {
  const parent = GET_PARENT.call(element);
  const shape = classesOf(element);
  if (!(parent instanceof Element) || !shape.length) return false;
  /** By their classes, the number of similar siblings. */
  const alike = new Map();
  let similar = 0;
  let left = 50;
  for (let child = GET_FIRST_ELEMENT.call(parent); child && left-- > 0; child = GET_NEXT_ELEMENT.call(child)) {
    if (nameOfTag(child) !== nameOfTag(element)) continue;
    const other = classesOf(child);
    const shared = other.filter((one) => shape.includes(one)).length;
    const isMarked = shared > 0 && shared === Math.min(shape.length, other.length) && Math.max(shape.length, other.length) - shared <= MARKING;
    if (!isMarked) continue;
    similar++;
    alike.set(other.join(" "), (alike.get(other.join(" ")) || 0) + 1);
  }
  return similar >= 3 && [...alike.values()].some((count) => count >= 2);
}

const classesOf = (element) => (attr(element, "class") || "").split(/\s+/, 50).filter(Boolean);

// A text with a word.
const isWordy = (text) => /\p{L}{2}/u.test(text);

/** Whether an element has a heading, and so has one of its siblings: plain blocks beside each other, such as offers. */
function isHeaded(element) {
  const parent = GET_PARENT.call(element);
  if (!(parent instanceof Element) || !/^(div|section|li|td|fieldset)$/.test(nameOfTag(element)) || !allIn(element, GROUP_HEADINGS)[0]) return false;
  let left = SIBLINGS;
  for (let other = GET_FIRST_ELEMENT.call(parent); other && left-- > 0; other = GET_NEXT_ELEMENT.call(other)) {
    if (other !== element && nameOfTag(other) === nameOfTag(element) && allIn(other, GROUP_HEADINGS)[0]) return true;
  }
  return false;
}

/** The text that names an entry: the first with a word or a longer number, as an order has; a short one may be its place. */
const firstTitle = (texts) => texts.find((text) => isWordy(text) || /^#?\d{4,}$/.test(text)) || texts[0] || "";

/** How many siblings of a container are compared with it. */
const SIBLINGS = 20;

/** The texts of a row or item with their counters, which may be all that differs. Buttons are alike in all of them. */
const titlesIn = (container, element) => textsOf(container, element, "button", fold);

/** The first text of a row or item that its siblings do not have. */
function textApart(container, element) {
  const own = titlesIn(container, element);
  const others = new Set();
  const parent = GET_PARENT.call(container);
  let left = SIBLINGS;
  for (let other = parent instanceof Element ? GET_FIRST_ELEMENT.call(parent) : null; other && left-- > 0; other = GET_NEXT_ELEMENT.call(other)) {
    if (other !== container) for (const text of titlesIn(other, null)) others.add(text);
  }
  return firstTitle(own.filter((text) => !others.has(text))) || firstTitle(own);
}

/** The title of a container: its name, its heading or header cell, or a text that tells it from its siblings. */
function titleIn(container, element, isGroup) {
  const name = cutText(nameFor(container));
  if (name && shownRole(roleFor(container)) !== "row") return name;
  for (const heading of allIn(container, isGroup ? GROUP_HEADINGS : HEADINGS)) {
    const text = cutText(readText(heading));
    if (!text) continue;
    // The heading is what is used: what else it says is the title.
    if (CONTAINS.call(heading, element)) return cutText(titlesIn(heading, element).find(isWordy) || "");
    return text;
  }
  // The first text of a form or section is that of its first field.
  return isGroup ? "" : cutText(textApart(container, element));
}

/** The row, card, dialog, form or section around an element that has a title, with its element; null when there is none. */
function containerAround(element) {
  let at = parentElementOf(element);
  for (let level = 0; at && level < CONTAINER_LEVELS; level++, at = parentElementOf(at)) {
    const tag = nameOfTag(at);
    if (tag === "body" || tag === "html") return null;
    if (at instanceof HTMLLabelElement) continue;
    const kind = CONTAINER_KINDS[shownRole(roleFor(at))] || (tag === "form" ? "form" : isRepeated(at) ? "item" : isHeaded(at) ? "section" : "");
    if (!kind) continue;
    const title = titleIn(at, element, kind === "form" || kind === "section");
    if (!title) continue;
    return { container: at, kind, title };
  }
  return null;
}

/** The same as a recording has it: with the address of its main link. */
function containerOf(element) {
  const around = containerAround(element);
  if (!around) return null;
  const { container, kind, title } = around;
  const link = kind === "form" || kind === "dialog" || kind === "section" ? null : allIn(container, "a[href]")[0];
  return { kind, title, href: link instanceof HTMLAnchorElement ? String(GET_HREF.call(link)).slice(0, 1000) : "", within: titleAround(container), column: columnOfTitle(container, title) };
}

/** The title of the container around a container. */
function titleAround(container) {
  const around = containerAround(container);
  return around ? around.title : undefined;
}

/** The head of the column in which a row has its title: the same text may stand in another one. */
function columnOfTitle(row, title) {
  if (!(row instanceof HTMLTableRowElement)) return undefined;
  const cells = Array.from(GET_CELLS.call(row));
  const at = cells.findIndex((cell) => fold(readText(cell)).includes(title));
  return (at >= 0 && headOfColumn(row, at)) || undefined;
}

/** The head of a column of the table that a row is in; "" without one. */
function headOfColumn(row, at) {
  const parent = parentElementOf(row);
  const table = parent instanceof HTMLTableElement ? parent : parent && parentElementOf(parent);
  const first = table instanceof HTMLTableElement ? GET_ROWS.call(table)[0] : null;
  // In a row of data, the first cell may be a head, too.
  const cells = first && first !== row ? Array.from(GET_CELLS.call(first)) : [];
  const isHead = cells.every((cell) => nameOfTag(cell) === "th");
  return isHead && cells[at] ? cutText(readText(cells[at])) : "";
}

/** What an element without a name shows or tells: its text, its tooltip, its icon. */
function tellingText(element) {
  const text = readText(element);
  if (text.trim() || nameFor(element).trim()) return text;
  return hintOf(element).replace(/^(description|tooltip)=/, "").replace(/^testid=.*/, "").replace(/^icon=/, "icon ");
}

/** The state of a button that has one. */
function buttonState(element) {
  const pressed = attr(element, "aria-pressed");
  if (/^(true|false|mixed)$/.test(pressed || "")) return pressed === "true" ? "pressed" : pressed === "false" ? "not pressed" : "mixed";
  const checked = /^(switch|checkbox|menuitemcheckbox)$/.test(roleFor(element)) ? attr(element, "aria-checked") : null;
  if (checked === "true" || checked === "false") return checked === "true" ? "checked" : "not checked";
  const expanded = attr(element, "aria-expanded");
  return expanded === "true" ? "expanded" : expanded === "false" ? "collapsed" : undefined;
}

/** Selectors that match only this element now, the most lasting first. */
function traceSelectors(element) {
  const keys = new Keys();
  const counts = keys.countsIn(GET_ROOT_NODE.call(element));
  const found = selectorsOf(element).filter((one) => counts.get(one) === 1);
  const whole = keys.of(element);
  if (!found.includes(whole)) found.push(whole);
  return found.slice(0, TRACE_SELECTORS).map((one) => one.slice(0, 300));
}

/** What a recording says of an element. */
function traced(element) {
  forget();
  const sensitive = isSensitive(element);
  const field = fieldKind(element);
  const rects = rectsOf(element);
  const { left, top, right, bottom } = rects.length ? boxAround(rects) : { left: 0, top: 0, right: 0, bottom: 0 };
  const isHeld = field !== "other" && field !== "choice";
  return {
    tag: nameOfTag(element),
    role: shownRole(roleFor(element)),
    name: cutText(isTyped(element) ? fieldName(element) : nameFor(element)),
    text: isHeld || field === "choice" || element instanceof HTMLFormElement || /^(html|body)$/.test(nameOfTag(element)) ? "" : cutText(tellingText(element)),
    label: labelTextOf(element),
    test_id: firstAttr(element, TEST_MARKS).slice(0, TRACE_TEXT),
    selectors: traceSelectors(element),
    html: sensitive || field === "rich" ? "" : shortHtmlOf(element).slice(0, TRACE_HTML),
    box: rects.length ? { x: left, y: top, width: right - left, height: bottom - top } : undefined,
    container: containerOf(element) || undefined,
    state: buttonState(element),
    sensitive,
    // A form may put it into the next address.
    parameter: sensitive ? attr(element, "name") || undefined : undefined,
  };
}

/** The name of a field, which is never what is typed into it. */
function fieldName(element) {
  const name = nameFor(element);
  const held = fold(heldBy(element).slice(0, 8 * TRACE_TEXT));
  return held && fold(name) === held.slice(0, name.length) && name.length > 2 && isEdited(element) && !attr(element, "aria-label") ? "" : name;
}

const MOST_SENSITIVE = 60;
const TRACE_FIELDS = "input,textarea";

/** Where sensitive fields are in view, in CSS pixels of this viewport. */
function sensitiveAreas(roots) {
  const areas = [];
  const { innerWidth: width, innerHeight: height } = window;
  for (const root of [document, ...roots]) {
    for (const field of allIn(root, TRACE_FIELDS)) {
      if (areas.length >= MOST_SENSITIVE) return areas;
      if (isPassword(field)) oncePasswords.add(field);
      // Most fields of a long page are out of view, and that is cheaper to find out.
      const { left, top, right, bottom } = BOX.call(field);
      if (bottom <= 0 || right <= 0 || top >= height || left >= width || !isSensitive(field)) continue;
      for (const rect of rectsOf(field)) areas.push(listed({ left: rect.left - 2, top: rect.top - 2, right: rect.right + 2, bottom: rect.bottom + 2 }));
    }
  }
  return areas;
}
