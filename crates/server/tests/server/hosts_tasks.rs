//! Conversations that are limited to some hosts.

use serde_json::{Value, json};

use crate::server_tasks::{Tasks, results};
use crate::support::agent_plan::Do;
use crate::support::api::Events;
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

/// Reads events up to a question (`true`) or the end.
fn asks(stream: &mut Events) -> bool {
    while let Some((name, _, _)) = stream.try_next() {
        match name.as_str() {
            "help_request" => return true,
            "complete" | "error" => return false,
            _ => {}
        }
    }
    false
}

/// The open question of a conversation.
fn question(tasks: &Tasks, id: &str) -> Value {
    tasks.served.api.get(&format!("/agent/conversations/{id}")).ok()["conversation"]["question"].clone()
}

/// Answers the open question. Whether there is another one then.
fn decide(tasks: &Tasks, id: &str, decision: &str) -> bool {
    let body = json!({ "approval_id": question(tasks, id)["id"], "decision": decision, "note": "As you like" });
    let last = tasks.events(id).len();
    tasks.served.api.post(&format!("/agent/conversations/{id}/answer"), &body).ok();
    let route = format!("/agent/conversations/{id}/stream");
    asks(&mut tasks.served.api.events_of("GET", &route, None, &format!("Last-Event-ID: {last}\r\n")))
}

#[test]
fn a_model_asks_a_person_for_a_host() {
    let site = Site::start();
    site.page("/", "<button>Go</button>");
    let host = format!("b.localhost:{}", site.port());
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Host(host.clone()),
        Do::Tab("open", site.url("b", "/")),
        Do::Tab("open", site.url("c", "/")),
        Do::Host(host.clone()),
        Do::Say("Done."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let id = tasks.create(&json!({ "hosts": ["a.localhost"] }));
    assert!(asks(&mut tasks.send(&id, 0)));
    let asked = question(&tasks, &id);
    let body = &asked["body"];
    assert_eq!((&asked["kind"], &body["effect"]), (&json!("approval"), &json!("host")), "{asked:#}");
    assert_eq!((&body["destination"], &body["origin"]), (&json!(host), &json!(site.url("a", ""))), "{asked:#}");
    assert!(body["message"].as_str().unwrap().contains("The task needs it"), "{asked:#}");
    let route = format!("/agent/conversations/{id}/answer");
    let every = json!({ "approval_id": asked["id"], "decision": "kind" });
    let failure = tasks.served.api.post(&route, &every).fails(400, "BAD_REQUEST");
    assert!(failure["error"].as_str().unwrap().contains("admit every host"), "{failure}");
    assert!(site.requested_from("b.localhost").is_empty());
    assert!(!decide(&tasks, &id, "once"));
    let events = tasks.events(&id);
    let results = results(&events);
    // The host, its page, another host, and the request for what is admitted already.
    let codes: Vec<&Value> = results.iter().map(|result| &result["code"]).collect();
    assert_eq!(codes, [&json!(null), &json!(null), &json!(null), &json!("NAVIGATION_BLOCKED"), &json!("CONFLICT")]);
    assert!(!site.requested_from("b.localhost").is_empty() && site.requested_from("c.localhost").is_empty());
    // Nothing of the question is among the messages: the model reads the result of its call.
    let messages = tasks.model.requests().last().unwrap()["messages"].to_string();
    assert!(messages.contains("admitted") && !messages.contains("approval_id"), "{messages}");
    let hosts = tasks.served.api.get(&format!("/agent/conversations/{id}")).ok()["conversation"]["hosts"].clone();
    assert_eq!(hosts, json!(["a.localhost", host]));
}

#[test]
fn a_host_that_a_person_has_refused_is_not_asked_for_again() {
    let site = Site::start();
    site.page("/", "<button>Go</button>");
    let host = format!("b.localhost:{}", site.port());
    let again =
        vec![Do::Host(host.clone()), Do::Host(host.clone()), Do::Say("Done."), Do::Host(host), Do::Say("Done.")];
    let other = ["169.254.169.254", "*", "", "%2A", "shop.example:0"].into_iter().map(|host| Do::Host(host.to_owned()));
    let other = other.chain([Do::Say("Done.")]).collect();
    let Some(tasks) = Tasks::new(vec![again, other]) else { return };
    let id = tasks.create(&json!({ "hosts": ["a.localhost"], "guard": "off" }));
    assert!(asks(&mut tasks.send(&id, 0)));
    assert!(!decide(&tasks, &id, "refuse"));
    let refusals = |id: &str| -> Vec<Value> {
        results(&tasks.events(id)).into_iter().map(|result| result["code"].clone()).collect()
    };
    assert_eq!(refusals(&id), ["APPROVAL_REFUSED", "APPROVAL_REFUSED"]);
    let messages = tasks.model.requests().last().unwrap()["messages"].to_string();
    assert!(messages.contains("As you like"), "{messages}");
    // A new message may change that.
    assert!(asks(&mut tasks.send(&id, 0)));
    assert!(!decide(&tasks, &id, "refuse"));
    let id = tasks.create(&json!({ "hosts": ["a.localhost"] }));
    assert!(!asks(&mut tasks.send(&id, 1)));
    let never = refusals(&id);
    assert_eq!(never[0], "NAVIGATION_BLOCKED");
    assert!(never.len() == 5 && never[1..].iter().all(|code| code == "BAD_REQUEST"), "{never:?}");
    // Without limits there is nothing to ask for.
    let tools = tasks.model.requests().last().unwrap()["tools"].to_string();
    assert!(tools.contains("request_host"), "{tools}");
    let free = tasks.create(&json!({}));
    asks(&mut tasks.send(&free, 1));
    let tools = tasks.model.requests().last().unwrap()["tools"].to_string();
    assert!(!tools.contains("request_host"), "{tools}");
}

#[test]
fn a_stored_secret_in_the_name_of_a_refused_host_is_redacted() {
    let site = Site::start();
    let secret = "hunter2secretvalue";
    site.page("/", &format!("<button>Go</button><img src='http://{secret}.localhost:{}/x.png'>", site.port()));
    let plan =
        vec![Do::Tab("init", site.url("a", "/")), Do::Look, Do::Host(format!("{secret}.localhost")), Do::Say("Done.")];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let stored = json!({ "name": "shop", "origin": site.url("a", ""), "value": secret });
    tasks.served.api.post("/secrets", &stored).ok();
    let id = tasks.create(&json!({ "hosts": ["a.localhost"], "secrets": ["shop"] }));
    let mut stream = tasks.send(&id, 0);
    while stream.try_next().is_some() {}
    let results = tasks.events(&id);
    // The request for the host is answered without a question.
    let asked = crate::server_tasks::results(&results).into_iter().find(|result| result["tool_name"] == "request_host");
    assert_eq!(asked.unwrap()["code"], "BAD_REQUEST");
    let sent = json!(tasks.model.requests()).to_string();
    let reported = sent.split("blocked_hosts").nth(1).expect("a refused host");
    assert!(reported.contains("[secret]"), "{}", reported.chars().take(200).collect::<String>());
    // Its own calls aside, the model reads the value nowhere.
    let read = tasks.model.requests().last().unwrap()["messages"].clone();
    let read = read.as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    let read: Vec<String> = read.map(|message| message["content"].to_string()).collect();
    assert!(!read.join(" ").contains(secret), "{read:#?}");
    let database = std::fs::read(tasks.served.home.root().join("cdpilot.db-wal")).unwrap_or_default();
    let database = [std::fs::read(tasks.served.home.root().join("cdpilot.db")).unwrap(), database].concat();
    assert!(!database.windows(secret.len()).any(|part| part == secret.as_bytes()), "it is in the database");
}
