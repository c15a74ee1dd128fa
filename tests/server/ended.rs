//! A browser that is killed while an operation waits.

use cdpilot::sync::spawn;
use serde_json::{Value, json};

use crate::cli_run::kill;
use crate::support::api::{Served, Told};
use crate::support::chrome::soon;

/// A condition that never holds and reports to the site that it is evaluated.
const REPORTS: &str = "() => { fetch('/waiting'); return false; }";

/// Shows a page, sends a request, kills the browser once the page has reported, and gives the answer.
fn killed_during(served: &Served, times: usize, body: Value) -> Told {
    served.show("<p>here</p>");
    let api = served.api.clone();
    let pid = api.get("/").ok()["pid"].as_u64().unwrap();
    let (send, answer) = crossbeam_channel::bounded(1);
    let (asking, asked) = (api.clone(), body.clone());
    let _asker = spawn("asks", move || drop(send.send(asking.act(&asked)))).unwrap();
    served.site.wait_asked("a.localhost/waiting", times);
    kill(u32::try_from(pid).unwrap(), "-KILL");
    let told = answer.recv_deadline(soon().instant()).unwrap_or_else(|_| panic!("{body}: no answer"));
    api.until("the end of the browser", "/", |status| status["running"] == false);
    told
}

#[test]
fn a_wait_fails_with_the_usual_error_when_its_browser_is_killed() {
    let Some(served) = Served::browsing() else { return };
    served.site.page("/waiting", "x");
    let mut times = 0;
    for mut wait in
        [json!({}), json!({ "text": "never" }), json!({ "url": "**/never" }), json!({ "selector": "#never" })]
    {
        wait["kind"] = "wait".into();
        wait["timeoutMs"] = 15_000.into();
        wait["fn"] = REPORTS.into();
        let shown = wait.to_string();
        times = served.site.asked_of("a.localhost").iter().filter(|path| path.ends_with("/waiting")).count() + 1;
        let told = killed_during(&served, times, wait).fails(503, "BROWSER_NOT_RUNNING");
        let error = told["error"].as_str().unwrap();
        assert!(error.contains("browser"), "{shown}: {told}");
    }
    assert!(times > 3);
    // A time alone: it begins behind an action that reports.
    times = served.site.asked_of("a.localhost").iter().filter(|path| path.ends_with("/waiting")).count() + 1;
    let batch = json!({ "kind": "batch", "actions": [
        { "kind": "evaluate", "fn": "void fetch('/waiting')" },
        { "kind": "wait", "timeMs": 15_000 },
    ] });
    let told = killed_during(&served, times, batch);
    assert!(told.text.contains("BROWSER_NOT_RUNNING") && !told.text.contains("TIMEOUT"), "{told:?}");
}
