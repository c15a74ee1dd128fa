// What an element holds, and whether it can be used for an action.
// Uses: act, element-html, forms, node, node-cache, state.

const GET_AREA_DEFAULT = getterOf(HTMLTextAreaElement.prototype, "defaultValue");
const MOST_HELD = 300;
const MOST_FITNESS_OPTIONS = 20;

/** The content of a field or the choice of a list, where its HTML does not show it; null where it does. */
function heldBeside(element) {
  const kind = fieldKind(element);
  if (kind === "choice" && element instanceof HTMLSelectElement) {
    const options = optionsOf(element);
    const chosen = options.filter((option) => GET_SELECTED.call(option));
    const marked = options.filter((option) => has(option, "selected"));
    const isShown = chosen.length === marked.length && chosen.every((option, at) => option === marked[at]);
    const isFirst = !marked.length && chosen.length === 1 && chosen[0] === options[0];
    return isShown || isFirst ? null : chosen.map(labelOfOption).join(", ").slice(0, MOST_HELD);
  }
  if (kind !== "line" && kind !== "picked" && kind !== "lines") return null;
  const held = heldBy(element);
  const written = element instanceof HTMLTextAreaElement ? GET_AREA_DEFAULT.call(element) : attr(element, "value") || "";
  if (held === written) return null;
  return isCovered(element) ? COVERED : held.slice(0, MOST_HELD);
}

/** Whether a native checkbox or radio button is checked. */
const isTickedNow = (element) => element instanceof HTMLInputElement && fieldKind(element) === "ticked" && tickOf(element) === true;

/** The content of a field; null for a secret one, and for what is no field. */
calls.held = ({ id }) => {
  const element = nodeOf(id);
  if (!(element instanceof Element) || !isConnected(element) || isCovered(element)) return { text: null };
  return { text: /^(line|lines|rich|picked)$/.test(fieldKind(element)) ? heldBy(element).slice(0, MOST_HELD * 4) : null };
};

/** Why text cannot be typed into an element, or options cannot be chosen in it; empty if they can, as far as is known. */
calls.fits = ({ id, types, values }) => {
  forget();
  const element = nodeOf(id);
  if (!(element instanceof Element) || !isConnected(element)) return { gone: true };
  const kind = fieldKind(element);
  if (types) {
    if (kind === "choice") return { problem: "it is a list of options; use select" };
    if (kind === "ticked") return { problem: "it is a checkbox or radio button; use click" };
    if (kind === "file") return { problem: "it takes a file; use upload_file" };
    if (kind === "picked") return { problem: values.length ? tryPicked(element, values[0]).problem : null };
    return { problem: readOnlyWhy(element) };
  }
  if (!(element instanceof HTMLSelectElement)) return { problem: "it is no list of options; click it, and then click the option" };
  const options = optionsOf(element);
  const labels = [];
  for (const value of values) {
    const label = fold(value);
    const fitting = options.filter((one) => GET_OPTION_VALUE.call(one) === value || labelOfOption(one) === label);
    if (!fitting.length) {
      const some = options.slice(0, MOST_FITNESS_OPTIONS).map((one) => JSON.stringify(labelOfOption(one).slice(0, 60))).join(", ");
      const more = options.length - MOST_FITNESS_OPTIONS;
      return { problem: `it has no option ${JSON.stringify(value.slice(0, 60))}; its options: ${some}${more > 0 ? ` and ${more} more` : ""}` };
    }
    if (fitting.every((one) => MATCHES.call(one, ":disabled"))) return { problem: `its option ${JSON.stringify(value.slice(0, 60))} is disabled` };
    labels.push(labelOfOption(fitting[0]));
  }
  return { labels };
};
