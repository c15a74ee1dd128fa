// The HTML of an element for a reader: white space folded, cut, values of password fields covered.
// Uses: find, node, node-cache, value.

const MOST_HTML = 900;
// All options of a list are shown.
const MOST_OPTIONS_HTML = 20000;
const MOST_INNER = 150;
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
const COVERED = "********";

const isCovered = (element) => isPassword(element) || isSecretField(element);

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
    if (tag === "textarea" && isCovered(node)) html += COVERED;
    else for (let child = firstOf(node); child && html.length <= most; child = nextOf(child)) add(child);
    if (html.length <= most) html += `</${tag}>`;
  };
  add(element);
  return html;
}

// What an icon is made of says nothing to a reader; its name, its class and what it refers to may.
const ICON_SHAPES = "path|circle|rect|line|polyline|polygon|ellipse|g|defs|clipPath|linearGradient|radialGradient|stop|mask|filter|fe\\w+";
const SHAPE_TAGS = new RegExp(`</?(?:${ICON_SHAPES})\\b[^<>]*>`, "g");
const ICON = /<svg\b([^<>]*)>(.*?)<\/svg>/gs;
const TELLING_ATTRIBUTE = /\s(?:class|id|role|aria-[\w-]+|data-[\w-]+)="[^"]*"/g;

const PLAIN_ICON = /^ class="(?:svg-)?icons?"$/;

/** HTML without the shapes of its icons, and without icons that say nothing else. */
const withoutShapes = (html) =>
  html.replace(ICON, (_, attributes, inner) => {
    const [own, rest] = [(attributes.match(TELLING_ATTRIBUTE) || []).filter((one) => !/aria-hidden/.test(one)).join(""), fold(inner.replace(SHAPE_TAGS, ""))];
    return rest || (own && !PLAIN_ICON.test(own)) ? `<svg${own}>${rest}</svg>` : "";
  });

/** The HTML of an element with white space folded, cut, without the values of secret fields. */
function shortHtmlOf(element) {
  const most = isHtml(element) && nameOfTag(element) === "select" ? MOST_OPTIONS_HTML : MOST_HTML;
  const isLarge = allIn(element, "*").length > MOST_INNER && most === MOST_HTML;
  const html = isLarge ? beginningOf(element, most * 4) : htmlOf(element);
  const start = html.slice(0, most * 8);
  const folded = fold(isHtml(element) && start.includes("<svg") ? withoutShapes(start) : start);
  return folded.length > most ? folded.slice(0, most) + "…" : folded;
}
