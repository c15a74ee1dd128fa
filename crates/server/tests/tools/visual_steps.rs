//! What the visual agent needs fewer steps for: previews only where they help, waiting, keys, added text, status lines.

use std::sync::Arc;

use cdpilot_server::config::Confirm;
use cdpilot_server::tools::{Allowed, Effect, Guard, Image, Session, ToolContext, ToolError};
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::share::share;
use crate::support::tool_home::ToolHome;
use crate::support::tool_workspace::no_scope;

fn showing(confirm: Confirm, html: &str) -> Option<ToolHome> {
    let tooled = ToolHome::confirming(confirm)?;
    tooled.home.site.page("/", html);
    tooled.done("tab", json!({ "action": "init", "url": tooled.home.site.url("a", "/") }));
    Some(tooled)
}

fn text(response: &Value) -> &str {
    response["observation"].as_str().unwrap_or_else(|| panic!("no observation in {response}"))
}

fn line<'a>(response: &'a Value, part: &str) -> &'a str {
    let line = text(response).lines().find(|line| line.contains("): ") && line.contains(part));
    line.unwrap_or_else(|| panic!("no {part:?} in:\n{}", text(response)))
}

fn id(tooled: &ToolHome, part: &str) -> String {
    line(&tooled.done("highlight", json!({})), part).split('(').next().unwrap().to_owned()
}

fn act(tooled: &ToolHome, arguments: Value) -> Value {
    tooled.call("element_interaction", arguments)
}

fn value(tooled: &ToolHome, script: &str) -> Value {
    tooled.done("browser_evaluate", json!({ "script": script }))["result"].clone()
}

const BUTTONS: &str = "<!doctype html><title>Buttons</title><style>button { margin: 20px }</style><script>window.got = []</script>
    <button onclick='got.push(1)'>One</button><button onclick='got.push(2)'>Two</button><button onclick='got.push(3)'>Two</button>
    <div style='position:relative;height:60px'><button style='position:absolute;left:0;top:0;width:200px' onclick='got.push(4)'>Below</button>
    <button style='position:absolute;left:120px;top:8px;width:200px' onclick='got.push(5)'>Over</button></div>
    <input aria-label=Name>";

#[test]
fn a_click_runs_at_once_where_a_preview_does_not_help() {
    let Some(tooled) = showing(Confirm::Auto, BUTTONS) else { return };
    let seen = tooled.done("highlight", json!({}));
    let id_of = |part: &str| line(&seen, part).split('(').next().unwrap().to_owned();
    let clicked = |id: &str| act(&tooled, json!({ "action": "click", "element_id": id }));
    // It has a label in the last picture.
    let done = clicked(&id_of(">One<"));
    assert!(done["pending"].is_null() && text(&done).contains("Clicked"), "{done}");
    assert_eq!(value(&tooled, "got.join()"), "1");
    // Two boxes that overlap are on different pages: one of them has no label in the picture.
    let without = text(&seen).lines().filter(|line| line.contains("(clickable, no label)")).collect::<Vec<_>>();
    assert_eq!(without.len(), 1, "{seen}");
    let hidden = without[0].split('(').next().unwrap();
    assert_eq!(clicked(hidden)["pending"]["element_id"], json!(hidden));
    assert!(act(&tooled, json!({ "action": "confirm_click" }))["success"] == true);
    assert!(matches!(value(&tooled, "got.join()").as_str(), Some("1,4" | "1,5")));
    // On the page of the picture that has its label, it runs at once.
    let second = tooled.done("highlight", json!({ "page": 2 }));
    assert!(!line(&second, hidden).contains("no label"), "{second}");
    assert!(clicked(hidden)["pending"].is_null());
    // Found by keyword: one of several shows a preview, the only one does not.
    tooled.done("highlight", json!({ "keywords": ["Two"] }));
    assert!(clicked(&id_of("got.push(2)"))["pending"].is_object());
    tooled.done("highlight", json!({ "keywords": ["One"] }));
    assert!(clicked(&id_of(">One<"))["pending"].is_null());
    let name = id(&tooled, "Name");
    let done = act(&tooled, json!({ "action": "keyboard_input", "element_id": name, "text": "Ada" }));
    assert!(text(&done).contains("Typed 3 characters"), "{done}");
}

/// A guard that allows everything.
struct Lenient;

impl Guard for Lenient {
    fn guards_all(&self) -> bool {
        false
    }

    fn permit(&self, _: Effect, _: &dyn Fn() -> Option<Image>) -> Result<Allowed, ToolError> {
        Ok(Allowed::Approved)
    }
}

#[test]
fn what_the_guard_classifies_shows_a_preview_and_small_models_confirm_all() {
    let html = "<!doctype html><title>Orders</title><button>Delete order</button> <button>Show order</button>
        <form method=post action=/send><input name=text aria-label=Message><button>Go</button></form>";
    let Some(tooled) = showing(Confirm::Auto, html) else { return };
    let session = Session::default();
    let guarded = no_scope().with_guard(Arc::new(Lenient));
    let previews = |scope: &cdpilot_server::tools::Scope, part: &str, arguments: Value| {
        let call = |name: &str, arguments: Value| {
            let context = ToolContext::new(&session, scope, soon());
            let outcome = tooled.registry.call(name, &context, arguments.as_object().cloned().unwrap());
            outcome.unwrap_or_else(|error| panic!("{}", error.to_value())).to_value()
        };
        let mut arguments = arguments;
        arguments["element_id"] = line(&call("highlight", json!({})), part).split('(').next().unwrap().into();
        call("element_interaction", arguments)["pending"].is_object()
    };
    let click = || json!({ "action": "click" });
    assert!(previews(&guarded, "Delete order", click()));
    assert!(!previews(&guarded, "Show order", click()));
    assert!(!previews(&no_scope(), "Delete order", click()), "nothing is classified without a guard");
    assert!(previews(&no_scope().confirming(Confirm::Always), "Show order", click()));
    let typing = |submit: bool| json!({ "action": "keyboard_input", "text": "x", "submit": submit });
    assert!(!previews(&guarded, "Message", typing(false)));
    assert!(previews(&guarded, "Message", typing(true)));
}

#[test]
fn without_confirmations_there_are_none_in_the_schema() {
    let Some(tooled) = showing(Confirm::Never, BUTTONS) else { return };
    let tool = tooled.registry.get("element_interaction").unwrap();
    let schema = tool.schema.to_string();
    assert!(
        schema.contains("\"keyboard_input\"") && !schema.contains("confirm") && !tool.description.contains("preview")
    );
    let done = act(&tooled, json!({ "action": "click", "element_id": id(&tooled, ">One<") }));
    assert!(text(&done).contains("Clicked"), "{done}");
    assert_eq!(act(&tooled, json!({ "action": "confirm_click" }))["code"], "CONFLICT");
}

#[test]
fn after_an_action_a_missing_node_is_an_effect() {
    let Some(tooled) = showing(
        Confirm::Auto,
        "<!doctype html><title>Replaced</title><div id=all></div><script>
            window.at = 0;
            const draw = () => { all.innerHTML = `<div class=carousel aria-roledescription=carousel style='width:300px;height:120px'>${at}
                <button aria-label=Next>&gt;</button></div><input aria-label=Name><div role=slider tabindex=0 aria-label=Level aria-valuemin=0
                aria-valuemax=9 aria-valuenow=${at} style='width:80px;height:20px;background:#ccc'></div>`; };
            draw();
            all.addEventListener('click', event => { if (event.target.closest('button')) { at++; draw(); } });
            all.addEventListener('keydown', event => { if (event.target.role === 'slider') { at++; draw(); } });
            all.addEventListener('input', () => draw());
         </script>",
    ) else {
        return;
    };
    let swiped = act(
        &tooled,
        json!({ "action": "swipe", "element_id": id(&tooled, "aria-label=\"Next\""), "direction": "next" }),
    );
    assert!(text(&swiped).contains("1 of 1 times, by its control"), "{swiped}");
    assert_eq!(value(&tooled, "at"), 1);
    let set = act(&tooled, json!({ "action": "set_slider", "element_id": id(&tooled, "Level"), "value": 2 }));
    assert_eq!((&set["success"], value(&tooled, "at")), (&json!(true), json!(2)), "{set}");
    let typed = act(&tooled, json!({ "action": "keyboard_input", "element_id": id(&tooled, "Name"), "text": "x" }));
    assert_eq!(typed["success"], true, "{typed}");
    let clicked = act(&tooled, json!({ "action": "click", "element_id": id(&tooled, "aria-label=\"Next\"") }));
    assert_eq!((&clicked["success"], value(&tooled, "at")), (&json!(true), json!(3)), "{clicked}");
}

#[test]
fn a_page_is_waited_for() {
    let Some(tooled) = showing(
        Confirm::Auto,
        "<!doctype html><title>Later</title><p id=p>Loading</p><script>window.later = text => setTimeout(() => { p.textContent = text }, 300)</script>",
    ) else {
        return;
    };
    let waits = [
        (json!({ "text": "Ready now" }), "\"Ready now\" appeared."),
        (json!({ "gone": "Loading" }), "\"Loading\" disappeared."),
        (json!({ "changed": true }), "The page changed."),
    ];
    for (mut arguments, said) in share(waits, 2) {
        value(&tooled, "p.textContent = 'Loading'; later('Ready now'); return 0");
        arguments["action"] = "wait".into();
        let done = act(&tooled, arguments.clone());
        assert!(text(&done).contains(said), "{arguments}: {done}");
    }
    let done = act(&tooled, json!({ "action": "wait", "text": "never", "seconds": 0.3 }));
    assert!(done["success"] == true && text(&done).contains("Not within 0.3 s: \"never\" appeared."), "{done}");
    let done = act(&tooled, json!({ "action": "wait", "changed": true, "seconds": 0.3 }));
    assert!(text(&done).contains("did not change within 0.3 s"), "{done}");
    assert!(text(&act(&tooled, json!({ "action": "wait", "seconds": 0.1 }))).contains("Waited 0.1 s."));
    assert_eq!(act(&tooled, json!({ "action": "wait", "seconds": 99 }))["code"], "BAD_REQUEST");
}

#[test]
fn keys_are_pressed_and_text_is_added() {
    let Some(tooled) = showing(
        Confirm::Auto,
        "<!doctype html><title>Keys</title><textarea aria-label=Note>First line</textarea><dialog id=d open><button>Inside</button></dialog>
         <script>window.keys = []; addEventListener('keydown', event => { keys.push(event.key); if (event.key === 'Escape') d.close(); })</script>",
    ) else {
        return;
    };
    let note = id(&tooled, "Note");
    let long = format!(" and {}", "more ".repeat(40));
    let done = act(&tooled, json!({ "action": "keyboard_input", "element_id": note, "text": long, "append": true }));
    assert!(text(&done).contains(&format!("Appended {} characters to {note}", long.chars().count())), "{done}");
    assert!(text(&done).contains(&format!("changed {note}")), "the change of a text area is reported: {done}");
    assert_eq!(value(&tooled, "document.querySelector('textarea').value"), format!("First line{long}"));
    // Also one whose beginning stays the same.
    let done = act(&tooled, json!({ "action": "keyboard_input", "element_id": note, "text": "!", "append": true }));
    assert!(text(&done).contains(&format!("changed {note}")), "{done}");
    let done = act(&tooled, json!({ "action": "press_key", "key": "Escape" }));
    assert!(text(&done).contains("Pressed Escape."), "{done}");
    assert_eq!(value(&tooled, "[keys.at(-1), d.open]"), json!(["Escape", false]));
    act(&tooled, json!({ "action": "press_key", "element_id": note, "key": "Control+a" }));
    assert_eq!(value(&tooled, "document.activeElement.selectionStart"), 0);
    assert_eq!(act(&tooled, json!({ "action": "press_key" }))["code"], "BAD_REQUEST");
    assert_eq!(act(&tooled, json!({ "action": "press_key", "key": "Nokey" }))["code"], "BAD_REQUEST");
}

#[test]
fn previews_show_what_a_field_holds_and_options_by_their_labels() {
    let Some(tooled) = showing(
        Confirm::Always,
        "<!doctype html><title>Form</title><textarea aria-label=Note></textarea><select aria-label=Cap><option value=s>Small
            <option value=largeover>Large (over 10bn)</select><script>document.querySelector('textarea').value = 'word '.repeat(40)</script>",
    ) else {
        return;
    };
    let (note, cap) = (id(&tooled, "Note"), id(&tooled, "Cap"));
    let preview = act(&tooled, json!({ "action": "keyboard_input", "element_id": note, "text": "x" }));
    assert!(text(&preview).contains(&format!("holds: \"{}\"", "word ".repeat(40))), "{preview}");
    let preview = act(&tooled, json!({ "action": "select", "element_id": cap, "value": "largeover" }));
    assert!(text(&preview).contains("To choose: \"Large (over 10bn)\"."), "{preview}");
    let done = act(&tooled, json!({ "action": "confirm_select" }));
    assert!(text(&done).contains("Chose \"Large (over 10bn)\" in"), "{done}");
    // As wide as the viewport, so that it shows the whole row.
    let (_, png) = tooled.pictured("element_interaction", json!({ "action": "click", "element_id": cap }));
    let width = png.get(16..20).map(|bytes| u32::from_be_bytes(bytes.try_into().unwrap()));
    assert_eq!(width, Some(1280));
}

#[test]
fn every_observation_has_the_status_and_lines_say_what_tells_them_apart() {
    let Some(tooled) = showing(
        Confirm::Auto,
        "<!doctype html><title>Lines</title><div role=status id=s>3 of 7 saved</div><ul><li>Harbour lease, signed copy <button title=Rename>
            <svg viewBox='0 0 9 9' xmlns='http://www.w3.org/2000/svg'><g><path d='M0 0 L9 9'/></g></svg></button></li>
            <li>Boat papers <button title=Rename><svg></svg></button></li></ul><button>Alone</button>",
    ) else {
        return;
    };
    let seen = tooled.done("highlight", json!({}));
    assert!(text(&seen).contains("status: 3 of 7 saved"), "{seen}");
    assert!(
        line(&seen, "signed copy").contains("in row \"Harbour lease, signed copy\"): <button title=\"Rename\">"),
        "{seen}"
    );
    assert!(text(&seen).contains("in row \"Boat papers\"") && !line(&seen, ">Alone<").contains("in row"), "{seen}");
    assert!(!text(&seen).contains("<svg") && !text(&seen).contains("<path"), "{seen}");
    let done = act(&tooled, json!({ "action": "hover", "element_id": id(&tooled, ">Alone<") }));
    assert!(text(&done).contains("status: 3 of 7 saved"), "{done}");
}

#[test]
fn after_a_tab_is_closed_its_opener_is_the_current_tab() {
    let Some(tooled) =
        showing(Confirm::Auto, "<!doctype html><title>First</title><a href=/two target=_blank rel=opener>Open</a>")
    else {
        return;
    };
    tooled.home.site.page("/two", "<title>Second</title><button onclick='window.close()'>Close me</button>");
    for closes_itself in [false, true] {
        act(&tooled, json!({ "action": "click", "element_id": id(&tooled, ">Open<") }));
        let tabs = tooled.done("tab", json!({ "action": "list" }));
        let second = text(&tabs).lines().find(|line| line.contains("Second")).unwrap();
        let second = second.split(' ').nth(1).unwrap().trim_end_matches(':').to_owned();
        tooled.done("tab", json!({ "action": "switch", "tab_id": second }));
        let closed = match closes_itself {
            true => act(&tooled, json!({ "action": "click", "element_id": id(&tooled, "Close me") })),
            false => tooled.done("tab", json!({ "action": "close", "tab_id": second })),
        };
        assert!(
            text(&closed).contains("which opened it, is the current tab") && text(&closed).contains(">Open<"),
            "{closed}"
        );
    }
}
