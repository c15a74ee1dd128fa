//! `cdpilot supervise`: requests of the HTTP API.
#![cfg(unix)]

use serde_json::{Value, json};

use crate::cli_run::{Program, lease_with_page};
use crate::support::site::Site;

const PAGE: &str = "<!doctype html><title>Shop</title><a id=away href='/about'>About us</a>
    <label>Amount <input id=n></label><label>Sort <select id=s><option>Tea<option>Coffee</select></label>
    <button onclick='out.textContent = `${n.value} of ${s.value}`; console.error(`ordered`)'>Order</button>
    <input type=file id=u aria-label=List onchange='out.textContent = u.files[0].name'>
    <a href='/prices' download='prices.csv'>Prices</a><p id=out role=status></p>
    <button onclick='out.textContent = prompt(`Name?`)'>Name</button>";

fn code(body: &Value) -> &str {
    assert_eq!(body["ok"], false, "{body}");
    body["code"].as_str().unwrap()
}

/// The ref in the line that contains `part`.
fn ref_of(seen: &Value, part: &str) -> String {
    let text = seen["snapshot"].as_str().unwrap();
    let line = text.lines().find(|line| line.contains(part) && line.contains("[ref="));
    let line = line.unwrap_or_else(|| panic!("no {part} in:\n{text}"));
    line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0.to_owned()
}

#[test]
fn supervise_stores_files_and_answers_under_a_dialog() {
    let Some(lease) = lease_with_page() else { return };
    let site = Site::start();
    site.page("/", PAGE);
    site.page("/prices", "tea,1");
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.txt");
    std::fs::write(&list, "milk").unwrap();
    let program = Program::new();
    let files = folder.path().join("files");
    let (mut session, _) = program.supervise(&["--cdp-url", lease.url(), "--files", files.to_str().unwrap()]);
    let ok = |answer: Value| {
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    };
    ok(session.ask("POST", "/navigate", json!({ "url": site.url("a", "/"), "waitUntil": "load" })));
    let seen = ok(session.ask("GET", "/snapshot", Value::Null));
    let click = |part: &str| json!({ "kind": "click", "ref": ref_of(&seen, part) });

    let picture = ok(session.ask("POST", "/screenshot", json!({ "labels": true })));
    assert!(picture["annotations"].as_array().unwrap().len() > 5, "{picture}");
    let pdf = ok(session.ask("POST", "/pdf", json!({})));
    for (answer, start) in [(&picture, &b"\x89PNG"[..]), (&pdf, b"%PDF")] {
        let path = std::path::Path::new(answer["path"].as_str().unwrap());
        assert!(path.starts_with(files.join("media")), "{answer}");
        assert!(std::fs::read(path).unwrap().starts_with(start), "{answer}");
    }
    ok(session.act(click("Prices")));
    let download = ok(session.ask("POST", "/wait/download", json!({ "path": "prices.csv" })));
    assert_eq!(std::fs::read(files.join("downloads/prices.csv")).unwrap(), b"tea,1", "{download}");
    // Any file of this machine can be uploaded.
    assert_eq!(ok(session.ask("POST", "/hooks/file-chooser", json!({ "paths": [list] })))["armed"], true);
    ok(session.act(click("List")));
    assert!(ok(session.ask("GET", "/text", Value::Null))["text"].as_str().unwrap().contains("list.txt"));
    let missing = session.ask("POST", "/hooks/file-chooser", json!({ "paths": ["/nowhere/at/all"] }));
    assert_eq!(code(&missing), "PATH_REFUSED");

    // Under a dialog everything answers.
    let opened = ok(session.act(click("Name")));
    assert_eq!(opened["blockedByDialog"], true, "{opened}");
    for (method, path, body) in [
        ("POST", "/screenshot", json!({})),
        ("POST", "/pdf", json!({})),
        ("GET", "/text", Value::Null),
        ("POST", "/act", json!({ "kind": "press", "key": "Tab" })),
        ("POST", "/emulate", json!({ "offline": true })),
    ] {
        assert_eq!(code(&session.ask(method, path, body)), "BLOCKED_BY_DIALOG", "{path}");
    }
    for path in ["/console", "/requests", "/cookies", "/dialogs"] {
        ok(session.ask("GET", path, Value::Null));
    }
    ok(session.ask("POST", "/hooks/dialog", json!({ "accept": true, "promptText": "Ada" })));
    assert!(ok(session.ask("GET", "/text", Value::Null))["text"].as_str().unwrap().contains("Ada"));
    session.end_input();
    assert_eq!(session.wait().0, Some(0));
    program.assert_nothing_left();
}

/// Sends a request with an id of its own; the answer comes with it.
fn request(session: &mut crate::cli_run::Session, line: &Value) -> Value {
    session.say(&line.to_string());
    body_of(&session.next(|answer| answer["id"] == line["id"]))
}

fn body_of(answer: &Value) -> Value {
    assert_eq!(answer["type"], "answer", "{answer}");
    let (status, body) = (&answer["status"], &answer["body"]);
    assert_eq!(*status == 200, body["ok"] == true, "{answer}");
    body.clone()
}

#[test]
fn supervise_takes_requests_of_the_http_api() {
    let Some(lease) = lease_with_page() else { return };
    let site = Site::start();
    site.page("/", PAGE);
    site.page("/about", "<title>About</title><h1>About us</h1>");
    let folder = tempfile::tempdir().unwrap();
    let program = Program::new();
    let files = folder.path().to_str().unwrap();
    let (mut session, ready) = program.supervise(&["--cdp-url", lease.url(), "--files", files]);
    let first = ready["pages"][0]["targetId"].as_str().unwrap().to_owned();

    let went = json!({ "id": 1, "POST": "/navigate", "body": { "url": site.url("a", "/"), "waitUntil": "load" } });
    let went = request(&mut session, &went);
    assert_eq!((&went["ok"], &went["title"], &went["status"]), (&json!(true), &json!("Shop"), &json!(200)), "{went}");
    let seen = request(&mut session, &json!({ "id": "see", "GET": "/snapshot?interactive=true&maxChars=5000" }));
    assert_eq!((&seen["title"], &seen["format"]), (&json!("Shop"), &json!("ai")), "{seen}");
    let order = ref_of(&seen, "Order");
    let act = json!({ "id": { "n": 2 }, "POST": "/act", "body": { "kind": "click", "ref": order } });
    let click = request(&mut session, &act);
    assert_eq!((&click["consoleErrors"], &click["settled"]), (&json!(["ordered"]), &json!("page_settled")), "{click}");
    let sum = json!({ "id": 3, "POST": "/act", "body": { "kind": "evaluate", "fn": "1 + 1" } });
    assert_eq!(request(&mut session, &sum)["result"], 2);

    // Tabs have the ids of the HTTP API.
    let opened =
        json!({ "id": 4, "POST": "/tabs/open", "body": { "url": site.url("a", "/about"), "label": "second" } });
    let opened = request(&mut session, &opened);
    assert_eq!((&opened["ok"], &opened["type"]), (&json!(true), &json!("page")), "{opened}");
    let tabs = request(&mut session, &json!({ "id": 5, "GET": "/tabs" }));
    let labels: Vec<_> = tabs["tabs"].as_array().unwrap().iter().map(|tab| tab["label"].clone()).collect();
    assert_eq!(labels, [Value::Null, json!("second")], "{tabs}");
    let text = request(&mut session, &json!({ "id": 6, "GET": "/text?targetId=second" }));
    assert!(text["text"].as_str().unwrap().contains("About us"), "{text}");
    assert_eq!(request(&mut session, &json!({ "id": 7, "DELETE": "/tabs/second" }))["ok"], true);
    let gone = request(&mut session, &json!({ "id": 8, "GET": "/text?targetId=second" }));
    assert_eq!(code(&gone), "TAB_NOT_FOUND");

    // A dialog, answered by a request while an action waits for it.
    let name = ref_of(&seen, "Name");
    let asks = json!({ "POST": "/act", "body": { "kind": "click", "ref": name, "targetId": first } });
    session.say(&asks.to_string());
    session.event("dialog_opened");
    let blocked = request(&mut session, &json!({ "id": 9, "GET": format!("/text?targetId={first}") }));
    assert_eq!(code(&blocked), "BLOCKED_BY_DIALOG");
    assert!(blocked["error"].as_str().unwrap().contains("POST /hooks/dialog"), "{blocked}");
    assert_eq!(blocked["details"]["pending_dialogs"][0]["message"], "Name?", "{blocked}");
    let body = json!({ "accept": true, "promptText": "Ada", "targetId": first });
    let answered = request(&mut session, &json!({ "id": 10, "POST": "/hooks/dialog", "body": body }));
    assert_eq!(answered["dialog"]["accepted"], true, "{answered}");

    let shot = json!({ "id": 11, "POST": "/screenshot", "body": { "type": "jpeg", "targetId": first } });
    let path = request(&mut session, &shot)["path"].as_str().unwrap().to_owned();
    assert!(std::path::Path::new(&path).starts_with(folder.path().join("media")), "{path}");

    // Several requests in one write, of which some are wrong: each is answered, nothing is lost.
    session.say(concat!(
        "{\"id\":21,\"GET\":\"/tabs\"}\n",
        "{\"id\":22,\"GET\":\"/tabz\"}\n",
        "{\"id\":23,\"POST\":\"/act\",\"body\":{\"kind\":\"click\",\"reff\":\"e1\"}}\n",
        "{\"id\":24,\"POST\":\"/start\"}\n",
        "{\"id\":25,\"PUT\":\"/tabs\"}\n",
        "{\"id\":26,\"GET\":\"/tabs\",\"limit\":1}\n",
        "{\"id\":27,\"DELETE\":\"/act\"}\n",
        "{\"id\":28,\"GET\":\"/events\"}\n",
        "{\"id\":29,\"GET\":\"/tabs\"}\n",
        "{\"id\":30,\"PATCH\":\"/tabs\",\"body\":{}}",
    ));
    let mut answers = std::collections::BTreeMap::new();
    while answers.len() < 10 {
        let line = session.next(|line| line["type"] == "answer" && line["id"].is_number());
        answers.insert(line["id"].as_u64().unwrap(), body_of(&line));
    }
    assert_eq!((&answers[&21]["ok"], &answers[&29]["ok"]), (&json!(true), &json!(true)), "{answers:?}");
    let wanted = [
        (22, "NOT_FOUND", "did you mean /tabs?"),
        (23, "UNKNOWN_FIELD", "reff"),
        (24, "NOT_FOUND", "POST /start"),
        (25, "BAD_REQUEST", "`PUT`"),
        (26, "BAD_REQUEST", "`limit`"),
        (27, "METHOD_NOT_ALLOWED", "POST"),
        (28, "NOT_FOUND", "GET /events"),
        (30, "METHOD_NOT_ALLOWED", "/tabs does not support PATCH; supported methods: GET"),
    ];
    for (id, wanted, part) in wanted {
        assert_eq!(code(&answers[&id]), wanted, "{}", answers[&id]);
        assert!(answers[&id]["error"].as_str().unwrap().contains(part), "{}", answers[&id]);
    }

    // Lines that are no requests at all.
    let example = r#"{"id": 1, "POST": "/act", "body": {"kind": "click", "ref": "e12"}}"#;
    for (line, part) in [
        (b"click e12\n".to_vec(), example),
        (b"{\"cmd\":\"help\"}\n".to_vec(), "`cmd`"),
        (b"{\"GET\":\"\xff\"}\n".to_vec(), "UTF-8"),
        ([vec![b'{'; (1 << 20) + 1], b"\n".to_vec()].concat(), "1 MiB"),
    ] {
        session.say_bytes(&line);
        let wrong = session.next(|line| line["type"] == "answer" && line.get("id").is_none());
        let body = body_of(&wrong);
        assert!(code(&body) == "BAD_REQUEST" && body["error"].as_str().unwrap().contains(part), "{wrong}");
    }

    // The last one has no line break.
    session.say_bytes(br#"{"id":99,"GET":"/dialogs"}"#);
    session.end_input();
    let (exit, rest) = session.wait();
    assert_eq!(exit, Some(0));
    let last = rest.iter().find(|line| line["id"] == 99).unwrap_or_else(|| panic!("{rest:?}"));
    assert_eq!(
        (&last["status"], &last["body"]["recent_dialogs"][0]["message"]),
        (&json!(200), &json!("Name?")),
        "{last}"
    );
    program.assert_nothing_left();
}
