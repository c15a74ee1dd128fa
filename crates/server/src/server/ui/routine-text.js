// The text of a routine, formatted. It may contain texts of pages, which are only ever text.

import { h } from "/ui/dom.js";

/** Lines that begin a paragraph, and lines that are one. */
const BEGINS = /^([-*] |\d+\. |If shown:|For each |Read [\w-]+:|\*\*)/, ALONE = /^(\*\*)?Starting URL:/;
/** Control characters, and what changes the direction of a text. */
const UNSHOWN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A text without characters that hide or reorder others. */
export const visible = text => String(text ?? "").replace(UNSHOWN, "");

/** Markdown as far as routines use it; everything else is shown as it is written. `beside`: returns what stands beside a step,
 * by its number. */
export function formatted(text, beside = () => null) {
  const article = h("article", { class: "card markdown" });
  let fence = null, block = null, place = article;
  const end = () => { block = null; };
  for (const line of visible(text).split("\n")) {
    if (line.startsWith("```")) {
      fence = fence ? null : h("pre", { tabindex: "0", "aria-label": "Schema" });
      if (fence) place.append(fence);
      end();
      continue;
    }
    if (fence) {
      fence.append(line + "\n");
      continue;
    }
    const heading = line.match(/^(#{1,2}) (.*)$/), keyword = line.match(/^\*\*Keywords:\*\*\s*(.+)$/);
    if (heading) {
      const title = h(heading[1].length === 1 ? "h3" : "h4", null, heading[2]);
      const other = beside(Number(heading[2].match(/^Step (\d+):/)?.[1]));
      place = other ? h("div", { class: "step-text" }) : article;
      if (other) article.append(h("section", { class: "step" }, place, other));
      place.append(title);
      end();
    } else if (keyword) {
      place.append(h("p", { class: "keyword" }, h("small", null, "Keyword "), h("code", null, keyword[1].trim())));
      end();
    } else if (!line.trim()) end();
    else {
      if (!block || BEGINS.test(line)) place.append(block = h("p", { class: line.startsWith("**Reasoning:**") ? "reasoning" : "" }));
      else block.append(" ");
      block.append(...inline(line));
      if (ALONE.test(line)) end();
    }
  }
  return article;
}

/** Bold labels and placeholders of a line. */
function inline(line) {
  return line.split(/(\*\*[^*]+\*\*|\{\{[^}]+\}\}|`[^`]+`)/).filter(Boolean).map(part =>
    part.startsWith("**") ? h("strong", null, part.slice(2, -2)) : /^[{`]/.test(part) ? h("code", null, part.replaceAll("`", "")) : part);
}

/** The difference of two texts, in unified form. */
export function difference(text) {
  return h("pre", { class: "difference", tabindex: "0", "aria-label": "Differences" }, visible(text).replace(/^--- .*\n\+\+\+ .*\n/, "").split("\n").map(line =>
    h("span", { class: line[0] === "+" ? "added" : line[0] === "-" ? "removed" : "" }, line + "\n")));
}
