//! Recordings of a real browser: one at a time, and how they end.

use serde_json::{Value, json};

use crate::server_tasks::Tasks;
use crate::support::agent_plan::Do;
use crate::support::api::{Api, TestServer};
use crate::support::site::Site;

fn start(api: &Api, body: &Value) -> String {
    let begun = api.post("/recordings", body).ok();
    assert_eq!([&begun["recording"]["status"], &begun["recording"]["paused"]], [&json!("active"), &json!(false)]);
    begun["recording_id"].as_str().unwrap().to_owned()
}

fn show(api: &Api, id: &str) -> Value {
    api.get(&format!("/recordings/{id}")).ok()["recording"].take()
}

fn events(api: &Api, id: &str) -> Vec<Value> {
    let answer = api.get(&format!("/recordings/{id}/events?limit=5000")).ok();
    answer["events"].as_array().unwrap().clone()
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["event_type"] == kind).count()
}

/// Closes the tabs of a recording.
fn close_tabs(api: &Api, id: &str) {
    for event in events(api, id) {
        if let Some(target) = event["data"]["target_id"].as_str() {
            api.call("DELETE", &format!("/tabs/{target}"), None);
        }
    }
}

#[test]
fn two_that_are_begun_at_once_are_one() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.site.page("/", "<h1>Shop</h1>");
    let body = json!({ "start_url": served.site.url("a", "/"), "name": "Both" });
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| api.post("/recordings", &body))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!((won.len(), lost.len()), (1, 1));
    let id = won[0].json()["recording_id"].as_str().unwrap().to_owned();
    let refused = lost.into_iter().next().unwrap().fails(409, "CONFLICT");
    assert_eq!(refused["details"], json!({ "recording_id": id }));
    assert_eq!(api.get("/recordings").ok()["count"], 1);

    let begun = show(api, &id);
    assert_eq!(
        [&begun["launch_mode"], &begun["name"], &begun["start_url"]],
        [&json!("dedicated_window"), &json!("Both"), &body["start_url"]]
    );
    assert!(begun["viewport"]["width"].as_u64().unwrap() > 0, "{begun}");
    let path = |end: &str| format!("/recordings/{id}{end}");
    assert_eq!(api.post(&path("/pause"), &json!({})).ok()["recording"]["paused"], true);
    assert_eq!(api.post(&path("/pause"), &json!({})).ok()["recording"]["paused"], true);
    assert_eq!(api.post(&path("/resume"), &json!({})).ok()["recording"]["paused"], false);
    // Events of another program, in between those of the capture.
    let own = json!({ "event_index": 5_000, "event_type": "click", "timestamp": 1 });
    api.post(&path("/events"), &json!({ "events": [own.clone()] })).ok();
    api.post(&path("/events"), &json!({ "events": [own] })).fails(409, "CONFLICT");
    // Stopped by several requests at once, and once more.
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| api.post(&path("/stop"), &json!({})).ok())).collect();
        for thread in threads {
            let stopped = thread.join().unwrap()["recording"].clone();
            assert_eq!([&stopped["status"], &stopped["stop_reason"]], [&json!("stopped"), &json!("user")]);
        }
    });
    let all = events(api, &id);
    assert_eq!((count(&all, "recording_started"), count(&all, "recording_stopped")), (1, 1), "{all:#?}");
    assert_eq!(all.last().unwrap()["event_type"], "recording_stopped");
    let now = show(api, &id);
    assert_eq!(now["event_count"], all.len());
    assert_eq!(api.post(&path("/stop"), &json!({})).ok()["recording"], now);
    // The next one, which is deleted while it is active.
    let next = start(api, &json!({ "start_url": served.site.url("a", "/") }));
    close_tabs(api, &id);
    close_tabs(api, &next);
    assert_eq!(api.delete(&format!("/recordings/{next}")).ok()["removed"], true);
    api.get(&format!("/recordings/{next}")).fails(404, "NOT_FOUND");
    let third = start(api, &json!({}));
    api.post(&format!("/recordings/{third}/stop"), &json!({})).ok();
    close_tabs(api, &third);
}

#[test]
fn recordings_end_with_their_window_their_browser_or_the_server() {
    let Some(mut served) = TestServer::browsing() else { return };
    served.site.page("/", "<h1>Shop</h1>");
    let body = json!({ "start_url": served.site.url("a", "/") });
    let ended = |api: &Api, id: &str| {
        let path = format!("/recordings/{id}");
        let ended = api.until("the end", &path, |answer| answer["recording"]["status"] == "stopped");
        let all = events(api, id);
        assert_eq!(count(&all, "recording_stopped"), 1, "{all:#?}");
        ended["recording"]["stop_reason"].as_str().unwrap().to_owned()
    };
    let window = start(&served.api, &body);
    close_tabs(&served.api, &window);
    assert_eq!(ended(&served.api, &window), "window_closed");

    let server = start(&served.api, &body);
    let mut stream = served.api.events(&format!("/recordings/{server}/stream"), "");
    assert_eq!(stream.next().0, "connected");
    served.restart();
    assert_eq!(ended(&served.api, &server), "server_ended");
    served.api.post("/start", &json!({})).ok();
    close_tabs(&served.api, &server);

    let browser = start(&served.api, &body);
    wait_for_tab(&served, &browser);
    served.api.post("/stop", &json!({})).ok();
    assert_eq!(ended(&served.api, &browser), "browser_disconnected");
    served.api.post("/start", &json!({})).ok();
    close_tabs(&served.api, &browser);
}

/// Waits until the tab of a recording is known.
fn wait_for_tab(served: &TestServer, id: &str) {
    served.api.until("the tab", &format!("/recordings/{id}/events"), |answer| {
        answer["events"].as_array().unwrap().iter().any(|event| event["data"]["target_id"].is_string())
    });
}

#[test]
fn what_a_model_does_in_a_conversation_is_recorded() {
    let site = Site::start();
    site.page("/", "<style>body { font: 16px sans-serif }</style><h1>Shop</h1><button>Order</button>");
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Say("It is a shop."),
        Do::Act("click", ">Order<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Say("Ordered."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let api = &tasks.served.api;
    let conversation = tasks.create(&json!({}));
    let run = || {
        let mut stream = tasks.send(&conversation, 0);
        while stream.try_next().is_some() {}
    };
    run();
    let id = start(api, &json!({ "conversation_id": conversation, "name": "Order" }));
    let recording = show(api, &id);
    assert_eq!([&recording["launch_mode"], &recording["profile"]], [&json!(null), &json!("cdpilot")]);
    run();
    api.post(&format!("/recordings/{id}/stop"), &json!({})).ok();
    let all = events(api, &id);
    let clicks: Vec<&Value> = all.iter().filter(|event| event["event_type"] == "click").collect();
    assert_eq!(clicks.len(), 1, "{all:#?}");
    assert_eq!([&clicks[0]["by"], &clicks[0]["element"]["name"]], [&json!("agent"), &json!("Order")]);
    api.delete(&format!("/agent/conversations/{conversation}")).ok();
}
