// The routine that a model has made of a recording, beside what was recorded; its questions with their answers.

import { attempt, button, copy, h } from "/ui/dom.js";
import { eventList, named } from "/ui/recording-events.js";
import { difference, formatted, visible } from "/ui/routine-text.js";

/** Longest name of a routine, in characters. */
const MOST_NAME = 100;

/** Questions, each with the events that it is about. */
export function questions(it, all) {
  return h("ol", { class: "asked" }, all.map((one, at) => h("li", { class: "step" },
    h("div", { class: "step-text" }, h("p", { class: "said" }, all.length > 1 && `${at + 1}. `, visible(one.question)), one.answer !== null && h("p", { class: "said answer" }, h("b", null, "You: "), visible(one.answer))),
    one.events.length > 0 && eventList(it.id, one.events, it.known))));
}

/** All questions that were answered. */
export function answered(it, state) {
  const all = state.questions.filter(one => one.answer !== null);
  return all.length > 0 && folded(`Questions and answers (${all.length})`, () => questions(it, all));
}

/** A section that is drawn once it is opened. */
function folded(title, draw, isOpen = false) {
  const details = h("details", { class: "card", open: isOpen }, h("summary", null, title));
  const fill = () => { if (details.open && details.childElementCount === 1) details.append(draw()); };
  details.ontoggle = fill;
  fill();
  return details;
}

/** The routine with all that helps to judge it. `actions`: what can be done with it. */
export function reviewed(it, state, actions) {
  const { result } = state, isOver = state.status !== "review";
  if (!result) return [];
  const text = isOver ? folded("The routine as it was compiled", () => routine(it, result)) : routine(it, result);
  const parts = [
    h("section", { class: "card", "aria-label": "Summary" }, h("h4", null, "Summary of the model"), h("p", { class: "said" }, visible(result.summary_message))),
    !isOver && result.difference && folded("What has changed since the text that you read before", () => difference(result.difference), true),
    text,
    result.left_out.length > 0 && folded(`Recorded actions that it leaves out (${result.left_out.length})`, () => leftOut(it, result.left_out), !isOver),
    result.settled.length > 0 && folded(`Open points that the model has settled without asking (${result.settled.length})`, () => settled(it, result.settled), !isOver),
    answered(it, state),
  ];
  if (isOver) return [...parts, ...actions.more()];
  return [h("p", { class: "bar" }, actions.heading("Read the routine"), h("span", { class: "none fill" }, `${result.step_count === 1 ? "1 step" : `${result.step_count} steps`}. At the end of the page you save it, or ask for changes.`)),
    ...parts, h("div", { class: "decide" }, changes(actions), saving(it, result, actions)), ...actions.more()];
}

/** The text, with the recorded events beside its steps. */
function routine(it, result) {
  const markdown = result.routine_markdown, plain = h("pre", { class: "card plain", tabindex: "0", "aria-label": "Text of the routine", hidden: true }, visible(markdown));
  const article = formatted(markdown, n => n ? beside(it, result.step_events[n] ?? []) : null);
  const toggle = button("Plain text", () => {
    plain.hidden = !plain.hidden;
    article.hidden = !plain.hidden;
    toggle.setAttribute("aria-pressed", String(!plain.hidden));
  }, { "aria-pressed": "false" });
  return h("section", { class: "compiled", "aria-label": "Routine" }, h("p", { class: "bar" }, h("h4", { class: "fill" }, "Routine, beside what was recorded"), toggle, button("Copy", click => copy(markdown, click.currentTarget))), article, plain);
}

const beside = (it, events) => events.length ? eventList(it.id, events, it.known) : h("p", { class: "none" }, "No recorded event: it comes from what you said.");

const leftOut = (it, all) => h("ul", { class: "asked" }, all.map(one => h("li", { class: "step" }, h("p", { class: "said step-text" }, visible(one.why)), eventList(it.id, one.events, it.known))));

const settled = (it, all) => h("ul", { class: "asked" }, all.map(one => h("li", { class: "step" },
  h("p", { class: "step-text" }, visible(one.problem), " Settled by ", h("bdi", null, `“${visible(one.quote)}”`), one.event === undefined ? " in your note or an answer" : ` in ${named([one.event])}`),
  one.event !== undefined && eventList(it.id, [one.event], it.known))));

const changes = actions => h("section", { class: "card", "aria-label": "Changes" }, h("h4", null, "Ask for changes"),
  actions.textForm({ name: "changes", label: "What to change", action: "Revise", placeholder: "For example: ask for the city each time.", className: "" }));

/** The name, and the problem with it beside it. */
function saving(it, { goal }, actions) {
  const standard = [...visible(it.own.info.name || goal).replaceAll("/", " ").trim()].slice(0, MOST_NAME).join("");
  const wrong = h("p", { id: "compile-name-problem", class: "wrong", role: "alert" });
  const name = actions.kept("name", h("input", { type: "text", required: true, maxlength: String(MOST_NAME), value: standard, autocomplete: "off", "aria-describedby": "compile-name-problem" }));
  const submit = h("button", { class: "primary" }, "Save as routine");
  const form = h("form", { class: "card start-form", "aria-label": "Save" }, h("h4", null, "Save it"), h("label", null, h("span", { class: "none" }, "Name of the routine"), name), wrong,
    h("p", { class: "bar" }, h("small", { class: "fill" }, "Exactly this text is saved."), submit));
  const told = text => {
    wrong.textContent = text;
    if (text) name.setAttribute("aria-invalid", "true");
    else name.removeAttribute("aria-invalid");
  };
  name.addEventListener("input", () => told(""));
  form.onsubmit = event => {
    event.preventDefault();
    told("");
    submit.disabled = true;
    attempt(async () => {
      const why = await actions.save(name.value.trim());
      if (!why) return;
      told(why);
      name.focus();
    }).finally(() => { submit.disabled = false; });
  };
  return form;
}
