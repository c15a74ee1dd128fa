// Recording: what fields and elements are to a person.
// Uses: act, forms, node, role, state, trace-element, value.

const MOST_TYPED = 20000;

// Elements that may have a shadow root, besides custom ones.
const SHADOW_HOST = /^(article|aside|blockquote|div|footer|h[1-6]|header|main|nav|p|section|span)$/;
const focusedHosts = new WeakSet();

/** Whether an element may have a closed shadow root that is not known. */
const isHostOfUnknown = (element) => (isCustom(element) || focusedHosts.has(element)) && !rootsOf(element);

/** Notes that the focus is in an element that cannot have it itself: what has it is in a closed shadow root. */
function noteFocusIn(element) {
  if (isHtml(element) && SHADOW_HOST.test(nameOfTag(element)) && !has(element, "tabindex") && !isEditable(element)) focusedHosts.add(element);
  return isHostOfUnknown(element);
}

const modifiersOf = (event) => [["Control", event.ctrlKey], ["Alt", event.altKey], ["Meta", event.metaKey], ["Shift", event.shiftKey]].filter(([, on]) => on).map(([name]) => name);

/** What a text field holds, as a person reads it. */
const heldText = (element) => (isEdited(element) ? writtenIn(element) : heldBy(element)).slice(0, MOST_TYPED);

/** The number of lines in a field. */
const linesIn = (element) => (isConnected(element) ? heldText(element).split("\n").length : 0);

/** Whether a press of one element is the use of another one: itself, its label, or an option of it. */
function belongs(pressed, field) {
  if (!pressed || pressed === field || CONTAINS.call(pressed, field) || CONTAINS.call(field, pressed)) return true;
  return pressed instanceof HTMLLabelElement && LABEL_CONTROL.call(pressed) === field;
}

/** What was chosen in a control; null for one that chooses nothing. */
function chosenIn(element, kind) {
  if (kind === "file") return {};
  if (kind === "choice") {
    const chosen = Array.from(GET_SELECTED_OPTIONS.call(element)).slice(0, 200);
    return { values: chosen.map((option) => ({ value: String(GET_OPTION_VALUE.call(option)).slice(0, TRACE_TEXT), label: labelOfOption(option).slice(0, TRACE_TEXT) })) };
  }
  if (kind === "ticked") return element instanceof HTMLInputElement ? { checked: GET_CHECKED.call(element) } : null;
  if (kind === "picked") return { value: isSensitive(element) ? null : heldBy(element) };
  return null;
}
