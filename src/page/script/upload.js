// File inputs.
// Uses: act, node, settle.

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
  watchFiles(input);
  return {
    input: idOf(input),
    multiple: FILE_INPUT_MULTIPLE.call(input),
    disabled: FILE_INPUT_DISABLED.call(input),
    folder: has(input, "webkitdirectory"),
  };
};

const GET_INPUT_FILES = getterOf(HTMLInputElement.prototype, "files");
const FILE_COUNT = getterOf(FileList.prototype, "length");
const GET_TRANSFER = getterOf(DragEvent.prototype, "dataTransfer");
const TRANSFER_FILES = getterOf(DataTransfer.prototype, "files");

let givenFiles = null;

/** Counts the files of an input when it reports them, before the page can change them. */
function watchFiles(input) {
  const state = { input, seen: null };
  const look = () => (state.seen = FILE_COUNT.call(GET_INPUT_FILES.call(input)));
  for (const type of ["input", "change"]) input.addEventListener(type, look, { capture: true, once: true });
  givenFiles = state;
}

/** How many files an input had when it reported them, and has now. */
calls.filesTaken = async () => {
  const state = givenFiles;
  givenFiles = null;
  if (!state) return {};
  await drawn();
  const files = isConnected(state.input) ? GET_INPUT_FILES.call(state.input) : null;
  return { seen: state.seen, now: files && FILE_COUNT.call(files) };
};

let fileDrop = null;

/** Whether the page takes files that are dragged, and how many it received with a drop. With `watch`, from now on. */
calls.fileDrop = ({ watch }) => {
  if (watch) {
    if (fileDrop) for (const type of ["dragover", "drop"]) removeEventListener(type, fileDrop.on, true);
    const state = { over: null, files: null, on: null };
    state.on = (event) => {
      if (!event.isTrusted) return;
      if (event.type === "dragover") state.over = event;
      else state.files = FILE_COUNT.call(TRANSFER_FILES.call(GET_TRANSFER.call(event)));
    };
    fileDrop = state;
    for (const type of ["dragover", "drop"]) addEventListener(type, state.on, true);
  }
  return { takes: !!fileDrop.over && fileDrop.over.defaultPrevented, files: fileDrop.files };
};
