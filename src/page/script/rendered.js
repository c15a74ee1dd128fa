// The rendered text of a document as one string, with the part of each element: what a person reads, for text locators.
// Uses: content, find, name, node, node-cache, role, state, style, tree, value.

const UNREAD = new Set("script style template noscript head title meta link".split(" "));

class Rendered {
  constructor() {
    this.text = "";
    /** @type {[Element, number, number][]} in document order, ancestors first */
    this.parts = [];
    this.level = 0;
  }

  gap() {
    if (this.text && this.text[this.text.length - 1] !== " ") this.text += " ";
  }

  add(text) {
    let folded = text.replace(/\s+/g, " ");
    if (folded[0] === " " && (!this.text || this.text[this.text.length - 1] === " ")) folded = folded.slice(1);
    this.text += folded;
  }

  children(element, seen) {
    if (this.level > MOST_LEVELS) return;
    this.level++;
    for (const child of gatherChildren(element, [])) {
      const type = typeOf(child);
      if (type === 1) this.element(child);
      else if (seen) this.add(transformed(GET_DATA.call(child), element, child));
    }
    this.level--;
  }

  element(element) {
    const tag = nameOfTag(element);
    if (UNREAD.has(tag) && isHtml(element)) return;
    if (marksOf(element) & (HIDDEN | INERT) && (isAriaHiddenRoot(element) || has(element, "inert"))) return;
    const isOption = (tag === "option" || tag === "optgroup") && isHtml(element);
    const shown = isOption ? SHOWN : shownOf(element);
    if (shown === GONE) return;
    const isApart = !INLINE_TAGS.has(tag);
    if (isApart) this.gap();
    /** @type {[Element, number, number]} */
    const part = [element, this.text.length, 0];
    if (shown === SHOWN) this.parts.push(part);
    if (element instanceof HTMLInputElement) {
      if (/^(button|submit|reset)$/.test(GET_INPUT_TYPE.call(element))) this.add(GET_INPUT_VALUE.call(element));
    } else if (tag === "option" && isHtml(element)) this.add(nameOf(element));
    else if (tag !== "textarea" && !FRAMES.has(tag)) this.children(element, shown === SHOWN);
    part[2] = this.text.length;
    if (isApart) this.gap();
  }

  /**
   * The elements whose part contains a text, whatever its case. If none does, white space does not count.
   * @param {string} wanted
   */
  holding(wanted) {
    const lower = sameLength(this.text);
    const found = this.around(ranges(lower, fold(wanted).toLowerCase()));
    if (found.length) return found;
    const [dense, places] = withoutSpace(lower);
    const bare = wanted.replace(/\s+/g, "").toLowerCase();
    return this.around(ranges(dense, bare).map(([from, to]) => [places[from], places[to - 1] + 1]));
  }

  /**
   * The innermost element around each range.
   * @param {[number, number][]} ranges
   */
  around(ranges) {
    const found = [];
    for (const [from, to] of ranges) {
      let at = this.lastFrom(from);
      // The first one on the way back that reaches beyond the range is the innermost.
      while (at >= 0 && this.parts[at][2] < to) at--;
      if (at >= 0) found.push(this.parts[at][0]);
    }
    return found;
  }

  /** The last part that begins at or before a place. */
  lastFrom(place) {
    let [low, high] = [0, this.parts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.parts[middle][1] <= place) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The innermost elements whose whole text this is. If none has it, white space does not count. */
  being(wanted) {
    const want = fold(wanted);
    const own = ([, from, to]) => fold(this.text.slice(from, to));
    // A style sheet may change the case of what the page says.
    const isTold = (part) => own(part).toLowerCase() === want.toLowerCase() && fold(textIn(part[0])) === want;
    let holding = this.parts.filter((part) => own(part) === want || isTold(part));
    const bare = want.replace(/\s+/g, "");
    if (!holding.length && bare) holding = this.parts.filter((part) => own(part).replace(/\s+/g, "") === bare);
    return holding.filter(([element], at) => !(holding[at + 1] && holds(element, holding[at + 1][0]))).map(([element]) => element);
  }
}

/** In lower case, unless that has another length. */
function sameLength(text) {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : Array.from(text, (letter) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter)).join("");
}

/** @returns {[number, number][]} */
function ranges(text, wanted) {
  /** @type {[number, number][]} */
  const found = [];
  if (!wanted) return found;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) found.push([at, at + wanted.length]);
  return found;
}

/**
 * A text without white space, and the place of each of its letters in the text.
 * @returns {[string, number[]]}
 */
function withoutSpace(text) {
  let dense = "";
  const places = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === " ") continue;
    dense += text[at];
    places.push(at);
  }
  return [dense, places];
}

/** The rendered text below some elements, or of the whole document. */
function renderedText(within) {
  const rendered = new Rendered();
  const modal = modalElement();
  const roots = within ? within.map(nodeOf).filter((one) => one instanceof Element && isConnected(one)) : [GET_DOCUMENT_ELEMENT.call(document)];
  for (const root of roots) {
    if (!root || roots.some((other) => other !== root && holds(other, root))) continue;
    if (modal && !holds(modal, root)) {
      if (holds(root, modal)) rendered.element(modal);
    } else if (within) {
      if (!isUnderHidden(root) && !isAriaHiddenRoot(root)) rendered.children(root, shownOf(root) === SHOWN);
    } else rendered.element(root);
    rendered.gap();
  }
  return rendered;
}

/** The control that a text is the label of, else the element with the text. */
function usedFor(element, within) {
  for (let up = element; up; up = parentElementOf(up)) {
    if (within && within.some((id) => nodeOf(id) === up)) break;
    const kind = kindOf(up);
    if ((isWidget(kind) || kind === "link") && !HOLDING.has(kind)) return up;
  }
  return element;
}

/** The elements with a text: controls whose label it is, else the innermost elements around it. */
function withText({ text, exact }, within) {
  const rendered = renderedText(within);
  const found = exact ? rendered.being(text) : rendered.holding(text);
  return Array.from(new Set(found.map((element) => usedFor(element, within))));
}

const MOST_NEAR = 3;

/** Elements whose name or text is, or contains, a text, whatever their role: those that come near a locator without a match. */
calls.near = ({ text }) => {
  forget();
  survey();
  const want = fold(text).toLowerCase();
  const bare = want.replace(/\s+/g, "");
  if (!bare) return { ids: [], described: [] };
  const found = [];
  for (const element of elementsOf(null)) {
    const kind = kindOf(element);
    if (kind === "none" || (kind === "generic" && !isClickable(element))) continue;
    const name = fold(nameOf(element)).toLowerCase();
    if (!name || !isRendered(element)) continue;
    const rank = name === want ? 0 : name.replace(/\s+/g, "") === bare ? 1 : name.includes(want) ? 2 : want.includes(name) && name.length > 3 ? 3 : 4;
    if (rank < 4) found.push({ element, rank });
  }
  found.sort((a, b) => a.rank - b.rank);
  const best = found.slice(0, MOST_NEAR).map(({ element }) => element);
  return { ids: best.map(idOf), described: best.map(matchFor) };
};
