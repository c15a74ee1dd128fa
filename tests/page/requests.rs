//! Network requests of a tab: listing, state and bodies.

use std::sync::Arc;

use cdpilot::page::{Error, PageOptions};
use cdpilot::supervisor::{NetworkRequest, SupervisorOptions};
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;
use crate::support::site::{Answer, Held};

/// The requests whose address ends like this, once nothing is under way any more.
fn ended(tab: &SettleTab, part: &str) -> Vec<Arc<NetworkRequest>> {
    tab.supervisor().traffic_now(soon()).unwrap();
    let quiet = |traffic: &cdpilot::supervisor::Traffic| traffic.of(tab.target()).next().is_none();
    assert!(tab.supervisor().wait_traffic(soon(), quiet).is_some(), "{:?}", tab.supervisor().traffic());
    tab.requests(Some(part), false)
}

#[test]
fn each_request_is_listed_with_its_outcome() {
    let Some(tab) = SettleTab::new("requests") else { return };
    tab.site.page("/", "<link rel=stylesheet href=/style.css><script src=/missing.js></script><img src=/old.png>");
    tab.site.put("/style.css", Answer::html("body { color: red }").kind("text/css"));
    tab.site.put("/old.png", Answer::html("").status("302 Found").header("Location", "/new.png"));
    tab.site.put("/new.png", Answer::html("<svg xmlns='http://www.w3.org/2000/svg'/>").kind("image/svg+xml"));
    tab.site.page("/posted", "thanks");
    tab.go("/");
    tab.eval("fetch('/posted?a=1', { method: 'POST', body: 'x' }).then(r => r.text())");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    tab.eval(&format!("fetch('http://127.0.0.1:{closed}/none').catch(() => 0)"));
    tab.eval("fetch('data:image/png;base64,' + 'A'.repeat(100000)).then(r => r.status)");
    let all = ended(&tab, "");
    let shown = |url: &str| {
        let found: Vec<_> = all.iter().filter(|r| r.url.contains(url)).collect();
        assert_eq!(found.len(), 1, "{url}: {found:#?}");
        serde_json::to_value(&***found.first().unwrap()).unwrap()
    };
    for (url, method, kind, status, ok) in [
        ("/style.css", "GET", "stylesheet", 200, true),
        ("/missing.js", "GET", "script", 404, false),
        ("/old.png", "GET", "image", 302, false),
        ("/new.png", "GET", "image", 200, true),
        ("/posted?a=1", "POST", "fetch", 200, true),
    ] {
        let request = shown(url);
        assert_eq!(
            (&request["method"], &request["resourceType"], &request["status"], &request["ok"]),
            (&json!(method), &json!(kind), &json!(status), &json!(ok)),
            "{request}"
        );
        assert!(request["durationMs"].as_f64().is_some() && request.get("failure").is_none(), "{request}");
    }
    let failed = shown("/none");
    assert!(failed["failure"].as_str().unwrap().starts_with("net::ERR_CONNECTION_REFUSED"), "{failed}");
    assert!(failed.get("status").is_none() && failed.get("ok").is_none(), "{failed}");
    assert!(shown("data:image/png")["url"].as_str().unwrap().len() < 80);
    let document = all.iter().find(|r| &*r.resource_type == "document").unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    assert!((now - document.started_at).abs() < 120.0, "{document:?}");
    let mut ids: Vec<_> = all.iter().map(|r| r.id.clone()).collect();
    ids.dedup();
    assert_eq!(ids.len(), all.len());

    assert_eq!(tab.requests(Some("*/posted?*"), true).len(), 1);
    assert!(tab.requests(None, false).is_empty());
    tab.eval("fetch('/posted').then(r => r.text())");
    assert_eq!(ended(&tab, "").len(), 1);
}

#[test]
fn requests_of_frames_and_workers_are_listed_once() {
    let Some(tab) = SettleTab::new("request-places") else { return };
    tab.site.page(
        "/",
        "<iframe src='@b/inner'></iframe><script>worker = new Worker('/worker.js'); \
         said = new Promise(done => worker.onmessage = () => done(1))</script>",
    );
    tab.site.page("/inner", "<script src=/of-frame.js></script>");
    tab.site.put("/of-frame.js", Answer::script(""));
    tab.site.put("/worker.js", Answer::script("fetch('/of-worker').then(() => postMessage(1))"));
    tab.site.page("/of-worker", "");
    tab.go("/");
    tab.eval("said");
    tab.frame("/inner");
    let all = ended(&tab, "");
    for part in ["/inner", "/of-frame.js", "/worker.js", "/of-worker"] {
        let found: Vec<_> = all.iter().filter(|r| r.url.ends_with(part)).collect();
        assert_eq!(found.len(), 1, "{part}: {found:#?}");
        assert_eq!(found[0].status, Some(200), "{found:?}");
    }
}

#[test]
fn requests_under_way_are_tracked_until_they_end() {
    let Some(tab) = SettleTab::new("under-way") else { return };
    let held = Held::default();
    // It has an icon, because the browser would request `/favicon.ico` at any time.
    tab.site.page("/", "<link rel=icon href='data:,'>hello");
    tab.site.put("/slow", Answer::html("done").held_by(&held));
    // It is aborted; the page sends it again much later.
    let stream = "retry: 600000\ndata: 1\n\n";
    tab.site.put("/events", Answer::html(stream).kind("text/event-stream").header("Content-Length", "1000"));
    tab.go("/");
    ended(&tab, "");
    let before = tab.supervisor().traffic().last;
    tab.eval("source = new EventSource('/events'); new Promise(done => source.onmessage = () => done(1))");
    tab.eval("(slow = fetch('/slow').then(r => r.text()), 1)");
    tab.site.wait_requested("a.localhost/slow", 1);
    let now = tab.supervisor().traffic_now(soon()).unwrap();
    let loading: Vec<_> = now.since(tab.target(), before).map(|loading| &*loading.url).collect();
    assert_eq!(loading, [&*tab.site.url("a", "/slow")], "event streams are left out");
    assert!(now.of(tab.target()).all(|l| l.number > before && l.since.elapsed() < soon().left()));
    held.release();
    assert_eq!(tab.eval("slow"), "done");
    assert_eq!(ended(&tab, "/slow")[0].status, Some(200));
    assert!(!tab.requests(Some("/events"), false).is_empty(), "listed all the same");

    // Leftovers of an earlier document are ignored.
    let held = Held::default();
    tab.site.put("/slow", Answer::html("done").held_by(&held));
    // Of two requests for the same address Chromium would let the second wait for the first.
    tab.site.put("/slower", Answer::html("done").held_by(&held));
    tab.eval("(fetch('/slow', { keepalive: true }), fetch('/slower'), 1)");
    tab.site.wait_requested("a.localhost/slow", 2);
    tab.site.wait_requested("a.localhost/slower", 1);
    tab.site.page("/next", "next");
    tab.go("/next");
    let left = ended(&tab, "/slow");
    assert_eq!(left.len(), 3);
    assert!(left[1..].iter().all(|r| r.failure.as_deref() == Some("net::ERR_ABORTED")), "{left:#?}");
    held.release();
}

#[test]
fn a_response_body_is_available_while_chromium_keeps_it() {
    let Some(tab) = SettleTab::new("bodies") else { return };
    let long = "é".repeat(1000);
    tab.site.page("/", "hello");
    tab.site.put("/text", Answer::html(long.clone()).kind("text/plain; charset=utf-8"));
    tab.site.put("/bytes", Answer::bytes("application/octet-stream", vec![0, 255, 1, 254]));
    tab.site.put("/gone", Answer::html("").status("302 Found").header("Location", "/text"));
    tab.go("/");
    tab.eval("Promise.all(['/text', '/bytes', '/gone'].map(u => fetch(u).then(r => r.arrayBuffer()))).then(() => 1)");
    let id = |part: &str| ended(&tab, part)[0].id.to_string();
    let body = tab.response_body(&id("/text"), None, soon()).unwrap();
    assert_eq!((body.body.as_str(), body.base64, body.bytes, body.truncated), (long.as_str(), false, 2000, false));
    let body = tab.response_body(&id("/text"), Some(5), soon()).unwrap();
    assert_eq!((body.body.as_str(), body.bytes, body.truncated), ("éé", 2000, true));
    let body = tab.response_body(&id("/bytes"), None, soon()).unwrap();
    assert_eq!((body.body.as_str(), body.base64, body.bytes), ("AP8B/g==", true, 4));
    let gone = tab.response_body(&id("/gone"), None, soon()).unwrap_err();
    assert!(matches!(gone, Error::NoBody { .. }) && gone.code() == "NOT_FOUND", "{gone}");
    assert!(matches!(tab.response_body("r999999", None, soon()), Err(Error::NoRequest { .. })));
    let text = id("/text");
    tab.site.page("/next", "next");
    tab.go_to(&tab.site.url("b", "/next"));
    let gone = tab.response_body(&text, None, soon()).unwrap_err();
    assert!(matches!(gone, Error::NoBody { .. }), "{gone}");
    println!("a body that is gone: {gone}");
}

#[test]
fn only_recent_requests_are_kept_and_none_when_disabled() {
    let Some(tab) = SettleTab::new("request-flood") else { return };
    tab.site.page("/", "hello");
    tab.go("/");
    tab.eval(
        "(async () => { for (let n = 0; n < 60; n++) await Promise.all(Array.from({ length: 10 }, \
              (_, m) => fetch(`data:text/plain,${n}-${m}`))) ; return 1 })()",
    );
    tab.eval("fetch('/last').then(r => r.text())");
    let all = ended(&tab, "");
    assert_eq!(all.len(), 500);
    assert!(all.last().unwrap().url.ends_with("/last"), "{:?}", all.last());
    assert!(all.windows(2).all(|pair| pair[0].number < pair[1].number));

    let mut options = PageOptions::default();
    options.network = false;
    let Some(quiet) = SettleTab::with(SupervisorOptions::task("unwatched"), options) else { return };
    quiet.site.page("/", "hello");
    quiet.go("/");
    assert!(quiet.requests(None, false).is_empty() && !quiet.supervisor().traffic().watched);
}
