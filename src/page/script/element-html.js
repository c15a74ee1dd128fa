// The HTML of an element for a reader: white space folded, cut, values of password fields covered.
// Uses: find, node, node-cache, role, value.

const MOST_HTML = 900;
// All options of a list are shown.
const MOST_OPTIONS_HTML = 20000;
const MOST_INNER = 150;
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
const COVERED = "********";

const isCovered = (element) =>
  element instanceof HTMLInputElement && has(element, "value") && (GET_INPUT_TYPE.call(element) === "password" || isSecretField(element));

const inAttribute = (text) => text.replace(/&/g, "&amp;").replace(/\u00a0/g, "&nbsp;").replace(/"/g, "&quot;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const inText = (text) => text.replace(/&/g, "&amp;").replace(/\u00a0/g, "&nbsp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** The start of the HTML of a large element, without serialising all of it; values of password fields are covered. */
function beginningOf(element, most) {
  let html = "";
  const add = (node) => {
    if (html.length > most) return;
    const type = typeOf(node);
    if (type === 3) html += inText(GET_DATA.call(node).slice(0, most));
    if (type !== 1) return;
    const tag = nameOfTag(node);
    html += "<" + tag;
    for (const name of ATTRIBUTE_NAMES.call(node)) {
      const value = name === "value" && isCovered(node) ? COVERED : inAttribute((attr(node, name) || "").slice(0, most));
      html += ` ${name}="${value}"`;
    }
    html += ">";
    if (VOID.has(tag)) return;
    for (let child = firstOf(node); child && html.length <= most; child = nextOf(child)) add(child);
    if (html.length <= most) html += `</${tag}>`;
  };
  add(element);
  return html;
}

/** The HTML of an element with white space folded, cut. */
function htmlOf(element) {
  const most = isHtml(element) && nameOfTag(element) === "select" ? MOST_OPTIONS_HTML : MOST_HTML;
  const inner = allIn(element, "*");
  const isLarge = inner.length > MOST_INNER && most === MOST_HTML;
  const isSecret = isCovered(element) || Array.from(allIn(element, "input[value]")).some(isCovered);
  const html = isLarge || isSecret ? beginningOf(element, most * 4) : GET_OUTER.call(element);
  const folded = fold(html.slice(0, most * 8));
  return folded.length > most ? folded.slice(0, most) + "…" : folded;
}
