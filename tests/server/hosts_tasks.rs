//! Conversations that are limited to some hosts.

use serde_json::json;

use crate::server_tasks::{Tasks, results};
use crate::support::agent_plan::Do;
use crate::support::site::Site;

#[test]
fn what_is_not_reached_is_reported_to_the_user_and_the_model() {
    let site = Site::start();
    site.page("/", "<button>Go</button><img src='@b/pixel.png'><script src='@b/track.js'></script>");
    let plan = vec![Do::Tab("init", site.url("a", "/")), Do::Tab("open", site.url("b", "/")), Do::Say("Done.")];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let id = tasks.create(&json!({ "hosts": ["a.localhost"] }));
    let mut stream = tasks.send(&id, 0);
    while stream.try_next().is_some() {}
    let events = tasks.events(&id);
    assert_eq!(events.last().unwrap().0, "complete");
    let results = results(&events);
    let host = format!("b.localhost:{}", site.port());
    assert_eq!((&results[0]["success"], &results[1]["success"]), (&json!(true), &json!(false)), "{results:#?}");
    assert_eq!(results[1]["code"], "NAVIGATION_BLOCKED");
    assert!(results[1]["error"].as_str().unwrap().contains("not among the hosts of this conversation: a.localhost"));
    let reported = events.iter().filter(|(_, data)| data["type"] == "SystemEvent");
    let reported: Vec<String> = reported.map(|(_, data)| data.to_string()).collect();
    assert!(
        reported.iter().any(|text| text.contains(&host) && text.contains("limited to other hosts")),
        "{reported:#?}"
    );
    let requests = json!(tasks.model.requests()).to_string();
    assert!(requests.contains(&format!(r#"\"blocked_hosts\":[\"{host}\"]"#)), "{requests}");
    assert!(site.requested_from("b.localhost").is_empty());
}

#[test]
fn hosts_that_cannot_be_held_are_refused() {
    let Some(tasks) = Tasks::new(vec![vec![Do::Say("Done.")]]) else { return };
    for (body, part) in [
        (json!({ "hosts": ["a b"] }), "hosts: "),
        (json!({ "hosts": [] }), "give at least one pattern"),
        (json!({ "hosts": ["a.test"], "share_login": true }), "leave out share_login"),
    ] {
        let failure = tasks.served.api.post("/agent/conversations", &body).fails(400, "BAD_REQUEST");
        assert!(failure["error"].as_str().unwrap().contains(part), "{failure}");
    }
    // No limits.
    tasks.create(&json!({ "hosts": ["*"], "share_login": true }));
}
