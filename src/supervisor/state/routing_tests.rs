//! Routes and the navigation policy, with a simulated clock.

use super::super::super::interception::{HandOver, Handed};
use super::super::super::network_route::AbortReason;
use super::super::super::options::{Pages, SupervisorOptions};
use super::super::effect::{Catch, Effect};
use super::*;
use crate::cdp::RawReply;
use crate::cdp::protocol::target::TargetInfo;

fn at(began: Instant, millis: u64) -> Now {
    Now { instant: began + Duration::from_millis(millis), unix: 0.0 }
}

fn attach(state: &mut State, session: &str, page: &str, now: Now) -> SessionKey {
    let session: SessionKey = session.into();
    let info: TargetInfo = serde_json::from_value(serde_json::json!({
        "targetId": page, "type": "page", "title": "", "url": "about:blank", "attached": true, "canAccessOpener": false
    }))
    .unwrap();
    state.adopt_page(&session, &info, now);
    session
}

fn started() -> (State, SessionKey, Instant) {
    let options = SupervisorOptions { pages: Pages::All, ..SupervisorOptions::task("routes") };
    let (mut state, began) = (State::new(options), Instant::now());
    let session = attach(&mut state, "S", "P", at(began, 0));
    state.take_effects();
    (state, session, began)
}

fn add(state: &mut State, rule: RouteRule, now: Now) -> crossbeam_channel::Receiver<Result<NetworkRoute, Error>> {
    let (reply, outcome) = crossbeam_channel::bounded(1);
    let (rule, glob) = rule.checked().unwrap();
    let body = match &rule.action {
        RouteAction::Fulfil(answer) => Encoded::of(&answer.body).unwrap(),
        _ => Encoded::default(),
    };
    state.add_route((rule, glob, body), reply, now);
    outcome
}

/// A successful answer without content.
fn taken() -> Result<RawReply, cdp::Error> {
    Err(cdp::Error::SessionGone { method: "A.b".into(), reason: cdp::GoneReason::Detached })
}

fn refused_by_browser() -> Result<RawReply, cdp::Error> {
    Err(cdp::Error::Protocol { method: "A.b".into(), code: -32602, message: "no".to_owned(), data: None })
}

/// Confirms all commands that were sent.
fn take_all(state: &mut State, now: Now) {
    for effect in state.take_effects() {
        if let Effect::Send { tag, .. } = effect {
            state.on_answer(tag, taken(), now);
        }
    }
    tell(state);
}

fn tell(state: &mut State) {
    for outcome in state.take_responses() {
        outcome.send();
    }
}

fn ask(state: &mut State, session: &SessionKey, request: &str, url: &str, now: Now) {
    let caught: Caught = serde_json::from_value(serde_json::json!({
        "requestId": request, "frameId": "P", "resourceType": "XHR",
        "request": {"url": url, "method": "GET", "headers": {"Accept": "*/*", "X-A": "old"}}
    }))
    .unwrap();
    state.call_caught(session, caught, now);
}

fn done(state: &mut State) -> Vec<String> {
    let outcome = state.take_effects().into_iter().filter_map(|effect| {
        let Effect::Send { command, .. } = effect else { return None };
        let params = command.params();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let request = text(&params["requestId"]);
        let pairs = |list: &serde_json::Value| -> Vec<(String, String)> {
            list.as_array().into_iter().flatten().map(|pair| (text(&pair["name"]), text(&pair["value"]))).collect()
        };
        match command.method() {
            "Fetch.continueRequest" if params["headers"].is_null() => Some(format!("{request} goes on")),
            "Fetch.continueRequest" => Some(format!("{request} goes on with {:?}", pairs(&params["headers"]))),
            "Fetch.failRequest" => Some(format!("{request} fails")),
            "Fetch.fulfillRequest" => Some(format!("{request} is answered {}", params["responseCode"])),
            "Fetch.enable" => {
                let patterns = params["patterns"].as_array().into_iter().flatten();
                Some(format!("catch {:?}", patterns.map(|pattern| text(&pattern["urlPattern"])).collect::<Vec<_>>()))
            }
            "Fetch.disable" => Some("release".to_owned()),
            _ => None,
        }
    });
    outcome.collect()
}

fn abort(pattern: &str) -> RouteRule {
    RouteRule::new(pattern, RouteAction::Abort(AbortReason::Failed))
}

fn status(pattern: &str, status: u16) -> RouteRule {
    RouteRule::new(pattern, RouteAction::Fulfil(Arc::new(Fulfilment::new(status, Vec::new(), Vec::new()))))
}

#[test]
fn nothing_is_caught_without_routes_and_what_is_known_is_told_when_it_holds() {
    let (mut state, session, began) = started();
    assert_eq!(state.catching(&session), Some(Catch::default()));
    let outcome = add(&mut state, abort("/x"), at(began, 0));
    assert_eq!(done(&mut state), ["catch [\"*://*/x\"]"]);
    tell(&mut state);
    assert!(outcome.try_recv().is_err(), "not before the browser has confirmed it");
    state.route_confirmed(1, None);
    tell(&mut state);
    assert_eq!(outcome.try_recv().unwrap().unwrap().id, "route1");
    // A browser that does not confirm is not waited for long.
    let outcome = add(&mut state, abort("/y"), at(began, 0));
    assert_eq!(state.next_tick(at(began, 0)), Some(began + CONFIRM_LIMIT));
    state.on_tick(at(began, 1000));
    tell(&mut state);
    assert_eq!(outcome.try_recv().unwrap().unwrap().id, "route2");
    done(&mut state);
    let (reply, removed) = crossbeam_channel::bounded(1);
    state.remove_routes(None, reply, at(began, 1000));
    assert_eq!(done(&mut state), ["release"]);
    state.route_confirmed(3, None);
    tell(&mut state);
    assert_eq!(removed.try_recv().unwrap().unwrap().len(), 2);
    assert_eq!(state.catching(&session), Some(Catch::default()));
    // Intercepted before the browser received the change.
    ask(&mut state, &session, "1", "http://a.test/x", at(began, 1000));
    assert_eq!(done(&mut state), ["1 goes on"]);
}

#[test]
fn the_newest_route_that_fits_holds_for_its_page_as_often_as_it_may() {
    let (mut state, session, began) = started();
    let other = attach(&mut state, "T", "Q", at(began, 0));
    add(&mut state, abort("/*"), at(began, 0));
    add(&mut state, status("/x", 404).on_page("Q".into()).times(1), at(began, 0));
    done(&mut state);
    ask(&mut state, &session, "1", "http://a.test/x", at(began, 0));
    ask(&mut state, &other, "2", "http://a.test/x", at(began, 0));
    assert_eq!(done(&mut state), ["1 fails", "2 is answered 404"]);
    assert_eq!(state.list_routes().len(), 1);
    state.on_tick(at(began, 0));
    // Only now: `Fetch` releases requests that match no pattern any more.
    assert_eq!(done(&mut state), ["catch [\"*://*/*\"]", "catch [\"*://*/*\"]"]);
    ask(&mut state, &other, "3", "http://a.test/x", at(began, 0));
    ask(&mut state, &other, "4", "http://a.test/x/y", at(began, 0));
    assert_eq!(done(&mut state), ["3 fails", "4 goes on"]);
    let rule = RouteRule::new("/h", RouteAction::Continue { headers: vec![("x-a".into(), "new".into())] });
    add(&mut state, rule, at(began, 0));
    done(&mut state);
    ask(&mut state, &session, "5", "http://a.test/h", at(began, 0));
    assert_eq!(done(&mut state), ["5 goes on with [(\"Accept\", \"*/*\"), (\"x-a\", \"new\")]"]);
    let hits: Vec<u64> = state.list_routes().iter().map(|route| route.hits).collect();
    assert_eq!(hits, [2, 1]);
    // The page is closed.
    add(&mut state, abort("/z").on_page("Q".into()), at(began, 0));
    state.page_out(&"Q".into(), at(began, 0));
    assert_eq!(state.list_routes().len(), 2);
}

#[test]
fn a_held_request_goes_on_in_time_or_with_its_route_and_is_dropped_with_its_session() {
    let (mut state, session, began) = started();
    add(&mut state, abort("/slow").delay(Duration::from_secs(2)), at(began, 0));
    state.route_confirmed(1, None);
    done(&mut state);
    ask(&mut state, &session, "1", "http://a.test/slow", at(began, 0));
    assert!(done(&mut state).is_empty());
    assert_eq!(state.next_tick(at(began, 0)), Some(began + Duration::from_secs(2)));
    state.on_tick(at(began, 1999));
    assert!(done(&mut state).is_empty());
    state.on_tick(at(began, 2000));
    assert_eq!(done(&mut state), ["1 fails"]);
    for number in 0..=MAX_HELD {
        ask(&mut state, &session, &format!("n{number}"), "http://a.test/slow", at(began, 2000));
    }
    assert_eq!(done(&mut state), [format!("n{MAX_HELD} fails")], "more than may be held is not");
    state.unguard(|gone| gone == "S");
    assert!(state.next_route_check().is_none());
    add(&mut state, abort("/once").times(1).delay(Duration::from_secs(2)), at(began, 2000));
    done(&mut state);
    ask(&mut state, &session, "once", "http://a.test/once", at(began, 2000));
    state.on_tick(at(began, 2001));
    assert!(done(&mut state).is_empty(), "caught as long as it is held");
    state.on_tick(at(began, 4000));
    assert_eq!(done(&mut state), ["once fails", "catch [\"*://*/slow\"]"]);
    ask(&mut state, &session, "2", "http://a.test/slow", at(began, 3000));
    let (reply, _removed) = crossbeam_channel::bounded(1);
    state.remove_routes(Some("route1"), reply, at(began, 3000));
    assert_eq!(done(&mut state)[0], "2 goes on");
}

#[cfg(feature = "navigation")]
#[test]
fn the_policy_wins_over_every_route() {
    use super::super::super::navigation_policy::{NavigationPolicy, ProtectedPorts, ResolvedName};
    let ports = ProtectedPorts::default();
    let _kept = ports.protect(18791, "a test");
    let policy = NavigationPolicy::new(&[] as &[&str], &["bad.test"], false, false).unwrap();
    let policy = policy.with_requests(true).protecting(ports.clone());
    let options =
        SupervisorOptions { navigation: Some(policy), pages: Pages::All, ..SupervisorOptions::task("routes") };
    let (mut state, began) = (State::new(options), Instant::now());
    let session = attach(&mut state, "S", "P", at(began, 0));
    add(&mut state, status("**", 200).delay(Duration::from_secs(1)), at(began, 0));
    state.take_effects();
    let refused = |state: &mut State| -> Vec<String> {
        let effects = state.take_effects().into_iter().filter_map(|effect| match effect {
            Effect::Send { command, .. } => {
                let request = command.params()["requestId"].as_str().map(str::to_owned)?;
                match command.method() {
                    "Fetch.failRequest" => Some(format!("{request} is refused")),
                    "Fetch.fulfillRequest" => Some(format!("{request} is answered")),
                    _ => None,
                }
            }
            Effect::LookUp { host } => Some(format!("look up {host}")),
            _ => None,
        });
        effects.collect()
    };
    for (request, url) in [
        ("1", "http://bad.test/"),
        ("2", "http://a.test:18791/"),
        ("3", "http://169.254.169.254/"),
        ("4", "http://inside.test/"),
        ("5", "http://8.8.8.8/"),
        ("6", "http://8.8.8.8:4000/"),
    ] {
        ask(&mut state, &session, request, url, at(began, 0));
    }
    assert_eq!(refused(&mut state), ["1 is refused", "2 is refused", "3 is refused", "look up inside.test"]);
    state
        .found(ResolvedName { host: "inside.test".into(), addresses: vec!["10.0.0.1".parse().unwrap()] }, at(began, 1));
    assert_eq!(refused(&mut state), ["4 is refused"]);
    // Protected while it was delayed.
    let _late = ports.protect(4000, "a test");
    state.on_tick(at(began, 1000));
    assert_eq!(refused(&mut state), ["5 is answered", "6 is refused"]);
}

#[test]
fn a_request_fails_whose_answer_the_browser_refuses() {
    let (mut state, session, began) = started();
    let answer = RouteAction::Fulfil(Fulfilment::new(200, Vec::new(), "x").into());
    let outcome = add(&mut state, RouteRule::new("/x", answer), at(began, 0));
    take_all(&mut state, at(began, 0));
    assert!(outcome.try_recv().unwrap().is_ok());
    ask(&mut state, &session, "1", "http://a.test/x", at(began, 1));
    let effects = state.take_effects();
    let [Effect::Send { tag, command, .. }] = &*effects else { panic!("{effects:?}") };
    let sent = serde_json::json!({
        "requestId": "1", "responseCode": 200, "responsePhrase": "OK", "responseHeaders": [], "body": "eA=="
    });
    assert_eq!((command.method(), command.params()), ("Fetch.fulfillRequest", sent));
    state.on_answer(*tag, refused_by_browser(), at(began, 2));
    assert_eq!(done(&mut state), ["1 fails"]);
}

#[test]
fn a_route_that_the_browser_refuses_is_not_kept() {
    let (mut state, _, began) = started();
    let outcome = add(&mut state, abort("/x"), at(began, 0));
    for effect in state.take_effects() {
        if let Effect::Send { tag, .. } = effect {
            state.on_answer(tag, refused_by_browser(), at(began, 1));
        }
    }
    tell(&mut state);
    assert!(matches!(outcome.try_recv().unwrap(), Err(Error::Cdp(_))));
    assert!(state.list_routes().is_empty());
}

#[test]
fn answers_wait_until_the_browser_has_taken_others() {
    let (mut state, session, began) = started();
    let answer = RouteAction::Fulfil(Fulfilment::new(200, Vec::new(), vec![0; 16 << 20]).into());
    let _receiver = add(&mut state, RouteRule::new("/x", answer), at(began, 0));
    take_all(&mut state, at(began, 0));
    let mut tags = Vec::new();
    for request in ["1", "2", "3", "4"] {
        ask(&mut state, &session, request, "http://a.test/x", at(began, 1));
        tags.extend(state.take_effects().into_iter().filter_map(|effect| match effect {
            Effect::Send { tag, command, .. } if command.method() == "Fetch.fulfillRequest" => Some(tag),
            _ => None,
        }));
    }
    assert_eq!(tags.len(), 2, "two of these are on their way");
    state.on_tick(at(began, 500));
    assert_eq!(done(&mut state), [""; 0]);
    for tag in tags {
        state.on_answer(tag, taken(), at(began, 501));
    }
    state.on_tick(at(began, 1000));
    assert_eq!(done(&mut state), ["3 is answered 200", "4 is answered 200"]);
}

#[test]
fn a_request_of_a_hidden_page_is_left_to_its_owner() {
    let (mut state, _, began) = started();
    let _receiver = add(&mut state, abort("/x"), at(began, 0));
    take_all(&mut state, at(began, 0));
    for url in ["http://a.test/x", "http://a.test/"] {
        ask(&mut state, &"H".into(), "1", url, at(began, 1));
    }
    assert_eq!(done(&mut state), [""; 0]);
}

fn intercept(
    state: &mut State,
    pattern: &str,
    millis: u64,
    now: Now,
) -> (HandOver, crossbeam_channel::Receiver<Handed>) {
    let rule = RouteRule::new(pattern, RouteAction::Continue { headers: Vec::new() }).delay(Duration::from_secs(1));
    let (mut rule, glob) = rule.checked().unwrap();
    rule.delay = Duration::ZERO;
    let (sender, handed) = crossbeam_channel::bounded(2);
    let hand = HandOver {
        sender,
        shared: Arc::default(),
        timeout: Duration::from_millis(millis),
        changing: false,
        fails_unanswered: false,
    };
    let (reply, _receiver) = crossbeam_channel::bounded(1);
    state.intercept(rule, glob, hand.clone(), reply, now);
    take_all(state, now);
    (hand, handed)
}

#[test]
fn what_is_handed_over_waits_for_its_answer_or_goes_on_as_without() {
    let (mut state, session, began) = started();
    drop(add(&mut state, status("/a/old", 418), at(began, 0)));
    let (hand, handed) = intercept(&mut state, "/a/*", 100, at(began, 0));
    let ask_for = |state: &mut State, name: &str, millis| {
        ask(state, &session, name, &format!("http://x.test/a/{name}"), at(began, millis));
    };
    // Answered.
    ask_for(&mut state, "one", 1);
    let one = handed.try_recv().unwrap();
    assert_eq!((&*one.url, &*one.method, one.frame.is_some()), ("http://x.test/a/one", "GET", true));
    assert!(done(&mut state).is_empty(), "it is held");
    state.intercepted(
        one.number,
        Some((RouteAction::Abort(AbortReason::Failed), Encoded::default())),
        None,
        at(began, 2),
    );
    assert_eq!(done(&mut state), ["one fails"]);
    // Not answered in time: an older route applies to one of them.
    ask_for(&mut state, "old", 3);
    ask_for(&mut state, "two", 3);
    assert_eq!(state.next_route_check(), Some(at(began, 103).instant));
    state.check_routes(at(began, 103));
    assert_eq!(done(&mut state), ["old is answered 418", "two goes on"]);
    let (reply, response) = crossbeam_channel::bounded(1);
    let two = handed.try_iter().last().unwrap().number;
    state.intercepted(
        two,
        Some((RouteAction::Abort(AbortReason::Failed), Encoded::default())),
        Some(reply),
        at(began, 104),
    );
    tell(&mut state);
    assert!(matches!(response.try_recv().unwrap(), Err(Error::RequestGone)));
    assert!(done(&mut state).is_empty());
    // More than the queue holds.
    for name in ["a", "b", "c"] {
        ask_for(&mut state, name, 105);
    }
    assert_eq!(done(&mut state), ["c goes on"]);
    // The interceptor is dropped.
    state.end_interception(&hand.shared, at(began, 106));
    let mut left = done(&mut state);
    left.retain(|line| !line.starts_with("catch"));
    assert_eq!(left, ["a goes on", "b goes on"]);
    ask_for(&mut state, "d", 107);
    assert_eq!(done(&mut state), ["d goes on"]);
}
