// Recording: reports to the program. Each is kept until it is acknowledged, and passed again until then.
// Uses: node, trace-element.

const MOST_UNACKNOWLEDGED = 3000;
const MOST_PAYLOAD = 60000;
const RESEND_MS = 1500;
const AT_ONCE = 200;
// More events than a person causes: the bucket and what it regains in a second.
const BUCKET = 400;
const REGAINED = 60;

// Events with screenshots.
const PICTURED = /^(click|change|submit|focus|drag|file_chosen)$/;

class Reports {
  constructor(binding) {
    this.binding = binding;
    this.last = 0;
    /** By number: the text, and when it was last sent. */
    this.waiting = new Map();
    this.dropped = 0;
    this.bucket = BUCKET;
    this.filled = performance.now();
    /** Shadow roots that are listened in. */
    this.roots = new Set();
  }

  /** Whether an event more is plausible; a page that floods events is stopped here. */
  admits() {
    const now = performance.now();
    this.bucket = Math.min(BUCKET, this.bucket + ((now - this.filled) / 1000) * REGAINED);
    this.filled = now;
    if (this.bucket < 1) {
      this.dropped++;
      return false;
    }
    this.bucket--;
    return true;
  }

  /** Reports an event. `replaces`: the number of the one that it says more of. Returns its number; 0 if it was dropped. */
  send(kind, element, data, { replaces = 0, at = 0, cause = 0, pressed = 0 } = {}) {
    if (kind !== "gap" && !this.admits()) return 0;
    if (this.dropped && kind !== "gap") {
      const count = this.dropped;
      this.dropped = 0;
      this.send("gap", null, { count, why: "the page caused more events than a person can" });
    }
    const n = ++this.last;
    const report = {
      doc: token,
      n,
      of: replaces || n,
      at: performance.timeOrigin + (at || performance.now()),
      kind,
      element,
      data,
      cause,
      pressed: pressed ? performance.timeOrigin + pressed : 0,
      url: String(location.href).slice(0, 4000),
      title: cutText(GET_TITLE.call(document)),
      areas: PICTURED.test(kind) ? sensitiveAreas(this.roots) : [],
    };
    const covered = (element, data) => ({ ...report, element: withoutTyped(element), data: withoutTyped(data), url: withoutTyped(report.url), title: withoutTyped(report.title) });
    let text = JSON.stringify(covered(element, data));
    if (text.length > MOST_PAYLOAD) {
      const less = kind === "input" ? { ...data, value: cutText(data.value || ""), cut: true } : data;
      text = JSON.stringify({ ...covered(element && { ...element, html: "", text: "" }, less), areas: [] });
    }
    this.waiting.set(n, { text, at: performance.now() });
    if (this.waiting.size > MOST_UNACKNOWLEDGED) {
      for (const old of this.waiting.keys()) {
        this.waiting.delete(old);
        this.dropped++;
        break;
      }
    }
    this.pass(text);
    return n;
  }

  pass(text) {
    try {
      globalThis[this.binding](text);
    } catch {
      // Reported again later.
    }
  }

  resend() {
    const now = performance.now();
    let left = AT_ONCE;
    for (const one of this.waiting.values()) {
      if (left-- <= 0) break;
      if (now - one.at < RESEND_MS) continue;
      one.at = now;
      this.pass(one.text);
    }
  }

  acknowledge(n) {
    for (const known of this.waiting.keys()) {
      if (known > n) break;
      this.waiting.delete(known);
    }
  }
}
