// The composer: what is to be done, with which model and tools, and run, pause and stop.

import { ask } from "/ui/api.js";
import { at, attempt, button, h, problem, worded } from "/ui/dom.js";
import * as loop from "/ui/loop.js";

const PROMPTS = "cdpilot-prompts", OPTIONS = "cdpilot-options";
const EXAMPLES = ["Open example.com and tell me what it says.", "Find the opening hours of the library in my town.", "Compare the prices of three USB-C cables."];
/** What is added to a task if the person wants to see a plan first. */
const PLAN_FIRST = "Before you do anything else, write your plan as a to-do list, and ask me whether it is right.";
/** How many routines the menu shows. */
const MOST_ROUTINES = 8;
const COMMANDS = [
  ["/new", "Begin another conversation", () => { location.hash = "#/"; }],
  ["/pause", "Pause the run", () => change("pause"), "pause"],
  ["/resume", "Continue the run", () => change("resume"), "resume"],
  ["/stop", "Stop the run", () => change("stop"), "end"],
  ["/save", "Keep what you write behind it as a prompt", () => keep(at("text").value.replace(/^\/save\s*/, ""))],
];
let conversation = null, open = () => {}, routines = [], skills = [], staged = null, chosen = 0;

/** Something that was kept in localStorage; never keys or pictures. */
function stored(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

const change = end => conversation && attempt(() => conversation.change(end));

function field(name, label, control) {
  control.id = "option-" + name;
  control.name = name;
  return h("p", null, h("label", { for: control.id }, label), control);
}

/** Shows the options of the next conversation. */
async function options() {
  const kept = stored(OPTIONS, {});
  const [settings, secrets] = await Promise.all([ask("GET", "/api/config"), ask("GET", "/secrets").catch(() => ({ secrets: [] }))]);
  const select = (values, value) => h("select", null, values.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
  const models = settings.llm_configs.map(it => [it.alias, it.alias + (it.is_default ? " (default)" : "")]);
  const names = (secrets.secrets ?? []).map(it => it.name);
  const browsers = [["", "Browser of this server"], ["id", "Another browser, by its id"]];
  const browserId = h("input", { type: "text", autocomplete: "off", placeholder: "Browser id" });
  at("options-body").replaceChildren(
    h("p", { class: "none" }, "For the next new conversation."),
    field("model", "Model", select(models.length ? models : [["", "none configured"]], kept.model ?? settings.default_llm_alias)),
    field("browser", "Browser", select(browsers, "")),
    field("browser_id", "Browser id", browserId),
    field("toolsets", "Tools", h("input", { type: "text", value: kept.toolsets ?? "", placeholder: "visual, todo, clarify" })),
    field("guard", "Approvals", select([["irreversible", "before what cannot be undone"], ["all", "before every change"], ["off", "never"]], settings.agent.guard ?? "irreversible")),
    field("hosts", "Only these hosts", h("input", { type: "text", value: kept.hosts ?? "", placeholder: "those of addresses in the task; *: all" })),
    field("cwd", "Working folder", h("input", { type: "text", value: kept.cwd ?? "", placeholder: settings.default_cwd })),
    field("share_login", "Use the logins of the profile", h("input", { type: "checkbox" })),
    field("plan", "Show a plan first, and ask me", h("input", { type: "checkbox", checked: kept.plan === true })),
    names.length ? h("fieldset", { id: "option-secrets" }, h("legend", null, "Secrets that it may type"),
      names.map(name => h("label", null, h("input", { type: "checkbox", value: name }), " ", name))) : "");
  const showId = () => { at("option-browser_id").parentElement.hidden = at("option-browser").value !== "id"; };
  showId();
  at("options-body").onchange = () => {
    showId();
    // Not what gives the agent more than usual: that is chosen for each task.
    const { model, toolsets, hosts, cwd } = read(), plan = at("option-plan").checked;
    localStorage.setItem(OPTIONS, JSON.stringify({ model, toolsets, hosts, cwd, plan }));
  };
  return settings;
}

function read() {
  const value = name => at("option-" + name)?.value.trim() ?? "";
  return {
    model: value("model"), browser: value("browser"), browser_id: value("browser_id"), toolsets: value("toolsets"), guard: value("guard"),
    hosts: value("hosts"), cwd: value("cwd"), share_login: at("option-share_login")?.checked ?? false,
    secrets: [...at("option-secrets")?.querySelectorAll("input:checked") ?? []].map(it => it.value),
  };
}

const list = text => text.split(/[,\s]+/).filter(Boolean);

/** The hosts of the addresses in a text, with their subdomains: what `cdpilot chat` allows too. */
export function sitesIn(text) {
  const hosts = [];
  for (const [word] of text.matchAll(/https?:\/\/[^\s"'<>()\[\]{}`]+/g)) {
    try {
      const { hostname, username } = new URL(word.split(/[,;]/)[0].replace(/[.:!]+$/, ""));
      const host = hostname.replace(/^www\./, "");
      if (username) continue;
      for (const one of /^[\d.]+$|:/.test(host) ? [host] : [host, "*." + host]) if (!hosts.includes(one)) hosts.push(one);
    } catch {
      // No address.
    }
  }
  return hosts;
}

/** Creates a conversation for a task with the chosen options. Returns its id. */
export async function create(task = "") {
  const it = read(), body = {};
  if (!it.hosts && !it.share_login) it.hosts = sitesIn(task).join(" ");
  if (it.model) body.model = it.model;
  if (it.toolsets) body.toolsets = list(it.toolsets);
  if (it.guard) body.guard = it.guard;
  if (it.hosts) body.hosts = list(it.hosts);
  if (it.cwd) body.cwd = it.cwd;
  if (it.share_login) body.share_login = true;
  if (it.secrets.length) body.secrets = it.secrets;
  if (it.browser === "id") body.browser_id = it.browser_id;
  return (await ask("POST", "/agent/conversations", body)).conversation_id;
}

/** Sends a message to the open conversation. It replaces what a paused run was doing. */
export async function send(text) {
  if (conversation.info.status === "active") await conversation.change("stop");
  await conversation.send(text);
}

async function run() {
  const text = at("text").value.trim();
  if (!text) return at("text").focus();
  const command = COMMANDS.find(([name]) => text === name || text.startsWith(name + " "));
  if (command) {
    await command[2]();
    at("text").value = "";
    return slash();
  }
  const info = conversation?.info, asked = info?.status === "waiting" ? info.question : null;
  if (asked?.kind === "approval") return problem("Allow or refuse the action above first.");
  if (info?.status === "active" && !info.paused) return problem("The agent works. Pause it first; your text stays here.");
  if (asked) {
    if (await attempt(async () => { await conversation.change("answer", { question_id: asked.id, text }); return true; })) {
      at("text").value = "";
      keepDraft();
    }
    return undefined;
  }
  at("run").disabled = true;
  try {
    problem("");
    const isFirst = !conversation;
    if (isFirst) {
      sessionStorage.removeItem(draftOf(null));
      await open(await create(text));
    }
    await send(isFirst && at("option-plan")?.checked ? `${text}\n\n${PLAN_FIRST}` : text);
    if (at("text").value.trim() === text) at("text").value = "";
    keepDraft();
  } catch (error) {
    problem(worded(error));
  } finally {
    at("run").disabled = false;
  }
}

function keepDraft() {
  const text = at("text").value;
  if (text) sessionStorage.setItem(draftOf(conversation), text);
  else sessionStorage.removeItem(draftOf(conversation));
}

function keep(text) {
  const kept = stored(PROMPTS, []);
  if (text.trim() && !kept.includes(text.trim())) localStorage.setItem(PROMPTS, JSON.stringify([...kept, text.trim()].slice(-20)));
  quick();
}

/** Shows kept prompts, or examples, while no conversation is open. */
function quick() {
  const kept = stored(PROMPTS, []);
  const texts = kept.length ? kept : EXAMPLES;
  const chips = texts.map(text => h("span", { class: "chip" },
    button(text, () => { at("text").value = text; at("text").focus(); }),
    kept.length ? button("×", () => { localStorage.setItem(PROMPTS, JSON.stringify(kept.filter(it => it !== text))); quick(); },
      { class: "icon", "aria-label": `Remove the prompt ${text}` }) : null));
  at("quick").replaceChildren(...(conversation ? [] : chips));
}

/** Reads routines and skills for the menu, once it is opened. */
async function readRoutines() {
  [routines, skills] = await Promise.all([ask("GET", "/routines").then(it => it.routines), ask("GET", "/skills").then(it => it.skills)]);
  slash();
}

/** Shows what a text that begins with / may become. */
function slash() {
  const text = at("text").value, menu = at("slash");
  const isOpen = text.startsWith("/") && !text.includes(" ");
  const found = isOpen ? COMMANDS.filter(([name, , , needs]) => name.startsWith(text) && !(needs && at(needs).hidden)) : [];
  menu.hidden = !isOpen;
  chosen = Math.min(chosen, Math.max(found.length - 1, 0));
  menu.replaceChildren(...found.map(([name, meaning, act], index) => h("li", {
    role: "option", id: "slash-" + index, "aria-selected": String(index === chosen),
    onmousedown: down => { down.preventDefault(); pick(name, act); },
  }, h("b", null, name), " ", meaning)));
  if (isOpen) {
    menu.append(...routines.filter(it => `/${it.name}`.startsWith(text) || "/routines".startsWith(text)).slice(0, MOST_ROUTINES).map(it => h("li", {
      role: "option", "aria-selected": "false",
      onmousedown: down => { down.preventDefault(); at("text").value = ""; slash(); location.hash = `#/routines/${it.routine_id}`; },
    }, h("b", null, it.name), " ", it.goal)));
  }
  if (isOpen) {
    menu.append(...skills.filter(it => `/${it.name}`.startsWith(text)).slice(0, MOST_ROUTINES).map(it => h("li", {
      role: "option", "aria-selected": "false",
      onmousedown: down => { down.preventDefault(); at("text").value = `/${it.name} `; slash(); at("text").focus(); },
    }, h("b", null, `/${it.name}`), " ", it.description)));
  }
  if (isOpen && !routines.length) menu.append(h("li", { class: "none", role: "option", "aria-disabled": "true", "aria-selected": "false" }, "There are no routines yet."));
  if (isOpen && found.length) at("text").setAttribute("aria-activedescendant", "slash-" + chosen);
  else at("text").removeAttribute("aria-activedescendant");
  return found;
}

function pick(name, act) {
  if (name !== "/save") {
    at("text").value = "";
    act();
  } else at("text").value = "/save ";
  slash();
  at("text").focus();
}

function keys(key) {
  const found = at("slash").hidden ? [] : slash();
  if (found.length && ["ArrowDown", "ArrowUp"].includes(key.key)) {
    key.preventDefault();
    chosen = (chosen + (key.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
    return slash();
  }
  if (key.key === "Escape" && !at("slash").hidden) {
    at("text").value = "";
    return slash();
  }
  if (key.key !== "Enter" || key.shiftKey || key.isComposing) return;
  key.preventDefault();
  if (found.length) pick(found[chosen][0], found[chosen][2]);
  else run();
}

const number = value => value >= 10000 ? `${Math.round(value / 1000)} k` : String(value);

/** Shows the state of the conversation: buttons, tokens and cost. */
export function state() {
  const info = conversation?.info;
  const isRunning = info?.status === "active", isWaiting = info?.status === "waiting";
  at("pause").hidden = !isRunning || info.paused;
  at("resume").classList.toggle("primary", Boolean(isRunning && info.paused));
  at("run").classList.toggle("primary", !(isRunning && info.paused));
  at("resume").hidden = !(info && (isRunning && info.paused || !isRunning && !isWaiting && info.unfinished));
  at("end").hidden = !isRunning && !isWaiting;
  const isBusy = isRunning && !info.paused || isWaiting;
  at("run").hidden = isBusy;
  at("run").textContent = isRunning ? "Send instead" : conversation ? "Send" : "Run";
  at("text").placeholder = isRunning && info.paused ? "Resume the run, or say what to do instead." : isRunning ? "The agent works. Pause it to say something." : isWaiting ? info.question?.kind === "approval" ? "Allow or refuse the action above." : "Answer here, or above."
    : conversation ? "Say what comes next." : "Describe a task. Type / for commands.";
  at("options").hidden = Boolean(conversation);
  const metrics = info?.usage, tokens = metrics?.accumulated_token_usage;
  const all = tokens ? (tokens.prompt_tokens ?? 0) + (tokens.completion_tokens ?? 0) : null;
  const cost = metrics?.accumulated_cost;
  const parts = [info?.model, all !== null && `${number(all)} tokens`, cost !== null && cost !== undefined && `${cost.toFixed(4)} ${metrics.currency ?? ""}`];
  // How much of the model's context the last request filled.
  const [turn, context] = [tokens?.per_turn_token ?? 0, tokens?.context_window ?? 0];
  const bar = context > 0 && h("meter", { min: "0", max: String(context), high: String(context * 0.8), value: String(turn), title: `${number(turn)} of ${number(context)} tokens of context`, "aria-label": "Context in use" });
  at("usage").replaceChildren(...[parts.filter(Boolean).join(" · "), bar ? " " : "", bar].filter(Boolean));
}

/** Where the text is kept that is not sent yet. */
const draftOf = it => "cdpilot-draft-" + (it?.id ?? "new");

/** Shows another conversation; `null`: a new one. */
export function show(other) {
  conversation = other;
  at("text").value = sessionStorage.getItem(draftOf(other)) ?? "";
  loop.show(other === null);
  quick();
  state();
  if (!conversation) options().catch(error => problem(worded(error)));
}

/** `opens`: opens a conversation by its id, and returns it. Returns the settings of the server. */
export async function begin(opens) {
  open = opens;
  at("composer").onsubmit = submit => { submit.preventDefault(); run(); };
  at("pause").onclick = () => change("pause");
  at("resume").onclick = () => change("resume");
  at("end").onclick = () => change("stop");
  at("text").onkeydown = keys;
  at("text").oninput = () => {
    if (at("text").value === "/") readRoutines().catch(() => {});
    chosen = 0;
    slash();
    keepDraft();
  };
  at("text").onblur = () => { at("slash").hidden = true; };
  const settings = await options();
  loop.begin({ create });
  return settings;
}
