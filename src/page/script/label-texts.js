// The lines of text in the viewport, which labels of elements should not cover, and the present status texts.
// Uses: act, forms, highlight, node, node-cache, notices.

const MOST_TEXT_LINES = 900;
const MOST_STATUS = 3;
const STATUS_TEXT = 160;
// Marks the texts of labels, fields and controls: these are never covered.
const VITAL = /^(label|legend|button|select|option|th|h1|h2|h3|summary)$/;

const round = (pixels) => Math.round(pixels * 10) / 10;

/** Whether a text belongs to a label, a control or a heading. */
function isVital(element) {
  for (let up = element, n = 0; up && n < 4; up = parentElementOf(up), n++) {
    if (VITAL.test(nameOfTag(up)) || (up instanceof HTMLAnchorElement && has(up, "href")) || attr(up, "role") === "button") return true;
  }
  return false;
}

/** The lines of text in the viewport: [x, y, width, height, whether it is vital]. */
function linesInView(all) {
  const lines = [];
  const add = (element, rect, vital) => {
    if (lines.length >= MOST_TEXT_LINES || rect.width < 2 || rect.height < 4 || !isInView(rect)) return;
    const part = shownPart(element, rect);
    if (part) lines.push([round(part.left), round(part.top), round(part.right - part.left), round(part.bottom - part.top), vital ? 1 : 0]);
  };
  const range = MAKE_RANGE.call(document);
  for (const element of all) {
    if (lines.length >= MOST_TEXT_LINES) break;
    let texts = null;
    for (let child = firstOf(element); child; child = nextOf(child)) {
      if (typeOf(child) === 3 && !isBlank(GET_DATA.call(child))) (texts = texts || []).push(child);
    }
    const isField = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;
    if (!texts && !isField) continue;
    const boxes = boxesOf(element);
    if (!boxes.some(isInView) || !CHECK_VISIBLE.call(element, { visibilityProperty: true, opacityProperty: true })) continue;
    if (isField) {
      const held = element instanceof HTMLSelectElement ? "x" : heldBy(element) || attr(element, "placeholder");
      if (held && fieldKind(element) !== "ticked") for (const box of boxes) add(element, box, true);
      continue;
    }
    const vital = isVital(element);
    for (const text of texts || []) {
      range.selectNodeContents(text);
      for (const rect of flat(range.getClientRects())) add(element, rect, vital);
    }
  }
  return lines;
}

/** The present texts of status elements and alerts in the viewport. */
function statusTexts() {
  const texts = [];
  for (const element of noticeCandidates([document])) {
    const kind = noticeKind(element);
    if ((kind !== "status" && kind !== "alert") || !rectsOf(element).some(isInView)) continue;
    const text = saidBy(element, kind).trim();
    if (text && !texts.some((known) => known.includes(text))) texts.push(clipped(text, STATUS_TEXT));
    if (texts.length >= MOST_STATUS) break;
  }
  return texts;
}
