// The models: the content of llm.json, with masked keys.

import { ask } from "/ui/api.js";
import { at, attempt, button, h, sureButton, worded } from "/ui/dom.js";
import * as kept from "/ui/kept.js";
import * as loop from "/ui/loop.js";

const FIELDS = [
  ["model", "Model", "text", "Its name at the endpoint"],
  ["base_url", "Address", "text", "https://api.example.com/v1"],
  ["api_key", "Key", "password", "Empty if none is needed"],
];
const MORE = [
  ["api_key_env", "Environment variable with the key", "text", "MY_API_KEY"],
  ["context_window", "Context window, in tokens", "number", "128000"],
  ["max_output_tokens", "Longest answer, in tokens", "number", ""],
];
let cards = [], changed = () => {}, isChanged = false;

function card(alias, model, isDefault) {
  const inputs = {};
  const row = ([name, label, type, placeholder]) => {
    inputs[name] = h("input", { type, placeholder, value: String(model[name] ?? ""), autocomplete: "off", required: name === "model" || name === "base_url" });
    return h("label", null, h("span", null, label), inputs[name]);
  };
  const name = h("input", { type: "text", value: alias, required: true, pattern: "\\S+", "aria-label": "Name of the model" });
  const standard = h("input", { type: "radio", name: "default", checked: isDefault });
  const profile = h("select", null, ["big", "small"].map(it => h("option", { value: it, selected: it === (model.profile ?? "big") }, it === "big" ? "large models" : "small models")));
  const vision = h("input", { type: "checkbox", checked: model.vision !== false });
  const price = ["input", "cached_input", "output"].map(it => [it, h("input", { type: "number", min: "0", step: "any", value: String(model.price?.[it] ?? "") })]);
  const currency = h("input", { type: "text", value: model.price?.currency ?? "", placeholder: "USD", size: "5" });
  const tested = h("p", { class: "none", role: "status" });
  const element = h("fieldset", { class: "card" },
    h("legend", null, name, " ", h("label", null, standard, " default")),
    h("div", { class: "grid" }, FIELDS.map(row)),
    h("details", null, h("summary", null, "More"), h("div", { class: "grid" }, MORE.map(row),
      h("label", null, h("span", null, "Prompts for"), profile),
      h("label", null, h("span", null, "Sees pictures"), vision)),
    h("p", { class: "none" }, "Prices per million tokens"), h("div", { class: "grid" },
      price.map(([it, input]) => h("label", null, h("span", null, it.replace("_", " ")), input)), h("label", null, h("span", null, "Currency"), currency))),
    tested,
    h("p", { class: "bar" }, sureButton("Remove", "Remove this model?", () => { touched(); cards = cards.filter(other => other.element !== element); element.remove(); })));
  const value = () => {
    // Fields that this page does not show stay as they are.
    const it = { ...model, profile: profile.value, vision: vision.checked };
    for (const [key, , type] of [...FIELDS, ...MORE]) {
      const text = inputs[key].value.trim();
      if (text === "") delete it[key];
      else it[key] = type === "number" ? Number(text) : key === "base_url" ? addressed(text) : text;
    }
    const prices = price.filter(([, input]) => input.value !== "").map(([key, input]) => [key, Number(input.value)]);
    if (prices.length) it.price = { ...Object.fromEntries(prices), currency: currency.value.trim() || "USD" };
    else delete it.price;
    return it;
  };
  return { element, name, standard, value, tested, before: JSON.stringify([alias, value()]) };
}

/** An address with its scheme: https, or http on this machine. */
export function addressed(text) {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  return (/^(localhost|127\.|\[::1\])/.test(text) ? "http://" : "https://") + text;
}

function touched() {
  isChanged = true;
  at("saved").textContent = "Not saved yet";
}

async function store(form) {
  if (!form.reportValidity()) return;
  const names = cards.map(it => it.name.value.trim());
  const twice = cards.find((it, index) => names.indexOf(it.name.value.trim()) !== index);
  if (twice) {
    twice.name.setCustomValidity("Another model has this name.");
    twice.name.oninput = () => twice.name.setCustomValidity("");
    return form.reportValidity();
  }
  const models = {};
  for (const it of cards) models[it.name.value.trim()] = it.value();
  const standard = cards.find(it => it.standard.checked) ?? cards[0];
  const done = await attempt(() => ask("POST", "/api/config/llm", { models, ...(standard ? { default: standard.name.value.trim() } : {}) }));
  if (!done) return;
  isChanged = false;
  const isNew = it => it.before !== JSON.stringify([it.name.value.trim(), it.value()]);
  const toTest = cards.filter(isNew).map(it => it.name.value.trim());
  await show(false);
  at("saved").textContent = "Saved.";
  const answers = await Promise.all(cards.filter(it => toTest.includes(it.name.value.trim())).map(test));
  changed(answers.every(Boolean));
}

/** Sends a stored model one request, and shows what comes of it. Returns whether it answers. */
async function test(it) {
  it.tested.className = "none";
  it.tested.textContent = "Asking the model …";
  try {
    const done = await ask("POST", "/api/config/llm/test", { alias: it.name.value.trim() });
    it.tested.textContent = `It answered in ${done.tookMs} ms.${done.withPicture || it.value().vision === false ? "" : " It does not accept pictures: clear “Sees pictures”."}`;
    return true;
  } catch (error) {
    it.tested.className = "notice bad";
    it.tested.textContent = `Saved, but a test failed: ${worded(error)}`;
    return false;
  }
}

/** Shows the settings. `isFirst`: there is no model yet. */
export async function show(isFirst) {
  // What is not saved yet stays.
  if (isChanged && at("settings")) return;
  const settings = await ask("GET", "/api/config");
  if (settings.problem) {
    // Saving would replace the file, with the keys in it.
    return at("view-settings").replaceChildren(h("section", { class: "card" }, h("h2", null, "Models"), h("p", { role: "alert" }, settings.problem),
      h("p", { class: "bar" }, button("Read it again", () => attempt(() => show(isFirst))))), loop.settings());
  }
  const { models, default: standard } = await ask("GET", "/api/config/llm");
  cards = Object.entries(models).map(([alias, model]) => card(alias, clean(model), alias === standard || Object.keys(models).length === 1));
  const list = h("div", { id: "models" }, cards.map(it => it.element));
  const add = () => {
    const names = cards.map(other => other.name.value.trim());
    let alias = "main";
    for (let number = 2; names.includes(alias); number += 1) alias = `model-${number}`;
    const it = card(alias, {}, !cards.length);
    cards.push(it);
    list.append(it.element);
    it.element.querySelector(".grid input").focus();
  };
  const form = h("form", { id: "settings", oninput: touched, onsubmit: submit => { submit.preventDefault(); store(form); } },
    h("h2", null, isFirst ? "Set up a model" : "Models"),
    h("p", null, "The agent is driven by a model with an OpenAI-compatible endpoint: of a provider, or on this machine. Keys are stored in llm.json in the home of cdpilot, readable by you only."),
    list,
    h("p", { class: "bar" }, button("Add a model", add), h("span", { class: "fill" }), h("span", { id: "saved", role: "status" }), h("button", { class: "primary" }, "Save")));
  at("view-settings").replaceChildren(form, kept.settings(), loop.settings());
  if (!cards.length) add();
}

/** A model without the fields that have no value. */
const clean = model => Object.fromEntries(Object.entries(model).filter(([, value]) => value !== null));

/** `then`: called after the models have changed, with whether they answer. */
export function begin(then) {
  changed = then;
}
