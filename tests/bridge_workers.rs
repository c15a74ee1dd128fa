//! The dialog bridge behind a service worker that answers everything.

use serde_json::{Value, json};

use crate::support::bridged::{ALL, Bridged, Met, Setup, Way};
use crate::support::site::Answer;

/// A page under the control of this service worker.
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
    Some(tab)
}

fn asked(tab: &mut Bridged) -> (Value, Vec<Met>) {
    let got = tab.eval("prompt('message', 'default')");
    (got, tab.taken())
}

const PASSES_ON: &str = "addEventListener('fetch', e => e.respondWith(fetch(e.request)));";

#[test]
fn a_worker_that_passes_everything_on() {
    for (workers, expected) in [(true, Way::Bridge), (false, Way::Native)] {
        let Some(mut tab) = controlled(Setup { workers, ..ALL }, PASSES_ON) else { return };
        let (got, met) = asked(&mut tab);
        println!("workers {workers}: {met:?}");
        assert_eq!((got, met.len(), met[0].way), (json!("typed"), 1, expected), "workers: {workers}");
    }
}

#[test]
fn a_worker_that_does_not_answer_is_not_in_the_way() {
    for workers in [true, false] {
        let worker = "addEventListener('fetch', e => {});";
        let Some(mut tab) = controlled(Setup { workers, ..ALL }, worker) else { return };
        let (got, met) = asked(&mut tab);
        assert_eq!((got, met.len(), met[0].way), (json!("typed"), 1, Way::Bridge), "workers: {workers}");
    }
}

#[test]
fn a_worker_cannot_make_up_repeat_or_change_anything() {
    // What it does with the call, and how the call is met before the browser's own dialog opens.
    for (does, before) in [
        ("new Response('yes')", &[][..]),
        ("Response.error()", &[]),
        // An answer of the right form, under the code of the call.
        ("e.request.text().then(t => new Response(t.slice(0, 33) + 'a' + t.slice(34, 69) + '\\n1\\nyes'))", &[]),
        // Another message under the old code.
        (
            "e.request.text().then(t => fetch(e.request.url, {method: 'POST', body: t.replace('message', 'other')}))",
            &[Way::Refused(cdpilot::supervisor::bridge::Refused::BadCode)],
        ),
        // Its answer, with another text.
        ("fetch(e.request).then(r => r.text()).then(t => new Response(t.replace('typed', 'other')))", &[Way::Bridge]),
        // The answer to an older call.
        (
            "fetch(e.request).then(r => r.text()).then(t => { const o = self.old || 'none'; self.old = t; return new Response(o) })",
            &[Way::Bridge],
        ),
    ] {
        let worker = format!("addEventListener('fetch', e => e.respondWith({does}));");
        let Some(mut tab) = controlled(ALL, &worker) else { return };
        for _ in 0..2 {
            let (got, met) = asked(&mut tab);
            let ways: Vec<Way> = met.iter().map(|met| met.way).collect();
            assert_eq!(ways, [before, &[Way::Native]].concat(), "{does}: {met:#?}");
            assert_eq!(got, json!("typed"), "{does}");
        }
    }
}

#[test]
fn a_worker_that_repeats_a_call_asks_nobody_again() {
    // The same bytes three times; the first one counts, and its answer is the page's.
    let worker = "addEventListener('fetch', e => e.respondWith(e.request.text().then(async t => {
        const send = () => fetch(e.request.url, {method: 'POST', body: t});
        const answer = await send();
        self.more = await Promise.allSettled([send(), send()]);
        return answer;
    })));";
    let Some(mut tab) = controlled(ALL, worker) else { return };
    let (got, met) = asked(&mut tab);
    let again = Way::Refused(cdpilot::supervisor::bridge::Refused::Repeated);
    assert_eq!(met.iter().map(|met| met.way).collect::<Vec<_>>(), [Way::Bridge, again, again]);
    assert_eq!(got, json!("typed"));
}
