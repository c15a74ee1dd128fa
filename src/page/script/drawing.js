// Kinds of SVG and MathML elements, and kinds that depend on the layout.
// https://w3c.github.io/svg-aam/ https://w3c.github.io/mathml-aam/
// Uses: native, node, node-cache, role, state, table.

const MATH_ROWS = "mrow annotation-xml maction merror mpadded mphantom mstyle semantics";

function mathKind(element) {
  const tag = nameOfTag(element);
  if (tag === "math") return "MathMLMath";
  return element instanceof MathMLElement ? "MathML" + (MATH_ROWS.includes(tag) ? "Row" : tag) : "generic";
}

const SVG_SHAPES = new Set(["path", "rect", "circle", "ellipse", "line", "polyline", "polygon"]);

function svgKind(element) {
  const tag = nameOfTag(element);
  if (tag === "a") {
    if (has(element, "href") || has(element, "xlink:href") || has(element, "onclick")) return "link";
    return CLOSEST.call(element, "text") ? "generic" : "group";
  }
  if (tag === "svg") return isNestedSvg(element) ? "group" : "SvgRoot";
  if (tag === "g" || tag === "foreignObject") return "group";
  if (tag === "image") return "image";
  if (tag === "use") return "graphics-object";
  return SVG_SHAPES.has(tag) ? "graphics-symbol" : minimumKind(element);
}

const GET_OWNER_SVG = getterOf(SVGElement.prototype, "ownerSVGElement");
const isNestedSvg = (svg) => !!GET_OWNER_SVG.call(svg);

// Whether Chromium exposes anything inside an <svg>: an empty one is an image.
function hasAccessibleChild(element) {
  for (const child of childrenOf(element)) {
    if (!isElement(child)) {
      if (typeOf(child) === 3 && nameOfTag(element) !== "svg" && !isBlank(GET_DATA.call(child))) return true;
      continue;
    }
    if (isHtml(child)) {
      if (shownOf(child) === SHOWN) return true;
      continue;
    }
    if (child instanceof SVGElement && isShownDrawing(child)) return true;
  }
  return false;
}

// Whether a part of a drawing is in the tree: it has a title, text or an action, or contains such a part.
function isShownDrawing(element) {
  const tag = nameOfTag(element);
  if (tag === "title" || tag === "desc" || tag === "symbol" || shownOf(element) !== SHOWN || isAriaHiddenRoot(element)) return false;
  if (svgChild(element, SVGTitleElement) || svgChild(element, SVGDescElement)) return true;
  if (tag === "text" || tag === "image" || has(element, "role") || supportsFocus(element)) return true;
  if (HAS_ATTRIBUTES.call(element) && ATTRIBUTE_NAMES.call(element).some((name) => name.startsWith("aria-"))) return true;
  return hasAccessibleChild(element);
}

// Kinds by layout.

const NEVER_BY_STYLE = new Set("a summary td th tr tbody thead tfoot".split(" "));
const DISPLAY_KINDS = { "list-item": "listitem", table: "LayoutTable", "inline-table": "LayoutTable" };

function kindByStyle(element) {
  if (!isHtml(element) || nameOfTag(element) === "html" || nameOfTag(element) === "body") return "generic";
  if (NEVER_BY_STYLE.has(nameOfTag(element)) || shownOf(element) !== SHOWN) return "generic";
  const { display, content } = styleOf(element);
  if (content.startsWith("url(")) return "image";
  switch (display) {
    case "list-item":
    case "table":
    case "inline-table":
      return DISPLAY_KINDS[display];
    case "table-row":
      return rowKind(element);
    case "table-cell":
      return cellKind(element, "");
    case "table-row-group":
    case "table-header-group":
    case "table-footer-group":
      return sectionKind(element);
    default:
      return "generic";
  }
}
