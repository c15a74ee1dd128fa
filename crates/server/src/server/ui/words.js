// States, tool calls and their results in words, for people.

import { cut } from "/ui/dom.js";

const TOOLS = {
  todo: "Plan", tab: "Tab", highlight: "Look", element_interaction: "Page", dialog: "Dialog", clarify: "Question", please_help_me: "Request for help",
  request_host: "Host", terminal: "Command", process: "Command", read_file: "File", write_file: "File", patch: "File", search_files: "Files", web_search: "Web search", web_extract: "Web page",
  trace_viewer: "Recording", draft: "Draft", submit_routine: "Routine", ask_user: "Question",
};
const TABS = { init: "Open", open: "Open", switch: "Switch to tab", close: "Close tab", refresh: "Reload", back: "Go back", forward: "Go forward", view: "Look at the page", list: "List tabs" };
const DEEDS = {
  click: "Click", confirm_click: "Confirm the click", hover: "Point at", scroll: "Scroll", swipe: "Swipe", drag: "Drag", keyboard_input: "Type", confirm_keyboard_input: "Confirm the text",
  select: "Choose", confirm_select: "Confirm the choice", upload: "Upload", confirm_upload: "Confirm the upload",
};

const DRAFTS = { read: "Read the draft", write: "Write the draft", replace: "Change a passage of the draft" };
/** Rows of a recording that a model reads at once, unless it names a number, and most of them. */
const [ROWS, MOST_ROWS] = [20, 50];

const STATES = { active: "Running", waiting: "Waiting for you", error: "Failed" };

/** The state of a conversation. */
export function stateName(info) {
  if (info.paused) return "Paused";
  if (info.queued) return "Queued";
  if (info.status !== "idle") return STATES[info.status] ?? info.status;
  return info.unfinished ? "Stopped" : info.message_count ? "Done" : "New";
}

/** An argument of a POSIX shell, quoted. */
export const quoted = argument => "'" + String(argument).replaceAll("'", "'\\''") + "'";

/** Arguments of a model may be anything. */
const text = value => ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";

/** The name of a tool. */
export const toolName = name => TOOLS[name] ?? String(name ?? "").replace(/^browser_/, "").replaceAll("_", " ");

/** What a look at a recording shows. */
function viewed({ command, start, count, event, after }) {
  const first = Number(start) || 0, rows = `${first + 1} to ${first + Math.min(Number(count) || ROWS, MOST_ROWS)}`;
  switch (command) {
    case "summary": return "Read the summary";
    case "events": return `Read the events, rows ${rows}`;
    case "normalized_steps": return `Read the derived steps, rows ${rows}`;
    case "event_detail": return `Read all fields of event ${event}`;
    case "keyframe": return `Look at the screenshot ${after === "true" ? "after" : "before"} event ${event}`;
  }
  return command ?? "";
}

/** What a call is to do. */
export function called(tool, given) {
  const it = Object.fromEntries(Object.entries(given && typeof given === "object" ? given : {}).map(([name, value]) => [name, name === "todos" ? value : text(value)]));
  switch (tool) {
    case "todo": return Array.isArray(it.todos) ? "Update the plan" : "Read the plan";
    case "tab": return [TABS[it.action] ?? it.action, it.url ?? it.tab_id].filter(Boolean).join(" ");
    case "highlight": return "Find elements" + (it.keywords ? `: ${it.keywords}` : "");
    case "element_interaction": return [DEEDS[it.action] ?? it.action, it.element_id, it.text || it.value ? `"${it.text || it.value}"` : "", it.direction].filter(Boolean).join(" ");
    case "dialog": return `${it.dialog_action ?? ""} the dialog`;
    case "clarify": return it.question ?? "";
    case "please_help_me": return it.message ?? "";
    case "request_host": return it.host ?? "";
    case "terminal": return it.command ?? "";
    case "trace_viewer": return viewed(it);
    case "draft": return DRAFTS[it.command] ?? it.command;
    case "submit_routine": return "Submit the routine";
    case "ask_user": return it.question ?? "";
  }
  return cut(Object.values(it).map(text).filter(Boolean).join(" · "), 200);
}

/** What a result says, without the text of the page. */
export function result(event) {
  if (event.ok === false) return event.text;
  if (event.tool === "todo") return "The plan is stored.";
  if (event.tool === "trace_viewer") return event.text.split("\n")[0];
  if (event.text.startsWith("{")) {
    const answer = event.text.match(/"answer":\s*("(?:[^"\\]|\\.)*")/)?.[1];
    if (answer) {
      try {
        return `Answer: ${JSON.parse(answer)}`;
      } catch {
        // It was cut.
      }
    }
    const page = event.text.match(/"title":\s*"((?:[^"\\]|\\.)*)"/)?.[1];
    return page ? `The page is ${page}.` : "Done.";
  }
  return event.text.split(/<<page|\n/)[0].trim() || "Done.";
}

/** Kinds of effects that need approval, in the plural. */
export const KINDS = {
  purchase: "purchases", delete: "deletions", send: "messages that are sent", account: "changes of accounts", submit: "forms that are sent", upload: "uploads", secret: "uses of secrets",
  key: "keys", script: "scripts", raw: "raw commands", command: "commands", file: "changes of files", tool: "calls of this tool", unknown: "actions of unknown effect", request: "requests",
};
