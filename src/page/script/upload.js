// Inputs for files.

const INPUT_TYPE = getterOf(HTMLInputElement.prototype, "type");
const INPUT_MULTIPLE = getterOf(HTMLInputElement.prototype, "multiple");
const INPUT_DISABLED = getterOf(HTMLInputElement.prototype, "disabled");
const CONTROL_OF_LABEL = getterOf(HTMLLabelElement.prototype, "control");

const isFileInput = (element) => element instanceof HTMLInputElement && INPUT_TYPE.call(element) === "file";

/** The number of the file input that an element is or labels, and what it takes. */
calls.fileInput = ({ id, expect }) => {
  const element = nodeOf(id);
  if (!element || !isConnected(element)) return { gone: true };
  const changed = expect && typeof changedFrom === "function" ? changedFrom(expect, element) : null;
  if (changed) return { changed };
  const input = element instanceof HTMLLabelElement ? CONTROL_OF_LABEL.call(element) : element;
  if (!isFileInput(input)) return { tag: nameOfTag(element) };
  return { input: idOf(input), multiple: INPUT_MULTIPLE.call(input), disabled: INPUT_DISABLED.call(input) };
};
