// What the use of an element would do: what is pressed, where it leads, and what its form sends.
// Uses: act, element-html, find, forms, identity, node, node-cache, role, seal, state, text, value, wait.

const MOST_INNER_USES = 30;
// More fields, and longer values, cannot be shown to a person.
const MOST_FORM_FIELDS = 501;
const MOST_LABEL = 120;
const MOST_SENT = 20001;
const MOST_OPTIONS = 60;
const MOST_WORDS = 400;
const MOST_DIALOG = 400;
// What a press of an element may set off: the element itself, or one that contains it.
const ACTIVATED = "a[href],area[href],button,input,select,textarea,summary,label,option,iframe,frame,embed,object,[onclick],[role=button],[role=link],[role=menuitem],[role=menuitemcheckbox],[role=menuitemradio],[role=option],[role=tab],[role=switch],[role=checkbox],[role=radio],[role=treeitem]";
const DIALOGS = "dialog,[role=dialog],[role=alertdialog],[aria-modal=true],[popover]";
// Attributes whose words say what a control is for, although nobody sees them.
const TELLING = ["id", "name", "value", "title", "aria-label", "alt", "data-action", "data-method", "data-confirm", "data-command", "data-testid", "data-test", "formaction", "onclick", "onmousedown", "onpointerdown", "onchange", "oninput", "hx-delete", "hx-post", "hx-put", "hx-patch"];
const GET_FORM_ELEMENTS = getterOf(HTMLFormElement.prototype, "elements");
const GET_DISABLED_OF = [HTMLButtonElement, HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement].map((type) => ({ type, disabled: getterOf(type.prototype, "disabled") }));
const IMPLICIT = new Set(["text", "search", "tel", "url", "email", "password", "date", "month", "week", "time", "datetime-local", "number"]);

const cutTo = (text, most) => (text.length > most ? text.slice(0, most) : text);

/** The element that a press of another one sets off. */
function activeOf(element) {
  for (let up = element; up; up = parentElementOf(up)) if (MATCHES.call(up, ACTIVATED)) return up instanceof HTMLLabelElement ? LABEL_CONTROL.call(up) || up : up;
  return element;
}

/** Whether a press of a control sends its form. */
function isSubmitter(element) {
  const own = SUBMITTERS.find(({ type }) => element instanceof type);
  return !!own && /^(submit|image)$/.test(own.kind.call(element)) && formOf(element) !== null;
}

const isOff = (element) => GET_DISABLED_OF.some(({ type, disabled }) => element instanceof type && disabled.call(element));

/** The controls of a form, those outside of it included. */
const controlsOf = (form) => Array.from(GET_FORM_ELEMENTS.call(form));

/** The button that Enter in a field of a form presses; `null` if Enter sends the form without one; undefined if it does not send it. */
function defaultOf(form) {
  const all = controlsOf(form);
  for (const button of Array.from(allIn(GET_ROOT_NODE.call(form), "input[type=image]"))) if (formOf(button) === form) all.push(button);
  const button = all.find(isSubmitter);
  if (button) return isOff(button) ? undefined : button;
  const lines = all.filter((control) => control instanceof HTMLInputElement && IMPLICIT.has(GET_INPUT_TYPE.call(control)));
  return lines.length > 1 ? undefined : null;
}

const GET_FILE_SIZE = getterOf(Blob.prototype, "size");
const GET_FILE_CHANGED = getterOf(File.prototype, "lastModified");
/** The files of a control. */
const filesOf = (control) => (control instanceof HTMLInputElement && GET_INPUT_TYPE.call(control) === "file" ? Array.from(GET_FILES.call(control) || []) : []);

/** What a form would send of a control; `null` for nothing. */
function sentBy(control) {
  if (isOff(control)) return null;
  if (control instanceof HTMLSelectElement) return Array.from(TEXT_SELECTED.call(control), (option) => fold(TEXT_OPTION_LABEL.call(option))).join(", ");
  if (control instanceof HTMLTextAreaElement) return GET_AREA_VALUE.call(control);
  if (!(control instanceof HTMLInputElement)) return null;
  const type = GET_INPUT_TYPE.call(control);
  if (type === "checkbox" || type === "radio") return GET_CHECKED.call(control) ? GET_INPUT_VALUE.call(control) : null;
  if (type === "file") return filesOf(control).map((file) => file.name).join(", ");
  return /^(submit|image|button|reset)$/.test(type) ? null : GET_INPUT_VALUE.call(control);
}

const GET_BUTTON_VALUE = getterOf(HTMLButtonElement.prototype, "value");
/** What is sent of a control, as it is sent. */
function rawOf(control) {
  if (filesOf(control).length) return [];
  if (control instanceof HTMLSelectElement) return Array.from(TEXT_SELECTED.call(control), (option) => GET_OPTION_VALUE.call(option));
  return [cutTo(sentBy(control) || "", MOST_SENT)];
}

/** The button that sends a form, as a field: its name and value are sent, too. */
function sentWith(control) {
  const name = control && isSubmitter(control) ? attr(control, "name") : null;
  if (!name) return [];
  const value = control instanceof HTMLButtonElement ? GET_BUTTON_VALUE.call(control) : GET_INPUT_VALUE.call(control);
  return [{ label: name, name, kind: "submit", autocomplete: "", inputmode: "", value: cutTo(value, MOST_SENT), sent: [value], size: 0, secret: false, hidden: true }];
}

function fieldsOf(form) {
  const fields = [];
  for (const control of controlsOf(form).slice(0, MOST_FORM_FIELDS)) {
    const value = sentBy(control);
    if (value === null) continue;
    fields.push({
      label: cutTo(fold(nameFor(control)) || attr(control, "name") || "", MOST_LABEL),
      name: attr(control, "name") || "",
      kind: control instanceof HTMLInputElement ? GET_INPUT_TYPE.call(control) : nameOfTag(control),
      autocomplete: attr(control, "autocomplete") || "",
      inputmode: attr(control, "inputmode") || "",
      value: cutTo(value, MOST_SENT),
      sent: rawOf(control),
      size: filesOf(control).reduce((sum, file) => sum + GET_FILE_SIZE.call(file), 0),
      secret: isCovered(control),
      hidden: control instanceof HTMLInputElement && GET_INPUT_TYPE.call(control) === "hidden",
    });
  }
  return fields;
}

/** The attributes that tell what a control is for, of it and of what it shows. */
function wordsOf(element) {
  const parts = [];
  for (const part of [element, ...Array.from(allIn(element, "img,svg,use,i,span")).slice(0, 6)]) {
    for (const name of TELLING) {
      const value = attr(part, name);
      if (value && !(part instanceof HTMLInputElement && name === "value" && !PRESSED.test(GET_INPUT_TYPE.call(part)))) parts.push(value);
    }
  }
  // An icon is known by its class or its file.
  if (!fold(readText(element))) {
    for (const part of [element, ...Array.from(allIn(element, "img,svg,use,i,span")).slice(0, 6)]) {
      const file = attr(part, "src") || "";
      parts.push(attr(part, "class") || "", attr(part, "href") || attr(part, "xlink:href") || "", file.startsWith("data:") ? "" : file.split("/").pop() || "");
    }
  }
  if (has(element, "hx-delete")) parts.push("delete");
  const address = linkOf(element);
  if (/^javascript:/i.test(address)) parts.push(address);
  return cutTo(parts.join(" "), MOST_WORDS);
}

/** What a control, or Enter in a form without a button (`null`), would do. */
function effectOf(control, form) {
  const submits = control ? isSubmitter(control) : true;
  const own = form || (control && formOf(control));
  const { destination, method } = control ? destinationOf(control) : { destination: String(GET_FORM_ACTION.call(own)), method: String(GET_FORM_METHOD.call(own)) };
  const link = !!control && linkOf(control) !== "";
  const dialog = control && CLOSEST.call(control, DIALOGS);
  return {
    role: control ? shownRole(roleFor(control)) : "form",
    name: cutTo(control ? fold(steadyNameOf(control)) || fold(readText(control)) : fold(nameFor(own)), MOST_LABEL),
    tag: control ? nameOfTag(control) : "form",
    kind: control instanceof HTMLInputElement ? GET_INPUT_TYPE.call(control) : "",
    text: control ? cutTo(fold(readText(control)), MOST_LABEL) : "",
    words: control ? wordsOf(control) : "",
    // A form without an action is sent to its page.
    destination: link || !own ? destination : destination || String(document.URL),
    // Libraries send links by another method.
    method: link ? (attr(control, "data-method") || attr(control, "data-turbo-method") || "get").toLowerCase() : submits || own ? (method || "get").toLowerCase() : "",
    link,
    submits: !link && submits,
    field: !!control && (isTyped(control) || control instanceof HTMLSelectElement),
    dialog: dialog ? cutTo(fold(readText(dialog)), MOST_DIALOG) : "",
    frame: !!control && MATCHES.call(control, "iframe,frame,embed,object"),
    search: !!own && (attr(own, "role") === "search" || !!CLOSEST.call(own, "search,[role=search]")),
    fields: own ? [...fieldsOf(own), ...sentWith(control)] : [],
  };
}

/** What a press of an element may set off: what it is or is in, and what is in it. */
function pressedWith(element) {
  const found = [activeOf(element)];
  const inner = found[0] instanceof HTMLSelectElement ? [] : Array.from(allIn(element, ACTIVATED)).slice(0, MOST_INNER_USES + 1);
  for (const one of inner) {
    const active = activeOf(one);
    if (!found.includes(active)) found.push(active);
  }
  return found.map((control) => effectOf(control, null));
}

/** What Enter in an element sets off. */
function enteredIn(element) {
  const line = element instanceof HTMLInputElement && IMPLICIT.has(GET_INPUT_TYPE.call(element));
  if (!line) return pressedWith(element);
  const form = formOf(element);
  const button = form ? defaultOf(form) : undefined;
  if (!form || button === undefined) return [effectOf(element, null)].map((effect) => ({ ...effect, submits: false }));
  return [effectOf(button, form)];
}

/** How an element is used. */
const usesOf = (element, use) => (use === "enter" ? enteredIn(element) : use === "press" ? pressedWith(element) : [effectOf(element, null)]);

/** What every control of the form of an element holds, as a whole. */
function heldByForm(element) {
  const form = formOf(element);
  if (!form) return [];
  return controlsOf(form).map((control) => [attr(control, "name"), sentBy(control), filesOf(control).map((file) => [file.name, GET_FILE_SIZE.call(file), GET_FILE_CHANGED.call(file)])]);
}

/** A text that differs when an element, what its use sets off, or what its form sends does. */
const stakeOf = (element, use) => sealOf(JSON.stringify([use, identityOf(element), usesOf(element, use), heldByForm(element)]));

// Groups of which keys choose one, and their members.
const CHOOSING = [
  ["[role=radiogroup]", "[role=radio]"],
  ["[role=listbox]", "[role=option]"],
  ["[role=menu],[role=menubar]", "[role=menuitem],[role=menuitemradio],[role=menuitemcheckbox]"],
  ["[role=tablist]", "[role=tab]"],
  ["[role=tree]", "[role=treeitem]"],
  ["[role=grid],[role=treegrid]", "[role=row]"],
];
const VALUED = "input[type=range],input[type=number],input[type=date],input[type=time],input[type=month],input[type=week],input[type=datetime-local],input[type=color],[role=slider],[role=spinbutton],[role=scrollbar],[role=separator]";

/** What keys that move choose while an element has the focus: names of options; `null` if they choose nothing. */
function chosenFrom(element) {
  const names = (all) => Array.from(all).slice(0, MOST_OPTIONS).map((one) => cutTo(fold(one instanceof HTMLOptionElement ? TEXT_OPTION_LABEL.call(one) : steadyNameOf(one) || readText(one)), MOST_LABEL));
  if (element instanceof HTMLSelectElement) return names(allIn(element, "option"));
  if (element instanceof HTMLInputElement && GET_INPUT_TYPE.call(element) === "radio") {
    const name = attr(element, "name");
    const all = Array.from(allIn(GET_ROOT_NODE.call(element), "input[type=radio]"));
    return names(all.filter((other) => other === element || (name && attr(other, "name") === name && formOf(other) === formOf(element))));
  }
  if (MATCHES.call(element, VALUED)) return [];
  for (const [group, members] of CHOOSING) {
    const around = CLOSEST.call(element, group);
    if (around) return names(allIn(around, members));
  }
  const controlled = attr(element, "aria-controls") || attr(element, "aria-owns");
  return controlled && /^(listbox|menu|tree|grid)$/.test(attr(element, "aria-haspopup") || "listbox") && attr(element, "aria-activedescendant") !== null ? [] : null;
}

/** What the use of an element would do. `use`: `press`, `enter` or `other`; id 0 is the element with the focus. */
calls.effect = ({ id, use }) => {
  forget();
  const element = id ? nodeOf(id) : focusedElement() || GET_BODY.call(document);
  if (!(element instanceof Element) || !isConnected(element)) return { gone: true };
  const kind = fieldKind(element);
  const options = chosenFrom(element);
  return {
    id: idOf(element),
    chooses: options !== null,
    options: options || [],
    origin,
    url: String(document.URL),
    typed: kind === "line" || kind === "lines" || kind === "rich",
    lines: kind === "lines" || kind === "rich",
    body: element === GET_BODY.call(document),
    identity: identityOf(element),
    stake: stakeOf(element, use),
    uses: usesOf(element, use),
  };
};

const MOST_STATES = 400;

/** The fields of this document, by name, with a number that differs when their content does. */
calls.fieldStates = () => {
  forget();
  const states = [];
  for (const field of Array.from(allIn(document, "input,textarea,select,[contenteditable]"))) {
    if (states.length >= MOST_STATES) break;
    const type = field instanceof HTMLInputElement ? GET_INPUT_TYPE.call(field) : "";
    if (/^(hidden|submit|image|button|reset)$/.test(type)) continue;
    const ticked = type === "checkbox" || type === "radio";
    const held = ticked ? String(GET_CHECKED.call(field)) : field instanceof HTMLSelectElement ? sentBy(field) || "" : heldBy(field);
    states.push({ id: idOf(field), label: cutTo(fold(steadyNameOf(field)) || attr(field, "name") || "", MOST_LABEL), held: digest(held) });
  }
  return states;
};
