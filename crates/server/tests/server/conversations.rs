//! Conversations over HTTP: messages, streams, questions, restarts, refusals.

use std::io::Read as _;

use serde_json::{Value, json};

use crate::support::api::{Events, TestServer};
use crate::support::streaming_model::{Script, StreamingModel};

const ROUTE: &str = "/agent/conversations";

/// A server whose only model gives these answers.
fn served(answers: Vec<Script>) -> (TestServer, StreamingModel) {
    let (served, model) = (TestServer::start(), StreamingModel::new(answers));
    configure(&served, &model);
    (served, model)
}

fn configure(served: &TestServer, model: &StreamingModel) {
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url(), "api_key": "sk-1234567890" } } });
    served.api.post("/api/config/llm", &models).ok();
}

fn create(served: &TestServer, body: &Value) -> String {
    served.api.post(ROUTE, body).ok()["conversation_id"].as_str().unwrap().to_owned()
}

fn send(served: &TestServer, id: &str, text: &str) -> Events {
    let body = json!({ "text": text }).to_string();
    served.api.events_of("POST", &format!("{ROUTE}/{id}/messages"), Some(&body), "")
}

/// The rest of a stream: name, id and data of each event.
fn rest(mut events: Events) -> Vec<(String, String, Value)> {
    std::iter::from_fn(|| events.try_next()).collect()
}

fn todo() -> Script {
    let items = json!({ "todos": [{ "content": "look", "status": "pending" }] });
    Script::stream().call("c1", "todo", &items).done()
}

fn show(served: &TestServer, id: &str) -> Value {
    served.api.get(&format!("{ROUTE}/{id}")).ok()["conversation"].take()
}

#[test]
fn a_run_is_streamed_stored_and_resumed_from_any_event() {
    let (served, model) = served(vec![todo(), Script::stream().text("Do").text("ne.").done()]);
    let id = create(&served, &json!({ "toolsets": ["todo"] }));
    let events = rest(send(&served, &id, "Look around"));
    let names: Vec<&str> = events.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!((names.first(), names.last()), (Some(&"connected"), Some(&"complete")), "{names:?}");
    let ids: Vec<u64> = events.iter().filter_map(|(_, id, _)| id.parse().ok()).collect();
    assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>(), "ids grow by one");
    let deltas: String =
        events.iter().filter(|(_, id, _)| id.is_empty()).filter_map(|(.., data)| data["text"].as_str()).collect();
    assert_eq!(deltas, "Done.");
    let metrics = events.iter().find(|(name, ..)| name == "usage_metrics").unwrap();
    assert!(metrics.2["context_window"].is_u64() && metrics.2["metrics"]["accumulated_cost"].is_null(), "{metrics:?}");

    // The stored events are those with an id.
    let stored = served.api.get(&format!("{ROUTE}/{id}/events")).ok();
    let with_ids: Vec<Value> = events
        .iter()
        .filter(|(_, id, _)| !id.is_empty())
        .map(|(name, id, data)| json!({ "id": id.parse::<u64>().unwrap(), "event": name, "data": data }))
        .collect();
    assert_eq!((&stored["events"], &stored["count"]), (&json!(with_ids), &json!(ids.len())));
    for after in [0, 1, ids.len() as u64 - 1, ids.len() as u64] {
        let header = format!("Last-Event-ID: {after}\r\n");
        let again = rest(served.api.events(&format!("{ROUTE}/{id}/stream"), &header));
        let again: Vec<u64> = again.iter().filter_map(|(_, id, _)| id.parse().ok()).collect();
        assert_eq!(again, (after + 1..=ids.len() as u64).collect::<Vec<_>>());
        let page = served.api.get(&format!("{ROUTE}/{id}/events?after={after}&limit=1")).ok();
        assert_eq!(page["events"].as_array().map(Vec::len), Some(usize::from(after < ids.len() as u64)));
    }

    let conversation = show(&served, &id);
    assert_eq!(
        (&conversation["status"], &conversation["title"], &conversation["unfinished"], &conversation["model"]),
        (&json!("idle"), &json!("Look around"), &json!(false), &json!("one"))
    );
    let history = served.api.get(&format!("{ROUTE}/{id}/history")).ok();
    assert_eq!(history["count"], 4, "{history}");
    assert_eq!(model.requests().len(), 2);
    let all = served.api.get(&format!("{ROUTE}?status=idle")).ok();
    assert_eq!((&all["count"], &all["conversations"][0]["id"]), (&json!(1), &json!(id)));
    assert_eq!(served.api.get(&format!("{ROUTE}?status=waiting")).ok()["count"], 0);
    assert!(!format!("{stored}{history}{all}").contains("sk-1234567890"));
    served.api.delete(&format!("{ROUTE}/{id}")).ok();
    served.api.get(&format!("{ROUTE}/{id}")).fails(404, "NOT_FOUND");
}

#[test]
fn a_question_is_answered_after_a_restart() {
    let ask = Script::stream().call("c1", "please_help_me", &json!({ "message": "Solve the captcha" })).done();
    let (mut served, model) = served(vec![ask, Script::stream().text("Thanks.").done()]);
    let id = create(&served, &json!({}));
    let mut events = send(&served, &id, "Log in");
    let (_, help) = events.next_of("help_request");
    assert!(help.to_string().contains("Solve the captcha"), "{help}");
    let waiting = show(&served, &id);
    assert_eq!((&waiting["status"], &waiting["question"]["kind"]), (&json!("waiting"), &json!("help")));
    let path = |rest: &str| format!("{ROUTE}/{id}/{rest}");
    served.api.post(&path("messages"), &json!({ "text": "More" })).fails(409, "CONFLICT");
    drop(events);

    served.restart();
    configure(&served, &model);
    assert_eq!(show(&served, &id)["status"], "waiting");
    let other = json!({ "text": "Done, go on", "question_id": "another" });
    served.api.post(&path("answer"), &other).fails(409, "CONFLICT");
    let question = show(&served, &id)["question"]["id"].clone();
    served.api.post(&path("answer"), &json!({ "text": "Done, go on", "question_id": question })).ok();
    let events = rest(served.api.events(&path("stream"), ""));
    assert_eq!(events.last().unwrap().0, "complete", "{events:?}");
    assert_eq!(show(&served, &id)["status"], "idle");
    let sent = model.requests().remove(1)["messages"].to_string();
    assert!(sent.contains("Done, go on"), "{sent}");
    served.api.post(&path("answer"), &json!({ "text": "again" })).fails(409, "CONFLICT");
}

#[test]
fn a_run_goes_on_when_its_client_hangs_up_and_ends_when_it_is_stopped() {
    let (served, _model) = served(vec![Script::stream().text("I think").hang()]);
    let id = create(&served, &json!({ "toolsets": ["todo"] }));
    let path = |rest: &str| format!("{ROUTE}/{id}/{rest}");
    for rest in ["pause", "resume", "stop"] {
        served.api.post(&path(rest), &json!({})).fails(409, "CONFLICT");
    }
    let mut events = send(&served, &id, "Think");
    assert_eq!(events.next().0, "connected");
    drop(events);
    let running = show(&served, &id);
    assert_eq!((&running["status"], &running["paused"]), (&json!("active"), &json!(false)));
    served.api.post(&path("messages"), &json!({ "text": "More" })).fails(409, "CONFLICT");
    assert_eq!(served.api.post(&path("pause"), &json!({})).ok()["paused"], true);
    assert_eq!(served.api.post(&path("resume"), &json!({})).ok()["paused"], false);
    let follower = served.api.events(&path("stream"), "");
    let stopped = served.api.post(&path("stop"), &json!({})).ok();
    assert_eq!(stopped["status"], "idle");
    let (name, _, data) = rest(follower).pop().unwrap();
    assert_eq!((&*name, &data["stopped"]), ("complete", &json!(true)));
    assert_eq!(show(&served, &id)["unfinished"], true);
}

#[test]
fn wrong_requests_are_refused_before_anything_is_stored() {
    let (served, _model) = served(Vec::new());
    for (body, code, text) in [
        (json!({ "model": "nobody" }), "BAD_REQUEST", "nobody"),
        (json!({ "toolsets": ["nothing"] }), "BAD_REQUEST", "nothing"),
        (json!({ "mode": "dance" }), "BAD_REQUEST", "dance"),
        (json!({ "cwd": "/no/such/folder" }), "BAD_REQUEST", "/no/such/folder"),
        (json!({ "browser_id": "0" }), "BAD_REQUEST", "no browser is registered"),
        (json!({ "guard": "some" }), "BAD_REQUEST", "guard"),
        (json!({ "modle": "one" }), "UNKNOWN_FIELD", "modle"),
    ] {
        let refused = served.api.post(ROUTE, &body).fails(400, code);
        assert!(refused["error"].as_str().unwrap().contains(text), "{refused}");
    }
    assert_eq!(served.api.get(ROUTE).ok()["count"], 0);
    served.api.get(&format!("{ROUTE}?status=asleep")).fails(400, "BAD_REQUEST");
    let unknown = format!("{ROUTE}/00000000-0000-4000-8000-000000000000");
    served.api.post(&format!("{unknown}/messages"), &json!({ "text": "x" })).fails(404, "NOT_FOUND");
    for rest in ["", "/events", "/history", "/stream", "/images/1"] {
        served.api.get(&format!("{unknown}{rest}")).fails(404, "NOT_FOUND");
    }
    let id = create(&served, &json!({}));
    served.api.post(&format!("{ROUTE}/{id}/messages"), &json!({ "text": " " })).fails(400, "BAD_REQUEST");
    served.api.post(&format!("{ROUTE}/{id}/messages"), &json!({})).fails(400, "BAD_REQUEST");
    assert_eq!(served.api.get(&format!("{ROUTE}/{id}/events")).ok()["count"], 0);
    served.api.get(&format!("{ROUTE}/{id}/images/one")).fails(400, "BAD_REQUEST");

    // An expired id is reported as expired, at creation and at each message.
    let expired = served.api.post("/browsers/register", &json!({ "ttlHours": 0.000_000_1 })).ok();
    let body = json!({ "browser_id": expired["browser_id"] });
    let refused = served.api.post(ROUTE, &body).fails(400, "BAD_REQUEST");
    assert!(refused["error"].as_str().unwrap().contains("expired"), "{refused}");
    let message = json!({ "text": "x", "browser_id": expired["browser_id"] });
    served.api.post(&format!("{ROUTE}/{id}/messages"), &message).fails(400, "BAD_REQUEST");
}

#[test]
fn without_a_model_a_conversation_cannot_be_created() {
    let served = TestServer::start();
    let refused = served.api.post(ROUTE, &json!({})).fails(400, "BAD_REQUEST");
    assert!(refused["error"].as_str().unwrap().contains("no model is configured"), "{refused}");
}

#[test]
fn a_database_of_a_newer_version_only_stops_the_routes_that_need_it() {
    let mut served = TestServer::start();
    let file = served.home.database();
    served.restart_after(|| {
        let database = rusqlite::Connection::open(&file).unwrap();
        database.pragma_update(None, "user_version", 4_711).unwrap();
    });
    served.api.get("/health").ok();
    for path in [ROUTE, "/browsers/0/valid"] {
        let refused = served.api.get(path).fails(500, "INTERNAL");
        let text = refused["error"].as_str().unwrap();
        assert!(text.contains("cdpilot.db") && text.contains("4711"), "{text}");
    }
}

#[test]
fn a_bound_conversation_uses_the_registered_browser_alone() {
    let Some(lease) = crate::support::lease::Lease::take_empty() else { return };
    let endpoint = lease.url();
    let open = |url: &str| Script::stream().call("c1", "tab", &json!({ "action": "open", "url": url })).done();
    let served = TestServer::start();
    served.site.page("/", "<title>bound</title><button>here</button>");
    let model = StreamingModel::new([open(&served.site.url("a", "/")), Script::stream().text("Seen.").done()]);
    configure(&served, &model);
    let browser = served.api.post("/browsers/register", &json!({ "endpoint": endpoint })).ok();
    let id = create(&served, &json!({ "browser_id": browser["browser_id"] }));
    served.api.delete(&format!("/browsers/{}", browser["browser_id"].as_str().unwrap())).ok();
    let events = rest(send(&served, &id, "Open the page"));
    let seen = events.iter().find(|(.., data)| data["type"] == "ObservationEvent").unwrap();
    assert_eq!(seen.2["success"], true, "{seen:?}");
    assert_eq!(served.api.get("/").ok()["running"], false, "the server's own browser was not started");
    let image = seen.2["image"].as_str().unwrap();
    assert_eq!(image, format!("{ROUTE}/{id}/images/1"));
    let mut picture = Vec::new();
    served.api.send("GET", image, None, "").read_to_end(&mut picture).unwrap();
    let head = String::from_utf8_lossy(&picture[..200]);
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("content-type: image/png"), "{head}");
    assert!(!format!("{events:?}").contains(endpoint) && !show(&served, &id).to_string().contains(endpoint));
    let request = model.requests().remove(1)["messages"].to_string();
    assert!(request.contains("data:image/png;base64,"), "the model gets the picture");
    served.api.delete(&format!("{ROUTE}/{id}")).ok();
}

#[test]
fn a_message_that_cannot_be_streamed_is_not_stored() {
    let served = TestServer::with(|_, options| options.limits.streams = 1);
    let model = StreamingModel::new([Script::stream().text("Hm").hang(), Script::stream().text("Done.").done()]);
    configure(&served, &model);
    let (first, second) = (create(&served, &json!({})), create(&served, &json!({})));
    let mut stream = send(&served, &first, "Go");
    assert_eq!(stream.next().0, "connected");
    served.api.until("the request to the model", "/", |_| !model.requests().is_empty());
    let path = format!("{ROUTE}/{second}");
    served.api.post(&format!("{path}/messages"), &json!({ "text": "Go" })).fails(503, "BUSY");
    assert_eq!(served.api.get(&format!("{path}/history")).ok()["count"], 0);
    served.api.post(&format!("{ROUTE}/{first}/stop"), &json!({})).ok();
    rest(stream);
    let deadline = crate::support::soon();
    // The place becomes free a moment after the end of the stream.
    loop {
        let answer = served.api.ask("POST", &format!("{path}/messages"), Some(r#"{"text": "Go"}"#), "");
        if answer.status == 200 {
            break;
        }
        answer.fails(503, "BUSY");
        assert!(!deadline.passed());
    }
}

#[test]
fn last_event_ids_that_do_not_exist_are_refused() {
    let (served, _model) = served(vec![Script::stream().text("Done.").done()]);
    let id = create(&served, &json!({ "toolsets": ["todo"] }));
    rest(send(&served, &id, "Go"));
    let newest = show(&served, &id)["last_event"].as_u64().unwrap();
    for bad in [(newest + 1).to_string(), u64::MAX.to_string(), "-1".to_owned(), "x".to_owned()] {
        let path = format!("{ROUTE}/{id}/stream");
        let answer = served.api.ask("GET", &path, None, &format!("Last-Event-ID: {bad}\r\n"));
        answer.fails(400, "BAD_REQUEST");
    }
}
