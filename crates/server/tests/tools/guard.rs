//! What a guard is asked about before an action, whatever the action is called and however it is spelled.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::test_home::seen;
use crate::support::tool_home::{ToolHome, ref_in};
use crate::support::tool_workspace::no_scope;
use cdpilot_server::tools::{Allowed, Effect, Guard, Image, Scope, Session, ToolContext, ToolError, approval_needed};

/// A guard that refuses everything it is asked about.
#[derive(Default)]
struct Strict {
    all: bool,
    asked: Mutex<Vec<Effect>>,
}

impl Guard for Strict {
    fn guards_all(&self) -> bool {
        self.all
    }

    fn permit(&self, effect: Effect, _: &dyn Fn() -> Option<Image>) -> Result<Allowed, ToolError> {
        let needed = approval_needed(&effect);
        self.asked.lock().push(effect);
        Err(needed)
    }
}

/// Tools with such a guard.
struct Guarded {
    tooled: ToolHome,
    guard: Arc<Strict>,
    session: Session,
    scope: Scope,
}

impl Guarded {
    fn new(all: bool) -> Option<Self> {
        let guard = Arc::new(Strict { all, ..Strict::default() });
        let scope = no_scope().with_guard(Arc::clone(&guard) as Arc<dyn Guard>);
        Some(Self { tooled: ToolHome::new("")?, guard, session: Session::new(), scope })
    }

    fn call(&self, name: &str, arguments: Value) -> Value {
        let call = ToolContext::new(&self.session, &self.scope, soon());
        let arguments = arguments.as_object().cloned().unwrap();
        match self.tooled.registry.call(name, &call, arguments) {
            Ok(outcome) => outcome.to_value(),
            Err(error) => error.to_value(),
        }
    }

    /// The kind of effect that a call is asked about; empty if it is not, and was done.
    fn asks(&self, name: &str, arguments: Value) -> String {
        self.guard.asked.lock().clear();
        let result = self.call(name, arguments.clone());
        let asked = self.guard.asked.lock().first().map(|effect| effect.kind.as_str().to_owned());
        assert_eq!(result["success"] == true, asked.is_none(), "{name} {arguments}: {result}");
        asked.unwrap_or_default()
    }

    fn show(&self, html: &str) -> Value {
        self.tooled.home.site.page("/", html);
        self.call("browser_navigate", json!({ "url": self.tooled.home.site.url("a", "/") }));
        self.call("browser_snapshot", json!({ "full": true }))
    }

    fn value(&self, script: &str) -> Value {
        crate::support::test_home::eval_value(&self.tooled.home.main().for_session(&self.session), None, script)
    }
}

#[test]
fn controls_are_judged_by_what_a_person_reads() {
    let Some(at) = Guarded::new(false) else { return };
    let names = [
        ("button", "Delete account", "delete"),
        ("tab", "Delete account", "delete"),
        ("textbox", "Pay $49.99", "purchase"),
        ("combobox", "Finish and pay", "purchase"),
        ("option", "Send to 24 people", "send"),
        ("button", "Yes, I want to permanently delete this account and all its data", "delete"),
        ("tab", "Order history", ""),
        ("button", "Next", ""),
    ];
    let buttons: String = names
        .iter()
        .enumerate()
        .map(|(at, (role, name, _))| format!("<p><button role={role} id=b{at}>{name}</button>"))
        .collect();
    let seen =
        at.show(&format!("<!doctype html>{buttons}<script>did = 0; addEventListener('click', () => did++)</script>"));
    let mut free = 0;
    assert!(seen["snapshot"].as_str().unwrap().contains("[ref=e8]"), "{seen}");
    for (number, (role, name, expected)) in names.into_iter().enumerate() {
        let reference = format!("e{}", number + 1);
        assert_eq!(at.asks("browser_click", json!({ "ref": reference })), expected, "{role} {name}");
        free += u32::from(expected.is_empty());
    }
    assert_eq!(at.value("did"), free);
    at.value("b0.focus(), 1");
    assert_eq!(at.asks("browser_press", json!({ "key": " " })), "delete");
    assert_eq!(at.guard.asked.lock()[0].action, "press Space in the button \"Delete account\"");
}

#[test]
fn forms_and_keys_that_send_or_choose_are_asked_about() {
    let Some(at) = Guarded::new(false) else { return };
    let seen = at.show(
        "<!doctype html><form method=post action=/x><input name=m aria-label=Message><button>Go</button></form>
         <form method=post action=/in><input type=password name=p aria-label=Password><button>Continue</button></form>
         <form method=post action=/find><input type=search name=q aria-label=Search></form>
         <form action=/look><input name=q aria-label=Look></form>
         <label><input type=radio name=a checked>Keep account</label><label><input type=radio name=a>Delete account</label>
         <select aria-label=Action><option>Nothing<option>Delete account</select><select aria-label=Colour><option>Red<option>Blue</select>
         <label>Donate<input type=range></label><label>Volume<input type=range></label>",
    );
    let at_ref = |part: &str| ref_in(&seen, part);
    let focus = |part: &str| {
        let script = match part {
            "radio \"Keep" => "document.querySelector('[type=radio]').focus(), 1".to_owned(),
            part => format!(
                "[...document.querySelectorAll('input, select')].find(one => (one.ariaLabel || one.parentNode.textContent) === {part}).focus(), 1"
            ),
        };
        at.value(&script);
    };
    let key = |part: &'static str, key: &str| (part, "browser_press", json!({ "key": key }));
    let cases = [
        (("", "browser_click", json!({ "ref": at_ref("button \"Go\"") })), "submit"),
        (("", "browser_click", json!({ "ref": at_ref("button \"Continue\"") })), "submit"),
        (key("\"Message\"", "Enter"), "submit"),
        (key("\"Message\"", "Enter "), "submit"),
        (key("\"Message\"", "return"), "submit"),
        (key("\"Message\"", "NumpadEnter"), "submit"),
        (key("\"Search\"", "Enter"), "submit"),
        (key("radio \"Keep", "ArrowDown"), "delete"),
        (key("radio \"Keep", "down"), "delete"),
        (key("\"Action\"", "ArrowDown"), "delete"),
        (key("\"Action\"", "End"), "delete"),
        (key("\"Action\"", "d"), "key"),
        (key("\"Donate\"", "ArrowRight"), "purchase"),
        (("", "browser_select", json!({ "ref": at_ref("\"Action\""), "values": ["Delete account"] })), "delete"),
        // Neither of them has an effect.
        (key("\"Colour\"", "ArrowDown"), ""),
        (key("\"Volume\"", "ArrowRight"), ""),
        (key("\"Message\"", "ArrowLeft"), ""),
        (key("\"Message\"", "Escape"), ""),
        (("", "browser_type", json!({ "ref": at_ref("\"Message\""), "text": "hello" })), ""),
    ];
    for ((part, name, arguments), expected) in cases {
        if !part.is_empty() {
            focus(part);
        }
        assert_eq!(at.asks(name, arguments.clone()), expected, "{part} {name} {arguments}");
    }
    assert!(
        at.tooled
            .home
            .site
            .requested()
            .iter()
            .all(|path| !path.ends_with("/x") && !path.ends_with("/in") && !path.ends_with("/find"))
    );
}

#[test]
fn scripts_and_raw_commands_pass_only_if_they_read() {
    let Some(at) = Guarded::new(false) else { return };
    at.show("<!doctype html><h1>Hi</h1><script>did = 0; pageAsync = async value => value; state = { a: [1, new Map([['k', 2]])] }</script>");
    let effect = "{ globalThis.did++ }";
    for (script, expected) in [
        ("document.title".to_owned(), ""),
        (
            "[...document.querySelectorAll('h1')].map(h => ({ text: h.textContent, box: h.getBoundingClientRect() }))"
                .to_owned(),
            "",
        ),
        ("state".to_owned(), ""),
        ("const h = document.querySelector('h1'); return h.textContent".to_owned(), ""),
        (format!("({{ then(done) {effect} }})"), "script"),
        (format!("(async () => ({{ then() {effect} }}))(), 1"), "script"),
        (format!("pageAsync({{ then() {effect} }}), 1"), "script"),
        (format!("pageAsync({{ th\\u0065n() {effect} }}), 1"), "script"),
        (format!("({{ get a() {effect} }})"), "script"),
        (format!("({{ toJSON() {effect} }})"), "script"),
        (format!("new Proxy({{}}, {{ ownKeys() {effect} }})"), "script"),
        (format!("({{ [Symbol.toPrimitive]() {effect} }}) + 1"), "script"),
        ("globalThis.did++".to_owned(), "script"),
    ] {
        for (tool, argument) in [("browser_evaluate", "script"), ("browser_console", "expression")] {
            assert_eq!(at.asks(tool, json!({ argument: script })), expected, "{tool} {script}");
        }
    }
    let shown = at.call("browser_evaluate", json!({ "script": "state" }));
    assert_eq!(shown["result"], json!({ "a": [1, { "k": 2 }] }));
    for (method, expected) in [
        ("DOM.getDocument", ""),
        ("Network.getAllCookies", "raw"),
        ("Network.getCookies", "raw"),
        ("Storage.getCookies", "raw"),
        ("Network.getResponseBody", "raw"),
        ("DOMStorage.getDOMStorageItems", "raw"),
        ("Page.reload", "raw"),
    ] {
        at.guard.asked.lock().clear();
        at.call("browser_cdp", json!({ "method": method }));
        let asked = at.guard.asked.lock().first().map(|effect| effect.kind.as_str());
        assert_eq!(asked.unwrap_or_default(), expected, "{method}");
    }
    assert_eq!(at.value("did"), 0);
}

#[test]
fn dialogs_and_pages_that_are_answers_to_forms_are_asked_about() {
    let Some(at) = Guarded::new(false) else { return };
    let ask = |script: &str| {
        at.show(&format!("<!doctype html><button id=b>Next</button><script>b.addEventListener('click', () => setTimeout(() => {script}, 20))</script>"));
        let shown = at.call("browser_snapshot", json!({}));
        at.call("browser_click", json!({ "ref": ref_in(&shown, "Next") }));
        let profile = at.tooled.home.main();
        seen(&profile, "the dialog", |now| !now.dialogs.is_empty());
        at.asks("browser_dialog", json!({ "action": "accept" }))
    };
    assert_eq!(ask("confirm('Delete all photos?')"), "delete");
    at.call("browser_dialog", json!({ "action": "dismiss" }));
    assert_eq!(ask("confirm('Weiter?')"), "unknown");
    at.call("browser_dialog", json!({ "action": "dismiss" }));
    assert_eq!(ask("prompt('Name')"), "unknown");
    at.call("browser_dialog", json!({ "action": "dismiss" }));
    assert_eq!(ask("alert('Hello')"), "");

    // Loaded again, the answer to a form would send it again.
    at.tooled.home.site.page("/paid", "<title>paid</title>Thank you");
    at.show("<!doctype html><form id=f method=post action=/paid><input name=a value=1></form>");
    at.value("f.submit(), 1");
    assert_eq!(at.call("browser_wait", json!({ "text": "Thank you" }))["success"], true);
    let sent = || at.tooled.home.site.requested().iter().filter(|path| path.ends_with("/paid")).count();
    assert_eq!(sent(), 1);
    assert_eq!(at.asks("browser_navigate", json!({ "action": "reload" })), "submit");
    assert_eq!(at.asks("tab", json!({ "action": "refresh" })), "submit");
    assert_eq!(sent(), 1);
}

#[test]
fn with_a_guard_for_everything_no_action_is_free() {
    let Some(at) = Guarded::new(true) else { return };
    at.show("<!doctype html><style>* { margin: 9px }</style><label>Volume<input type=range></label><button>Next</button><script>did = 0; addEventListener('input', () => did++)</script>");
    let seen = at.call("highlight", json!({}))["observation"].as_str().unwrap().to_owned();
    let id = |part: &str| seen.lines().find(|line| line.contains(part)).unwrap().split('(').next().unwrap().to_owned();
    for (action, more) in [("set_slider", json!({ "value": "90" })), ("swipe", json!({}))] {
        let mut arguments = more;
        arguments["action"] = action.into();
        arguments["element_id"] = id("type=\"range\"").into();
        assert_eq!(at.asks("element_interaction", arguments), "action", "{action}");
    }
    assert_eq!(at.value("did"), 0);
}
