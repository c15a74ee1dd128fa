// Names by the host language.
// Uses: name, node, node-cache, role, table, value.

const GET_CONTROL = getterOf(HTMLLabelElement.prototype, "control");

/** The labels of a control, in order; null when it has none. (The property `labels` searches the whole tree.) */
function labelsOf(element) {
  const { labels } = memory();
  const root = GET_ROOT_NODE.call(element);
  let found = labels.get(root);
  if (found === undefined) {
    found = new Map();
    labels.set(root, found);
    for (const label of root instanceof Element ? [] : allIn(root, "label")) {
      const control = GET_CONTROL.call(label);
      if (!control) continue;
      const others = found.get(control);
      if (others) others.push(label);
      else found.set(control, [label]);
    }
  }
  return (found.size > 0 && found.get(element)) || null;
}

function nativeText(element, kind, visited) {
  if (!(element instanceof HTMLElement)) return element instanceof SVGElement ? svgText(element) : "";
  const labels = labelsOf(element);
  if (labels) {
    const text = textOfAll(labels, false, visited);
    source = "related";
    return text;
  }
  switch (nameOfTag(element)) {
    case "input":
      return inputText(element, kind);
    case "textarea":
      return fieldText(element);
    case "option":
      return optionText(element);
    case "optgroup":
      source = "attribute";
      return attr(element, "label") || "";
    case "img":
    case "area": {
      const alt = attr(element, "alt");
      source = alt === "" ? "empty" : "attribute";
      return alt || "";
    }
    case "table":
      return tableText(element, visited);
    case "fieldset": {
      const legend = legendOf(element);
      const text = legend && !visited.has(legend) ? textAgain(legend, null, visited) : "";
      source = "related";
      return text;
    }
    case "audio":
    case "video":
      return "";
    default:
      if (kind === "textbox" || kind === "searchbox" || kind === "TextFieldWithComboBox" || isEditingHost(element)) {
        source = "placeholder";
        return attr(element, "aria-placeholder") || "";
      }
      return "";
  }
}

function inputText(input, kind) {
  switch (typeOfInput(input)) {
    case "button":
    case "submit":
    case "reset":
      source = "value";
      if (attr(input, "value") !== null) {
        const value = GET_INPUT_VALUE.call(input);
        if (!value) source = "none"; // an empty one counts: nothing else is used
        return value;
      }
      return "";
    case "image": {
      source = "attribute";
      const text = attr(input, "alt") || attr(input, "value");
      if (text !== null && (text || has(input, "value"))) return text;
      const title = titleText(input);
      if (title) {
        source = "title";
        return title;
      }
      source = "value";
      return defaultText(input);
    }
    case "file":
      source = "contents";
      return defaultText(input);
    default:
      return isTextControl(input) || kind === "TextFieldWithComboBox" ? fieldText(input) : "";
  }
}

const DEFAULT_TEXTS = { button: "", submit: "Submit", reset: "Reset", image: "Submit" };

// Default labels of buttons are in the browser's language, which is usually English.
function defaultText(input) {
  const type = typeOfInput(input);
  source = type === "image" ? "value" : "contents";
  if (type !== "button" && !navigator.language.startsWith("en")) doubtText(input);
  if (type === "file") return has(input, "multiple") ? "Choose Files" : "Choose File";
  return DEFAULT_TEXTS[type];
}

function fieldText(field) {
  const title = titleText(field);
  if (title) {
    source = "title";
    return title;
  }
  source = "placeholder";
  return attr(field, "placeholder") || attr(field, "aria-placeholder") || "";
}

function optionText(option) {
  const only = firstOf(option);
  if (!only || typeOf(only) !== 3 || nextOf(only)) return "";
  source = "contents";
  return attr(option, "label") || fold(GET_DATA.call(only));
}

function tableText(table, visited) {
  const caption = GET_CAPTION.call(table);
  if (caption) {
    source = "caption";
    const text = textAgain(caption, null, visited);
    source = "caption";
    return text;
  }
  source = "attribute";
  return attr(table, "summary") || "";
}

function legendOf(fieldset) {
  for (let child = GET_FIRST_ELEMENT.call(fieldset); child; child = GET_NEXT_ELEMENT.call(child)) {
    if (child instanceof HTMLLegendElement) return child;
  }
  return null;
}

function svgText(element) {
  const title = svgChild(element, SVGTitleElement);
  source = "related";
  const text = title ? textIn(title) : "";
  if (text || nameOfTag(element) !== "a") return text;
  source = "attribute";
  return attr(element, "xlink:title") || "";
}

function svgChild(element, type) {
  for (let child = GET_FIRST_ELEMENT.call(element); child; child = GET_NEXT_ELEMENT.call(child)) {
    if (child instanceof type) return child;
  }
  return null;
}

/** The title attribute, unless it only repeats the content. */
function titleText(element) {
  const title = attr(element, "title");
  if (!title) return "";
  const inside = element instanceof HTMLProgressElement || element instanceof HTMLMeterElement ? "" : textIn(element);
  return fold(title) === fold(inside) ? "" : title;
}
