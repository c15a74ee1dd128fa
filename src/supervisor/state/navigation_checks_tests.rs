//! Documents that wait for a host name, with a simulated clock.

use super::super::super::navigation_policy::{NavigationPolicy, ProtectedPorts};
use super::super::super::options::{Pages, SupervisorOptions};
use super::super::super::persistent_commands::Login;
use super::*;
use crate::cdp::protocol::target::TargetInfo;

const PAGE: &str = "P";

fn at(began: Instant, seconds: u64) -> Now {
    Now { instant: began + Duration::from_secs(seconds), unix: 0.0 }
}

/// A state with an attached page and no pending effects.
fn attached() -> (State, SessionKey, Instant) {
    attached_with(NavigationPolicy::new(&[] as &[&str], &[] as &[&str], false, false).unwrap())
}

fn attached_with(policy: NavigationPolicy) -> (State, SessionKey, Instant) {
    let options = SupervisorOptions { navigation: Some(policy), pages: Pages::All, ..SupervisorOptions::task("guard") };
    let mut state = State::new(options);
    let (session, began): (SessionKey, _) = ("S".into(), Instant::now());
    let info: TargetInfo = serde_json::from_value(serde_json::json!({
        "targetId": PAGE, "type": "page", "title": "", "url": "about:blank", "attached": true, "canAccessOpener": false
    }))
    .unwrap();
    state.adopt_page(&session, &info, at(began, 0));
    let caught = state.take_effects().into_iter().find_map(|effect| match effect {
        Effect::Send { command, .. } if command.method() == "Fetch.enable" => Some(command.params()),
        _ => None,
    });
    let caught = caught.unwrap_or_default();
    let documents = |pattern: &serde_json::Value| {
        pattern["urlPattern"] == "*" && matches!(pattern["resourceType"].as_str(), None | Some("Document"))
    };
    let is_caught = caught["patterns"].as_array().is_some_and(|patterns| patterns.iter().any(documents));
    assert!(is_caught, "documents are caught before the page goes on: {caught}");
    assert!(caught["handleAuthRequests"].is_null(), "{caught}");
    (state, session, began)
}

fn ask(state: &mut State, session: &SessionKey, request: &str, url: &str, now: Now) {
    ask_for(state, session, "Document", request, url, now);
}

fn ask_for(state: &mut State, session: &SessionKey, kind: &str, request: &str, url: &str, now: Now) {
    let caught: Caught = serde_json::from_value(serde_json::json!({
        "requestId": request, "frameId": PAGE, "resourceType": kind, "request": {"url": url, "method": "GET"}
    }))
    .unwrap();
    state.call_caught(session, caught, now);
}

/// Takes the effects: continued requests, refused requests, names to resolve.
fn done(state: &mut State) -> Vec<String> {
    let outcome = state.take_effects().into_iter().filter_map(|effect| match effect {
        Effect::LookUp { host } => Some(format!("look up {host}")),
        Effect::Send { command, .. } => {
            let params = command.params();
            let request = params["requestId"].as_str().unwrap_or_default();
            match command.method() {
                "Fetch.continueRequest" => Some(format!("{request} goes on")),
                "Fetch.failRequest" => Some(format!("{request} is refused")),
                "Page.stopLoading" => Some("stop".to_owned()),
                "Fetch.disable" => Some("release".to_owned()),
                "Fetch.enable" => Some("catch".to_owned()),
                _ => None,
            }
        }
        _ => None,
    });
    outcome.collect()
}

fn found(host: &str, address: &str) -> ResolvedName {
    ResolvedName { host: host.into(), addresses: address.parse().into_iter().collect() }
}

#[test]
fn a_name_is_looked_up_once_and_remembered_for_a_while() {
    let (mut state, session, began) = attached();
    ask(&mut state, &session, "1", "http://a.test/", at(began, 0));
    ask(&mut state, &session, "2", "http://A.test./other", at(began, 0));
    ask(&mut state, &session, "3", "http://b.test/", at(began, 0));
    assert_eq!(done(&mut state), ["look up a.test", "look up b.test"]);
    state.found(found("a.test", "8.8.8.8"), at(began, 1));
    assert_eq!(done(&mut state), ["1 goes on", "2 goes on"]);
    state.found(found("b.test", "10.0.0.1"), at(began, 1));
    assert_eq!(done(&mut state), ["3 is refused"]);
    ask(&mut state, &session, "4", "http://a.test/", at(began, 2));
    ask(&mut state, &session, "5", "http://b.test/", at(began, 2));
    ask(&mut state, &session, "6", "http://8.8.8.8/", at(began, 2));
    ask(&mut state, &session, "7", "http://127.0.0.1/", at(began, 2));
    assert_eq!(done(&mut state), ["4 goes on", "5 is refused", "6 goes on", "7 is refused"]);
    ask(&mut state, &session, "8", "http://a.test/", at(began, 60));
    assert_eq!(done(&mut state), ["look up a.test"]);
    // A failed lookup: the browser reports it itself, and the name is resolved again for the next request.
    state.found(found("a.test", ""), at(began, 61));
    ask(&mut state, &session, "9", "http://a.test/", at(began, 61));
    assert_eq!(done(&mut state), ["8 goes on", "look up a.test"]);
}

/// A resolved name is used for requests as for documents.
#[test]
fn requests_are_held_to_the_policy_where_it_says_so() {
    let policy = NavigationPolicy::new(&[] as &[&str], &["bad.test"], false, false).unwrap().with_requests(true);
    let (mut state, session, began) = attached_with(policy);
    let fetch = |request: &str, url: &str, state: &mut State| {
        ask_for(state, &session, "Fetch", request, url, at(began, 0));
    };
    fetch("1", "http://a.test/", &mut state);
    fetch("2", "http://bad.test/", &mut state);
    fetch("3", "http://169.254.169.254/latest/meta-data", &mut state);
    fetch("4", "http://[::ffff:10.0.0.1]/", &mut state);
    fetch("5", "http://8.8.8.8/", &mut state);
    fetch("6", "data:,x", &mut state);
    assert_eq!(
        done(&mut state),
        ["look up a.test", "2 is refused", "3 is refused", "4 is refused", "5 goes on", "6 goes on"]
    );
    state.found(found("a.test", "192.168.0.1"), at(began, 1));
    assert_eq!(done(&mut state), ["1 is refused"]);
}

#[test]
fn protected_ports_are_refused_whatever_the_policy_says() {
    let ports = ProtectedPorts::default();
    let high = ports.protect(18791, "a test");
    let low = ports.protect(80, "a test");
    let (mut state, session, began) = attached_with(NavigationPolicy::default().protecting(ports));
    let fetch = |request: &str, url: &str, state: &mut State| {
        ask_for(state, &session, "Fetch", request, url, at(began, 0));
    };
    fetch("1", "http://a.test:18791/", &mut state);
    fetch("2", "http://a.test/", &mut state);
    fetch("3", "http://localhost/", &mut state);
    fetch("4", "http://a.test:8080/", &mut state);
    assert_eq!(done(&mut state), ["1 is refused", "look up a.test", "3 is refused", "4 goes on"]);
    state.found(found("a.test", "127.0.0.1"), at(began, 1));
    assert_eq!(done(&mut state), ["2 is refused"]);
    drop((high, low));
    state.ports_changed();
    assert!(!state.take_effects().is_empty(), "its sessions catch less, and cut nothing off");
    fetch("5", "http://a.test:18791/", &mut state);
    assert_eq!(done(&mut state), ["5 goes on"]);
}

#[test]
fn who_waits_too_long_for_a_name_is_refused() {
    let (mut state, session, began) = attached();
    ask(&mut state, &session, "1", "http://slow.test/", at(began, 0));
    let (reply, outcome) = crossbeam_channel::bounded(1);
    state.may_visit("http://slow.test/x?secret".to_owned(), reply, at(began, 0));
    assert_eq!(done(&mut state), ["look up slow.test"]);
    let next = state.next_tick(at(began, 0)).expect("something is due");
    assert!(next <= began + LOOKUP_LIMIT);
    state.on_tick(at(began, 4));
    assert!(done(&mut state).is_empty());
    state.on_tick(at(began, 5));
    assert_eq!(done(&mut state), ["1 is refused"]);
    for answer in state.take_responses() {
        answer.send();
    }
    let refused = outcome.try_recv().unwrap().unwrap_err().to_string();
    assert!(refused.contains("could not be resolved") && !refused.contains("secret"), "{refused}");
    // Too late for this request, in time for the next one.
    state.found(found("slow.test", "8.8.8.8"), at(began, 6));
    ask(&mut state, &session, "2", "http://slow.test/", at(began, 6));
    assert_eq!(done(&mut state), ["2 goes on"]);
}

#[test]
fn what_waits_is_dropped_with_its_session_and_bounded() {
    let (mut state, session, began) = attached();
    for number in 0..=MAX_WAITING {
        ask(&mut state, &session, &number.to_string(), &format!("http://n{number}.test/"), at(began, 0));
    }
    let outcome = done(&mut state);
    assert_eq!(outcome.len(), MAX_WAITING + 1);
    assert_eq!(outcome.last().unwrap(), &format!("{MAX_WAITING} is refused"));
    state.detached(&session, at(began, 1));
    state.found(found("n1.test", "8.8.8.8"), at(began, 1));
    assert!(done(&mut state).is_empty());
    assert!(state.next_lookup_check().is_none());
}

/// Lost document requests must not continue when the interception is renewed.
#[test]
fn requests_that_were_lost_get_nowhere() {
    let (mut state, session, began) = attached();
    ask(&mut state, &session, "1", "http://a.test/", at(began, 0));
    state.calls_lost(at(began, 0));
    assert_eq!(done(&mut state), ["look up a.test", "stop"]);
    // With a login, requests are intercepted again and held ones continue; documents are cancelled before.
    state.set_login(&PAGE.into(), Some(Login::new("ann", "sesame"))).unwrap();
    assert_eq!(done(&mut state), ["catch"]);
    state.calls_lost(at(began, 0));
    assert_eq!(done(&mut state), ["stop", "release", "catch"]);
    state.found(found("a.test", "8.8.8.8"), at(began, 1));
    assert!(done(&mut state).is_empty());
}

#[test]
fn nobody_is_left_waiting_at_the_end() {
    let (mut state, _, began) = attached();
    let (reply, outcome) = crossbeam_channel::bounded(1);
    state.may_visit("http://a.test/".to_owned(), reply, at(began, 0));
    state.end("over", at(began, 1));
    for answer in state.take_responses() {
        answer.send();
    }
    assert!(matches!(outcome.try_recv().unwrap(), Err(Error::NotActive { .. })));
}

/// A new page of the task, on session `N`.
fn arriving(state: &mut State, target: &str, began: Instant) {
    let info: TargetInfo = serde_json::from_value(serde_json::json!({
        "targetId": target, "type": "page", "title": "", "url": "", "attached": true, "openerId": PAGE, "canAccessOpener": true
    }))
    .unwrap();
    state.requests.listed = true;
    state.adopt_page(&format!("session of {target}").into(), &info, at(began, 0));
    state.take_effects();
}

/// The session of the browser holds a document request.
fn first(state: &mut State, frame: &str, request: &str, url: &str, now: Now) {
    let caught = serde_json::json!({
        "requestId": request, "frameId": frame, "resourceType": "Document", "request": {"url": url, "method": "GET"}
    });
    state.on_event(&crate::cdp::Event::made_up("Fetch.requestPaused", None, &caught), now);
}

#[test]
fn documents_are_intercepted_by_the_browser_before_pages_are_attached() {
    let (state, _, began) = attached();
    let mut state = State::new(state.options.clone());
    state.begin(at(began, 0));
    let sent = state.take_effects().into_iter().filter_map(|effect| match effect {
        Effect::Send { session: None, command, .. } => Some(command.method().to_owned()),
        _ => None,
    });
    assert_eq!(sent.collect::<Vec<_>>(), ["Fetch.enable", "Target.setAutoAttach"]);
    let mut without = State::new(SupervisorOptions { pages: Pages::All, ..SupervisorOptions::task("free") });
    without.begin(at(began, 0));
    assert_eq!(done(&mut without), [""; 0], "without a policy nothing is intercepted");
}

#[test]
fn documents_that_the_browser_intercepts_wait_for_the_policy() {
    let (mut state, _, began) = attached();
    arriving(&mut state, "N", began);
    first(&mut state, "N", "1", "http://a.test/", at(began, 0));
    first(&mut state, "N", "2", "http://127.0.0.1/", at(began, 0));
    // A redirect may lead to a blocked address long after the page counts as one that shows its first document.
    first(&mut state, PAGE, "3", "http://127.0.0.1/", at(began, 0));
    first(&mut state, "a page of others, or a frame", "4", "http://127.0.0.1/", at(began, 0));
    assert_eq!(done(&mut state), ["look up a.test", "2 is refused", "3 is refused", "4 goes on"]);
    state.found(found("a.test", "10.0.0.1"), at(began, 1));
    assert_eq!(done(&mut state), ["1 is refused"]);

    first(&mut state, "N", "5", "http://b.test/", at(began, 2));
    assert_eq!(done(&mut state), ["look up b.test"]);
    state.detached("session of N", at(began, 2));
    assert_eq!(done(&mut state), ["5 is refused"], "a page that is gone");
    first(&mut state, PAGE, "6", "http://b.test/", at(began, 2));
    state.stop_navigation_checks("stopped");
    assert_eq!(done(&mut state), ["look up b.test", "6 is refused"], "at the end nothing is sent unchecked");
}

/// The session of the page asks for the name of a document first, then that of the browser.
#[test]
fn a_name_that_cannot_be_resolved_is_asked_for_once() {
    let (mut state, session, began) = attached();
    ask(&mut state, &session, "1", "http://missing.test/", at(began, 0));
    state.found(found("missing.test", ""), at(began, 1));
    first(&mut state, PAGE, "2", "http://missing.test/", at(began, 1));
    assert_eq!(done(&mut state), ["look up missing.test", "1 goes on", "2 goes on"]);
    first(&mut state, PAGE, "3", "http://missing.test/", at(began, 7));
    assert_eq!(done(&mut state), ["look up missing.test"]);
}

#[test]
fn documents_of_the_browser_that_were_lost_get_nowhere() {
    let (mut state, _, began) = attached();
    state.first_documents_lost();
    assert_eq!(done(&mut state), ["release", "catch"], "all pages show a document, which passed at their sessions");
    arriving(&mut state, "N", began);
    first(&mut state, "N", "1", "http://a.test/", at(began, 0));
    state.first_documents_lost();
    assert_eq!(done(&mut state), ["look up a.test", "1 is refused", "stop", "release", "catch"]);
    state.oversized_first_document("2");
    assert_eq!(done(&mut state), ["2 is refused"]);
    // A late server: the page is no longer expected to begin its navigation, but may be redirected.
    state.stop_expecting(&"N".into());
    state.first_documents_lost();
    assert_eq!(done(&mut state), ["stop", "release", "catch"]);
    let shown = serde_json::json!({ "type": "Navigation", "frame": {
        "id": "N", "loaderId": "L", "url": "http://a.test/", "domainAndRegistry": "", "securityOrigin": "http://a.test",
        "mimeType": "text/html", "secureContextType": "InsecureScheme", "crossOriginIsolatedContextType": "NotIsolated",
        "gatedAPIFeatures": []
    } });
    state.on_event(&crate::cdp::Event::made_up("Page.frameNavigated", Some("session of N"), &shown), at(began, 1));
    state.take_effects();
    state.first_documents_lost();
    assert_eq!(done(&mut state), ["release", "catch"], "it shows a document");
    state.detached("session of N", at(began, 1));
    state.oversized_first_document("3");
    assert_eq!(done(&mut state), ["3 goes on"], "no page is new");
}

#[test]
fn without_a_policy_documents_of_the_browser_belong_to_others() {
    let mut state = State::new(SupervisorOptions { pages: Pages::All, ..SupervisorOptions::task("free") });
    let now = at(Instant::now(), 0);
    first(&mut state, PAGE, "1", "http://127.0.0.1/", now);
    state.oversized_first_document("2");
    state.first_documents_lost();
    assert_eq!(done(&mut state), [""; 0]);
}
