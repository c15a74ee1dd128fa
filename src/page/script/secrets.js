// Secrets: where a field would send one, and where the page shows one.
// Uses: act, box, find, forms, identity, node, node-cache, role, text, value.

/** The origin of an address; a script has none. */
function originOf(address) {
  try {
    return new URL(address).origin;
  } catch {
    return "null";
  }
}

/** The origin of this document, and those to which the form of a field may be sent. */
calls.secretPlace = ({ id }) => withNode(id, (element) => {
  const form = formOf(element);
  const names = [nameFor(element), attr(element, "name"), attr(element, "id")].filter((name) => name).map((name) => fold(name));
  const fits = isPassword(element) || TYPED_PURPOSE.test(attr(element, "autocomplete") || "");
  if (!form) return { origin, form: false, sends: [], fits, names };
  const sends = new Set([originOf(GET_FORM_ACTION.call(form))]);
  for (const button of allIn(GET_ROOT_NODE.call(form), "[formaction]")) {
    const own = SUBMITTERS.find(({ type }) => button instanceof type);
    if (own && formOf(button) === form) sends.add(originOf(own.action.call(button)));
  }
  return { origin, form: true, sends: Array.from(sends), fits, names };
});

const TYPED_PURPOSE = /(^|\s)(current-password|new-password|one-time-code)(\s|$)/i;

/** From now on, what a field holds is covered wherever it is read. */
calls.coverField = ({ id }) => withNode(id, (element) => {
  coveredFields.add(element);
  if (isEdited(element)) coveredFields.add(editingHost(element));
  return true;
});

/** A text without what is found in it. */
function withoutSecrets(text, finder) {
  const found = finder.in(text).sort(([a], [b]) => a - b);
  let [kept, at] = ["", 0];
  for (const [start, end] of found) {
    if (start > at) kept += text.slice(at, start);
    if (end > at) {
      kept += "\u0000";
      at = end;
    }
  }
  return found.length ? kept + text.slice(at) : text;
}

/** Finds texts by their fingerprints: polynomials of their code units at `base`, modulo 2^32. */
class Finder {
  constructor(needles, base) {
    this.base = base;
    this.hashes = new Map();
    for (const { length, hash } of needles) {
      const known = this.hashes.get(length);
      if (known) known.add(hash);
      else this.hashes.set(length, new Set([hash]));
    }
    this.shortest = Math.min(...this.hashes.keys());
  }

  /** The start and end of each text that is found. */
  in(text) {
    const found = [];
    if (text.length < this.shortest) return found;
    for (const [length, hashes] of this.hashes) {
      if (text.length < length) continue;
      let power = 1;
      let hash = 0;
      for (let i = 0; i < length; i++) {
        if (i) power = Math.imul(power, this.base);
        hash = (Math.imul(hash, this.base) + text.charCodeAt(i)) | 0;
      }
      for (let end = length; ; end++) {
        if (hashes.has(hash >>> 0)) found.push([end - length, end]);
        if (end >= text.length) break;
        hash = (hash - Math.imul(text.charCodeAt(end - length), power)) | 0;
        hash = (Math.imul(hash, this.base) + text.charCodeAt(end)) | 0;
      }
    }
    return found;
  }
}

const UNSHOWN_TEXT = new Set(["script", "style", "noscript", "template", "head"]);
const UNSHOWN_ATTRIBUTES = new Set(["class", "style", "href", "src", "srcset", "d", "id"]);
const MARGIN = 3; // glyphs and shadows reach over their boxes, in CSS pixels
const MOST_SHOWN = 400;

/** What a form control shows, unless it shows bullets. */
function shownValue(element) {
  if (element instanceof HTMLInputElement) return GET_INPUT_TYPE.call(element) === "password" ? "" : GET_INPUT_VALUE.call(element);
  if (element instanceof HTMLTextAreaElement) return GET_AREA_VALUE.call(element);
  if (element instanceof HTMLSelectElement) return Array.from(TEXT_SELECTED.call(element), (option) => TEXT_OPTION_LABEL.call(option)).join("\n");
  return "";
}

/** All texts of the page as one, with the nodes they come from, and the elements with a value or attribute that is found. */
function searched(finder) {
  const pieces = [];
  const elements = [];
  let length = 0;
  const waiting = [GET_DOCUMENT_ELEMENT.call(document)];
  while (waiting.length) {
    const node = waiting.pop();
    if (!node) continue;
    const type = typeOf(node);
    if (type === 3 || type === 4) {
      const data = GET_DATA.call(node);
      pieces.push({ node, data, start: length });
      length += data.length;
    } else if (type === 1) {
      if (UNSHOWN_TEXT.has(nameOfTag(node))) continue;
      const texts = ATTRIBUTE_NAMES.call(node).filter((name) => !UNSHOWN_ATTRIBUTES.has(name)).map((name) => attr(node, name));
      texts.push(shownValue(node));
      const shows = coveredFields.has(node) && !isPassword(node) && rectsOf(node).length;
      if (shows || texts.some((text) => finder.in(text).length)) elements.push(node);
      const children = gatherChildren(node, []);
      for (let i = children.length; i-- > 0; ) waiting.push(children[i]);
    }
  }
  return { pieces, elements };
}

/** The rectangles in which the page shows one of some texts, in CSS pixels of this frame's viewport; `whole`: if there are too many. */
calls.shownSecrets = ({ needles, base }) => {
  forget();
  const finder = new Finder(needles, base);
  const { pieces, elements } = searched(finder);
  const rects = [];
  const add = (element, rect) => {
    const { left, top, right, bottom } = rect;
    if (!(right > left && bottom > top)) return;
    const around = { left: left - MARGIN, top: top - MARGIN, right: right + MARGIN, bottom: bottom + MARGIN };
    const part = element ? shownPart(element, around, true) : around;
    if (part) rects.push(listed(part));
  };
  for (const element of elements) for (const rect of rectsOf(element)) add(parentElementOf(element), rect);
  let at = 0;
  const matches = finder.in(pieces.map(({ data }) => data).join("")).sort(([a], [b]) => a - b);
  for (const [start, end] of matches) {
    while (at < pieces.length && pieces[at].start + pieces[at].data.length <= start) at++;
    for (let i = at; i < pieces.length && pieces[i].start < end; i++) {
      const { node, data, start: begin } = pieces[i];
      const range = MAKE_RANGE.call(document);
      range.setStart(node, Math.max(0, start - begin));
      range.setEnd(node, Math.min(data.length, end - begin));
      for (const rect of flat(range.getClientRects())) add(parentElementOf(node), rect);
    }
  }
  return rects.length > MOST_SHOWN ? { rects: [], whole: true } : { rects, whole: false };
};
