//! Requests with effects wait before they leave, whatever sends them and whatever a control is called.

use serde_json::{Value, json};

use crate::server_approvals::Waiting;
use crate::server_tasks::Tasks;
use crate::support::agent_plan::Do;
use crate::support::share::share;
use crate::support::site::{Answer, Site};

const STYLE: &str = "<!doctype html><style>body { font: 16px sans-serif } * { margin: 8px }</style>";

/// A page with a button of a harmless name that runs a script.
fn page(script: &str, more: &str) -> String {
    format!("{STYLE}<h1>Step 1</h1><button id=go>Next</button>{more}<script>go.onclick = () => {{ {script} }}</script>")
}

fn pressing(url: String) -> Vec<Do> {
    vec![Do::Tab("init", url), Do::Act("click", ">Next<", ""), Do::Act("confirm_click", "", ""), Do::Say("Done.")]
}

/// The last result that the model got.
fn told(tasks: &Tasks) -> Value {
    let requests = tasks.model.requests();
    let messages = requests.last().unwrap()["messages"].as_array().unwrap();
    let last = messages.iter().rev().find(|message| message["role"] == "tool").unwrap();
    serde_json::from_str(last["content"].as_str().unwrap()).unwrap()
}

/// How often a path was requested by another method than GET, at any host.
fn sent(site: &Site, path: &str) -> usize {
    ["a.localhost", "b.localhost"]
        .iter()
        .map(|host| site.heads(&format!("{host}{path}")).iter().filter(|head| !head.starts_with("GET")).count())
        .sum()
}

#[test]
fn whatever_sends_a_request_with_an_effect_it_waits() {
    let site = Site::start();
    let form = "<form id=f method=post action=/pay><input type=hidden name=to value=mallory></form>";
    let other = site.url("b", "/inner");
    let absolute = site.url("a", "/pay");
    let ways: Vec<(&str, &str, String)> = vec![
        ("fetch", "POST", page("fetch('/pay', { method: 'POST', body: new URLSearchParams({ to: 'mallory' }) })", "")),
        (
            "a later fetch",
            "PUT",
            page("setTimeout(() => fetch('/pay', { method: 'PUT', body: '{\"to\":\"mallory\"}' }), 20)", ""),
        ),
        ("an XMLHttpRequest", "DELETE", page("const x = new XMLHttpRequest(); x.open('DELETE', '/pay'); x.send()", "")),
        ("a form", "POST", page("f.submit()", form)),
        ("a form for another tab", "POST", page("f.target = '_blank'; f.submit()", form)),
        (
            "a form in a frame",
            "POST",
            page("f.target = 'inner'; f.submit()", &format!("{form}<iframe name=inner></iframe>")),
        ),
        (
            "a frame of another site",
            "PATCH",
            page("frames[0].postMessage(1, '*')", &format!("<iframe src='{other}'></iframe>")),
        ),
        (
            "a worker",
            "POST",
            page(
                &format!("new Worker(URL.createObjectURL(new Blob([`fetch('{absolute}', {{ method: 'POST' }})`])))"),
                "",
            ),
        ),
    ];
    site.page("/inner", "<script>onmessage = () => fetch('/pay', { method: 'PATCH', mode: 'cors' })</script>inner");
    site.page("/pay", "paid");
    for (at, (_, _, html)) in ways.iter().enumerate() {
        site.page(&format!("/{at}"), html);
    }
    let plans = (0..ways.len()).map(|at| pressing(site.url("a", &format!("/{at}")))).collect();
    let Some(tasks) = Tasks::new(plans) else { return };
    for (at, (name, method, _)) in share(ways.iter().enumerate(), 3) {
        let waiting = Waiting::of(&tasks, at, &json!({}));
        let asked = waiting.asked();
        assert_eq!(
            (&asked["effect"], &asked["request"]["method"]),
            (&json!("request"), &json!(method)),
            "{name}: {asked:#}"
        );
        assert!(asked["request"]["url"].as_str().unwrap().ends_with("/pay"), "{name}: {asked:#}");
        if name.contains("form") || *name == "fetch" {
            assert_eq!(asked["request"]["fields"], json!({ "to": "mallory" }), "{name}");
        }
        assert_eq!(sent(&site, "/pay"), 0, "{name}");
        waiting.decide(json!({ "decision": "refuse", "note": "Not to them." }));
        let last = waiting.results().pop().unwrap();
        assert_eq!((&last["success"], &last["code"]), (&json!(false), &json!("APPROVAL_REFUSED")), "{name}: {last}");
        assert!(last["error"].as_str().unwrap().contains("Not to them."), "{name}: {last}");
        assert_eq!(sent(&site, "/pay"), 0, "{name}");
    }
}

#[test]
fn an_approved_request_is_sent_once_and_its_redirect_to_another_site_is_asked_about() {
    let site = Site::start();
    site.page(
        "/",
        &page(
            "fetch('/pay', { method: 'POST', body: 'x' }).then(r => r.text()).then(t => document.body.append(t))",
            "",
        ),
    );
    site.page("/pay", "Thank you");
    site.page("/hop", &page("fetch('/moved', { method: 'POST', body: 'x' }).catch(() => 0)", ""));
    site.put("/moved", Answer::html("").status("307 Temporary Redirect").header("Location", &site.url("b", "/pay")));
    let Some(tasks) = Tasks::new(vec![pressing(site.url("a", "/")), pressing(site.url("a", "/hop"))]) else { return };
    let waiting = Waiting::of(&tasks, 0, &json!({}));
    assert_eq!(waiting.asked()["request"]["fields"], json!({ "body": "x" }));
    waiting.decide(json!({ "decision": "once" }));
    let last = told(&tasks);
    assert_eq!((&last["success"], &last["request"]["sent"]), (&json!(true), &json!(true)), "{last}");
    assert_eq!((sent(&site, "/pay"), waiting.question()), (1, Value::Null));

    let waiting = Waiting::of(&tasks, 1, &json!({}));
    waiting.decide(json!({ "decision": "once" }));
    let asked = waiting.asked();
    assert_eq!(asked["request"]["url"], site.url("b", "/pay"), "{asked:#}");
    waiting.decide(json!({ "decision": "refuse" }));
    assert_eq!(sent(&site, "/pay"), 1);
}

#[test]
fn what_was_approved_is_not_asked_about_again() {
    let site = Site::start();
    // A button whose name says what it does, without a form; its page sends to its own site, and to another one.
    let named = |to: &str| {
        page(&format!("fetch('{to}', {{ method: 'POST', mode: 'no-cors', body: 'x' }})"), "")
            .replace("Next", "Place order")
    };
    site.page("/own", &named("/pay"));
    site.page("/other", &named(&site.url("b", "/pay")));
    site.page("/pay", "paid");
    let plan = |path: &str| {
        vec![
            Do::Tab("init", site.url("a", path)),
            Do::Act("click", ">Place order<", ""),
            Do::Act("confirm_click", "", ""),
            Do::Say("Done."),
        ]
    };
    let allowed = site.url("a", "/pay");
    site.page("/allowed", &page("fetch('/pay', { method: 'POST' })", ""));
    let fields = "<select name=c><option value=7>Seven</select><input type=checkbox name=t checked><textarea name=x>a
b</textarea><input name=e value='é &+'>";
    for (path, fields) in [("/empty", ""), ("/full", fields)] {
        let button = "<button name=by value=me>Next</button>";
        site.page(path, &format!("{STYLE}<h1>Form</h1><form method=post action=/pay>{fields}{button}</form>"));
    }
    let plans = vec![
        plan("/own"),
        plan("/other"),
        pressing(site.url("a", "/allowed")),
        pressing(site.url("a", "/empty")),
        pressing(site.url("a", "/full")),
    ];
    let Some(tasks) = Tasks::new(plans) else { return };
    let waiting = Waiting::of(&tasks, 0, &json!({}));
    assert_eq!(waiting.asked()["effect"], "purchase");
    waiting.decide(json!({ "decision": "once" }));
    assert_eq!((sent(&site, "/pay"), waiting.question()), (1, Value::Null));

    let waiting = Waiting::of(&tasks, 1, &json!({}));
    assert_eq!(waiting.asked()["effect"], "purchase");
    waiting.decide(json!({ "decision": "once" }));
    assert_eq!((waiting.asked()["effect"].as_str(), sent(&site, "/pay")), (Some("request"), 1));
    // For this page and that site, for the rest of the conversation.
    waiting.decide(json!({ "decision": "origin" }));
    assert_eq!((sent(&site, "/pay"), waiting.question()), (2, Value::Null));

    // A form is approved once, with or without fields.
    for (at, expected) in [(3, 4), (4, 5)] {
        let waiting = Waiting::of(&tasks, at, &json!({}));
        assert_eq!(waiting.asked()["effect"], "purchase");
        waiting.decide(json!({ "decision": "once" }));
        assert_eq!((sent(&site, "/pay"), waiting.question()), (expected - 1, Value::Null), "{at}");
    }

    // A conversation may be created with requests that its pages may send.
    let waiting = Waiting::of(&tasks, 2, &json!({ "requests": [format!("POST {allowed}")] }));
    assert_eq!((sent(&site, "/pay"), waiting.question()), (5, Value::Null));
    let wrong = tasks.served.api.post("/agent/conversations", &json!({ "requests": ["POST https://a.test"] }));
    assert!(wrong.fails(400, "BAD_REQUEST")["error"].as_str().unwrap().contains("requests: "));
}

#[test]
fn beacons_are_not_sent_and_no_question_is_asked() {
    let site = Site::start();
    site.page("/", &page("navigator.sendBeacon('/pay', 'to=mallory')", ""));
    site.page("/pay", "paid");
    let Some(tasks) = Tasks::new(vec![pressing(site.url("a", "/"))]) else { return };
    let waiting = Waiting::of(&tasks, 0, &json!({}));
    assert_eq!((sent(&site, "/pay"), waiting.question()), (0, Value::Null));
    // The person is told, and the model is.
    let told = told(&tasks);
    assert!(told["unsent_requests"][0].as_str().is_some_and(|line| line.ends_with("/pay")), "{told}");
}
