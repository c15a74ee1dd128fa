//! The dialog bridge and service workers. Chromium asks none about a synchronous request, so the worst
//! they can do is what any page can: send requests of their own.

use serde_json::json;

use cdpilot::supervisor::bridge::RefusedCall;

use crate::support::bridged::{ALL, Bridged, HandledBy, Setup};
use crate::support::site::Answer;

/// A page that was loaded under the control of this service worker.
fn controlled(setup: Setup, worker: &str) -> Option<Bridged> {
    let mut tab = Bridged::start(setup)?;
    tab.site.page("/", "page");
    let take_over = "addEventListener('install', e => skipWaiting());
        addEventListener('activate', e => e.waitUntil(clients.claim()));";
    tab.site.put("/worker.js", Answer::script(format!("{take_over}{worker}")));
    let url = tab.site.url("a", "/");
    tab.go(&url);
    let controlled = "navigator.serviceWorker.register('/worker.js').then(() =>
        navigator.serviceWorker.controller || new Promise(done =>
            navigator.serviceWorker.addEventListener('controllerchange', done))).then(() => true)";
    assert_eq!(tab.eval(controlled), true);
    tab.go(&url);
    assert_eq!(tab.eval("navigator.serviceWorker.controller !== null"), true);
    Some(tab)
}

#[test]
fn service_workers_do_not_see_bridge_calls() {
    // It passes everything on, answers everything, fails everything.
    for does in ["caches.match('/').then(() => fetch(e.request))", "new Response('made up')", "Response.error()"] {
        let worker = format!(
            "const seen = []; addEventListener('message', e => e.source.postMessage(seen));
             addEventListener('fetch', e => {{ seen.push(e.request.url);
                if (e.request.mode !== 'navigate') e.respondWith({does}) }});"
        );
        let Some(mut tab) = controlled(Setup { workers: false, ..ALL }, &worker) else { return };
        tab.eval("fetch('/other').catch(() => 0).then(() => 0)");
        assert_eq!(tab.eval("[String(alert('A')), confirm('C'), prompt('P')]"), json!(["undefined", true, "typed"]));
        assert!(tab.taken().iter().all(|met| met.way == HandledBy::Bridge), "{does}");
        let seen = tab.eval(
            "new Promise(done => { navigator.serviceWorker.onmessage = e => done(e.data.join(' '));
                navigator.serviceWorker.controller.postMessage('tell') })",
        );
        let seen = seen.as_str().unwrap();
        assert!(seen.contains("/other") && !seen.contains(".invalid"), "{seen}");
    }
}

#[test]
fn bridge_requests_of_service_workers_are_refused() {
    let worker = "addEventListener('message', e => fetch(e.data[0], {method: 'POST', body: e.data[1]})
        .then(() => 'read', () => 'nothing').then(got => e.source.postMessage(got)));";
    for (workers, expected) in [(true, vec![HandledBy::Refused(RefusedCall::Repeated)]), (false, vec![])] {
        let Some(mut tab) = controlled(Setup { workers, ..ALL }, worker) else { return };
        tab.eval("alert('once')");
        let old = tab.taken()[0].body.clone();
        let message = json!([tab.bridge.pattern(), old]);
        let got = tab.eval(&format!(
            "new Promise(done => {{ navigator.serviceWorker.onmessage = e => done(e.data);
                navigator.serviceWorker.controller.postMessage({message}) }})"
        ));
        let ways: Vec<HandledBy> = tab.taken().iter().map(|met| met.way).collect();
        assert_eq!((got, ways), (json!("nothing"), expected), "intercepted: {workers}");
    }
}
