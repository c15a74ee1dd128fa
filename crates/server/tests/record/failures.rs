//! Recordings while the database fails, and while the connection to the browser is lost.

use rusqlite::Connection;
use serde_json::Value;

use crate::recording_capture::{Stage, actions};
use crate::support::api::TestServer;
use crate::support::proxy::Proxy;
use crate::support::share::rounds;

/// Events that cannot be stored wait, and are stored once and in order when the database works again.
#[test]
fn nothing_is_lost_while_the_database_fails() {
    let buttons: String = (0..20).map(|n| format!("<button>Number {n}</button> ")).collect();
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/", &format!("<title>Stage</title>{buttons}"));
    let stage = Stage::of(served, "/");
    let other = Connection::open(stage.served.home.database()).unwrap();
    let click = |n: usize| stage.person.click(&format!("document.querySelectorAll('button')[{n}]"));
    (0..5).for_each(click);
    // Each insertion fails.
    let broken = "CREATE TRIGGER broken BEFORE INSERT ON recording_events BEGIN INSERT INTO missing VALUES (1); END";
    other.execute_batch(broken).unwrap();
    (5..15).for_each(click);
    other.execute_batch("DROP TRIGGER broken").unwrap();
    (15..20).for_each(click);
    let events = stage.events();
    let expected: Vec<String> = (0..20).map(|n| format!("click button \"Number {n}\"")).collect();
    assert_eq!(actions(&events), expected);
    let indexes: Vec<u64> = events.iter().map(|event| event["event_index"].as_u64().unwrap()).collect();
    assert_eq!(indexes, (1..=events.len() as u64).collect::<Vec<_>>());
}

/// A page that is replaced while the connection is lost takes its last reports with it: nothing is doubled or out of order, and a
/// gap stands where a click is missing.
#[test]
fn clicks_that_navigate_are_recorded_or_missed_with_a_gap() {
    let mut proxy = None;
    let served = TestServer::browsing_with(|config, _| {
        let made = Proxy::of(config.browser.cdp_url.as_deref().unwrap());
        config.browser.cdp_url = Some(made.url());
        proxy = Some(made);
    });
    let (Some(served), Some(proxy)) = (served, proxy) else { return };
    let script = "const n = +(location.search.slice(1) || 0); document.title = n; document.querySelector('a').href = '/?' + (n + 1); \
                  document.querySelector('a').textContent = 'Next ' + n";
    served.site.page("/", &format!("<a>x</a><script>{script}</script>"));
    let stage = Stage::of(served, "/");
    let clicks = rounds("CDPILOT_TEST_CLICKS", 24, 120);
    let is_at = |title: String| {
        move |answer: &Value| {
            let last = answer["events"].as_array().unwrap().iter().rfind(|event| event["event_type"] == "page_view");
            last.is_some_and(|event| event["page"]["title"] == title)
        }
    };
    let path = stage.path("/events?limit=5000");
    for n in 0..clicks {
        let shown = stage.person.eval(
            "new Promise(done => { const look = () => document.readyState === 'complete' ? done(document.title) : setTimeout(look, 5); look() })",
        );
        assert_eq!(shown, n.to_string());
        stage.person.click("document.querySelector('a')");
        // Two clicks come while the server connects again.
        match n % (clicks / 4) {
            0 if n > 0 => proxy.cut(),
            3 => _ = stage.served.api.until("the present page", &path, is_at((n + 1).to_string())),
            _ => {}
        }
        // The next page is there.
        let expected = (n + 1).to_string();
        while stage.person.title() != expected {}
    }
    stage.served.api.until("the last page", &path, is_at(clicks.to_string()));
    let events = stage.events();
    let mut next = 0;
    let (mut missing, mut gaps) = (0, 0);
    for event in &events {
        match event["event_type"].as_str().unwrap() {
            "gap" => gaps += 1,
            "click" => {
                let name = event["element"]["name"].as_str().unwrap();
                let n: usize = name.strip_prefix("Next ").unwrap().parse().unwrap();
                assert!(n >= next, "{name} after Next {next}: {events:#?}");
                missing += n - next;
                assert!(n == next || gaps > 0, "{name} follows without a gap: {events:#?}");
                gaps = 0;
                next = n + 1;
            }
            _ => {}
        }
    }
    missing += clicks - next;
    assert!(next == clicks || gaps > 0, "the last clicks are missing without a gap: {events:#?}");
    // At most those between each of three cuts and the wait for the present page.
    println!("{missing} of {clicks} clicks were lost with their pages");
    assert!(missing <= 12, "{missing} of {clicks} clicks are missing: {events:#?}");
}
