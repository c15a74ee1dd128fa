//! `cdpilot supervise`: commands to the page layer.
#![cfg(unix)]

use serde_json::{Value, json};

use crate::cli_run::{Program, has_browser};
use crate::support::site::Site;

const PAGE: &str = "<!doctype html><title>Shop</title><a id=away href='/about'>About us</a>
    <label>Amount <input id=n></label><label>Sort <select id=s><option>Tea<option>Coffee</select></label>
    <button onclick='out.textContent = `${n.value} of ${s.value}`; console.error(`ordered`)'>Order</button>
    <input type=file id=u aria-label=List onchange='out.textContent = u.files[0].name'>
    <a href='/prices' download='prices.csv'>Prices</a><p id=out role=status></p>
    <button onclick='out.textContent = prompt(`Name?`)'>Name</button>";

fn code(answer: &Value) -> &str {
    assert_eq!(answer["ok"], false, "{answer}");
    answer["code"].as_str().unwrap()
}

/// The ref in the line that contains `part`.
fn ref_of(seen: &Value, part: &str) -> String {
    let text = seen["snapshot"].as_str().unwrap();
    let line = text.lines().find(|line| line.contains(part) && line.contains("[ref="));
    let line = line.unwrap_or_else(|| panic!("no {part} in:\n{text}"));
    line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0.to_owned()
}

#[test]
fn supervise_takes_snapshots_and_acts() {
    if !has_browser() {
        return;
    }
    let site = Site::start();
    site.page("/", PAGE);
    site.page("/about", "<title>About</title><h1>About us</h1>");
    site.page("/prices", "tea,1");
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.txt");
    std::fs::write(&list, "milk").unwrap();
    let program = Program::new();
    let files = folder.path().join("files");
    let (mut session, _) = program.supervise(&["--launch", "--files", files.to_str().unwrap()]);
    let ok = |answer: Value| {
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    };
    ok(session.ask(&format!("navigate {}", site.url("a", "/"))));
    ok(session.ask(r#"act {"kind": "wait", "loadState": "load"}"#));

    let seen = ok(session.ask("see"));
    assert_eq!((&seen["title"], &seen["type"]), (&json!("Shop"), &json!("result")));
    ok(session.ask(&format!("type {} 3", ref_of(&seen, "Amount"))));
    ok(session.ask(&format!("choose {} Coffee", ref_of(&seen, "Sort"))));
    ok(session.ask(&format!("hover {}", ref_of(&seen, "Order"))));
    let click = ok(session.ask(&format!("click {}", ref_of(&seen, "Order"))));
    assert_eq!(click["consoleErrors"], json!(["ordered"]), "{click}");
    let changed = ok(session.ask("see diff"));
    assert!(changed["snapshot"].as_str().unwrap().contains("+ - status: 3 of Coffee"), "{changed}");
    ok(session.ask("press Shift+Tab"));

    let picture = ok(session.ask("screenshot labels"));
    assert!(picture["annotations"].as_array().unwrap().len() > 5, "{picture}");
    let jpeg = json!({ "cmd": "screenshot", "type": "jpeg", "quality": 40, "id": 1 });
    session.say(&jpeg.to_string());
    let jpeg = ok(session.next(|line| line["id"] == 1));
    let pdf = ok(session.ask("pdf"));
    for (answer, start) in [(&picture, &b"\x89PNG"[..]), (&jpeg, b"\xff\xd8\xff"), (&pdf, b"%PDF")] {
        let path = std::path::Path::new(answer["path"].as_str().unwrap());
        assert!(path.starts_with(files.join("media")), "{answer}");
        assert!(std::fs::read(path).unwrap().starts_with(start), "{answer}");
    }

    assert!(ok(session.ask("text"))["text"].as_str().unwrap().contains("3 of Coffee"));
    assert_eq!(ok(session.ask("console"))["messages"][0]["text"], "ordered");
    assert_eq!(ok(session.ask("errors"))["errors"], json!([]));
    let first = ok(session.ask("requests"))["requests"][0].clone();
    assert_eq!((&first["status"], &first["resourceType"]), (&json!(200), &json!("document")), "{first}");
    let body = ok(session.ask(&format!("body {}", first["id"].as_str().unwrap())));
    assert!(body["body"].as_str().unwrap().contains("About us"), "{body}");

    let cookie = json!({ "cookies": [{ "name": "a", "value": "b", "url": site.url("a", "/") }] });
    assert_eq!(ok(session.ask(&format!("set_cookies {cookie}")))["added"], 1);
    assert_eq!(ok(session.ask(&format!("cookies {}", site.url("a", "/"))))["cookies"][0]["value"], "b");
    assert_eq!(ok(session.ask("delete_cookies a"))["deleted"], 1);
    ok(session.ask(r#"set_storage {"area": "session", "items": {"k": "v"}}"#));
    assert_eq!(ok(session.ask("storage session k"))["items"], json!({ "k": "v" }));
    assert_eq!(ok(session.ask("delete_storage session"))["items"], json!({}));
    ok(session.ask(r#"emulate {"viewport": {"width": 333, "height": 444}}"#));
    assert_eq!(session.ask("eval top innerWidth")["result"], 333);
    ok(session.ask(r#"emulate {"viewport": null}"#));

    ok(session.ask(&format!("click {}", ref_of(&seen, "Prices"))));
    let download = ok(session.ask("download prices.csv"))["download"].clone();
    assert_eq!(std::fs::read(files.join("downloads/prices.csv")).unwrap(), b"tea,1", "{download}");
    assert_eq!(ok(session.ask("downloads"))["downloads"], json!([download]));
    assert_eq!(ok(session.ask(&format!("upload {}", list.display())))["armed"], true);
    ok(session.ask(&format!("click {}", ref_of(&seen, "List"))));
    assert!(ok(session.ask("text"))["text"].as_str().unwrap().contains("list.txt"));
    ok(session.ask(&format!("highlight {}", ref_of(&seen, "Order"))));
    ok(session.ask("highlight"));

    // Under a dialog everything answers.
    let opened = ok(session.ask(&format!("click {}", ref_of(&seen, "Name"))));
    assert_eq!(opened["blockedByDialog"], true, "{opened}");
    assert_eq!(ok(session.ask("see"))["blockedByDialog"], true);
    for blocked in ["screenshot", "pdf", "text", "press Tab", "emulate {\"offline\": true}"] {
        assert_eq!(code(&session.ask(blocked)), "BLOCKED_BY_DIALOG", "{blocked}");
    }
    for response in ["console", "requests", "cookies", "downloads"] {
        ok(session.ask(response));
    }
    ok(session.ask("accept Ada"));
    assert!(ok(session.ask("text"))["text"].as_str().unwrap().contains("Ada"));

    let away = ok(session.ask(&format!("click {}", ref_of(&seen, "About"))));
    assert_eq!((&away["navigated"], &away["url"]), (&json!(true), &json!(site.url("a", "/about"))), "{away}");
    assert_eq!(code(&session.ask(&format!("click {}", ref_of(&seen, "Order")))), "STALE_REF");
    for (line, wanted) in [
        ("see wide", "BAD_REQUEST"),
        ("click", "BAD_REQUEST"),
        ("click x1", "BAD_REQUEST"),
        ("storage cloud", "BAD_REQUEST"),
        ("emulate []", "BAD_REQUEST"),
        ("emulate {\"weather\": 1}", "BAD_REQUEST"),
        ("act {\"kind\": \"fly\"}", "BAD_REQUEST"),
        ("body r99", "NOT_FOUND"),
        ("upload /nowhere/at/all", "PATH_REFUSED"),
    ] {
        assert_eq!(code(&session.ask(line)), wanted, "{line}");
    }
    session.ask("quit");
    assert_eq!(session.wait().0, Some(0));
    program.assert_nothing_left();
}
