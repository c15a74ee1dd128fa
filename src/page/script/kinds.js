// Tables of kinds; see role.js for the meaning of a kind.
// Uses: nothing.

/** ARIA's roles by the tokens that authors write. */
const ARIA_ROLES = new Map();
for (const role of (
  "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
  "comment complementary contentinfo definition deletion dialog document emphasis feed figure form generic grid gridcell " +
  "group heading image insertion link list listbox listitem log main mark marquee math menu menubar menuitem " +
  "menuitemcheckbox menuitemradio meter navigation none note option paragraph progressbar radio radiogroup region row " +
  "rowgroup rowheader scrollbar search searchbox sectionfooter sectionheader separator slider spinbutton status strong " +
  "subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree " +
  "treegrid treeitem doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-biblioentry " +
  "doc-bibliography doc-biblioref doc-chapter doc-colophon doc-conclusion doc-cover doc-credit doc-credits " +
  "doc-dedication doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-footnote doc-foreword " +
  "doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice doc-pagebreak doc-pagefooter " +
  "doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip doc-toc " +
  "graphics-document graphics-object graphics-symbol"
).split(" ")) {
  ARIA_ROLES.set(role, role);
}
ARIA_ROLES.set("directory", "list").set("img", "image").set("presentation", "none");

/** HTML elements whose kind depends on nothing else. */
const TAG_KINDS = {
  abbr: "Abbr", address: "group", article: "article", aside: "complementary", audio: "Audio",
  blockquote: "blockquote", br: "LineBreak", canvas: "Canvas", caption: "caption", code: "code", dd: "definition", del: "deletion",
  details: "Details", dfn: "term", dialog: "dialog", dir: "list", dl: "DescriptionList", dt: "term", em: "emphasis",
  embed: "EmbeddedObject", fencedframe: "Iframe", fieldset: "group", figcaption: "Figcaption", figure: "figure",
  footer: "Footer", form: "form", frame: "Iframe", h1: "heading", h2: "heading", h3: "heading", h4: "heading",
  h5: "heading", h6: "heading", header: "Header", hgroup: "group", hr: "separator", iframe: "Iframe", img: "image",
  ins: "insertion", label: "LabelText", legend: "Legend", main: "main", mark: "mark", menu: "list", meter: "meter",
  nav: "navigation", object: "PluginObject", ol: "list", optgroup: "group", output: "status", p: "paragraph",
  progress: "progressbar", rp: "RubyAnnotation", rt: "RubyAnnotation", ruby: "Ruby", s: "deletion", search: "search",
  section: "Section", strong: "strong", sub: "subscript", sup: "superscript", textarea: "textbox", time: "time",
  ul: "list", video: "Video",
};

const INPUT_KINDS = {
  checkbox: "checkbox", color: "ColorWell", date: "Date", "datetime-local": "DateTime", file: "button", image: "button",
  month: "DateTime", number: "spinbutton", radio: "radio", range: "slider", search: "searchbox", time: "InputTime",
  week: "DateTime",
};
