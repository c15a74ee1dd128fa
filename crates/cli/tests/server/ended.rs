//! A browser that is killed while an operation waits.

use cdpilot::sync::spawn;
use serde_json::{Value, json};

use crate::cli_run::kill;
use crate::support::api::{ApiResponse, TestServer};
use crate::support::chrome::soon;
use crate::support::share::share;

/// A condition that never holds and reports to the site that it is evaluated.
const REPORTS: &str = "() => { fetch('/waiting'); return false; }";

/// Shows a page, sends a request, kills the browser once the page has reported, and gives the answer.
fn killed_during(served: &TestServer, times: usize, body: Value) -> ApiResponse {
    served.show("<p>here</p>");
    let api = served.api.clone();
    let pid = api.get("/").ok()["pid"].as_u64().unwrap();
    let (send, answer) = crossbeam_channel::bounded(1);
    let (asking, requested) = (api.clone(), body.clone());
    let _asker = spawn("asks", move || drop(send.send(asking.act(&requested)))).unwrap();
    served.site.wait_requested("a.localhost/waiting", times);
    kill(u32::try_from(pid).unwrap(), "-KILL");
    let response = answer.recv_deadline(soon().instant()).unwrap_or_else(|_| panic!("{body}: no answer"));
    api.until("the end of the browser", "/", |status| status["running"] == false);
    response
}

#[test]
fn a_wait_fails_with_the_usual_error_when_its_browser_is_killed() {
    let Some(served) = TestServer::launching() else { return };
    served.site.page("/waiting", "x");
    let mut times = 0;
    let waits = [json!({}), json!({ "text": "never" }), json!({ "url": "**/never" }), json!({ "selector": "#never" })];
    let waits = share(waits, 1);
    let count = waits.len();
    for mut wait in waits {
        wait["kind"] = "wait".into();
        wait["timeoutMs"] = 15_000.into();
        wait["fn"] = REPORTS.into();
        let shown = wait.to_string();
        times = served.site.requested_from("a.localhost").iter().filter(|path| path.ends_with("/waiting")).count() + 1;
        let response = killed_during(&served, times, wait).fails(503, "BROWSER_NOT_RUNNING");
        let error = response["error"].as_str().unwrap();
        assert!(error.contains("browser"), "{shown}: {response}");
    }
    assert!(times >= count);
    // A time alone: it begins behind an action that reports.
    times = served.site.requested_from("a.localhost").iter().filter(|path| path.ends_with("/waiting")).count() + 1;
    let batch = json!({ "kind": "batch", "actions": [
        { "kind": "evaluate", "fn": "void fetch('/waiting')" },
        { "kind": "wait", "timeMs": 15_000 },
    ] });
    let response = killed_during(&served, times, batch);
    assert!(response.text.contains("BROWSER_NOT_RUNNING") && !response.text.contains("TIMEOUT"), "{response:?}");
}
