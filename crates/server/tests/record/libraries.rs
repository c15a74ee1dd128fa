//! Recordings of fields of React and Vue, and of a rich-text editor.

use serde_json::{Value, json};

use super::recording_capture::{Stage, actions};
use crate::support::api::TestServer;
use crate::support::page_libraries::{REACT, VUE, serve};

/// Fills the form in and sends it.
fn work_in_form(files: &[&str], html: &str) {
    let Some(served) = TestServer::browsing() else { return };
    let Some(()) = serve(&served.site, files) else { return };
    served.site.page("/", html);
    let stage = Stage::of(served, "/");
    let person = &stage.person;
    let field = |label: &str| format!("document.querySelector('[aria-label={label}]')");
    stage.served.api.until("the form", &stage.path(""), |_| person.eval(&format!("!!{}", field("Name"))) == true);
    for (label, text) in [("Name", "Ada"), ("Code", "b"), ("Note", "!")] {
        person.click(&field(label));
        // At the end, wherever the click has put the caret.
        person.eval(&format!("{0}.setSelectionRange(99, 99)", field(label)));
        person.write(text);
    }
    person.click("document.querySelector('input[type=checkbox]')");
    person.click("document.querySelectorAll('input[type=radio]')[1]");
    person.click("[...document.querySelectorAll('button')].at(-1)");
    let sent = person.eval("JSON.parse(JSON.stringify(state))");
    assert_eq!(
        (&sent["sent"], &sent["code"], &sent["news"]),
        (&json!(["oldAda"]), &json!("XB"), &json!(true)),
        "{sent}"
    );
    assert_eq!(
        actions(&stage.events()),
        [
            "click textbox \"Name\"",
            "input textbox \"Name\" \"oldAda\"",
            "click textbox \"Code\"",
            "input textbox \"Code\" \"XB\"",
            "click textbox \"Note\"",
            "input textbox \"Note\" \"old\\ntext!\"",
            "change checkbox \"\" true",
            "change radio \"\" true",
            "click button \"Send\"",
            "submit form \"\"",
        ]
    );
}

#[test]
fn forms_of_react_are_recorded() {
    work_in_form(&["react/umd/react.production.min.js", "react-dom/umd/react-dom.production.min.js"], REACT);
}

#[test]
fn forms_of_vue_are_recorded() {
    work_in_form(&["vue/dist/vue.global.prod.js"], VUE);
}

#[test]
fn text_in_an_editor_is_one_input() {
    let html = "<!doctype html><title>Quill</title><style>.ql-clipboard { display: none } .ql-editor { min-height: 100px; padding: 20px; \
        white-space: pre-wrap }</style><div id=editor></div><button>Save</button><script src=/lib/quill/dist/quill.js></script>\
        <script>const quill = new Quill('#editor', { modules: { toolbar: false } });</script>";
    let Some(served) = TestServer::browsing() else { return };
    let Some(()) = serve(&served.site, &["quill/dist/quill.js"]) else { return };
    served.site.page("/", html);
    let stage = Stage::of(served, "/");
    stage.person.click("document.querySelector('.ql-editor')");
    stage.person.write("Dear");
    stage.person.press("Enter", 0);
    stage.person.insert("pasted text");
    stage.person.click("document.querySelector('button')");
    let events = stage.events();
    let inputs: Vec<&Value> = events.iter().filter(|event| event["event_type"] == "input").collect();
    assert_eq!(inputs.len(), 1, "{:#?}", actions(&events));
    let text = inputs[0]["data"]["value"].as_str().unwrap();
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["Dear", "pasted", "text"]);
    assert_eq!(actions(&events).last().map(String::as_str), Some("click button \"Save\""));
}
