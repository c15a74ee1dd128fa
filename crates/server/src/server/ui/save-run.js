// A run as one file that needs nothing else: what was said, done and asked, with its pictures.

import { picture } from "/ui/api.js";
import { h } from "/ui/dom.js";

const STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1c1e}li{border-top:1px solid #ddd;padding:.6rem 0;list-style:none}"
  + "ol{padding:0}img{max-width:100%;border:1px solid #ccc}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f3f3f5;padding:.5rem}b{margin-right:.5rem}time{color:#666;float:right}.failed b{color:#b42318}";

const data = blob => new Promise(done => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result);
  reader.onerror = () => done(null);
  reader.readAsDataURL(blob);
});

function name(event, it) {
  if (event === "help_request") return "Question";
  if (event !== "agent_event") return event;
  return { MessageEvent: it.role === "user" ? "User" : "Model", ActionEvent: `Calls ${it.tool_name}`, ObservationEvent: `Result of ${it.tool_name}`, SystemEvent: "Notice" }[it.type] ?? it.type;
}

async function row({ id, event, data: it }) {
  const images = await Promise.all((it.images ?? (it.image ? [it.image] : [])).map(async path => {
    const blob = await picture(path).catch(() => null);
    const url = blob && await data(blob);
    return url ? h("p", null, h("img", { src: url, alt: "Picture of the page" })) : h("p", null, "(The picture is no longer stored.)");
  }));
  const text = it.text || it.message || it.error || "";
  return h("li", { class: it.success === false || event === "error" ? "failed" : "", id: "event-" + id },
    it.timestamp && h("time", null, new Date(it.timestamp * 1000).toISOString()),
    h("b", null, name(event, it)),
    text && h("pre", null, text),
    it.action && typeof it.action === "object" && h("pre", null, JSON.stringify(it.action, null, 2)),
    event === "help_request" && it.kind === "approval" && h("pre", null, JSON.stringify({ action: it.action, origin: it.origin, destination: it.destination, values: it.values }, null, 2)),
    images);
}

/** Saves a conversation as a file. */
export async function save(conversation) {
  const events = (await conversation.all()).filter(it => it.event !== "usage_metrics");
  const rows = [];
  for (const event of events) rows.push(await row(event));
  const title = conversation.info.title || "Task";
  const root = h("html", { lang: "en" },
    h("head", null, h("meta", { charset: "utf-8" }), h("title", null, title), h("style", null, STYLE)),
    h("body", null, h("h1", null, title), h("p", null, `Model ${conversation.info.model}. Stored secrets are painted over in pictures and named in texts.`), h("ol", null, rows)));
  const url = URL.createObjectURL(new Blob(["<!doctype html>\n", new XMLSerializer().serializeToString(root).replace(' xmlns="http://www.w3.org/1999/xhtml"', "")], { type: "text/html" }));
  const link = h("a", { href: url });
  const name = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40);
  link.download = `cdpilot-${name || conversation.id.slice(0, 8)}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
