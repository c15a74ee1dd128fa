// The question that a conversation waits for: an approval, a choice, or a request for help.

import { picture } from "/ui/api.js";
import { at, attempt, button, h } from "/ui/dom.js";
import { KINDS } from "/ui/words.js";

// Values that are shown at once, and their length in characters.
const MOST_OPEN = 30, MOST_SHOWN = 400;

let shownId = null, shownPath = null, title = 0;

/** Blinks in the title of the window while a question is open and nobody looks. */
function blink(isOpen, name) {
  clearInterval(title);
  const plain = name ? `${name} - cdpilot` : "cdpilot";
  document.title = isOpen ? `● ${plain}` : plain;
  if (!isOpen || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  let isMarked = true;
  title = setInterval(() => {
    isMarked = !isMarked;
    document.title = isMarked || !document.hidden ? `● ${plain}` : `○ ${plain}`;
  }, 1000);
}

/** What is sent. The names are in quotes, because the page chose them: none looks like a line of the card. */
function sent(values) {
  const line = ([name, value]) => [h("dt", null, `“${name}”`), h("dd", null, folded(String(value)))];
  const [first, rest] = [values.slice(0, MOST_OPEN), values.slice(MOST_OPEN)];
  return h("section", { "aria-label": "Values" }, h("h4", null, "Values"), h("dl", null, first.flatMap(line)),
    rest.length > 0 && h("details", null, h("summary", null, `${rest.length} more values`), h("dl", null, rest.flatMap(line))));
}

/** A long value is folded, not cut. */
function folded(value) {
  if (value.length <= MOST_SHOWN) return value;
  return h("details", null, h("summary", null, `${value.slice(0, MOST_SHOWN)}… (${value.length} characters)`), value);
}

function approval(conversation, question) {
  const { body, id } = question;
  const isHost = body.effect === "host", isSecret = body.effect === "secret";
  const place = (body.origin ?? "").replace(/^https?:\/\//, "");
  // A secret that was approved at an address is not asked for there again.
  const first = isHost ? "Admit for this conversation" : isSecret ? `Allow at ${place} for this conversation` : "Allow once";
  const facts = [["Page", body.origin], ["Sent to", body.destination]].filter(([, value]) => value);
  const values = Object.entries(body.values ?? {}).filter(([, value]) => value);
  const note = h("input", { id: "note", type: "text", placeholder: "With a refusal: a word to the model", "aria-label": "A word to the model", maxlength: "2000" });
  const decide = decision => attempt(() => conversation.change("answer",
    { approval_id: id, decision, ...(decision === "refuse" && note.value.trim() ? { note: note.value.trim() } : {}) }));
  const image = h("img", { id: "approval-picture", alt: "The element that the model wants to use", hidden: true });
  return h("section", { class: "card approval", "aria-label": "Approval" },
    h("h3", null, "Approval needed"),
    h("p", null, body.message ?? ""),
    image,
    h("dl", null, facts.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, String(value))])),
    values.length > 0 && sent(values),
    note,
    h("p", { class: "bar" },
      button(first, () => decide("once"), { class: "primary" }),
      body.routine_step && button("Allow in later runs too", () => decide("routine"), { title: `In step ${body.routine_step} of this routine, until it is edited, for 90 days, whatever values are sent then` }),
      button("Refuse", () => decide("refuse"), { class: "danger" })),
    !isHost && h("details", null, h("summary", null, "For the rest of this conversation"), h("p", { class: "bar" },
      body.origin && button(`Allow all ${KINDS[body.effect] ?? body.effect} at ${place}`, () => decide("origin")),
      button(`Allow all ${KINDS[body.effect] ?? body.effect} everywhere`, () => decide("kind")))));
}

/** The path of the picture of an approval. */
const imageOf = (conversation, id) => conversation.events.findLast(it => it.question?.approval_id === id)?.image;

/** Shows the picture of the shown approval, which may arrive later than the approval. */
function illustrate(path) {
  shownPath = path;
  const image = at("approval-picture");
  picture(path).then(blob => {
    const url = URL.createObjectURL(blob);
    image.onload = () => URL.revokeObjectURL(url);
    image.src = url;
    image.hidden = false;
  }, () => {});
}

function asked(conversation, question, takeOver) {
  const { body, id } = question;
  const text = h("textarea", { rows: "2", "aria-label": "Your answer", placeholder: "Your answer" });
  const answer = value => attempt(() => conversation.change("answer", { question_id: id, text: value }));
  const send = () => text.value.trim() ? answer(text.value.trim()) : text.focus();
  text.onkeydown = key => {
    if (key.key === "Enter" && !key.shiftKey && !key.isComposing) { key.preventDefault(); send(); }
  };
  const isHelp = question.kind === "help";
  return h("section", { class: "card", "aria-label": "Question" },
    h("h3", null, isHelp ? "The agent needs your help" : "The agent asks"),
    h("p", null, body.message ?? ""),
    h("p", { class: "bar" }, (body.choices ?? []).map(choice => button(choice, () => answer(choice)))),
    text,
    h("p", { class: "bar" },
      button("Answer", send, { class: "primary" }),
      isHelp && button("I have done it", () => answer("I have done it.")),
      isHelp && button("Use the page", takeOver)));
}

/** Shows the open question of a conversation, if there is one. `takeOver`: opens the live view. */
export function show(conversation, takeOver) {
  const question = conversation?.info?.question ?? null;
  const path = question?.kind === "approval" ? imageOf(conversation, question.id) : null;
  const id = question ? `${conversation.id} ${question.id}` : null;
  blink(question !== null, conversation?.info?.title);
  document.body.classList.toggle("asks", Boolean(path));
  // The card stays as long as its question: a button must not be replaced while it is being clicked.
  if (id === shownId) {
    if (path && path !== shownPath) illustrate(path);
    return;
  }
  [shownId, shownPath] = [id, null];
  const card = question && (question.kind === "approval" ? approval(conversation, question) : asked(conversation, question, takeOver));
  at("question").replaceChildren(...(card ? [card] : []));
  if (path) illustrate(path);
  if (!card && document.activeElement === document.body) at("text").focus({ preventScroll: true });
  if (card) card.scrollIntoView({ block: "nearest" });
}
