// The meaning of an element for the visual agent: role, name and setting, that is the nearest row, card, dialog or group around
// it with a title. It stays when a page draws its elements anew.
// Uses: act, context, element-html, find, fitness, identity, node, node-cache, state.

// Limits: levels up to the setting, nodes and texts of a container that are read, and the length of a title.
const SETTING_LEVELS = 24;
const SETTING_NODES = 200;
const SETTING_TEXTS = 12;
const TITLE_LENGTH = 80;
// Texts of these say what they do, not what the container is about.
const WITH_USE = /^(button|input|select|textarea|option|label|summary)$/;
const USED_ROLE = /^(button|menuitem|menuitemcheckbox|menuitemradio|option|tab|switch|checkbox|radio|combobox|textbox|searchbox|slider)$/;
const ROW_ROLE = /^(row|listitem|option|treeitem|menuitem)$/;
const GROUP_ROLE = /^(group|radiogroup|region|form|search|toolbar|tabpanel|navigation|complementary)$/;

/**
 * The first texts of a container, without those of controls: each with its element, and whether it is a heading.
 * @type {WeakMap<Element, { age: number, texts: { text: string, at: Element, heading: boolean }[] }>}
 */
const titlesOf = new WeakMap();

const isControl = (element) => WITH_USE.test(nameOfTag(element)) || USED_ROLE.test(attr(element, "role") || "");

function titleTexts(container) {
  const known = titlesOf.get(container);
  memory();
  if (known && known.age === age) return known.texts;
  const texts = [];
  let left = SETTING_NODES;
  const visit = (node, heading) => {
    if (left-- <= 0 || texts.length >= SETTING_TEXTS) return;
    const type = typeOf(node);
    if (type === 3 || type === 4) {
      const text = likeness(GET_DATA.call(node).slice(0, 4 * TITLE_LENGTH)).slice(0, TITLE_LENGTH);
      const parent = parentElementOf(node);
      if (text && parent) texts.push({ text, at: parent, heading });
      return;
    }
    if (type !== 1 || WORTHLESS.has(nameOfTag(node)) || node instanceof SVGElement) return;
    if (node !== container && isControl(node)) return;
    const head = heading || /^(h[1-6]|legend|caption)$/.test(nameOfTag(node)) || /^(heading|rowheader)$/.test(attr(node, "role") || "") || attr(node, "scope") === "row";
    for (const child of gatherChildren(node, [])) visit(child, head);
  };
  visit(container, false);
  titlesOf.set(container, { age, texts });
  return texts;
}

const lettersIn = (text) => (text.match(/\p{L}/gu) || []).length;
/** Whether a text names something: it does not begin with a number, and has more letters than digits. */
const isNaming = (text) => !/^\P{L}*\p{Nd}/u.test(text) && lettersIn(text) >= 2;

/** The title of a container for an element in it; empty if it has none. */
function titleFor(container, element) {
  const label = likeness(attr(container, "aria-label") || "").slice(0, TITLE_LENGTH);
  if (label) return label;
  const ids = (attr(container, "aria-labelledby") || "").split(/\s+/, 1)[0];
  const labelling = ids ? byIdFrom(container, ids) : null;
  if (labelling && !holds(element, labelling)) {
    const text = likeness(textIn(labelling).slice(0, 4 * TITLE_LENGTH)).slice(0, TITLE_LENGTH);
    if (text) return text;
  }
  const others = titleTexts(container).filter(({ at }) => !holds(element, at));
  const named = others.find(({ heading, text }) => heading && lettersIn(text)) || others.find(({ text }) => isNaming(text));
  return (named || others.find(({ text }) => lettersIn(text)) || { text: "" }).text;
}

/** What a container is for a reader: dialog, row, card or group; "" for others. */
function containerKind(container) {
  const tag = nameOfTag(container);
  const role = attr(container, "role") || "";
  if (tag === "dialog" || role === "dialog" || role === "alertdialog" || attr(container, "aria-modal") === "true") return "dialog";
  if (tag === "tr" || tag === "li" || ROW_ROLE.test(role)) return "row";
  if (tag === "article" || role === "article") return "card";
  if (tag === "fieldset" || tag === "section" || tag === "form" || GROUP_ROLE.test(role)) return "group";
  if (role || tag === "body" || tag === "main" || tag === "table" || tag === "ul" || tag === "ol" || tag === "p" || tag === "span") return "";
  // One of several alike: a card without a role.
  const alike = (other) => !!other && nameOfTag(other) === tag && attr(other, "class") === attr(container, "class");
  return alike(GET_NEXT_ELEMENT.call(container)) || alike(GET_PREVIOUS_ELEMENT.call(container)) ? "card" : "";
}

/** The nearest container with a title around an element: its kind and its title. */
function settingOf(element) {
  let up = parentElementOf(element);
  for (let n = 0; up && n < SETTING_LEVELS; n++, up = parentElementOf(up)) {
    const kind = containerKind(up);
    if (!kind) continue;
    const title = titleFor(up, element);
    if (title) return { kind, title };
  }
  return null;
}

const meaningText = (role, name, setting) => [role, likeness(name), setting ? setting.kind : "", setting ? setting.title : ""].join("\n");
const lookText = (role, name) => role + "\n" + likeness(name);

// What the elements of the last pictures mean, by their numbers: their meaning, without the setting, and the number of the last
// node that was known then.
// `listed`: it is in a row or card, whose nodes a page may use again for others.
/** @type {Map<number, { whole: string, look: string, upTo: number, listed: boolean }>} */
const meanings = new Map();
let sweepMeaningsAt = 4096;

/** Stores what an element is shown as. */
function mean(id, role, name, setting) {
  const listed = !!setting && /^(row|card)$/.test(setting.kind);
  meanings.set(id, { whole: meaningText(role, name, setting), look: lookText(role, name), upTo: lastNumber, listed });
  if (meanings.size <= sweepMeaningsAt) return;
  // The oldest ones of nodes that are gone.
  for (const known of meanings.keys()) {
    if (meanings.size <= sweepMeaningsAt / 2) break;
    if (!isThere(known)) meanings.delete(known);
  }
  sweepMeaningsAt = Math.max(4096, meanings.size * 2);
}

/** Whether the node with a number is in the document. */
function isThere(id) {
  const node = nodeOf(id);
  return node instanceof Element && isConnected(node);
}

/** Whether an element was known, with this meaning as far as is known, when another one was shown. */
function wasBeside(element, before) {
  const id = idOf(element);
  if (id > before.upTo) return false;
  const own = meanings.get(id);
  return !own || own.whole === before.whole;
}

const isRendering = (element) => {
  const place = standInFor(element) || element;
  return rectsOf(place).length > 0 && !hiddenWhy(place);
};

/** The elements of the document with some meanings, by meaning; `looks` are these without the settings. */
function meaningThese(wholes, looks) {
  const roles = new Set(Array.from(looks, (look) => look.slice(0, look.indexOf("\n"))));
  const found = new Map();
  for (const element of elementsOf(null)) {
    const role = shownRole(roleFor(element));
    if (!roles.has(role)) continue;
    const name = steadyNameOf(element).slice(0, MOST_SHOWN_NAME);
    if (!looks.has(lookText(role, name))) continue;
    const whole = meaningText(role, name, settingOf(element));
    if (!wholes.has(whole) || !isRendering(element)) continue;
    const all = found.get(whole);
    if (all) all.push(element);
    else found.set(whole, [element]);
  }
  return found;
}

// Longest name of an element that is shown, in characters.
const MOST_SHOWN_NAME = 300;

/**
 * Which elements of a picture are others drawn anew: by the number of the new one, the number of the one before. An element is that only if it
 * is the only one in the document that means the same, and was not there already beside the one before. `recycled` are nodes that
 * now mean something else in another setting.
 */
function redrawnAmong(shown) {
  const news = new Map();
  const recycled = new Set();
  for (const one of shown) {
    const before = meanings.get(one.id);
    const [whole, look] = [meaningText(one.role, one.name, one.setting), lookText(one.role, one.name)];
    if (before && (before.whole === whole || before.look !== look || !before.listed)) continue;
    if (before) recycled.add(one.id);
    const all = news.get(whole);
    if (all) all.push(one);
    else news.set(whole, [one]);
  }
  const was = new Map();
  if (!news.size) return { was, recycled };
  const gone = new Map();
  for (const [id, { whole }] of meanings) {
    if (!news.has(whole) || isThere(id)) continue;
    const all = gone.get(whole);
    if (all) all.push(id);
    else gone.set(whole, [id]);
  }
  const [wholes, looks] = [new Set(), new Set()];
  for (const [whole, ids] of gone) {
    const fresh = news.get(whole);
    if (ids.length !== 1 || fresh.length !== 1) continue;
    wholes.add(whole);
    looks.add(lookText(fresh[0].role, fresh[0].name));
  }
  const now = wholes.size ? meaningThese(wholes, looks) : new Map();
  for (const [whole, elements] of now) {
    const [before] = gone.get(whole);
    if (elements.length !== 1 || idOf(elements[0]) !== news.get(whole)[0].id || wasBeside(elements[0], meanings.get(before))) continue;
    was.set(idOf(elements[0]), before);
    meanings.delete(before);
  }
  return { was, recycled };
}

/** Whether the node of a row or card is now used for another one. */
function isRecycled(id, before) {
  const element = nodeOf(id);
  if (!before || !before.listed || !(element instanceof Element)) return false;
  const [role, name] = [shownRole(roleFor(element)), steadyNameOf(element).slice(0, MOST_SHOWN_NAME)];
  return lookText(role, name) === before.look && meaningText(role, name, settingOf(element)) !== before.whole;
}

/** The element that a page has drawn in the place of one that is gone, if exactly one means the same. */
calls.redrawn = ({ id }) => {
  forget();
  const before = meanings.get(id);
  const recycled = isThere(id);
  if (recycled) return isRecycled(id, before) ? { count: 0, recycled } : { present: true };
  if (!before) return { count: 0 };
  const found = meaningThese(new Set([before.whole]), new Set([before.look])).get(before.whole) || [];
  if (found.length !== 1) return { count: found.length };
  const [element] = found;
  if (wasBeside(element, before)) return { count: 0 };
  meanings.delete(id);
  const setting = settingOf(element);
  const [role, name] = [shownRole(roleFor(element)), steadyNameOf(element).slice(0, MOST_SHOWN_NAME)];
  mean(idOf(element), role, name, setting);
  const place = standInFor(element) || element;
  return { count: 1, id: idOf(element), place: place === element ? 0 : idOf(place), role, name, html: shortHtmlOf(element), held: heldBeside(element), disabled: !!disabledWhy(element) };
};
