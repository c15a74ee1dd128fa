//! Fields of React, Vue and rich-text editors keep what the visual tools enter: it is in the state of the component or the
//! model of the editor, not only in the document.

use serde_json::{Value, json};

use crate::support::page_libraries::{REACT, VUE, serve};
use crate::support::share::share;
use crate::support::tool_home::ToolHome;

/// Shows a page that loads libraries.
fn showing(files: &[&str], html: &str) -> Option<ToolHome> {
    let tooled = ToolHome::new("")?;
    serve(&tooled.home.site, files)?;
    tooled.home.site.page("/", html);
    tooled.done("tab", json!({ "action": "init", "url": tooled.home.site.url("a", "/") }));
    Some(tooled)
}

/// The tools on the page that they show.
struct Form<'a> {
    tooled: &'a ToolHome,
    seen: String,
}

impl<'a> Form<'a> {
    fn of(tooled: &'a ToolHome) -> Self {
        let mut seen = String::new();
        for page in 1.. {
            let look = tooled.done("highlight", json!({ "page": page }));
            seen += look["observation"].as_str().unwrap();
            if look["pages"] == page {
                break;
            }
        }
        Self { tooled, seen }
    }

    fn id(&self, part: &str) -> &str {
        let line = self.seen.lines().find(|line| line.contains("): <") && line.contains(part));
        line.unwrap_or_else(|| panic!("no {part:?} in:\n{}", self.seen)).split('(').next().unwrap()
    }

    /// Previews an action on an element and confirms it.
    fn confirmed(&self, action: &str, part: &str, more: &Value) -> Value {
        let mut call = json!({ "action": action, "element_id": self.id(part) });
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        self.tooled.done("element_interaction", call);
        self.tooled.done("element_interaction", json!({ "action": format!("confirm_{action}") }))
    }

    fn types(&self, part: &str, text: &str) {
        self.confirmed("keyboard_input", part, &json!({ "text": text }));
    }

    fn value(&self, script: &str) -> Value {
        self.tooled.done("browser_evaluate", json!({ "script": script }))["result"].clone()
    }

    /// A field of the component's state, as the component was last rendered with it.
    fn state(&self, field: &str) -> Value {
        self.value(&format!("JSON.parse(JSON.stringify(state.{field}))"))
    }
}

/// The same form, made by a library. `state` is what it was last rendered with; "Again" renders it again.
fn fill_and_check(tooled: &ToolHome) {
    let form = Form::of(tooled);
    let (mut code, mut note, mut size, mut news, mut way) = ("X", 8, "s", false, "mail");
    let texts = [
        ("aria-label=\"Name\"", "name", "Ada Lovelace", "Ada Lovelace"),
        ("aria-label=\"Code\"", "code", "ab-12", "AB-12"),
        ("aria-label=\"Note\"", "note", "first line\nsecond \u{e9}\u{1f642}", "first line\nsecond \u{e9}\u{1f642}"),
    ];
    for (part, field, text, kept) in share(texts, 1) {
        form.types(part, text);
        // Some fields only take their text when the focus leaves them.
        assert!(field == "note" || form.state(field) == kept, "{part}: {}", form.state(field));
        form.confirmed("click", ">Again<", &json!({}));
        assert_eq!(form.state(field), kept, "{part} rendered again");
        let shown = form.value(&format!("document.querySelector('[{part}]').value"));
        assert_eq!(shown, kept, "{part} in the document");
        match field {
            "code" => code = kept,
            "note" => note = kept.encode_utf16().count(),
            _ => {}
        }
    }
    form.types("aria-label=\"Name\"", "");
    assert_eq!(
        (form.state("name"), form.value("document.querySelector('[aria-label=Name]').value")),
        (json!(""), json!(""))
    );
    for field in share(["size", "news", "way", "zoom"], 2) {
        match field {
            "size" => {
                form.confirmed("select", "aria-label=\"Size\"", &json!({ "value": "Large" }));
                size = "l";
                assert_eq!(form.state("size"), size);
            }
            "news" => {
                form.confirmed("click", "type=\"checkbox\"", &json!({}));
                news = true;
                assert_eq!(form.state("news"), news);
            }
            "way" => {
                form.confirmed("click", "value=\"post\"", &json!({}));
                way = "post";
                assert_eq!(form.state("way"), way);
            }
            _ => {
                let zoom = form.id("aria-label=\"Zoom\"").to_owned();
                let slide = json!({ "action": "set_slider", "element_id": zoom, "value": "70%" });
                form.tooled.done("element_interaction", slide);
                assert_eq!(form.state("zoom").to_string().trim_matches('"'), "70");
            }
        }
    }
    let typed = form.confirmed("keyboard_input", "aria-label=\"Name\"", &json!({ "text": "Grace", "submit": true }));
    assert_eq!(form.state("sent"), json!(["Grace"]), "{typed}");
    form.confirmed("click", ">Send<", &json!({}));
    assert_eq!(form.state("sent"), json!(["Grace", "Grace"]));
    let whole = form.value("[state.code, state.note.length, state.size, state.news, state.way, document.querySelector('[aria-label=Size]').value]");
    assert_eq!(whole, json!([code, note, size, news, way, size]), "nothing else has changed");
}

#[test]
fn controlled_fields_of_react_keep_what_is_entered() {
    let files = ["react/umd/react.production.min.js", "react-dom/umd/react-dom.production.min.js"];
    let Some(tooled) = showing(&files, REACT) else { return };
    fill_and_check(&tooled);
}

#[test]
fn models_of_vue_keep_what_is_entered() {
    let Some(tooled) = showing(&["vue/dist/vue.global.prod.js"], VUE) else { return };
    fill_and_check(&tooled);
}

/// Types into an editor, replaces its text, and clears it; `model` is its own text.
fn edit_and_check(tooled: &ToolHome, field: &str, model: &str) {
    let form = Form::of(tooled);
    assert_eq!(form.value(model), "old text", "before");
    let first = share(["A new text, with \u{e4} and \u{1f642}.", "one\ntwo\nthree"], 1);
    for text in first.into_iter().chain(["", "After it was empty"]) {
        form.types(field, text);
        assert_eq!(form.value(model), text, "{text:?}");
    }
    // The editor draws from its model: what it draws next holds the text.
    form.confirmed("click", ">Redraw<", &json!({}));
    assert_eq!(form.value(model), "After it was empty");
    assert_eq!(form.value("document.querySelector('[contenteditable=true]').innerText.trim()"), "After it was empty");
}

#[test]
fn the_model_of_quill_holds_what_is_typed() {
    let page = r##"<!doctype html><title>Quill</title><style>.ql-clipboard { display: none } .ql-editor { min-height: 100px; padding: 20px; white-space: pre-wrap } button { margin: 20px }</style>
        <button onclick="quill.setContents(quill.getContents())">Redraw</button><div id=editor>old text</div><script src=/lib/quill/dist/quill.js></script>
        <script>const quill = new Quill("#editor", { modules: { toolbar: false } }); const text = () => quill.getText().replace(/\n$/, "");</script>"##;
    let Some(tooled) = showing(&["quill/dist/quill.js"], page) else { return };
    edit_and_check(&tooled, "ql-editor", "text()");
}

#[test]
fn the_document_of_prosemirror_holds_what_is_typed() {
    let packages = ["commands", "keymap", "model", "schema-basic", "state", "transform", "view"];
    let mut files: Vec<String> = packages.iter().map(|name| format!("prosemirror-{name}/dist/index.js")).collect();
    files.extend(["orderedmap/dist/index.js".to_owned(), "w3c-keyname/index.js".to_owned()]);
    let imports: serde_json::Map<String, Value> =
        files.iter().map(|file| (file.split('/').next().unwrap().to_owned(), json!(format!("/lib/{file}")))).collect();
    let page = format!(
        r#"<!doctype html><title>ProseMirror</title><style>.ProseMirror {{ min-height: 100px; padding: 20px; white-space: pre-wrap }} button {{ margin: 20px }}</style>
        <script type=importmap>{}</script><button onclick="view.updateState(view.state)">Redraw</button><div id=editor></div>
        <script type=module>
        import {{ EditorState }} from "prosemirror-state";
        import {{ EditorView }} from "prosemirror-view";
        import {{ schema }} from "prosemirror-schema-basic";
        import {{ keymap }} from "prosemirror-keymap";
        import {{ baseKeymap }} from "prosemirror-commands";
        const doc = schema.node("doc", null, [schema.node("paragraph", null, [schema.text("old text")])]);
        window.view = new EditorView(document.getElementById("editor"), {{ state: EditorState.create({{ doc, plugins: [keymap(baseKeymap)] }}) }});
        window.text = () => view.state.doc.textBetween(0, view.state.doc.content.size, "\n");
        </script>"#,
        json!({ "imports": imports }),
    );
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let Some(tooled) = showing(&files, &page) else { return };
    edit_and_check(&tooled, "ProseMirror", "text()");
}
