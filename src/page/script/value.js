// Values of controls.
// Uses: content, node, node-cache, role.

const GET_INPUT_VALUE = getterOf(HTMLInputElement.prototype, "value");
const GET_AREA_VALUE = getterOf(HTMLTextAreaElement.prototype, "value");
const GET_OPTION_LABEL = getterOf(HTMLOptionElement.prototype, "label");
const GET_SELECTED_OPTIONS = getterOf(HTMLSelectElement.prototype, "selectedOptions");
const GET_METER_VALUE = getterOf(HTMLMeterElement.prototype, "value");
const GET_PROGRESS_VALUE = getterOf(HTMLProgressElement.prototype, "value");


/** The rendered text of an editable element. */
const writtenIn = (element) => (isHtml(element) ? GET_INNER_TEXT.call(element) : textIn(element));

const RANGES = new Set(["meter", "progressbar", "scrollbar", "slider", "spinbutton"]);

/** The value of a control as text; "" when it has none. For a password, as many bullets as characters. */
function valueOf(element) {
  const kind = kindOf(element);
  if (isTextControl(element)) return controlText(element) || (RANGES.has(kind) && rangeValue(element, kind)) || "";
  if (element instanceof HTMLSelectElement) return kind === "ComboBoxSelect" ? chosenLabel(element) : "";
  if (RANGES.has(kind)) return rangeValue(element, kind) || "";
  if (kind === "separator" && supportsFocus(element) && !has(element, "contenteditable")) return rangeValue(element, kind);
  if (element instanceof HTMLInputElement) {
    if (typeOfInput(element) === "file") return filesIn(element);
    return /^(date|datetime-local|month|week|time|color)$/.test(typeOfInput(element)) ? GET_INPUT_VALUE.call(element) : "";
  }
  if (kind === "textbox" || kind === "searchbox" || kind === "TextFieldWithComboBox" || isEditingHost(element)) {
    return writtenIn(element).trim();
  }
  return kind === "ComboBoxMenuButton" ? fold(contentOf(element)) : "";
}

function controlText(control) {
  const value = (control instanceof HTMLTextAreaElement ? GET_AREA_VALUE : GET_INPUT_VALUE).call(control);
  if (control instanceof HTMLTextAreaElement && !coveredFields.has(control)) return value;
  return typeOfInput(control) === "password" || coveredFields.has(control) ? "•".repeat(value.length) : value;
}

const SECRET_PURPOSE = /(^|\s)(current-password|new-password|one-time-code|cc-number|cc-csc)(\s|$)/i;
const SECRET_NAME = /passw|passphrase|passcode|pwd|secret|token|api[-_]?key|(^|[^a-z])(otp|totp|pin|cvc|cvv)([^a-z]|$)/i;

/** Fields into which a stored secret was typed: covered until their document ends, whatever they hold later. */
const coveredFields = new WeakSet();

/** Whether a field for a secret shows its value: by its purpose, name or style. */
function isSecretField(element) {
  if (coveredFields.has(element)) return true;
  if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement)) return false;
  if (!isTextControl(element)) return false;
  if (element instanceof HTMLInputElement && typeOfInput(element) === "password") return false;
  if (SECRET_PURPOSE.test(attr(element, "autocomplete") || "")) return true;
  if (SECRET_NAME.test(attr(element, "name") || "") || SECRET_NAME.test(attr(element, "id") || "")) return true;
  const masking = styleOf(element).webkitTextSecurity;
  return !!masking && masking !== "none";
}

const GET_FILES = getterOf(HTMLInputElement.prototype, "files");

function filesIn(input) {
  const files = GET_FILES.call(input);
  if (!files || !files.length) return "";
  return files.length === 1 ? files[0].name : `${files.length} files`;
}

/** The text of a closed <select>: the selected option, or how many there are. */
function chosenLabel(select) {
  const chosen = GET_SELECTED_OPTIONS.call(select);
  if (GET_SELECT_MULTIPLE.call(select) && chosen.length !== 1) return `${chosen.length} selected`;
  const option = chosen[0];
  if (!option) return "";
  const label = attr(option, "aria-label");
  return label !== null ? label : fold(GET_OPTION_LABEL.call(option));
}

/** The value of a range: its text, otherwise its number; null when it has none. */
function rangeValue(element, kind) {
  const text = attr(element, "aria-valuetext");
  if (text !== null) return text;
  const number = rangeNumber(element, kind);
  return number === null ? null : String(Number(number.toPrecision(6)));
}

function rangeNumber(element, kind) {
  const said = numberIn(element, "aria-valuenow");
  const min = lowest(element, kind);
  const max = highest(element, kind);
  if (said !== null) return min !== null && said < min ? min : max !== null && said > max ? max : said;
  if (element instanceof HTMLInputElement) {
    const value = parseFloat(GET_INPUT_VALUE.call(element));
    return Number.isFinite(value) ? value : null;
  }
  if (element instanceof HTMLMeterElement) return GET_METER_VALUE.call(element);
  if (element instanceof HTMLProgressElement) return has(element, "value") ? GET_PROGRESS_VALUE.call(element) : null;
  switch (kind) {
    case "scrollbar":
    case "slider":
      return min !== null && max !== null ? (min + max) / 2 : 50;
    case "separator":
      return 50;
    case "meter":
      return min !== null ? min : 0;
    case "spinbutton":
      return 0;
    default:
      return null;
  }
}

function numberIn(element, name) {
  const value = attr(element, name);
  if (value === null) return null;
  const number = parseFloat(value);
  return Number.isFinite(number) ? number : 0;
}

function lowest(element, kind) {
  const said = numberIn(element, "aria-valuemin");
  if (said !== null || element instanceof HTMLInputElement) return said;
  return kind === "spinbutton" ? null : 0;
}

function highest(element, kind) {
  const said = numberIn(element, "aria-valuemax");
  if (said !== null || element instanceof HTMLInputElement) return said;
  return kind === "spinbutton" ? null : 100;
}
