//! Cancellation of waits.

use std::time::{Duration, Instant};

use cdpilot::page::{Act, Error as PageError};
use cdpilot::supervisor::{Error, FrameRef};
use cdpilot::sync::{Cancel, Deadline};
use parking_lot::Mutex;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::test_tab::TestTab;

/// How soon a wait is to end, with room for a machine that is busy.
const SOON: Duration = crate::support::LIMIT;

fn long() -> Deadline<'static> {
    Deadline::after_secs(600)
}

/// Starts an operation that waits for a minute, cancels it once it is under way, and returns its result.
fn cancelled<T: Send>(paged: &TestTab, under_way: &str, work: impl FnOnce(Deadline<'_>) -> T + Send) -> T {
    let cancel = Cancel::new();
    let outcome = Mutex::new(None);
    let mut requested = Instant::now();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| *outcome.lock() = Some(work(long().cancelled_by(&cancel))));
        // The page says when it has come so far.
        if !under_way.is_empty() {
            let script = format!(
                "new Promise(done => {{ (function look() {{ ({under_way}) ? done(1) : setTimeout(look, 5) }})() }})"
            );
            paged.eval(&script);
        }
        requested = Instant::now();
        cancel.set();
        worker.join().unwrap();
    });
    assert!(requested.elapsed() < SOON, "it ended {:?} after it was cancelled", requested.elapsed());
    outcome.into_inner().unwrap()
}

#[test]
fn cancelled_waits_end() {
    let Some(paged) = TestTab::showing("cancel", "<title>cancel</title><button>press</button>") else { return };
    let top = paged.top();
    let quiet = || {
        let given_up = Deadline::after(SOON);
        while paged.supervisor().connection().counters().in_flight > 0 {
            assert!(!given_up.passed(), "a call is left over");
            cdpilot::sync::pause(Duration::from_millis(5)); // nobody tells when the last one is answered
        }
    };
    quiet();

    let script = "window.begun = 1; new Promise(() => {})";
    let outcome = cancelled(&paged, "window.begun === 1", |by| paged.supervisor().evaluate(&top, script, by));
    assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
    quiet();

    for wanted in [
        json!({"kind": "wait", "text": "never there"}),
        json!({"kind": "wait", "selector": "#never"}),
        json!({"kind": "wait", "url": "**/never"}),
        json!({"kind": "wait", "fn": "window.begun = 2, false"}),
        json!({"kind": "wait", "timeMs": 30000}),
        json!({"kind": "click", "selector": "#never"}),
        json!({"kind": "evaluate", "fn": "new Promise(() => {})"}),
    ] {
        let act = Act::parse(wanted.clone()).unwrap();
        let under_way =
            if wanted.get("fn").is_some_and(|fun| fun != "new Promise(() => {})") { "window.begun === 2" } else { "1" };
        let outcome = cancelled(&paged, under_way, |by| paged.tab.act(&act, by));
        assert!(matches!(outcome, Err(PageError::Supervisor(Error::Cancelled))), "{wanted}: {outcome:?}");
    }
    // Nothing the browser will ever tell.
    let outcome = cancelled(&paged, "", |by| paged.supervisor().wait_until(by, |_| false));
    assert!(outcome.is_none());
    let last = paged.supervisor().log().last();
    let outcome = cancelled(&paged, "", |by| paged.supervisor().log().wait_since(last + 1000, 1, by));
    assert!(outcome.entries.is_empty());
    quiet();
    // The page is unchanged, and so are waits that were not cancelled.
    assert_eq!(paged.eval("document.title"), "cancel");
    paged.supervisor().caught_up(soon()).unwrap();
}

#[test]
fn a_cancelled_navigation_is_stopped() {
    let Some(paged) = TestTab::showing("cancel-nav", "start") else { return };
    let held = crate::support::site::Held::default();
    paged.site.put("/slow", crate::support::site::Answer::html("slow").held_by(&held));
    let cancel = Cancel::new();
    let (top, url) = (paged.top(), paged.site.url("a", "/slow"));
    let outcome = std::thread::scope(|scope| {
        let going = scope.spawn(|| paged.supervisor().navigate(&top, &url, long().cancelled_by(&cancel)));
        paged.site.wait_requested("a.localhost/slow", 1);
        cancel.set();
        going.join().unwrap()
    });
    assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
    let late = paged.supervisor().evaluate(&FrameRef::Top, "1", soon().cancelled_by(&cancel));
    assert!(matches!(late, Err(Error::Cancelled)), "{late:?}");
    held.release();
    let now = paged.supervisor().wait_until(soon(), |now| now.pages[0].url.ends_with("/slow"));
    assert!(now.is_some(), "the browser goes there all the same");
}
