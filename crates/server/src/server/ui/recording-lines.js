// Events of recordings as lines of text, in the words of `cdpilot record` (crates/cli/src/record/lines.rs). Texts of pages
// are untrusted: they are cleaned and cut.

/** Characters of a text of a page, and of an address, that are shown. */
const [SHOWN, SHOWN_URL] = [60, 100];
const UNSHOWN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const OF_TABS = ["tab_created", "tab_activated", "tab_ready", "tab_navigated", "tab_back", "tab_forward", "tab_closed"];

/** A text on one line, without control characters and bidirectional formatting. */
export const oneLine = given => String(given ?? "").replace(UNSHOWN, "").split(/[\n\t]/).map(part => part.trim()).filter(Boolean).join(" ");

const text = value => typeof value === "string" ? oneLine(value) : value === null || value === undefined ? "" : oneLine(JSON.stringify(value));
const number = value => Math.trunc(Math.max(0, Number(value) || 0));
const list = value => Array.isArray(value) ? value : [];

function cutLine(given, most) {
  const characters = [...given];
  return characters.length <= most ? given : characters.slice(0, most - 1).join("") + "…";
}

const quoted = given => `“${cutLine(oneLine(given), SHOWN)}”`;
const address = given => cutLine(oneLine(given), SHOWN_URL);

/** An element by its role and name, or a place as it is given. */
function place(value) {
  if (typeof value === "string") return cutLine(oneLine(value), SHOWN);
  const first = names => names.map(name => text(value?.[name])).find(Boolean) ?? "";
  const role = first(["role", "tag"]), name = first(["name", "label", "text", "test_id"]);
  return name ? `${role} ${quoted(name)}`.trimStart() : role;
}

/** The element of an event: its role and its name, what is around it, and its frame. */
function element({ element: it, frame }) {
  if (!it) return "";
  let shown = place(it);
  const title = text(it.container?.title), last = list(frame).at(-1);
  if (title) shown += ` in ${text(it.container.kind)} ${quoted(title)}`;
  if (last) shown += ` in frame ${quoted(text(last.name) || text(last.url))}`;
  return shown;
}

function change(data) {
  if (typeof data.checked === "boolean") return data.checked ? "checked" : "unchecked";
  if (!Array.isArray(data.values)) return quoted(text(data.value));
  return data.values.map(one => quoted(text(one?.label) || text(one?.value))).join(", ");
}

function clicked(data) {
  const button = text(data.button), count = number(data.count);
  const times = count < 2 ? "" : count === 2 ? " (double)" : ` (${count} times)`;
  return (["", "left"].includes(button) ? "" : ` (${button} button)`) + times;
}

function dialog(data) {
  const entered = typeof data.prompt_text === "string" ? ` with ${quoted(data.prompt_text)}` : "";
  return `${text(data.type)} ${quoted(text(data.message))}: ${data.accepted === true ? "accepted" : "dismissed"}${entered}`;
}

function missing(data) {
  const is = !Number.isInteger(data.count) ? "events are" : data.count === 1 ? "1 event is" : `${data.count} events are`;
  return `${is} missing: ${address(text(data.why))}`;
}

function what(event, kind) {
  const data = event.data ?? {}, subject = element(event);
  const with_ = more => !more ? subject : subject ? `${subject}: ${more}` : more;
  switch (kind) {
    case "click": return subject + clicked(data);
    case "input": return with_(data.value === null || data.value === undefined ? "(not recorded)" : quoted(text(data.value)));
    case "change": return with_(change(data));
    case "keydown": return with_([...list(data.modifiers).map(text), text(data.key)].join("+"));
    case "scroll": return with_(`to ${number(data.x)}, ${number(data.y)}`);
    case "drag": return `${place(data.from)} to ${place(data.to)}`;
    case "file_chosen": return with_(list(data.names).map(name => quoted(text(name))).join(", "));
    case "dialog": return dialog(data);
    case "download": return quoted(text(data.filename));
    case "gap": return missing(data);
    case "page_view":
    case "recording_started": return address(text(event.page?.url));
  }
  if (!OF_TABS.includes(kind)) return subject;
  return `tab ${number(event.tab)} ${address(typeof data.url === "string" ? data.url : event.page?.url)}`.trimEnd();
}

/** What an event was about; its number and type stand before it. */
export function about(event) {
  const shown = what(event, text(event.event_type));
  return event.by === "agent" ? `${shown}  (agent)`.trimStart() : shown;
}

/** How many events and gaps a recording has. */
export function counted({ event_count: events, gaps }) {
  const all = events === 1 ? "1 event" : `${events} events`;
  return gaps ? `${all}, ${gaps === 1 ? "1 gap" : `${gaps} gaps`}` : all;
}
