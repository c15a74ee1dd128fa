//! Strings with lone surrogates: each is replaced by U+FFFD.

use std::path::Path;

use cdpilot_server::config::Config;
use serde_json::{Value, json};

use crate::support::api::TestServer;

/// Puts such strings wherever a page can have them.
const SPREAD: &str = r#"(() => {
    const lone = (text) => `q${text}\ud800!`;
    document.title = lone('title');
    document.body.innerHTML = '<p id=p></p><button id=b></button><input id=i><a id=a href=x>link</a><select id=s><option></option></select>';
    p.textContent = lone('text');
    b.setAttribute('aria-label', lone('name'));
    b.onclick = () => { p.textContent = lone('clicked'); console.error(lone('said')); };
    i.value = lone('value');
    i.placeholder = lone('placeholder');
    a.setAttribute('href', 'https://shop.test/?q=' + lone('link'));
    s.options[0].textContent = lone('option');
    localStorage.setItem(lone('key'), lone('kept'));
    document.cookie = 'crumb=' + lone('cookie');
    console.log(lone('logged'), { [lone('field')]: lone('inner') });
    history.replaceState(null, '', '#' + lone('hash'));
    setTimeout(() => { throw new Error(lone('thrown')); });
})()"#;

/// All strings in an answer that hold a part.
fn holding(value: &Value, part: &str) -> Vec<String> {
    match value {
        Value::String(text) if text.contains(part) => vec![text.clone()],
        Value::Array(all) => all.iter().flat_map(|value| holding(value, part)).collect(),
        Value::Object(fields) => {
            let names = fields.keys().filter(|name| name.contains(part)).cloned();
            names.chain(fields.values().flat_map(|value| holding(value, part))).collect()
        }
        _ => Vec::new(),
    }
}

fn leave(transport: &str) {
    let parsed = Config::parse(&format!("browser: {{transport: {transport}}}"), Path::new("config.yaml")).unwrap();
    let Some(served) = TestServer::browsing_with(|config, _| config.browser.transport = parsed.browser.transport)
    else {
        return;
    };
    served.show("<p>plain");
    let api = &served.api;
    api.eval(SPREAD);
    let lone = |response: &Value, part: &str| {
        let part = format!("q{part}");
        let found = holding(response, &part);
        assert!(
            !found.is_empty() && found.iter().all(|text| text.contains(&format!("{part}\u{fffd}!"))),
            "{part}: {response:#}"
        );
    };
    let errors = api.until("the error", "/errors", |response| !response["errors"].as_array().unwrap().is_empty());
    lone(&errors, "thrown");
    let seen = api.get("/snapshot?urls=true").ok();
    for part in ["title", "text", "name", "value", "option"] {
        lone(&seen, part);
    }
    let nodes = api.get("/snapshot?format=aria").ok();
    lone(&nodes, "name");
    let text = api.get("/text").ok();
    lone(&text, "text");
    let tabs = api
        .until("the title", "/tabs", |response| response["tabs"][0]["title"].as_str().unwrap().starts_with("qtitle"));
    lone(&tabs, "title");
    lone(&api.get("/console").ok(), "logged");
    lone(&api.get("/storage/local").ok(), "key");
    lone(&api.get("/storage/local").ok(), "kept");
    assert!(api.get("/cookies").ok().to_string().contains("cookie"));
    let clicked = api.act(&json!({ "kind": "click", "selector": "#b", "delta": true })).ok();
    lone(&clicked, "clicked");
    lone(&clicked, "said");
    for (script, expected) in [
        (r"'\ud800'", json!("\u{fffd}")),
        (r"'a\udc00\ud800b\ud83d\ude00'", json!("a\u{fffd}\u{fffd}b\u{1f600}")),
        (r"({ ['\ud800']: ['\udfff', 'fine'] })", json!({ "\u{fffd}": ["\u{fffd}", "fine"] })),
        (r"'\\ud800'", json!(r"\ud800")),
        (r"Promise.resolve('\ud800')", json!("\u{fffd}")),
        ("document.title", json!("qtitle\u{fffd}!")),
    ] {
        assert_eq!(api.eval(script), expected, "{script}");
    }
    let thrown = api.act(&json!({ "kind": "evaluate", "fn": r"(() => { throw new Error('qbad \ud800!') })()" }));
    lone(&thrown.fails(422, "SCRIPT_ERROR"), "bad ");
    let raw =
        json!({ "method": "Runtime.evaluate", "params": { "expression": r"'qraw\ud800!'", "returnByValue": true } });
    lone(&api.post("/cdp", &raw).ok(), "raw");
    served.dialog(r"prompt('qasked\ud800!', 'qpreset\ud800!')");
    let dialogs = api.get("/dialogs").ok();
    lone(&dialogs, "asked");
    lone(&dialogs, "preset");
    api.post("/hooks/dialog", &json!({ "accept": true })).ok();
}

#[test]
fn lone_surrogates_are_replaced_over_a_pipe() {
    leave("pipe");
}

#[test]
fn lone_surrogates_are_replaced_over_a_port() {
    leave("port");
}
