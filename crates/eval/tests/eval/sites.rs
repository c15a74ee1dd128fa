//! The mock sites: their server, what their pages report, and that they are quiet.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use cdpilot::page::Act;
use cdpilot::sync::pause;
use cdpilot_eval::Assets;
use cdpilot_eval::sites::{Run, Sites};
use serde_json::{Value, json};

use crate::support::share::share;
use crate::support::soon;
use crate::support::test_tab::TestTab;

fn serving() -> Sites {
    Sites::start(Assets::embedded("sites"), 0).unwrap()
}

/// Sends a request to a host of the sites; status and body.
fn ask(sites: &Sites, host: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    ask_from(sites, "", host, method, path, body)
}

/// The same from a page of another origin.
fn ask_from(sites: &Sites, origin: &str, host: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    let origin = if origin.is_empty() { String::new() } else { format!("Origin: {origin}\r\n") };
    let mut socket = TcpStream::connect(("127.0.0.1", sites.port())).unwrap();
    let host = if host.is_empty() { "localhost".to_owned() } else { host.to_owned() };
    write!(
        socket,
        "{method} {path} HTTP/1.1\r\nHost: {host}:{}\r\nConnection: close\r\n{origin}Content-Length: {}\r\n\r\n{body}",
        sites.port(),
        body.len()
    )
    .unwrap();
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}

fn kinds(run: &Run) -> Vec<String> {
    run.tracked().events.iter().map(|event| event["eventType"].as_str().unwrap().to_owned()).collect()
}

/// Waits until the pages of a run have reported what is wanted.
fn until(run: &Run, what: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let deadline = soon();
    loop {
        let events = run.tracked().events;
        if wanted(&events) {
            return events;
        }
        assert!(!deadline.passed(), "{what}: {events:#?}");
        pause(Duration::from_millis(20));
    }
}

fn host(run: &Run) -> String {
    format!("{}-a.localhost", run.id())
}

#[test]
fn events_belong_to_their_run_and_odd_requests_are_refused() {
    let sites = serving();
    let (one, two) = (sites.begin(1), sites.begin(2));
    for (body, status) in [
        ("{\"eventType\": \"x\", \"n\": 1}", 200),
        ("[{\"eventType\": \"y\"}, {\"eventType\": \"z\"}]", 200),
        ("{\"eventType\": ", 400),
        ("", 400),
        ("{\"type\": \"x\"}", 400),
        ("[1]", 400),
    ] {
        assert_eq!(ask(&sites, &host(&one), "POST", "/api/track", body).0, status, "{body}");
    }
    assert_eq!(ask(&sites, &host(&one), "POST", "/api/track", &format!("\"{}\"", "x".repeat(1 << 20))).0, 413);
    assert_eq!(
        (kinds(&one), kinds(&two).len(), kinds(&sites.standing()).len()),
        (vec!["x".into(), "y".into(), "z".into()], 0, 0)
    );
    let (status, body) = ask(&sites, &format!("{}-b.localhost", one.id()), "GET", "/api/events", "");
    let listed: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, listed["events"].as_array().unwrap().len()), (200, 3));
    assert_eq!(listed["events"][0]["seq"], 0);
    assert!(listed["events"][0]["received_at"].as_u64().is_some());
    assert_eq!(ask(&sites, &host(&one), "GET", "/api/events/clear", "").0, 200);
    assert_eq!(kinds(&one).len(), 0);
    let known: Value = serde_json::from_str(&ask(&sites, "", "GET", "/api/sites", "").1).unwrap();
    let ids: BTreeSet<&str> =
        known["sites"].as_array().unwrap().iter().filter_map(|site| site["id"].as_str()).collect();
    let all = [
        "bluebook",
        "cloudstack",
        "dataflow",
        "dialogs",
        "finviz",
        "flaky",
        "gbr",
        "northstar",
        "payment",
        "techforum",
    ];
    assert_eq!(ids, BTreeSet::from(all));
    assert!(ask(&sites, "", "GET", "/api/help", "").1.contains("/api/track"));
    sites.end(&two);
    for (at, path, status) in [
        ("evil.example", "/gbr/", 404),
        ("none-a.localhost", "/api/events", 404),
        (host(&two).as_str(), "/gbr/", 404),
        ("", "/../../etc/passwd", 404),
        ("", "/gbr/%2e%2e/%2e%2e/Cargo.toml", 404),
        ("", "/gbr", 301),
        ("", "/api/nothing", 404),
        ("", "/tabs", 404),
        ("", "/agent/conversations", 404),
    ] {
        assert_eq!(ask(&sites, at, "GET", path, "").0, status, "{at} {path}");
    }
    assert_eq!(ask(&sites, "", "POST", "/gbr/", "").0, 405);
    assert_eq!(ask(&sites, "", "GET", "/api/track", "").0, 405);
}

#[test]
fn a_runner_elsewhere_begins_runs_but_no_page_does() {
    let sites = serving();
    let begun: Value = serde_json::from_str(&ask(&sites, "", "POST", "/api/runs", "{\"seed\": 7}").1).unwrap();
    let id = begun["id"].as_str().unwrap();
    assert_eq!((&begun["seed"], &begun["a"]), (&json!(7), &json!(format!("http://{id}-a.localhost:{}", sites.port()))));
    assert_eq!(ask(&sites, &format!("{id}-a.localhost"), "POST", "/api/track", "{\"eventType\": \"x\"}").0, 200);
    assert!(ask(&sites, "", "GET", &format!("/api/runs/{id}/events"), "").1.contains("\"x\""));
    assert_eq!(ask(&sites, &format!("{id}-a.localhost"), "POST", "/api/runs", "").0, 403);
    assert_eq!(ask(&sites, "", "DELETE", &format!("/api/runs/{id}"), "").0, 200);
    assert_eq!(ask(&sites, "", "DELETE", &format!("/api/runs/{id}"), "").0, 404);
    assert_eq!(ask(&sites, &format!("{id}-a.localhost"), "GET", "/gbr/", "").0, 404);
}

#[test]
fn only_pages_of_a_run_report_its_events_and_forget_them() {
    let sites = serving();
    let (one, other) = (sites.begin(1), sites.begin(1));
    let event = "{\"eventType\": \"x\"}";
    let base = |run: &Run, site: &str| format!("http://{}-{site}.localhost:{}", run.id(), sites.port());
    for site in ["a", "b"] {
        assert_eq!(ask_from(&sites, &base(&one, site), &host(&one), "POST", "/api/track", event).0, 200);
    }
    for origin in [&base(&other, "a"), &base(&one, "c"), "null", "http://localhost", "http://evil.example"] {
        assert_eq!(ask_from(&sites, origin, &host(&one), "POST", "/api/track", event).0, 403, "{origin}");
        assert_eq!(ask_from(&sites, origin, &host(&one), "POST", "/api/events/clear", "").0, 403, "{origin}");
        assert_eq!(ask_from(&sites, origin, &host(&one), "GET", "/api/events", "").0, 403, "{origin}");
    }
    assert_eq!(kinds(&one), ["x", "x"]);
    for body in ["{\"seed\": \"x\"}", "{\"seed\": -1}"] {
        assert_eq!(ask(&sites, "", "POST", "/api/runs", body).0, 400, "{body}");
    }
}

/// Of three calls of a name in a row, exactly one fails, the same for the same seed.
#[test]
fn the_failing_service_repeats_itself_by_its_seed() {
    let sites = serving();
    let pattern = |seed: u64| -> Vec<u16> {
        let run = sites.begin(seed);
        (0..4).map(|_| ask(&sites, &host(&run), "GET", "/flaky/api/owner", "").0).collect()
    };
    let one = pattern(5);
    assert_eq!(one, pattern(5));
    for part in one.windows(3) {
        assert_eq!(part.iter().filter(|status| **status == 503).count(), 1, "{one:?}");
    }
    assert!((6..40).any(|seed| pattern(seed)[0] != one[0]), "all seeds begin in the same way");
}

/// The tracker is the only script that reports events.
#[test]
fn no_site_reports_events_by_itself() {
    let assets = Assets::embedded("sites");
    for path in assets.ending("").unwrap() {
        let text = assets.read(&path).unwrap().unwrap();
        let text = String::from_utf8_lossy(&text);
        for word in ["/api/track", "sendBeacon", "Math.random", "http://", "https://"] {
            let is_address = word.starts_with("http") && text.replace("http://www.w3.org", "").contains(word);
            let is_found = if word.starts_with("http") { is_address } else { text.contains(word) };
            assert!(!is_found || path == "js/tracker.js", "{path} contains {word}");
        }
    }
}

/// Every page of every site: it reports only that it was shown, and writes nothing to the console.
#[test]
fn a_visitor_who_does_nothing_reports_nothing() {
    let Some(paged) = TestTab::new("eval-quiet") else { return };
    let sites = serving();
    let assets = Assets::embedded("sites");
    let mut pages: Vec<String> = assets.ending(".html").unwrap();
    // Templates of the search of the news site.
    pages.retain(|path| !path.starts_with("gbr/search"));
    pages.push("gbr/search?q=fed".to_owned());
    assert!(pages.len() > 60, "{}", pages.len());
    for path in share(pages, 12) {
        let run = sites.begin(3);
        let url = format!("{}/{path}", sites.places(&run).a);
        paged.supervisor().navigate(&paged.top(), &url, soon()).unwrap();
        paged.loaded();
        until(&run, &path, |events| !events.is_empty());
        let odd: Vec<String> = kinds(&run).into_iter().filter(|kind| kind != "page_view").collect();
        assert!(odd.is_empty(), "{path} reports {odd:?} by itself");
        let console = paged.tab.console(None, None, true);
        assert!(console.is_empty(), "{path} writes to the console: {console:?}");
        let errors = paged.tab.errors(None, true);
        assert!(errors.is_empty(), "{path} fails: {errors:?}");
        // A page may still load something, so that its run goes on.
    }
}

const PAGE: &str = "<!doctype html><link rel=icon href=data:,><script src=/js/run.js></script><script src=/js/tracker.js></script>
    <style>body { height: 3000px } #list { height: 100px; width: 200px; overflow: auto }</style>
    <svg width=60 height=60><circle id=dot class=mark cx=30 cy=30 r=30 /></svg>
    <div id=list><div style='height: 900px'>long</div></div><form id=f onsubmit='return false'><input id=i name=q></form>
    <select id=s><option value=a>A<option value=b>B</select><p>Card of Ada <button id=x>Vote</button></p><a id=next href=/t/next.html>next</a>
    <script>window.tracker = new AgentTracker('t', 'easy'); x.onclick = () => tracker.track('vote', { on: true });</script>";

#[test]
fn the_tracker_reports_what_a_visitor_does_in_its_order() {
    let Some(paged) = TestTab::new("eval-tracker") else { return };
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [("t/index.html", PAGE), ("t/next.html", &PAGE.replace("Card of Ada", "Next"))] {
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    std::fs::create_dir_all(folder.path().join("js")).unwrap();
    std::fs::copy(testkit::root().join("eval/sites/js/tracker.js"), folder.path().join("js/tracker.js")).unwrap();
    let sites = Sites::start(Assets::folder(folder.path()).unwrap(), 0).unwrap();
    let run: Arc<Run> = sites.begin(1);
    let base = sites.places(&run).a;
    paged.supervisor().navigate(&paged.top(), &format!("{base}/t/"), soon()).unwrap();
    paged.loaded();
    let act = |act: Act| paged.tab.act(&act, soon()).unwrap();
    act(Act::click("css=#x"));
    paged.eval("document.getElementById('x').click()");
    act(Act::click("css=#dot"));
    act(Act::fill("css=#i", "fed"));
    act(Act::press("Enter"));
    act(Act::select("css=#s", ["b"]));
    paged.eval("document.getElementById('list').scrollTop = 300");
    until(&run, "scrolling in a box", |events| events.iter().any(|event| event["elementId"] == "list"));
    paged.eval("scrollTo(0, 500)");
    until(&run, "scrolling", |events| events.iter().any(|event| event["element"] == "window"));
    // 300 events of 1,000 bytes, the last ones while the page is left.
    paged.eval("for (let n = 0; n < 300; n += 1) tracker.track('many', { n, text: 'x'.repeat(900) }); document.getElementById('next').click()");
    let events = until(&run, "all events of both pages", |events| {
        events.iter().filter(|event| event["eventType"] == "many").count() == 300
            && events.iter().filter(|event| event["eventType"] == "page_view").count() == 2
    });
    let of = |kind: &str| -> Vec<&Value> { events.iter().filter(|event| event["eventType"] == kind).collect() };
    let votes: Vec<&Value> = of("vote").iter().map(|event| &event["trusted"]).collect();
    assert_eq!(votes, [&json!(true), &json!(false)]);
    let clicks = of("click");
    assert_eq!(
        (&clicks[0]["elementId"], &clicks[0]["elementText"], &clicks[0]["parentText"]),
        (&json!("x"), &json!("Vote"), &json!("Card of Ada Vote"))
    );
    assert_eq!(
        (&clicks[2]["elementId"], &clicks[2]["elementClass"], &clicks[2]["element"]),
        (&json!("dot"), &json!("mark"), &json!("circle"))
    );
    let input = of("input");
    assert_eq!(
        (&input.last().unwrap()["valueLength"], input.last().unwrap().get("value")),
        (&json!(3), None),
        "no text that was typed"
    );
    assert_eq!(of("keydown_enter")[0]["elementName"], "q");
    assert_eq!(of("submit")[0]["formId"], "f");
    assert_eq!((&of("select")[0]["value"], &of("select")[0]["selectedText"]), (&json!("b"), &json!("B")));
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>(), "each event once, in order");
    let many: Vec<u64> = of("many").iter().map(|event| event["n"].as_u64().unwrap()).collect();
    assert_eq!(many, (0..300).collect::<Vec<_>>());
    assert_eq!(events.last().unwrap()["page"], "/t/next.html");
}

/// A page that reports without end takes no more memory than the limit; what is beyond it is counted.
#[test]
fn events_beyond_the_limit_are_counted_not_kept() {
    let sites = serving();
    let run = sites.begin(1);
    let batch = |part: usize| -> String {
        let events: Vec<Value> =
            (0..1000).map(|n| json!({ "eventType": "x", "sessionId": "s", "seq": part * 1000 + n })).collect();
        Value::Array(events).to_string()
    };
    for part in 0..21 {
        assert_eq!(ask(&sites, &host(&run), "POST", "/api/track", &batch(part)).0, 200);
    }
    let tracked = run.tracked();
    assert_eq!((tracked.events.len(), tracked.lost), (20_000, 1000));
}
