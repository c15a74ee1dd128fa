// Text of what is inside an element, joined as it is read: words of separate boxes are kept apart.

/** What is written inside an element, as a part of a name. */
const contentOf = (element) => textInside(element, null, new Set([element]));

function textInside(element, root, visited) {
  const gathering = new Gathering(root, visited);
  gathering.inside(element);
  return gathering.text;
}

class Gathering {
  constructor(root, visited) {
    this.root = root;
    this.visited = visited;
    this.text = "";
    this.before = null; // The node (or the parent of the text) before: null at the start.
    this.beforeIsText = false;
    this.beforeSource = "";
    this.broken = false; // Something came between that breaks the line.
  }

  // Adds the children of an element, and what its style puts before and after them.
  inside(element) {
    const pseudo = mayHavePseudo() && isHtml(element);
    if (pseudo) this.generated(element, "::before");
    const owned = ownedBy(element);
    if (rootsOf(element) || element instanceof HTMLSlotElement || element instanceof HTMLDetailsElement) {
      for (const child of childrenOf(element)) this.child(child, element);
    } else {
      for (let child = firstOf(element); child; child = nextOf(child)) this.child(child, element);
    }
    if (owned) for (const child of owned) this.child(child, element, true);
    if (pseudo) this.generated(element, "::after");
  }

  child(node, parent, isOwned) {
    const type = typeOf(node);
    if (type === 3 || type === 4) return this.written(node, parent);
    if (type !== 1) return;
    if (!isOwned && ownerOf(node)) return;
    if (this.visited.size > MOST_PARTS) return doubt(parent);
    if (isHiddenInName(node, this.root)) {
      if (this.text && !this.broken && shownOf(node) === SHOWN && !isInline(node)) this.broken = true;
      else if (shownOf(node) === VEILED) this.inside(node);
      return;
    }
    const kind = kindOf(node);
    if (kind === "none" || (kind === "generic" && passes(node))) {
      this.empties(node);
      return this.inside(node);
    }
    source = "";
    const text = textAgain(node, this.root, this.visited);
    this.add(text, node, false, source);
  }

  // A box without text still keeps apart what is on its sides.
  empties(node) {
    if (this.text && !this.broken && !GET_FIRST.call(node) && !isInline(node)) this.broken = true;
  }

  written(node, parent) {
    const data = GET_DATA.call(node);
    if (isBlank(data)) {
      if (this.text && data) this.text += " ";
      return;
    }
    this.visited.add(node);
    this.add(transformed(data, parent), parent, true, "contents");
  }

  generated(element, which) {
    const style = getComputedStyle(element, which);
    const content = style.content;
    if (content === "none" || content === "normal" || content === "" || style.display === "none") return;
    const { text, alternative } = generatedText(content, element);
    this.visited.add({});
    if (!text) return;
    if (style.display !== "inline") this.broken = true;
    this.add(alternative ? text : cased(text, style.textTransform), element, true, alternative ? "css" : "contents");
    if (style.display !== "inline") this.broken = true;
  }

  add(text, node, isText, from) {
    if (text && this.text && !endsInSpace(this.text) && !isSpace(text.charCodeAt(0))) {
      if (this.apart(node, isText, from)) this.text += " ";
    }
    this.text += text;
    this.before = node;
    this.beforeIsText = isText;
    if (text) this.beforeSource = from;
    this.broken = false;
  }

  // Whether the text before and the one that comes now are of different boxes.
  apart(node, isText, from) {
    if (this.broken || !this.before || keepsApart(this.beforeSource) || keepsApart(from)) return true;
    if (!this.beforeIsText && standsAlone(this.before)) return true;
    if (!isText && standsAlone(node)) return true;
    const before = this.beforeIsText ? this.before : parentElementOf(this.before);
    const now = isText ? node : parentElementOf(node);
    return before !== now && flowOf(before) !== flowOf(now);
  }
}

const keepsApart = (from) => from !== "" && from !== "contents" && from !== "empty";
const endsInSpace = (text) => isSpace(text.charCodeAt(text.length - 1));

const REPLACED = new Set("img input button select textarea video audio canvas iframe embed object meter progress".split(" "));

/** Whether an element is laid out as a part of a line of text. */
function isInline(element) {
  if (element instanceof HTMLBRElement) return true;
  if (shownOf(element) === GONE) return false;
  const display = styleOf(element).display;
  return display === "inline" || display === "ruby" || display === "ruby-text";
}

function standsAlone(element) {
  if (!isInline(element)) return true;
  if (REPLACED.has(nameOfTag(element)) || element instanceof SVGSVGElement) return true;
  const role = attr(element, "role");
  return !!role && isWidget(kindOf(element));
}

// The box whose lines an element's text is in.
function flowOf(element) {
  for (let up = element; up; up = parentElementOf(up)) {
    if (!isInline(up)) return up;
  }
  return null;
}

const WIDGETS = new Set(
  (
    "button checkbox ColorWell ComboBoxGrouping ComboBoxMenuButton ComboBoxSelect Date DateTime InputTime listbox menu " +
    "menubar menuitem menuitemcheckbox menuitemradio MenuListOption option PopUpButton radio radiogroup scrollbar " +
    "searchbox slider spinbutton switch tab textbox TextFieldWithComboBox ToggleButton tree treeitem"
  ).split(" "),
);
const isWidget = (kind) => WIDGETS.has(kind);

// Whether a generic element is nothing in the tree: its children take its place.
function passes(element) {
  if (!HAS_ATTRIBUTES.call(element)) return true;
  for (const name of ATTRIBUTE_NAMES.call(element)) {
    if (name === "class" || name === "style" || name.startsWith("data-")) continue;
    if (name === "id" || name === "title" || name === "lang" || name === "tabindex" || name === "contenteditable") return false;
    if (name.startsWith("aria-") || name === "onclick" || name === "onmousedown" || name === "popover") return false;
  }
  return true;
}

// Style that changes what is written.

let pseudoRules = true;
let caseRules = true;

/** Looks through the style sheets for what would cost much to ask of every element. */
function readSheets() {
  const store = memory();
  if (store.sheets) return;
  store.sheets = true;
  pseudoRules = false;
  caseRules = ALL_IN_DOCUMENT.call(document, '[style*="text-transform"]').length > 0;
  const list = [...document.styleSheets, ...document.adoptedStyleSheets];
  for (const sheet of list) readSheet(sheet);
  if (!pseudoRules && BY_TAG_IN_DOCUMENT.call(document, "q").length) pseudoRules = true;
}

const readBefore = new WeakMap();
const MOST_RULES = 4000;

function readSheet(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    pseudoRules = caseRules = true; // Another origin's: it may say anything.
    return;
  }
  let seen = readBefore.get(sheet);
  if (!seen || seen.count !== rules.length) {
    seen = { count: rules.length, pseudo: false, cased: false, imports: [] };
    if (rules.length > MOST_RULES) seen.pseudo = seen.cased = true;
    else {
      for (let i = 0; i < rules.length; i++) {
        const rule = rules[i];
        if (rule instanceof CSSImportRule) seen.imports.push(rule);
        const text = rule.cssText;
        if (!seen.pseudo && (text.includes(":before") || text.includes(":after"))) seen.pseudo = text.includes("content:");
        if (!seen.cased && text.includes("text-transform")) seen.cased = true;
      }
    }
    readBefore.set(sheet, seen);
  }
  if (seen.pseudo) pseudoRules = true;
  if (seen.cased) caseRules = true;
  for (const rule of seen.imports) if (rule.styleSheet) readSheet(rule.styleSheet);
}

function mayHavePseudo() {
  readSheets();
  return pseudoRules;
}

/** Text as its element's style writes it. */
function transformed(text, element) {
  readSheets();
  if (!caseRules || shownOf(element) === GONE) return text;
  return cased(text, styleOf(element).textTransform, element);
}

function cased(text, how, element) {
  if (how === "none" || !how) return text;
  const language = (element && CLOSEST.call(element, "[lang]") && attr(CLOSEST.call(element, "[lang]"), "lang")) || undefined;
  if (how.includes("uppercase")) return inLanguage(text, "toLocaleUpperCase", language);
  if (how.includes("lowercase")) return inLanguage(text, "toLocaleLowerCase", language);
  if (how.includes("capitalize")) return text.replace(/(^|[^\p{L}\p{N}\p{M}'’_])(\p{L})/gu, (all, before, first) => before + first.toUpperCase());
  return text;
}

function inLanguage(text, method, language) {
  try {
    return text[method](language);
  } catch {
    return text[method]();
  }
}

const QUOTES = { "open-quote": "“", "close-quote": "”" };

/** The text of a computed `content`: strings, quotes, and the alternative after the slash. */
function generatedText(content, element) {
  let text = "";
  let i = 0;
  while (i < content.length) {
    const c = content[i];
    if (c === '"' || c === "'") {
      let end = i + 1;
      let part = "";
      while (end < content.length && content[end] !== c) {
        if (content[end] === "\\") {
          const hex = /^[0-9a-f]{1,6}\s?/i.exec(content.slice(end + 1, end + 8));
          if (hex) {
            part += String.fromCodePoint(parseInt(hex[0], 16));
            end += 1 + hex[0].length;
            continue;
          }
          end++;
        }
        part += content[end++];
      }
      text += part;
      i = end + 1;
    } else if (c === "/") {
      return { text: generatedText(content.slice(i + 1), element).text, alternative: true };
    } else if (c === " ") {
      i++;
    } else {
      const end = tokenEnd(content, i);
      const token = content.slice(i, end);
      if (QUOTES[token]) text += QUOTES[token];
      else if (token.startsWith("counter")) doubt(element);
      i = end;
    }
  }
  return { text, alternative: false };
}

function tokenEnd(content, from) {
  let depth = 0;
  let quote = "";
  for (let i = from; i < content.length; i++) {
    const c = content[i];
    if (quote) {
      if (c === quote) quote = "";
    } else if (c === '"' || c === "'") quote = c;
    else if (c === "(") depth++;
    else if (c === ")") depth--;
    else if (c === " " && depth === 0) return i;
  }
  return content.length;
}
