// Routines: the list, and one of them as text, in an editor, with its runs and versions.

import { ask, picture, stream } from "/ui/api.js";
import { at, attempt, button, h, problem, sureButton } from "/ui/dom.js";
import { oneLine } from "/ui/recording-lines.js";
import { difference, formatted } from "/ui/routine-text.js";

const TEMPLATE = `# Workflow: What this routine achieves

## Prerequisites
Starting URL: https://example.com/

## Step 1: What the first step does
Say here what a person would do, in one or two sentences.

## Result
Say here what the run returns.
`;
const TRUST = { untried: "not tried", verified: "works", failing: "failed last time" };
/** What is known of whether it works. A routine that was made from a recording is trusted once it was compared with it. */
const trustOf = it => it.trust === "untried" && it.source_recording_id ? "not verified" : TRUST[it.trust] ?? it.trust;
const STATUS = { running: "Running", waiting: "Waiting for you", done: "Done", failed: "Failed", stopped: "Stopped", interrupted: "Interrupted" };
const BY = { fast: "program", model: "model", person: "you" };
const MARKS = { done: "✓", unverified: "✓", healed: "✓", skipped: "–", failed: "×", pending: "○" };
const PARTS = [["text", "Text"], ["edit", "Edit"], ["runs", "Runs"], ["versions", "Versions"]];

let shown = 0;

const time = seconds => new Date(seconds * 1000).toLocaleString();
const pathOf = (routine, end = "") => `/routines/${encodeURIComponent(routine.routine_id)}${end}`;

/** Shows the list, or one routine: `id`, and a part of it. */
export async function show(id, part = "text") {
  const turn = ++shown;
  if (!id) return list(turn);
  if (id === "new") return at("view-routines").replaceChildren(page("New routine", editor(null)));
  const { routine } = await ask("GET", `/routines/${encodeURIComponent(id)}`);
  const known = PARTS.some(([name]) => name === part) ? part : "text";
  const body = await { text: read, edit: editor, runs, versions }[known](routine);
  if (turn !== shown) return;
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the routine" }, PARTS.map(([name, label]) =>
    h("button", { role: "tab", "aria-selected": String(name === known), onclick: () => { location.hash = `#/routines/${routine.routine_id}/${name}`; } }, label)));
  at("view-routines").replaceChildren(page(routine.name, tabs, body, routine));
  if (part !== "verify" || !routine.source_recording_id) return;
  // A verification begins without logins, unless the person wants them.
  at("view-routines").querySelector(".own-login").checked = true;
  at("view-routines").querySelector(".verify").focus();
}

function page(title, ...rest) {
  const routine = rest.at(-1)?.routine_id ? rest.pop() : null;
  return h("div", { class: "routine" },
    h("p", { class: "bar" }, h("a", { href: "#/routines" }, "← All routines"), h("span", { class: "fill" }),
      routine && sureButton("Delete", "Delete it with its runs?", () => attempt(async () => {
        await ask("DELETE", pathOf(routine));
        location.hash = "#/routines";
      }))),
    h("h2", null, title, routine && h("small", null, ` version ${routine.version}, ${trustOf(routine)}`)),
    routine && origin(routine), rest.flat());
}

/** The recording that it was made from. */
function origin({ source, source_recording_id: id }) {
  if (source === "present" && id) {
    const link = h("a", { href: `#/recordings/${id}` }, "Made from a recording");
    ask("GET", `/recordings/${id}`).then(({ recording }) => { if (recording.name) link.replaceChildren("Made from the recording ", h("bdi", null, `“${oneLine(recording.name)}”`)); }, () => {});
    return h("p", { class: "none" }, link);
  }
  return source === "deleted" && h("p", { class: "none" }, "Made from a recording, which was deleted.");
}

async function list(turn) {
  const { routines } = await ask("GET", "/routines");
  if (turn !== shown) return;
  const row = it => h("li", { class: "card" }, h("a", { href: `#/routines/${it.routine_id}` },
    h("strong", null, it.name), h("span", null, it.goal),
    h("small", null, `${it.step_count} steps, ${trustOf(it)}${it.proposed ? ", a new version is proposed" : ""}`)));
  at("view-routines").replaceChildren(h("div", { class: "routine" },
    h("p", { class: "bar" }, h("h2", null, "Routines"), h("span", { class: "fill" }), button("New routine", () => { location.hash = "#/routines/new"; }, { class: "primary" })),
    h("p", { class: "none" }, "Tasks that are written down once, and done step by step: by the program where they were recorded, else by a model."),
    routines.length ? h("ul", { class: "routines" }, routines.map(row)) : h("p", { class: "none" }, "There are no routines yet.")));
}

/** The text, formatted; how to run it; what is allowed in its runs. */
function read(routine) {
  return [runForm(routine), routine.proposed && h("p", { class: "notice" }, `A run proposes version ${routine.proposed.version}. `,
    h("a", { href: `#/routines/${routine.routine_id}/versions` }, "Compare and decide")), formatted(routine.routine_markdown), permissions(routine)];
}

function runForm(routine) {
  const inputs = routine.inputs.map(it => [it, h("input", {
    type: it.sensitive ? "password" : "text", autocomplete: "off", placeholder: it.secret ? `the secret ${it.secret}` : "", value: it.sensitive ? "" : it.default ?? "",
    required: it.default === undefined && !it.secret,
  })]);
  const own = h("input", { type: "checkbox", class: "own-login", checked: routine.defaults.login === "own" });
  const fast = routine.fast_steps.length, how = h("select", { "aria-label": "Model" },
    h("option", { value: "" }, fast === routine.step_count ? "A model only for steps that have changed" : `A model for ${routine.step_count - fast} of ${routine.step_count} steps`),
    h("option", { value: "none" }, "No model: stop where one is needed"));
  const form = h("form", { class: "card run-form", "aria-label": "Run" },
    inputs.length > 0 && h("div", { class: "grid" }, inputs.map(([it, control]) => h("label", null, h("span", null, it.name + (it.sensitive ? " (no model sees it)" : "")), control))),
    h("p", { class: "bar" }, h("label", null, own, " Without the logins of the profile"), fast > 0 && how, h("span", { class: "fill" }),
      routine.source_recording_id && h("button", { class: "verify", value: "verify", title: "Run it once and compare each step with the recording" }, "Verify"), h("button", { class: "primary" }, "Run")));
  form.onsubmit = submit => {
    submit.preventDefault();
    const isVerified = submit.submitter?.value === "verify";
    const given = inputs.filter(([it, control]) => control.value || !it.sensitive && !it.secret).map(([it, control]) => [it.name, control.value]);
    attempt(() => start(routine, { inputs: Object.fromEntries(given), login: own.checked ? "own" : "profile", ...(isVerified ? { verify: true } : {}), ...(how.value ? { model: how.value } : {}) }));
  };
  return form;
}

/** Starts a run, and opens its conversation. Leaving the stream does not stop it. */
async function start(routine, body) {
  const leave = new AbortController();
  let id = null;
  const take = (name, _, data) => {
    if (name !== "connected" || id) return;
    id = data.conversation_id;
    location.hash = "#/c/" + id;
    leave.abort();
  };
  await stream("POST", pathOf(routine, "/run"), { body, signal: leave.signal, take }).catch(error => {
    if (!id) throw error;
  });
}

function permissions(routine) {
  if (!routine.allowed.length) return null;
  const line = (it, index) => h("li", { class: "bar" },
    h("span", null, `Step ${it.step}: ${it.effect} with the ${it.role} “${it.name}” at ${it.origin}${it.valid ? ` until ${new Date(it.expires_at * 1000).toLocaleDateString()}` : " (no longer valid)"}`),
    button("Take back", () => attempt(async () => {
      await ask("DELETE", pathOf(routine, `/allowed/${index}`));
      await show(routine.routine_id);
    })));
  return h("section", { class: "card" }, h("h3", null, "Allowed without a question"), h("ul", null, routine.allowed.map(line)));
}

/** The text in an editor. Problems stand beside their lines; the text stays whatever happens. */
function editor(routine) {
  const draft = "cdpilot-routine-" + (routine?.routine_id ?? "new");
  const before = routine?.routine_markdown ?? TEMPLATE;
  const name = h("input", { type: "text", required: true, maxlength: "100", value: routine?.name ?? "", "aria-label": "Name", placeholder: "Name" });
  const text = h("textarea", { class: "mono", spellcheck: "false", "aria-label": "Text of the routine", wrap: "off" });
  text.value = sessionStorage.getItem(draft) ?? before;
  const gutter = h("pre", { class: "gutter", "aria-hidden": "true" }), problems = h("ul", { class: "problems", role: "status" });
  let wrong = new Map();
  const number = () => {
    const count = text.value.split("\n").length;
    gutter.replaceChildren(...Array.from({ length: count }, (_, at) => h("span", { class: wrong.has(at + 1) ? "bad" : "", title: wrong.get(at + 1) ?? "" }, `${at + 1}\n`)));
    text.style.height = `${Math.min(count + 2, 40) * 1.5}em`;
    gutter.style.height = text.style.height;
  };
  const jump = line => {
    const lines = text.value.split("\n"), from = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(from, from + (lines[line - 1] ?? "").length);
  };
  text.oninput = () => {
    sessionStorage.setItem(draft, text.value);
    number();
  };
  text.onscroll = () => { gutter.scrollTop = text.scrollTop; };
  const form = h("form", { class: "card editor" }, h("p", { class: "bar" }, name, h("span", { class: "fill" }),
    button("Discard changes", () => { sessionStorage.removeItem(draft); text.value = before; wrong = new Map(); problems.replaceChildren(); number(); }, { type: "button" }),
    h("button", { class: "primary" }, "Save")), h("div", { class: "lines" }, gutter, text), problems);
  form.onsubmit = submit => {
    submit.preventDefault();
    attempt(async () => {
      [wrong] = [new Map()];
      problems.replaceChildren();
      try {
        const body = { name: name.value.trim(), routine_markdown: text.value };
        const done = routine ? await ask("PATCH", pathOf(routine), { ...body, version: routine.version }) : await ask("POST", "/routines", body);
        sessionStorage.removeItem(draft);
        location.hash = `#/routines/${done.routine.routine_id}`;
        if (routine) await show(routine.routine_id);
      } catch (error) {
        const all = error.details?.problems ?? [];
        wrong = new Map(all.map(it => [it.line, it.message]));
        problems.replaceChildren(...all.map(it => h("li", null, button(`Line ${it.line}`, () => jump(it.line), { type: "button" }), " ", it.message)));
        number();
        if (!all.length) throw error;
        problem(`The text has ${all.length === 1 ? "a problem" : `${all.length} problems`}; nothing was stored.`);
      }
    });
  };
  number();
  return form;
}

async function runs(routine) {
  const { runs: all } = await ask("GET", pathOf(routine, "/runs"));
  if (!all.length) return h("p", { class: "none" }, "It was not run yet.");
  return h("ul", { class: "routine-runs" }, all.map((it, index) => h("li", { class: "card" }, h("details", { open: index === 0 },
    h("summary", null, h("span", { class: `badge ${it.status}` }, STATUS[it.status] ?? it.status), ` ${time(it.started_at)}, version ${it.version}`,
      h("small", null, ` ${it.counts.done} of ${it.steps.length} steps, ${it.model_requests} requests to the model${it.code ? `, ${it.code}` : ""}`)),
    h("p", null, h("a", { href: "#/c/" + it.run_id }, "Open the run"), it.proposed_version && [" · ", h("a", { href: `#/routines/${routine.routine_id}/versions` }, `It proposes version ${it.proposed_version}`)]),
    h("table", null, h("thead", null, h("tr", null, ["", "Step", "By", "Time", "Requests", it.steps.some(one => one.recorded_image) && "Recorded", "Picture"].filter(name => name !== false).map(name => h("th", { scope: "col" }, name)))), h("tbody", null, it.steps.map(one => step(one, it.steps.some(other => other.recorded_image))))),
    it.verification && compared(it.verification),
    it.result && h("section", null, h("h4", null, "Result"), h("p", { class: "mono" }, it.result.text))))));
}

/** What the comparison with the recording has shown. */
function compared({ verified, up_to, problems }) {
  const said = !verified ? "Not verified" : up_to === undefined ? "Verified: every step did what was recorded" : `Verified up to step ${up_to}: the action after it cannot be undone, so it was not done`;
  return h("section", null, h("h4", null, "Comparison with the recording"), h("p", null, said), problems.length > 0 && h("ul", null, problems.map(one => h("li", null,
    `${one.n ? `Step ${one.n}` : "At the end"}: recorded `, h("bdi", null, one.sought), "; found ", h("bdi", null, one.found)))));
}

/** A picture of the server, once it is loaded; larger with a click. */
function loaded(path, alt) {
  const image = h("img", { alt, hidden: true, tabindex: "0" });
  picture(path).then(blob => {
    const url = URL.createObjectURL(blob);
    image.onload = () => URL.revokeObjectURL(url);
    image.src = url;
    image.hidden = false;
  }, () => {});
  const turn = () => image.classList.toggle("large");
  image.onclick = turn;
  image.onkeydown = key => { if (key.key === "Enter") turn(); };
  return image;
}

function step(it, hasRecorded) {
  const items = it.items ? ` (${it.items.done} of ${it.items.total} items)` : "";
  const why = it.cause && (it.status === "healed" ? ["recorded: ", h("bdi", null, it.cause.sought)] : ["sought: ", h("bdi", null, it.cause.sought), "; found: ", h("bdi", null, it.cause.found)]);
  const found = it.status === "unverified" ? "done; nothing shows that it had an effect" : why || it.note || "";
  return h("tr", { class: it.status },
    h("td", { title: it.status }, MARKS[it.status] ?? "", h("span", { class: "hidden-label" }, it.status)),
    h("td", null, `${it.n}. ${it.title}${items}`, found && h("small", null, found)),
    h("td", null, BY[it.how] ?? ""), h("td", null, `${it.seconds < 10 ? it.seconds.toFixed(1) : Math.round(it.seconds)} s`), h("td", null, String(it.model_requests)),
    hasRecorded && h("td", null, it.recorded_image && loaded(it.recorded_image, `The page when step ${it.n} was recorded`)),
    h("td", null, it.image && loaded(it.image, `The page in step ${it.n}`)));
}

/** Elements that a run has found in place of recorded ones, with both pictures. */
function replaced(found) {
  const side = (name, what, path) => h("figure", null, h("figcaption", null, h("b", null, name), " ", h("bdi", null, what)), path && loaded(path, `${name}: ${what}`));
  return found.map(it => h("section", null, h("h4", null, `Step ${it.step}`), h("div", { class: "pair" }, side("Recorded", it.was, it.recorded_image), side("Found", it.now, it.image))));
}

async function versions(routine) {
  const { versions: all } = await ask("GET", pathOf(routine, "/versions"));
  return h("ul", { class: "routine-runs" }, all.map((it, index) => {
    const before = all[index + 1], isNow = it.version === routine.version;
    const place = h("div");
    const decide = (way, label, more) => button(label, () => attempt(async () => {
      await ask("POST", pathOf(routine, `/versions/${it.version}/${way}`), {});
      await show(routine.routine_id, "versions");
    }), more);
    const compare = before && button(`Compare with version ${before.version}`, () => attempt(async () => {
      const { difference: changes } = await ask("GET", pathOf(routine, `/versions/${it.version}?against=${before.version}`));
      place.replaceChildren(difference(changes));
    }));
    if (it.state === "proposed") {
      ask("GET", pathOf(routine, `/versions/${it.version}`)).then(({ found }) => place.prepend(...replaced(found)), () => {});
    }
    return h("li", { class: "card" }, h("p", { class: "bar" }, h("strong", null, `Version ${it.version}`),
      h("span", null, `${isNow ? "in use" : it.state}, ${time(it.created_at)}${it.run_id ? ", by a run" : ""}`), h("span", { class: "fill" }), compare,
      !isNow && decide("approve", it.state === "accepted" ? "Use it again" : "Use it", it.state === "proposed" ? { class: "primary" } : {}),
      it.state === "proposed" && decide("reject", "Reject")), place);
  }));
}
