// The text of a page as a person reads it.
// Uses: act, node, tree.

const TEXT_DEPTH = 700; // levels deep
const TEXT_SKIPPED = new Set(["script", "style", "noscript", "template", "head", "datalist"]);
// They have a box, but no text to read.
const TEXT_BOXES = new Set(["iframe", "object", "embed", "svg", "canvas", "video", "audio", "textarea", "math", "img", "meter",
  "progress"]);
const TEXT_APART = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table", "ul", "ol", "dl", "hr",
  "article", "section", "figure", "fieldset"]);
const TEXT_INLINE = new Set(["inline", "contents", "ruby", "ruby-text", "math"]);
const TEXT_BESIDE = new Set(["inline-block", "inline-flex", "inline-grid", "inline-table"]);
const TEXT_INPUT_TYPE = getterOf(HTMLInputElement.prototype, "type");
const TEXT_INPUT_VALUE = getterOf(HTMLInputElement.prototype, "value");
const TEXT_SELECTED = getterOf(HTMLSelectElement.prototype, "selectedOptions");
const TEXT_OPTION_LABEL = getterOf(HTMLOptionElement.prototype, "label");
const TEXT_ONE = Document.prototype.querySelector;
const TEXT_ALL = Document.prototype.querySelectorAll;
const TEXT_SHOWN = Element.prototype.checkVisibility;

/** Collects text: white space collapsed, breaks between blocks, at most `most` characters. */
class TextReader {
  constructor(most) {
    this.most = most;
    this.parts = [];
    this.length = 0;
    this.breaks = 0;
    this.blank = true;
    this.lists = [];
    this.deep = false; // something was left out because it is nested too deeply
  }

  get full() {
    return this.most > 0 && this.length > this.most * 2 + 64;
  }

  add(text) {
    if (this.breaks && this.parts.length) {
      this.parts.push("\n".repeat(this.breaks));
      this.length += this.breaks;
    }
    this.breaks = 0;
    this.parts.push(text);
    this.length += text.length;
  }

  /** Starts a new line after `count - 1` empty ones. */
  rest(count) {
    if (this.breaks < count) this.breaks = count;
    this.blank = true;
  }

  space() {
    if (this.blank) return;
    this.add(" ");
    this.blank = true;
  }

  text(data, kept) {
    if (kept) {
      if (!data) return;
      this.add(data.replace(/\r\n?/g, "\n"));
      this.blank = /\s$/.test(data);
      return;
    }
    let text = data.replace(/[ \t\n\r\f]+/g, " ");
    if (this.blank && text[0] === " ") text = text.slice(1);
    if (!text) return;
    this.add(text);
    this.blank = text[text.length - 1] === " ";
  }
}

function textChildren(node, reader, kept, depth) {
  for (const child of gatherChildren(node, [])) {
    if (reader.full) return;
    const type = typeOf(child);
    if (type === 3) reader.text(GET_DATA.call(child), kept);
    else if (type === 1) textElement(child, reader, depth);
  }
}

function textElement(element, reader, depth) {
  const tag = nameOfTag(element);
  if (depth > TEXT_DEPTH) {
    reader.deep = true;
    return;
  }
  if (TEXT_SKIPPED.has(tag)) return;
  const style = getComputedStyle(element);
  const display = style.display;
  if (display === "none" || style.contentVisibility === "hidden") return;
  if (TEXT_BOXES.has(tag)) return void (/^inline/.test(display) ? reader.space() : reader.rest(1));
  if (tag === "br") return void (reader.breaks && reader.blank ? reader.breaks++ : reader.rest(1));
  const seen = style.visibility === "visible";
  if (tag === "input") return void (seen && textInput(element, reader));
  if (tag === "select") return void (seen && textSelect(element, reader));
  const kept = /^(pre|break-spaces)/.test(style.whiteSpace);
  const block = !TEXT_INLINE.has(display) && !TEXT_BESIDE.has(display) && display !== "table-cell";
  const breaks = block ? (TEXT_APART.has(tag) && !reader.lists.length ? 2 : 1) : 0;
  if (breaks) reader.rest(breaks);
  const gaps = TEXT_BESIDE.has(display) || display === "inline" ? gapsOf(element) : 0;
  if (gaps & BEFORE) reader.space();
  if (display === "table-cell" && !reader.blank) {
    reader.add("\t");
    reader.blank = true;
  }
  if (!seen) {
    textHidden(element, reader, depth);
  } else if (display === "list-item" && tag !== "summary") {
    textItem(element, reader, style, kept, depth);
  } else if (tag === "ul" || tag === "ol") {
    reader.lists.push({ next: tag === "ol" ? Number(attr(element, "start")) || 1 : 0 });
    textChildren(element, reader, kept, depth + 1);
    reader.lists.pop();
  } else {
    textChildren(element, reader, kept, depth + 1);
  }
  if (gaps & BEHIND) reader.space();
  if (breaks) reader.rest(breaks);
}

/** Of an invisible element, only visible descendants. */
function textHidden(element, reader, depth) {
  for (const child of gatherChildren(element, [])) {
    if (typeOf(child) === 1) textElement(child, reader, depth + 1);
  }
}

function textItem(item, reader, style, kept, depth) {
  const list = reader.lists[reader.lists.length - 1];
  const indent = "  ".repeat(Math.max(reader.lists.length - 1, 0));
  if (list && list.next) {
    list.next = Number(attr(item, "value")) || list.next;
    reader.add(indent + list.next++ + ". ");
  } else if (style.listStyleType !== "none") {
    reader.add(indent + "- ");
  }
  textChildren(item, reader, kept, depth + 1);
}

function textInput(input, reader) {
  const type = TEXT_INPUT_TYPE.call(input);
  if (type !== "hidden") reader.space();
  if (type !== "submit" && type !== "button" && type !== "reset") return;
  reader.text(TEXT_INPUT_VALUE.call(input), false);
  reader.space();
}

function textSelect(select, reader) {
  reader.space();
  for (const option of TEXT_SELECTED.call(select)) {
    reader.text(TEXT_OPTION_LABEL.call(option), false);
    reader.space();
  }
}

function readableText(root, most) {
  const reader = new TextReader(most);
  try {
    textElement(root, reader, 0);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    reader.deep = true;
  }
  const text = reader.parts.join("").replace(/[ \t]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").trim();
  return { text, deep: reader.deep };
}

/** What to read: everything, or the main content: the only article, else the main part, else everything. */
function textRoots(main) {
  const roots = [];
  // A frameset or XML document has no body.
  const whole = TEXT_ONE.call(document, "body") || GET_DOCUMENT_ELEMENT.call(document);
  if (!main) return whole ? [whole] : [];
  const articles = Array.from(TEXT_ALL.call(document, "article")).filter((article) => TEXT_SHOWN.call(article));
  const outer = articles.filter((article) => !articles.some((other) => other !== article && CONTAINS.call(other, article)));
  if (outer.length === 1) roots.push(outer[0]);
  const part = Array.from(TEXT_ALL.call(document, "main, [role=main]")).find((element) => TEXT_SHOWN.call(element));
  if (part) roots.push(part);
  if (whole) roots.push(whole);
  return roots;
}

/** Whether the document is a PDF, whose content is in a viewer that is not read. */
const isPdf = () => document.contentType === "application/pdf";

/** Saves the document as a download. */
calls.saveDocument = () => {
  const link = document.createElement("a");
  link.href = GET_URL.call(document);
  link.download = "";
  link.click();
  return 0;
};

calls.text = ({ selector, main, most }) => {
  let roots;
  if (selector) {
    try {
      const root = typeof firstIn === "function" ? firstIn(document, selector) : TEXT_ONE.call(document, selector);
      if (!root) return { missing: true };
      roots = [root];
    } catch (error) {
      return { bad: String((error && error.message) || error) };
    }
  } else {
    roots = textRoots(main);
  }
  let text = "";
  let deep = false;
  for (const root of roots) {
    ({ text, deep } = readableText(root, most));
    if (text) break;
  }
  // Does not cut a surrogate pair in half.
  const cut = most > 0 && text.length > most ? Array.from(text.slice(0, most * 2)).slice(0, most).join("") : text;
  return { text: cut, truncated: deep || cut.length < text.length, pdf: isPdf() };
};
