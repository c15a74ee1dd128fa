// Notices: messages of the page after an action. Status texts and alerts (live regions), dialogs of the page that
// opened, fields that validation refused, and other text that appeared.
// Uses: appeared, name, node, node-cache, settle, wait.

const LIVE = "[role~=alert i],[role~=status i],[role~=log i],output,[aria-live=polite i],[aria-live=assertive i]";
const PAGE_DIALOGS = "dialog[open],[role~=dialog i],[role~=alertdialog i]";
const MARKED_INVALID = "[aria-invalid]:not([aria-invalid=''],[aria-invalid=false i])";
const NOTICE_CANDIDATES = LIVE + "," + PAGE_DIALOGS + "," + MARKED_INVALID;
// Maximum number of elements checked and of notices reported, and lengths of a text and of a name.
const [MOST_CANDIDATES, MOST_NOTICES, NOTICE_TEXT, NOTICE_NAME] = [200, 5, 300, 80];
const NOTICE_ORDER = ["alert", "dialog", "invalid", "status", "text"];
// Maximum number of changes at a time whose live region is searched.
const MOST_TOUCHES = 500;

// In a document that the action navigated to, aria-live alone does not make a notice.
const NEWS = "[role~=alert i],[role~=status i]," + PAGE_DIALOGS + "," + MARKED_INVALID;

// The text of each candidate before the action; null in a document that the action navigated to.
let saidBefore = null;
// Whether there may be a new notice.
let mayHaveNotices = true;
// Live regions that changed, and fields that failed validation, since the action began.
let touched = new Set();
let failedFields = new Set();

/** Starts to observe: later messages are notices. */
function noteBefore(roots) {
  forget();
  [touched, failedFields] = [new Set(), new Set()];
  [saidBefore, mayHaveNotices] = [new Map(), false];
  watchAppearing();
  try {
    for (const element of noticeCandidates(roots)) saidBefore.set(element, saidBy(element, noticeKind(element)));
  } catch {
    // Candidates that were not checked count as new.
  }
}

/** The `invalid` event: constraint validation refused a field. */
function noteInvalid({ target }) {
  mayHaveNotices = true;
  if (target instanceof HTMLElement) failedFields.add(target);
}

/** Changes of the document: a live region may be set to the same text again. */
function noteTouched(records) {
  mayHaveNotices = true;
  if (!saidBefore || !saidBefore.size) return;
  const last = Math.min(records.length, MOST_TOUCHES);
  for (let i = 0; i < last; i++) {
    const { type, target } = records[i];
    if (type === "attributes") continue;
    const element = isElement(target) ? target : GET_PARENT.call(target);
    const region = element instanceof Element ? CLOSEST.call(element, LIVE) : null;
    if (region) touched.add(region);
  }
}

function noticeCandidates(roots) {
  const all = [];
  for (const root of roots) {
    for (const element of allIn(root, NOTICE_CANDIDATES)) {
      if (all.length >= MOST_CANDIDATES) return all;
      all.push(element);
    }
  }
  return all;
}

function noticeKind(element) {
  if (MATCHES.call(element, PAGE_DIALOGS)) return "dialog";
  if (!MATCHES.call(element, LIVE)) return "invalid";
  const live = (attr(element, "aria-live") || "").toLowerCase();
  if (live === "off") return "";
  return live === "assertive" || MATCHES.call(element, "[role~=alert i]") ? "alert" : "status";
}

/** The present text of an element; "" when it is not shown. */
function saidBy(element, kind) {
  if (!kind || !isVisible(element)) return "";
  if (kind === "invalid") return invalidText(element) || "invalid";
  const text = fold(element instanceof HTMLElement ? GET_INNER_TEXT.call(element) : textIn(element));
  return text || (kind === "dialog" ? " " : fold(attr(element, "aria-label") || ""));
}

/** The validation message of a field, from the page or the browser. */
function invalidText(field) {
  const errors = referencesOf(field, "aria-errormessage", GET_ERROR_MESSAGES).filter(isVisible);
  const pointed = errors.length ? errors : referencesOf(field, "aria-describedby", GET_DESCRIBED_BY).filter(isVisible);
  const text = fold(textOfAll(pointed, true, new Set()));
  return text || (isRefused(field) ? fold(field.validationMessage || "") : "");
}

const GET_ERROR_MESSAGES = getterOf(Element.prototype, "ariaErrorMessageElements");

// Not for forms, whose controls may shadow these properties.
const isRefused = (field) => !!field.validity && !field.validity.valid;

/** A text truncated to `most` characters. */
function clipped(text, most) {
  if (text.length <= most) return text;
  const code = text.charCodeAt(most - 2);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? most - 2 : most - 1) + "…";
}

/** The notices since [`noteBefore`]; in a document that loaded since, its present messages. */
function notices(roots) {
  forget();
  const found = [];
  const add = (kind, element, text, name) => {
    const [short, called] = [clipped(text.trim(), NOTICE_TEXT), clipped(name, NOTICE_NAME)];
    const same = (other) => other.text === short && (other.name === called || other.kind !== "invalid");
    if (!found.some(same)) found.push({ kind, text: short, name: called, element });
  };
  for (const field of failedFields) {
    if (!isConnected(field) || !isRefused(field)) continue;
    add("invalid", field, fold(field.validationMessage || "") || invalidText(field) || "invalid", fold(nameOf(field)));
  }
  for (const element of noticeCandidates(roots)) {
    const kind = noticeKind(element);
    const text = saidBy(element, kind);
    const before = saidBefore ? saidBefore.get(element) : undefined;
    if (!text || failedFields.has(element) || (!saidBefore && !MATCHES.call(element, NEWS))) continue;
    // A dialog that was already open is reported by its new content.
    if (kind === "dialog" ? before : before === text && !touched.has(element)) continue;
    if (kind === "dialog" || kind === "invalid") add(kind, element, text, fold(nameOf(element)));
    else if (kind === "status" && MATCHES.call(element, "[role~=log i]")) add(kind, element, text.slice(-NOTICE_TEXT), "");
    else add(kind, element, text, "");
  }
  // The text of a dialog is reported with it.
  const dialogs = found.filter(({ kind }) => kind === "dialog").map(({ element }) => element);
  const isApart = ({ element }) => !element || !dialogs.some((dialog) => dialog !== element && CONTAINS.call(dialog, element));
  const other = saidBefore ? appearedLines(found.map(({ element }) => element)) : [];
  for (const line of other) if (!found.some(({ text }) => text.includes(line))) add("text", null, line, "");
  const kept = found.filter(isApart).sort((a, b) => NOTICE_ORDER.indexOf(a.kind) - NOTICE_ORDER.indexOf(b.kind));
  return kept.slice(0, MOST_NOTICES).map(({ kind, text, name }) => (name ? { kind, text, name } : { kind, text }));
}

/** Empty when nothing has changed. Does not affect whether an action has settled. */
calls.notices = () => {
  if (saidBefore && !mayHaveNotices) return [];
  try {
    return notices(observer ? watchedRoots : [document, ...allRoots(document)]);
  } catch {
    return [];
  }
};
