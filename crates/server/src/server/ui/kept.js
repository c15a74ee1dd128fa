// What models keep for later conversations: notes, which people correct here, and skills.

import { ask } from "/ui/api.js";
import { attempt, button, h } from "/ui/dom.js";

const HEADS = { memory: "Of the agent", user: "About you" };

/** The notes and skills as a part of the settings. */
export function settings() {
  const files = h("div", { class: "kept" }), skills = h("ul", { class: "plain" }), done = h("span", { role: "status" });
  const file = it => {
    const text = h("textarea", { rows: "5", value: it.text, spellcheck: "false", "aria-label": `${HEADS[it.target]}, one note on each line` });
    const length = h("span", { class: "none" }, `${it.chars} of ${it.limit} characters`);
    const save = button("Save the notes", async () => {
      const now = await attempt(() => ask("POST", "/memory", { target: it.target, text: text.value, before: it.text }));
      if (!now) return;
      done.textContent = "Saved.";
      await read();
    });
    return h("section", null, h("h3", null, HEADS[it.target]), text, h("p", { class: "bar" }, length, h("span", { class: "fill" }), save));
  };
  const read = async () => {
    const [{ memory }, known] = await Promise.all([ask("GET", "/memory"), ask("GET", "/skills")]);
    files.replaceChildren(...memory.map(file));
    skills.replaceChildren(...known.skills.map(it => h("li", null, h("b", null, `/${it.name}`), " ", it.description, " ", h("span", { class: "none" }, `by ${it.origin}`))));
  };
  const undo = button("Undo the last change", async () => {
    const now = await attempt(() => ask("POST", "/memory/undo", {}));
    if (!now) return;
    done.textContent = `Undone: ${HEADS[now.memory.target].toLowerCase()}.`;
    await read();
  });
  attempt(read);
  return h("section", { class: "card" },
    h("h2", null, "What models remember"),
    h("p", null, "With the toolset memory, models keep short notes, and each conversation reads them when it begins. The comment behind a note says where it comes from; a line without one is yours."),
    files, h("p", { class: "bar" }, done, h("span", { class: "fill" }), undo),
    h("h3", null, "Skills"),
    h("p", null, "Saved instructions. A message that begins with the name of one, such as /", h("i", null, "name"), " and a task, follows it. They are in the folder skills of the home."),
    skills);
}
