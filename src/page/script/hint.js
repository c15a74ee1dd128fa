// What an element without an accessible name seems to be, by its description, tooltip, test id or icon. A guess, and shown as one.
// Uses: describe, node, node-cache.

const MOST_HINT = 60;
// Icons inside a button are its first elements.
const MOST_ICONS = 6;

const TOOLTIPS = "data-tooltip data-tip data-title data-original-title data-bs-title data-bs-original-title data-tippy-content".split(" ");
const TEST_MARKS = "data-testid data-test-id data-test data-cy data-qa".split(" ");
const ICON_NAMES = "data-icon data-lucide data-feather icon-name data-testid".split(" ");
// Prefixes of classes that icon fonts and editors use: `fa-trash`, `bi-trash`, `ql-bold`.
const ICON_CLASS =
  /^(?:fa|fas|far|bi|mdi|ti|ri|ph|pi|bx|bxs|la|uil|oi|cil|ion|icon|icons|lucide|tabler-icon|feather|codicon|octicon|glyphicon|anticon|dashicons|ms-icon|md-icon|svg-icon|pi-icon|el-icon|vxe-icon|i-mdi|i-lucide|ql|ck-icon|cke_button__|note-icon|tox-icon|fi|ai|gg|el|k-i|e-icons e|sl|tb|material-symbols|e)[-:_]?(?:[a-z]+--)?([a-z][a-z0-9_-]+)$/i;
// `trash-icon`, `TrashIcon`, `icon_trash`.
const ICON_WORD = /^([a-z][\w-]*?)[-_]?icon$|^icon[-_]([a-z][\w-]*)$/i;
// `toastui-calendar-ic-close`, `app-icon-close`.
const ICON_INSIDE = /[-_](?:ic|ico|icon)[-_]([a-z][\w-]*)$/i;
// Sizes, spins and other classes of icons that say nothing about what is shown.
const NO_ICON =
  /^(?:xs|sm|md|lg|xl|\d?x|fw|li|ul|spin|pulse|border|solid|regular|light|thin|duotone|brands|fill|outline|outlined|rounded|icon|icons|svg|base|inline|wrapper|container|button|btn|root|left|right|start|end|only|default|small|medium|large|color-\w+|size-\w+|mui\w*|formats|picker|picker-label|picker-item|picker-options|stroke|toolbar|editor|container|empty|box|item|content|inner|outer|text|label|group|active|disabled)$/i;

/** What an element seems to be, as `icon=trash`; "" when nothing tells. */
function hintOf(element) {
  const described = descriptionOf(element);
  if (described) return hint("description", described);
  const tooltip = firstAttr(element, TOOLTIPS);
  if (tooltip) return hint("tooltip", tooltip);
  const test = firstAttr(element, TEST_MARKS);
  if (test) return hint("testid", test);
  const icon = iconOf(element);
  return icon ? hint("icon", icon) : "";
}

const hint = (kind, text) => `${kind}=${fold(text.slice(0, 4 * MOST_HINT)).slice(0, MOST_HINT)}`;

function firstAttr(element, names) {
  for (const name of names) {
    const text = attr(element, name);
    if (text && text.trim()) return text;
  }
  return "";
}

function iconOf(element) {
  const inside = Array.from(allIn(element, "*")).slice(0, MOST_ICONS);
  const first = (all, read) => all.reduce((found, one) => found || read(one), "");
  return (
    first(inside, (one) => firstAttr(one, ICON_NAMES).replace(/[-_]?icon$/i, "")) ||
    first(inside, fileOf) ||
    first([element, ...inside], (one) => iconClass(attr(one, "class") || "")) ||
    // Of a wrapper that holds nothing else.
    first([parentElementOf(element)].filter((one) => one && !fold(textIn(one)) && GET_CHILDREN_COUNT.call(one) < 3), (one) => iconClass(attr(one, "class") || ""))
  );
}

const GET_CHILDREN_COUNT = getterOf(Element.prototype, "childElementCount");

// The name of the file or symbol that an element draws.
function fileOf(element) {
  const tag = nameOfTag(element);
  if (tag === "use") return fileName(attr(element, "href") || attr(element, "xlink:href") || "");
  return tag === "img" ? fileName(attr(element, "src") || "") : "";
}

// The last part of an address: `sprite.svg#trash` and `icons/trash.svg` are "trash".
function fileName(address) {
  if (/^(data|blob):/i.test(address)) return "";
  const last = address.slice(0, 500).split("#").pop().split("?")[0].split("/").pop();
  const name = last.replace(/\.\w{2,5}$/, "").replace(/^(?:icon|i|svg)[-_]/i, "").replace(/[-_]\d+(?:x\d+)?$/, "");
  return /^[a-z][\w-]{1,40}$/i.test(name) ? name : "";
}

function iconClass(classes) {
  const all = classes.slice(0, 500).split(/\s+/);
  for (const pattern of [ICON_INSIDE, ICON_CLASS, ICON_WORD]) {
    for (const one of all) {
      const found = pattern.exec(one);
      const name = found && (found[1] || found[2] || "").replace(/^(?:icon|fa|bi)[-_]/i, "");
      if (name && name.length > 1 && !NO_ICON.test(name)) return name;
    }
  }
  return "";
}
