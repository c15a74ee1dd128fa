// The open conversation: its state and its events, kept up to date by one stream.

import { ask, stream } from "/ui/api.js";
import { called } from "/ui/words.js";

/** How many events are loaded at first, and with each earlier part. */
const PART = 300;
/** How many events are kept. Earlier ones are loaded again when they are wanted. */
const MOST = 3000;
const ROUTE = "/agent/conversations";
/** Characters that are kept of a text, and of one with the problems of a routine. */
const [MOST_TEXT, MOST_PROBLEMS] = [600, 6000];
const sleep = time => new Promise(done => setTimeout(done, time));

/** What the page keeps of an event: enough for its line. */
function short(id, name, data) {
  const text = String(data.text ?? data.message ?? data.error ?? ""), most = data.tool_name === "submit_routine" ? MOST_PROBLEMS : MOST_TEXT;
  return {
    id, name, type: data.type ?? name, time: data.timestamp ?? null, role: data.role, tool: data.tool_name,
    call: data.tool_call_id, ok: data.success, text: text.length > most ? text.slice(0, most) + "…" : text,
    doing: data.type === "ActionEvent" ? String(called(data.tool_name, data.action)).slice(0, 300) : "", image: data.image, heldUp: data.held_up,
    todos: data.type === "ActionEvent" && data.tool_name === "todo" ? data.action : null,
    stopped: data.stopped, code: data.code, question: name === "help_request" ? data : null,
    thinking: data.reasoning_content ? String(data.reasoning_content).slice(0, 300) : "",
  };
}

export class Conversation {
  /** `on`: `changed()` after a change of its state, `events(list, earlier)` with events, `delta(data)` with a part of an answer. */
  constructor(id, on) {
    Object.assign(this, { id, on, info: null, events: [], most: MOST, first: 0, last: 0, abort: new AbortController(), isOpen: true, isFollowing: false });
  }

  path(end) {
    return `${ROUTE}/${encodeURIComponent(this.id)}${end ? "/" + end : ""}`;
  }

  /** Loads its state and its last events, and follows it while it runs. */
  async open() {
    await this.refresh();
    if (!this.isOpen) return;
    this.first = Math.max(0, this.info.last_event - PART);
    await this.load(this.first, this.info.last_event);
    this.isLoaded = true;
    if (this.isBusy()) this.follow();
  }

  /** Whether a run is in progress or waits. */
  isBusy() {
    return ["active", "waiting"].includes(this.info?.status);
  }

  close() {
    this.isOpen = false;
    this.abort.abort();
  }

  /** Reads the state again; never twice at once, because an older answer must not follow a newer one. */
  refresh() {
    this.next ??= (this.reading ?? Promise.resolve()).catch(() => {}).then(() => {
      [this.reading, this.next] = [this.next, null];
      return this.read();
    });
    return this.next;
  }

  async read() {
    const { conversation, tabs } = await ask("GET", this.path()).catch(error => {
      if (error.status === 404 && this.isOpen) this.on.gone();
      throw error;
    });
    if (!this.isOpen) return;
    this.info = conversation;
    this.tabs = tabs ?? [];
    this.on.changed();
    // A stream may have ended before its last events.
    if (this.isLoaded && (this.isBusy() || conversation.last_event > this.last)) this.follow();
  }

  async load(after, until) {
    const limit = until - after;
    if (limit <= 0) return;
    const { events } = await ask("GET", this.path(`events?after=${after}&limit=${limit}`));
    if (this.isOpen) this.add(events.map(it => [it.event, it.id, it.data]));
  }

  /** Loads events before the first one. */
  async loadEarlier() {
    const from = Math.max(0, this.first - PART);
    const { events } = await ask("GET", this.path(`events?after=${from}&limit=${this.first - from}`));
    if (!this.isOpen) return;
    this.first = from;
    const list = events.map(it => short(it.id, it.event, it.data));
    this.events = [...list, ...this.events];
    this.most = Math.max(this.most, this.events.length);
    this.on.events(list, true);
  }

  add(list) {
    const added = [];
    for (const [name, id, data] of list) {
      const number = Number(id);
      if (!(number > this.last)) continue;
      this.last = number;
      added.push(short(number, name, data));
    }
    if (!added.length) return;
    this.events.push(...added);
    if (this.events.length > this.most) {
      this.events.splice(0, this.events.length - this.most);
      this.first = this.events[0].id - 1;
    }
    this.on.events(added, false);
  }

  take(name, id, data) {
    if (!this.isOpen) return;
    if (data.type === "TextDelta") return this.on.delta(data);
    if (name === "connected") return;
    if (id === null) {
      // What could not be stored has no id.
      if (name === "error") this.on.unstored(data.error);
      return;
    }
    this.add([[name, id, data]]);
    if (["help_request", "complete", "error", "usage_metrics"].includes(name)) this.refresh().catch(() => {});
  }

  /** Follows the stream while the conversation runs or waits; begins again after a lost connection. */
  async follow() {
    if (this.isFollowing) return;
    this.isFollowing = true;
    let pause = 300;
    try {
      while (this.isOpen) {
        try {
          const take = (...event) => { pause = 300; this.take(...event); };
          await stream("GET", this.path("stream"), { after: this.last, signal: this.abort.signal, take });
          const { conversation, tabs } = await ask("GET", this.path());
          [this.info, this.tabs] = [conversation, tabs ?? []];
          this.on.connected(true);
          this.on.changed();
          if (!this.isBusy() && conversation.last_event <= this.last) return;
        } catch (problem) {
          if (!this.isOpen || problem.status === 401 || problem.status === 404) return;
          this.on.connected(false);
        }
        await sleep(pause);
        pause = Math.min(pause * 2, 5000);
      }
    } finally {
      this.isFollowing = false;
    }
  }

  /** Sends a message, which starts a run. Returns once the run has begun; the answer is its stream. */
  async send(text) {
    // The stream of a run before may be about to end.
    while (this.isFollowing) await sleep(50);
    this.isFollowing = true;
    const started = new Promise((done, failed) => {
      const take = (...event) => { done(); this.take(...event); };
      stream("POST", this.path("messages"), { body: { text }, signal: this.abort.signal, take }).then(done, failed).finally(() => {
        this.isFollowing = false;
        if (this.isOpen) this.refresh().catch(() => this.follow());
      });
    });
    await started;
    await this.refresh();
  }

  /** `pause`, `resume`, `stop` or `answer`. */
  async change(end, body = {}) {
    await ask("POST", this.path(end), body);
    await this.refresh();
  }

  /** All stored events. */
  async all() {
    const all = [];
    for (;;) {
      const { events } = await ask("GET", this.path(`events?after=${all.at(-1)?.id ?? 0}&limit=1000`));
      all.push(...events);
      if (events.length < 1000) return all;
    }
  }

  /** A stored event with all its fields. */
  async whole(id) {
    const { events } = await ask("GET", this.path(`events?after=${id - 1}&limit=1`));
    return events[0];
  }
}
