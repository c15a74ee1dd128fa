// Signs in, shows one of the views, and keeps the open conversation up to date.

import { ask, enter, onSignedOut, setDefaultProfile, setProfile } from "/ui/api.js";
import { at, attempt, h, problem, worded } from "/ui/dom.js";
import { Conversation } from "/ui/conversation.js";
import * as browser from "/ui/browser.js";
import * as composer from "/ui/composer.js";
import * as drawer from "/ui/drawer.js";
import * as inspect from "/ui/inspect.js";
import * as plan from "/ui/plan.js";
import * as question from "/ui/question.js";
import * as recordings from "/ui/recordings.js";
import * as routines from "/ui/routines.js";
import { save as saveRun } from "/ui/save-run.js";
import * as settings from "/ui/settings.js";
import * as stage from "/ui/stage.js";
import * as timeline from "/ui/timeline.js";

/** How often a running conversation and the list are read again, in milliseconds. */
const [BEAT, LIST_BEAT] = [2000, 5000];
let conversation = null, isConnected = true, isFirst = false, isOut = false;

/** Shows the content, or how to sign in. */
function signedIn(isIn, why = "") {
  at("app").hidden = !isIn;
  at("outside").hidden = isIn;
  at("outside-problem").textContent = why;
}

function takeOver() {
  const info = conversation?.info;
  if (info?.status === "active" && !info.paused) conversation.change("pause").catch(error => problem(worded(error)));
  stage.live(true);
  at("screen").focus();
}

let shownStatus = "";

function changed() {
  const { status, paused, title, mode, last_event: last } = conversation.info;
  at("save").hidden = !last;
  at("to-routine").hidden = !last || mode !== "chat" || ["active", "waiting"].includes(status);
  const now = `${conversation.id} ${status} ${paused} ${title}`;
  if (now !== shownStatus) drawer.refresh().catch(() => {});
  shownStatus = now;
  stage.state(isConnected);
  composer.state();
  plan.show(conversation);
  question.show(conversation, takeOver);
}

/** Opens a conversation, or none. Returns it once it is loaded. */
async function open(id) {
  if (conversation?.id === id) return conversation;
  conversation?.close();
  const own = conversation = id === null ? null : new Conversation(id, {
    changed: () => own === conversation && changed(),
    connected: yes => {
      if (own !== conversation) return;
      isConnected = yes;
      stage.state(yes);
    },
    events: (list, isEarlier) => {
      if (own !== conversation) return;
      question.show(conversation, takeOver);
      if (!isEarlier) {
        timeline.append(list);
        stage.events(list);
      }
      if (list.some(event => event.todos)) plan.show(own);
    },
    delta: data => own === conversation && stage.part(data),
    unstored: text => problem(text),
    gone: () => {
      if (own !== conversation) return;
      location.hash = "#/";
      problem("This conversation was deleted.");
    },
  });
  isConnected = true;
  timeline.show(own);
  stage.show(own);
  composer.show(own);
  question.show(own, takeOver);
  plan.show(own);
  at("save").hidden = at("to-routine").hidden = true;
  drawer.mark(id);
  document.querySelector("nav a[data-view=agent]").href = "#/";
  if (id === null) return null;
  document.querySelector("nav a[data-view=agent]").href = "#/c/" + id;
  if (location.hash !== "#/c/" + id) history.pushState(null, "", "#/c/" + id);
  try {
    await own.open();
  } catch (error) {
    if (own === conversation) {
      // It may be opened again.
      conversation = null;
      own.close();
      if (error.status === 404) location.hash = "#/";
    }
    throw error;
  }
  return own;
}

/** Shows what the address says. */
async function route() {
  const [, view, id, part] = location.hash.match(/^#\/(c|browser|recordings|routines|settings)?(?:\/([\w-]+))?(?:\/(\w+))?/) ?? [];
  const name = isFirst && !view ? "settings" : ["browser", "recordings", "routines", "settings"].includes(view) ? view : "agent";
  document.body.dataset.view = name;
  for (const one of ["agent", "routines", "recordings", "browser", "settings"]) at("view-" + one).hidden = one !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (name !== "recordings") recordings.leave();
  try {
    if (name === "settings") await settings.show(isFirst);
    else if (name === "routines") await routines.show(id, part);
    else if (name === "recordings") await recordings.show(id, part);
    else if (name === "browser") browser.refresh();
    else await open(view === "c" && id ? id : null);
  } catch (error) {
    problem(worded(error));
  }
}

function beat() {
  if (isOut) return;
  const info = conversation?.info;
  if (!document.hidden && info && ["active", "waiting"].includes(info.status)) {
    conversation.refresh().then(() => { if (!isConnected) { isConnected = true; changed(); } }, () => { isConnected = false; stage.state(false); });
  }
  setTimeout(beat, BEAT);
}

function listBeat() {
  if (isOut) return;
  if (!document.hidden && !at("view-agent").hidden) {
    drawer.refresh().then(list => {
      // Another program may have begun a run.
      const now = list?.find(it => it.id === conversation?.id), info = conversation?.info;
      if (now && info && (now.status !== info.status || now.last_event !== info.last_event)) conversation.refresh().catch(() => {});
    }, () => {});
  }
  if (!document.hidden && !at("view-recordings").hidden) recordings.refresh().catch(() => {});
  setTimeout(listBeat, LIST_BEAT);
}

async function begin() {
  const { profiles } = await ask("GET", "/profiles");
  const select = at("profile");
  select.replaceChildren(...profiles.map(it => h("option", { value: it.name, selected: it.isDefault }, it.name)));
  select.closest("label").hidden = profiles.length < 2;
  select.onchange = () => { setProfile(select.value); browser.follow(); };
  setProfile(select.value);
  setDefaultProfile(profiles.find(it => it.isDefault)?.name ?? "");
  drawer.begin();
  timeline.begin();
  plan.begin(composer.send);
  stage.begin();
  recordings.begin(() => conversation);
  inspect.begin(stage.tab, stage.pageSize, () => conversation?.info?.profile);
  at("save").onclick = () => attempt(async () => {
    at("save").textContent = "Saving…";
    await saveRun(conversation).finally(() => { at("save").textContent = "Save as a file"; });
  });
  at("to-routine").onclick = () => attempt(async () => {
    const { recording_id: id } = await ask("POST", conversation.path("recording"), {});
    location.hash = `#/recordings/${id}/compile`;
  });
  browser.begin(() => conversation?.info?.status === "waiting" && conversation.refresh().catch(() => {}));
  signedIn(true);
  browser.follow();
  settings.begin(works => {
    composer.show(conversation);
    if (isFirst && works) location.hash = "#/";
    if (works) isFirst = false;
  });
  const state = await composer.begin(open).catch(error => { problem(worded(error)); return { is_configured: true }; });
  isFirst = !state.is_configured;
  addEventListener("hashchange", route);
  addEventListener("popstate", route);
  document.addEventListener("visibilitychange", () => {
    browser.look(!document.hidden);
    if (!document.hidden) conversation?.refresh().catch(() => {});
  });
  await route();
  beat();
  listBeat();
}

onSignedOut(() => { isOut = true; browser.leave(); recordings.leave(); conversation?.close(); signedIn(false); });

try {
  if (await enter(globalThis.cdpilotTicket)) await begin();
  else signedIn(false);
} catch (error) {
  if (at("app").hidden) signedIn(false, error.message);
  else problem(worded(error));
}
