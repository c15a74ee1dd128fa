// File inputs.
// Uses: act, node.

const FILE_INPUT_TYPE = getterOf(HTMLInputElement.prototype, "type");
const FILE_INPUT_MULTIPLE = getterOf(HTMLInputElement.prototype, "multiple");
const FILE_INPUT_DISABLED = getterOf(HTMLInputElement.prototype, "disabled");
const FILE_LABEL_CONTROL = getterOf(HTMLLabelElement.prototype, "control");

const isFileInput = (element) => element instanceof HTMLInputElement && FILE_INPUT_TYPE.call(element) === "file";

/** The file input that an element is or labels, and whether it accepts several files. */
calls.fileInput = ({ id, expect }) => {
  const element = nodeOf(id);
  if (!element || !isConnected(element)) return { gone: true };
  const changed = expect && typeof changedFrom === "function" ? changedFrom(expect, element) : null;
  if (changed) return { changed };
  const input = element instanceof HTMLLabelElement ? FILE_LABEL_CONTROL.call(element) : element;
  if (!isFileInput(input)) return { tag: nameOfTag(element) };
  return { input: idOf(input), multiple: FILE_INPUT_MULTIPLE.call(input), disabled: FILE_INPUT_DISABLED.call(input) };
};
