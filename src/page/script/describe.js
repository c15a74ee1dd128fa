// Descriptions: what an author provides in addition to the name.
// Uses: content, name, native, node, node-cache, role, table.

/** The accessible description of an element; "" when it has none. */
function descriptionOf(element) {
  return HAS_ATTRIBUTES.call(element) || !isHtml(element) || /^(ruby|table|summary)$/.test(nameOfTag(element))
    ? fold(descriptionText(element).slice(0, MOST_READ)).slice(0, MOST_NAME)
    : "";
}

function descriptionText(element) {
  const pointed = referencesOf(element, "aria-describedby", GET_DESCRIBED_BY);
  if (pointed.length) return textOfAll(pointed, true, new Set());
  const said = attr(element, "aria-description");
  if (said !== null) return said;
  const from = namedOf(element).source;
  if (element instanceof SVGElement) {
    const text = svgDescription(element, from);
    if (text) return text;
  }
  if (element instanceof HTMLInputElement && from !== "value" && /^(button|submit|reset)$/.test(typeOfInput(element))) {
    const value = attr(element, "value");
    if (value !== null) return value;
  }
  if (kindOf(element) === "Ruby") {
    const annotation = allIn(element, "rt")[0];
    if (annotation) return textOf(annotation, true, element, new Set());
  }
  if (element instanceof HTMLTableElement && from !== "caption") {
    const caption = GET_CAPTION.call(element);
    if (caption) return textOf(caption, true, null, new Set());
  }
  if (from !== "contents" && isHtml(element) && nameOfTag(element) === "summary") {
    const text = contentOf(element);
    if (text) return text;
  }
  if (from === "title") return "";
  return titleText(element);
}

function svgDescription(element, from) {
  const description = svgChild(element, SVGDescElement);
  if (description && textIn(description)) return textIn(description);
  if (attr(element, "aria-label") || labellersOf(element).length) {
    const title = svgChild(element, SVGTitleElement);
    if (title && textIn(title)) return textIn(title);
  }
  return nameOfTag(element) === "a" && from !== "attribute" ? attr(element, "xlink:title") || "" : "";
}
