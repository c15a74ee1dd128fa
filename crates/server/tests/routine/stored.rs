//! Routines over HTTP: stored with all versions, changed only from the version that was read, deleted.

use serde_json::{Value, json};

use crate::routine_texts::VALID;
use crate::support::api::{Api, ApiResponse, TestServer};

fn patch(api: &Api, path: &str, body: &Value) -> ApiResponse {
    api.call("PATCH", path, Some(&body.to_string()))
}

#[test]
fn a_routine_has_a_unique_name_and_every_version_of_its_text() {
    let served = TestServer::start();
    let api = &served.api;
    let created = api.post("/routines", &json!({ "name": "tickets", "routine_markdown": VALID })).ok();
    let id = created["routine_id"].as_str().unwrap().to_owned();
    let routine = &created["routine"];
    assert_eq!(
        [&routine["name"], &routine["version"], &routine["goal"], &routine["step_count"], &routine["starting_url"]],
        [&json!("tickets"), &json!(1), &json!("Buy a ticket"), &json!(3), &json!("https://shop.example/")]
    );
    assert_eq!(routine["inputs"], json!([{ "name": "city", "sensitive": false }]));
    assert_eq!(
        [&routine["trust"], &routine["source"], &routine["fast_steps"]],
        [&json!("untried"), &json!("none"), &json!([])]
    );
    api.post("/routines", &json!({ "name": "tickets", "routine_markdown": VALID })).fails(409, "CONFLICT");
    for name in ["", " ", "a/b", &"x".repeat(101)] {
        api.post("/routines", &json!({ "name": name, "routine_markdown": VALID })).fails(400, "BAD_REQUEST");
    }
    // By its name, too.
    assert_eq!(api.get("/routines/tickets").ok()["routine"]["routine_id"], id.as_str());
    assert_eq!(api.get("/routines").ok()["count"], 1);

    let changed = VALID.replace("Buy a ticket", "Buy two tickets");
    let path = format!("/routines/{id}");
    let second = patch(api, &path, &json!({ "version": 1, "routine_markdown": changed })).ok();
    assert_eq!([&second["routine"]["version"], &second["routine"]["goal"]], [&json!(2), &json!("Buy two tickets")]);
    // A change of the version before is refused, and loses nothing.
    let stale = patch(api, &path, &json!({ "version": 1, "routine_markdown": VALID })).fails(409, "CONFLICT");
    assert!(stale["error"].as_str().unwrap().contains("version 2"), "{stale}");
    assert_eq!(api.get(&path).ok()["routine"]["routine_markdown"], changed);
    // The same text again is no new version; line ends do not count.
    let same = patch(api, &path, &json!({ "version": 2, "routine_markdown": changed.replace('\n', "\r\n") })).ok();
    assert_eq!(same["routine"]["version"], 2);
    patch(api, &path, &json!({ "version": 2 })).fails(400, "BAD_REQUEST");
    let renamed =
        patch(api, &path, &json!({ "version": 2, "name": "two tickets", "defaults": { "login": "own" } })).ok();
    assert_eq!(renamed["routine"]["defaults"], json!({ "login": "own" }));
    let encoded = api.get("/routines/two%20tickets").ok();
    assert_eq!(encoded["routine"]["version"], 2);

    let versions = api.get(&format!("{path}/versions")).ok();
    let numbers: Vec<&Value> = versions["versions"].as_array().unwrap().iter().map(|one| &one["version"]).collect();
    assert_eq!(numbers, [&json!(2), &json!(1)]);
    let compared = api.get(&format!("{path}/versions/2?against=1")).ok();
    let difference = compared["difference"].as_str().unwrap();
    assert!(
        difference.contains("-# Workflow: Buy a ticket\n") && difference.contains("+# Workflow: Buy two tickets\n")
    );
    api.get(&format!("{path}/versions/3")).fails(404, "NOT_FOUND");
    // An older text again is a new version.
    let restored = api.post(&format!("{path}/versions/1/approve"), &json!({})).ok();
    assert_eq!([&restored["routine"]["version"], &restored["routine"]["routine_markdown"]], [&json!(3), &json!(VALID)]);
    api.post(&format!("{path}/versions/3/reject"), &json!({})).fails(409, "CONFLICT");
    api.delete(&format!("{path}/allowed/0")).fails(404, "NOT_FOUND");
    assert_eq!(api.get(&format!("{path}/runs")).ok()["count"], 0);
    api.get(&format!("{path}/runs/none")).fails(404, "NOT_FOUND");

    assert_eq!(api.delete(&path).ok()["removed"], true);
    api.get(&path).fails(404, "NOT_FOUND");
    api.delete(&path).fails(404, "NOT_FOUND");
}

#[test]
fn an_invalid_text_is_refused_with_all_its_problems() {
    let mut served =
        TestServer::with(|config, _| config.browser.navigation.block = vec!["*.blocked.example".to_owned()]);
    let api = &served.api;
    let problems = |text: &str| {
        let refused =
            api.post("/routines", &json!({ "name": "wrong", "routine_markdown": text })).fails(400, "BAD_REQUEST");
        let all = refused["details"]["problems"].as_array().unwrap().clone();
        all.iter()
            .map(|one| (one["line"].as_u64().unwrap(), one["code"].as_str().unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    let two_three = VALID.replace("## Step 2", "## Step 3");
    assert_eq!(problems(&two_three)[0].1, "STEP_NUMBER");
    assert_eq!(problems(&VALID.replace("shop.example", "www.blocked.example")), [(4, "URL_REFUSED".to_owned())]);
    assert_eq!(problems(&VALID.replace("{{city}}", "{{town}}")).len(), 2);
    assert_eq!(problems(&VALID.replace("main-search", "main search")), [(10, "KEYWORD_SHAPE".to_owned())]);
    assert_eq!(problems(&VALID.replace("Search\n", "Se\u{202e}arch\n"))[0].1, "HIDDEN_CHARACTERS");
    assert_eq!(problems(&format!("{VALID}{}", "x\n".repeat(300_000)))[0].1, "TOO_LONG");
    assert_eq!(api.get("/routines").ok()["count"], 0);

    // A text of a routine that was changed to an invalid one stays as it is, over a restart too.
    let created = api.post("/routines", &json!({ "name": "r", "routine_markdown": VALID })).ok();
    let path = format!("/routines/{}", created["routine_id"].as_str().unwrap());
    patch(api, &path, &json!({ "version": 1, "routine_markdown": two_three })).fails(400, "BAD_REQUEST");
    patch(api, &path, &json!({ "version": 1, "defaults": { "viewport": { "width": 1, "height": 900 } } }))
        .fails(400, "BAD_REQUEST");
    patch(api, &path, &json!({ "version": 1, "defaults": { "limits": { "seconds": 0.0 } } })).fails(400, "BAD_REQUEST");
    served.restart();
    let routine = served.api.get(&path).ok()["routine"].clone();
    assert_eq!([&routine["version"], &routine["routine_markdown"]], [&json!(1), &json!(VALID)]);
}
