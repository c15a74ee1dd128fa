// The question that a conversation waits for: an approval, a choice, or a request for help.

import { picture } from "/ui/api.js";
import { at, attempt, button, h } from "/ui/dom.js";

let shownId = null, title = 0;

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

function approval(conversation, question) {
  const { body, id } = question;
  const isHost = body.effect === "host";
  const facts = [["Page", body.origin], ["Sent to", body.destination], ...Object.entries(body.values ?? {})].filter(([, value]) => value);
  const note = h("input", { id: "note", type: "text", placeholder: "With a refusal: a word to the model", "aria-label": "A word to the model", maxlength: "2000" });
  const decide = decision => attempt(() => conversation.change("answer",
    { approval_id: id, decision, ...(decision === "refuse" && note.value.trim() ? { note: note.value.trim() } : {}) }));
  const image = h("img", { alt: "The element that the model wants to use", hidden: true });
  const event = conversation.events.findLast(it => it.question?.approval_id === id);
  const path = event?.image;
  if (path) picture(path).then(blob => { image.src = URL.createObjectURL(blob); image.hidden = false; }, () => {});
  return h("section", { class: "card approval", "aria-label": "Approval" },
    h("h3", null, "Approval needed"),
    h("p", null, body.message ?? ""),
    image,
    h("dl", null, facts.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, String(value))])),
    note,
    h("p", { class: "bar" },
      button("Allow once", () => decide("once"), { class: "primary" }),
      !isHost && body.origin && button("Allow for this site", () => decide("origin"), { title: `All actions of this kind (${body.effect}) at ${body.origin}, in this conversation` }),
      !isHost && button("Allow this kind", () => decide("kind"), { title: `All actions of this kind (${body.effect}), everywhere, in this conversation` }),
      button("Refuse", () => decide("refuse"), { class: "danger" })));
}

function asked(conversation, question, takeOver) {
  const { body, id } = question;
  const text = h("textarea", { rows: "2", "aria-label": "Your answer", placeholder: "Your answer" });
  const answer = value => attempt(() => conversation.change("answer", { question_id: id, text: value }));
  const send = () => { if (text.value.trim()) answer(text.value.trim()); };
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
  const id = question ? `${conversation.id} ${question.id}` : null;
  blink(question !== null, conversation?.info?.title);
  if (id === shownId) return;
  shownId = id;
  const card = question && (question.kind === "approval" ? approval(conversation, question) : asked(conversation, question, takeOver));
  at("question").replaceChildren(...(card ? [card] : []));
  if (card) card.scrollIntoView({ block: "nearest" });
}
