// Styles that change text: ::before and ::after, text-transform.
// Uses: content, node, node-cache, state.

// What the style sheets of the document can do at all: checking every element would cost more than everything else.
const sheets = {
  generates: [], // selectors of elements with ::before or ::after text; null: unknown
  points: [], // selectors of elements with cursor: pointer; null: unknown
  drags: [], // selectors of elements with a drag cursor
  hovers: [], // selectors of elements with a hover style of their own, without `:hover`
  reveals: [], // selectors of elements that show something while the mouse is over them, without `:hover`
  hides: [], // selectors of hidden elements: the last part, and the rest with `*` in its place
  cases: true,
  inerts: true,
};

const GET_SHEETS = getterOf(Document.prototype, "styleSheets");
const GET_ADOPTED_SHEETS = getterOf(Document.prototype, "adoptedStyleSheets");
const MOST_RULES = 4000;
const MOST_SELECTORS = 60;
const MOST_HOVERS = 400;
const MOST_HIDES = 1000;
const readBefore = new WeakMap();

/** Reads the style sheets; unchanged ones are read only once. */
function readSheets() {
  const store = memory();
  if (store.sheets) return;
  store.sheets = true;
  sheets.generates = store.flat ? ["q"] : null;
  sheets.points = store.flat ? ['[style*="cursor"]'] : null;
  [sheets.hovers, sheets.reveals, sheets.hides, sheets.drags] = [[], [], [], ['[style*="cursor"]']];
  sheets.cases = ALL_IN_DOCUMENT.call(document, '[style*="text-transform"]').length > 0;
  sheets.inerts = ALL_IN_DOCUMENT.call(document, '[style*="interactivity"]').length > 0;
  for (const sheet of GET_SHEETS.call(document)) readSheet(sheet);
  for (const sheet of GET_ADOPTED_SHEETS.call(document)) readSheet(sheet);
  store.generating = matching(sheets.generates);
  store.pointing = matching(sheets.points);
  store.hovering = (sheets.hovers.length > 0 && matching(sheets.hovers)) || null;
}

// The elements that match any of some selectors; null: unknown.
function matching(selectors) {
  if (!selectors) return null;
  try {
    return new Set(ALL_IN_DOCUMENT.call(document, selectors.join(",")));
  } catch {
    return null;
  }
}

/** What the rules of a style sheet do; `null` for one of another origin. */
function seenIn(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return null;
  }
  let seen = readBefore.get(sheet);
  if (!seen || seen.count !== rules.length) {
    seen = { count: rules.length, generates: [], points: [], drags: [], hovers: [], reveals: [], hides: [], cases: false, inerts: false, imports: [] };
    if (rules.length > MOST_RULES) {
      seen.cases = seen.inerts = true;
      seen.generates = seen.points = null;
    } else readRules(rules, "", seen);
    readBefore.set(sheet, seen);
  }
  return seen;
}

function readSheet(sheet) {
  const seen = seenIn(sheet);
  if (!seen) {
    sheets.cases = sheets.inerts = true; // of another origin: it may contain anything
    sheets.generates = sheets.points = null;
    return;
  }
  sheets.cases ||= seen.cases;
  sheets.inerts ||= seen.inerts;
  sheets.generates = joined(sheets.generates, seen.generates);
  sheets.points = joined(sheets.points, seen.points);
  if (sheets.drags.length + seen.drags.length <= MOST_SELECTORS) sheets.drags.push(...seen.drags);
  if (sheets.hovers.length + seen.hovers.length <= MOST_HOVERS) sheets.hovers.push(...seen.hovers);
  sheets.hides.push(...seen.hides.slice(0, Math.max(0, MOST_HIDES - sheets.hides.length)));
  sheets.reveals.push(...seen.reveals.slice(0, Math.max(0, MOST_HOVERS - sheets.reveals.length)));
  for (const rule of seen.imports) if (rule.styleSheet) readSheet(rule.styleSheet);
}

function joined(all, more) {
  return all && more && all.length + more.length <= MOST_SELECTORS ? all.concat(more) : null;
}

function readRules(rules, around, seen) {
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i];
    if (rule instanceof CSSImportRule) seen.imports.push(rule);
    const text = rule.cssText;
    if (text.includes("text-transform")) seen.cases = true;
    if (text.includes("interactivity")) seen.inerts = true;
    if (HIDES.test(text) || text.includes("cursor") || text.includes(":hover") || (text.includes("content:") && (text.includes(":before") || text.includes(":after")))) {
      readSelectors(rule, around, seen);
    }
  }
}

const HIDES = /display: none|visibility: hidden|opacity: 0;/;
const GENERATING = /::?(before|after)\s*$/;

function readSelectors(rule, around, seen) {
  const selector = rule.selectorText;
  if (selector === undefined) {
    if (rule.cssRules) readRules(rule.cssRules, around, seen);
    return;
  }
  const own = around ? (selector.includes("&") ? selector.replaceAll("&", `:is(${around})`) : `:is(${around}) ${selector}`) : selector;
  const { content, cursor } = rule.style;
  if (content && content !== "none" && content !== "normal" && content !== '""' && content !== "''") {
    for (const part of own.split(/,(?![^(]*\))/)) {
      if (GENERATING.test(part)) seen.generates.push(part.replace(GENERATING, "").trim() || "*");
      else if (/::?(before|after)/.test(part)) seen.generates.push("*");
    }
  }
  if (selector.includes(":hover") && rule.style.length > 0) {
    readHovers(own, seen);
    readReveals(own, rule.style, seen);
  }
  if (HIDES.test(rule.style.cssText)) readHides(own, seen);
  if (cursor && DRAGS.test(cursor)) seen.drags.push(own);
  if (cursor && (HANDS.test(cursor) || cursor.includes("var("))) seen.points.push(own);
  if (rule.cssRules && rule.cssRules.length) readRules(rule.cssRules, own.replace(/::?(before|after)/g, ""), seen);
}

// The last compound of a selector, ignoring combinators in parentheses.
const LAST_COMPOUND = /(?:[^\s>+~()[\]]|\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])+$/;

// The last compounds of selectors without states and pseudo-elements.
function readHides(selectors, seen) {
  for (const part of selectors.split(/,(?![^(]*\))/)) {
    const whole = part.trim();
    const [last] = LAST_COMPOUND.exec(whole) || [""];
    // By a class of its own, in any state of itself and of what is around it.
    if (!/^[^:(]*\.[\w-]/.test(last) || /::?(?!not\()/.test(whole)) continue;
    seen.hides.push([last, whole.slice(0, whole.length - last.length) + "*"]);
  }
}

// The selectors of a rule that match the hovered element itself, not a sibling or descendant.
function readHovers(selectors, seen) {
  for (const part of selectors.split(/,(?![^(]*\))/)) {
    const [last] = LAST_COMPOUND.exec(part.trim()) || [""];
    const rest = last.replaceAll(":hover", "");
    if (rest === last || /:not\([^)]*:hover|::/.test(last) || !/^[^:(]*[\w-]/.test(rest)) continue;
    seen.hovers.push(part.replaceAll(":hover", "").trim());
  }
}

const REVEALING = ["display", "visibility", "opacity", "max-height", "clip-path", "content"];

// The selectors of elements that show another one, or a text of their own, while the mouse is over them.
function readReveals(selectors, style, seen) {
  if (!REVEALING.some((name) => style.getPropertyValue(name))) return;
  for (const part of selectors.split(/,(?![^(]*\))/)) {
    const end = part.lastIndexOf(":hover") + ":hover".length;
    if (end < ":hover".length || /:not\([^)]*$/.test(part.slice(0, end)) || !/[\s>+~]|::/.test(part.slice(end).trimEnd())) continue;
    const element = part.slice(0, end).replaceAll(":hover", "").trim();
    if (/[\w\])]$/.test(element)) seen.reveals.push(element);
  }
}

/** Elements that show something while the mouse is over them, by a style sheet. */
function revealingElements() {
  readSheets();
  const found = new Set();
  for (const selector of new Set(sheets.reveals)) {
    try {
      for (const element of ALL_IN_DOCUMENT.call(document, selector)) found.add(element);
    } catch {
      // The page's selector is more than the part of it that was read.
    }
  }
  return found;
}

const DRAGS = /(^|,\s*)(grab|grabbing|move)$/;
const MOST_DRAGGED = 500;

/** Elements with a drag cursor, by a rule or an attribute of their own. */
function allWithDragCursor() {
  readSheets();
  const all = Array.from(matching(sheets.drags) || []).slice(0, MOST_DRAGGED);
  return all.filter((one) => DRAGS.test(styleOf(one).cursor));
}

const GET_ROOT_SHEETS = getterOf(ShadowRoot.prototype, "styleSheets");
const GET_ROOT_ADOPTED = getterOf(ShadowRoot.prototype, "adoptedStyleSheets");

/** The elements of a shadow root that have a hover style of their own, and those that may set a cursor; `null` for any. */
function stylesOfRoot(root) {
  const store = memory();
  if (!store.rootStyles) store.rootStyles = new Map();
  let styles = store.rootStyles.get(root);
  if (styles) return styles;
  const all = (selectors) => {
    const found = new Set();
    for (const selector of new Set(selectors.slice(0, MOST_HOVERS))) {
      try {
        for (const element of ALL_IN_FRAGMENT.call(root, selector)) found.add(element);
      } catch {
        // The selector is more than the part of it that was read.
      }
    }
    return found;
  };
  const [hovers, points] = [[], ['[style*="cursor"]']];
  let isKnown = true;
  for (const sheet of [...GET_ROOT_SHEETS.call(root), ...GET_ROOT_ADOPTED.call(root)]) {
    const seen = seenIn(sheet);
    if (seen) hovers.push(...seen.hovers);
    if (seen && seen.points) points.push(...seen.points);
    else isKnown = false;
  }
  const host = points.some((selector) => selector.includes(":host"));
  styles = { hovering: all(hovers), pointing: isKnown ? all(points) : null, host };
  store.rootStyles.set(root, styles);
  return styles;
}

/** The styles of the shadow root that an element is in; `null` outside of one. */
function rootStylesOf(element) {
  if (memory().flat) return null;
  const root = GET_ROOT_NODE.call(element);
  return root instanceof ShadowRoot ? stylesOfRoot(root) : null;
}

/** Whether a style sheet gives an element itself a hover style. */
function hasHoverStyle(element) {
  const store = memory();
  readSheets();
  if (store.hovering !== null && store.hovering.has(element)) return true;
  const styles = rootStylesOf(element);
  return !!styles && styles.hovering.has(element);
}

/** Whether the content of an element may have ::before or ::after text. */
function mayHavePseudo(element) {
  const store = memory();
  readSheets();
  return store.generating === null || store.generating.has(element);
}

/** Whether an element may have cursor: pointer by a style of its own. */
function mayPoint(element) {
  const store = memory();
  readSheets();
  if (store.pointing === null || store.pointing.has(element)) return true;
  if (store.flat) return false;
  const styles = rootStylesOf(element);
  if (styles && (styles.pointing === null || styles.pointing.has(element))) return true;
  const root = rootsOf(element);
  return !!root && stylesOfRoot(root).host;
}

/** Whether a style may make elements inert. */
function mayBeInertByStyle() {
  readSheets();
  return sheets.inerts;
}

/** The text of a node after text-transform of its element. */
function transformed(text, element, node) {
  if (element instanceof MathMLElement && nameOfTag(element) === "mi" && shownOf(element) !== GONE) return slanted(text);
  readSheets();
  if (!sheets.cases || shownOf(element) === GONE) return text;
  return cased(text, styleOf(element).textTransform, element, node);
}

// A variable of one letter is rendered in mathematical italics.
function slanted(text) {
  const letter = fold(text);
  const code = letter.codePointAt(0) || 0;
  if (letter.length !== 1 || !/[A-Za-z]/.test(letter)) return text;
  return letter === "h" ? "\u210e" : String.fromCodePoint(code - (code < 97 ? 65 - 0x1d434 : 97 - 0x1d44e));
}

function cased(text, how, element, node) {
  if (how === "none" || !how) return text;
  if (how.includes("capitalize")) return capitalised(text, node);
  const holder = CLOSEST.call(element, "[lang]");
  const language = holder ? attr(holder, "lang") : "";
  if (how.includes("uppercase")) return inLanguage(text, "toLocaleUpperCase", language);
  return how.includes("lowercase") ? inLanguage(text, "toLocaleLowerCase", language) : text;
}

// The first letter of a word, which may have begun in the previous text.
function capitalised(text, node) {
  const before = node ? lastBefore(node) : "";
  const all = (before + text).replace(/(^|[^\p{L}\p{N}\p{M}'’_])(\p{L})/gu, (_, gap, first) => {
    const capital = first.toUpperCase();
    return gap + (capital.length > first.length ? first : capital);
  });
  return all.slice(before.length);
}

// The last character before a text in its line; "" at the start of the line.
function lastBefore(node) {
  for (let at = node; at; at = GET_PARENT.call(at)) {
    for (let before = GET_PREVIOUS.call(at); before; before = GET_PREVIOUS.call(before)) {
      if (isElement(before) && !isInline(before)) return "";
      const text = isElement(before) || typeOf(before) === 3 ? textIn(before) : "";
      if (text) return text[text.length - 1];
    }
    const parent = GET_PARENT.call(at);
    if (!(parent instanceof Element) || !isInline(parent)) return "";
  }
  return "";
}

function inLanguage(text, method, language) {
  try {
    return language ? text[method](language) : text[method]();
  } catch {
    return text[method]();
  }
}

/** The `content` of a pseudo-element's style; "" when there is none. */
function contentIn(style) {
  const { content } = style;
  return content === "none" || content === "normal" || style.display === "none" ? "" : content;
}

/** The ::before or ::after text of an element. */
function generatedBy(element, which) {
  const style = getComputedStyle(element, which);
  const content = contentIn(style);
  if (!content || style.visibility !== "visible") return "";
  const { text, alternative } = generatedText(content, element);
  return alternative ? text : cased(text, style.textTransform, element, null);
}

// Quotation marks depend on the language and nesting: only English ones are supported.
function quote(token, element) {
  if (token === "close-quote" && !getComputedStyle(element, "::before").content.includes("open-quote")) return "";
  const holder = CLOSEST.call(element, "[lang]");
  const language = holder ? attr(holder, "lang") : "";
  if (language && !/^en\b/i.test(language)) doubtText(element);
  let deep = 0;
  for (let up = parentElementOf(element); up; up = parentElementOf(up)) if (nameOfTag(up) === "q") deep++;
  return token === "open-quote" ? "“‘"[Math.min(deep, 1)] : "”’"[Math.min(deep, 1)];
}

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
      if (token === "open-quote" || token === "close-quote") text += quote(token, element);
      else if (token.startsWith("counter")) doubtText(element);
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
