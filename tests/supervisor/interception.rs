//! Request interception by the embedder, with a real browser.

use std::time::Duration;

use cdpilot::cdp::RecvError;
use cdpilot::supervisor::{
    AbortReason, BridgeMode, Error, FrameRef, Fulfilment, InterceptRule, InterceptedRequest, Interceptor, RouteAction,
    RouteRule, SupervisorOptions,
};
use cdpilot::sync::{Deadline, Thread, spawn};
use serde_json::json;

use crate::support::chrome::{ACCEPT, Task, soon, until};
use crate::support::site::Answer;

/// Waits until the document has loaded.
const LOADED: &str =
    "new Promise(done => document.readyState === 'complete' ? done(1) : addEventListener('load', () => done(1)))";

/// The result of `fetch`: status and text, or the name of its error.
fn fetch(url: &str, more: &str) -> String {
    format!(
        "fetch('{url}', {{ {more} }}).then(async r => `${{r.status}} ${{await r.text()}}`).catch(error => error.name)"
    )
}

fn showing(name: &str) -> Option<Task> {
    showing_with(SupervisorOptions::task(name))
}

fn showing_with(options: SupervisorOptions) -> Option<Task> {
    let task = Task::leased_with(options)?;
    task.site.page("/", "<title>page</title>");
    task.site.page("/api/x", "of the server");
    task.navigate(&FrameRef::Top, &task.site.url("a", "/"), soon()).unwrap();
    // Chromium 156 may not pause requests of a document that is being committed.
    eval_value(&task, LOADED);
    Some(task)
}

fn eval_value(task: &Task, script: &str) -> serde_json::Value {
    task.evaluate(&FrameRef::Top, script, soon()).unwrap().result.value
}

/// Handles the next `times` requests with a closure.
fn always(interceptor: Interceptor, times: usize, with: impl Fn(InterceptedRequest) + Send + 'static) -> Thread {
    let answer = move || {
        for _ in 0..times {
            with(interceptor.next(soon()).unwrap());
        }
    };
    spawn("test-intercept", answer).unwrap()
}

fn intercept(task: &Task, rule: InterceptRule) -> Interceptor {
    task.intercept(rule, soon()).unwrap()
}

#[test]
fn requests_are_fulfilled_continued_or_failed() {
    let Some(task) = showing("intercept-each") else { return };
    let rule = InterceptRule::new("/api/*").resource_type("fetch");
    let answers = always(intercept(&task, rule), 5, |request| match request.method() {
        "GET" => {
            assert!(request.url().ends_with("/api/x") && request.resource_type() == "xhr" && request.frame().is_some());
            assert_eq!(request.header("x-a"), Some("1"));
            request.fulfil(Fulfilment::new(201, Vec::new(), "made up")).unwrap();
        }
        "DELETE" => request.fail(AbortReason::AccessDenied).unwrap(),
        "PUT" => {
            let bad = vec![("Host".to_owned(), "x".to_owned())];
            assert!(matches!(request.continue_with(bad), Err(Error::BadRoute { .. })), "it goes on as it is");
        }
        "POST" if request.body() == Some("plain") => request.continue_().unwrap(),
        _ => request.continue_with(vec![("X-A".to_owned(), "changed".to_owned())]).unwrap(),
    });
    let with_header = "headers: { 'X-A': '1' }";
    assert_eq!(eval_value(&task, &fetch("/api/x", with_header)), "201 made up");
    assert_eq!(eval_value(&task, &fetch("/api/x", "method: 'DELETE'")), "TypeError");
    assert_eq!(eval_value(&task, &fetch("/api/x", "method: 'PUT'")), "200 of the server");
    assert_eq!(eval_value(&task, &fetch("/api/x", "method: 'POST', body: 'plain'")), "200 of the server");
    assert_eq!(
        eval_value(&task, &fetch("/api/x", &format!("method: 'POST', body: 'x', {with_header}"))),
        "200 of the server"
    );
    drop(answers);
    let heads = task.site.heads("a.localhost/api/x");
    assert_eq!(heads.len(), 3, "{heads:?}");
    assert!(heads[2].to_ascii_lowercase().contains("x-a: changed"), "{heads:?}");
    assert_eq!(eval_value(&task, &fetch("/api/x", "")), "200 of the server", "the interceptor is gone");
}

#[test]
fn a_document_and_its_preflights_are_intercepted() {
    let Some(task) = showing("intercept-kinds") else { return };
    let made = |request: InterceptedRequest| {
        let kind = ("Content-Type".to_owned(), "text/html".to_owned());
        request.fulfil(Fulfilment::new(200, vec![kind], "<title>made up</title>")).unwrap();
    };
    let answers = always(intercept(&task, InterceptRule::new("nowhere.test")), 3, made);
    let requested = fetch("http://nowhere.test/x", "method: 'PUT', headers: { 'X-A': '1' }");
    assert_eq!(eval_value(&task, &requested), "200 <title>made up</title>", "its preflight is answered too");
    task.navigate(&FrameRef::Top, "http://nowhere.test/", soon()).unwrap();
    eval_value(&task, LOADED);
    assert_eq!(eval_value(&task, "document.title"), "made up");
    drop(answers);
}

#[test]
fn unanswered_requests_continue() {
    let Some(task) = showing("intercept-unanswered") else { return };
    let older = RouteAction::Fulfil(std::sync::Arc::new(Fulfilment::new(200, Vec::new(), "of the route")));
    task.add_route(RouteRule::new("/api/routed", older), soon()).unwrap();
    // Its time is up.
    let short = intercept(&task, InterceptRule::new("/api/*").timeout(Duration::from_millis(50)));
    assert_eq!(eval_value(&task, &fetch("/api/routed", "")), "200 of the route");
    assert_eq!(eval_value(&task, &fetch("/api/x", "")), "200 of the server");
    assert_eq!(short.next(Deadline::after_millis(1)).unwrap_err(), RecvError::Timeout, "late ones are not handed out");
    drop(short);
    // The request is dropped.
    let answers = always(intercept(&task, InterceptRule::new("/api/*")), 1, drop);
    assert_eq!(eval_value(&task, &fetch("/api/routed", "")), "200 of the route");
    drop(answers);
    // The interceptor is dropped while a request waits, and one is in the caller's hands.
    let interceptor = intercept(&task, InterceptRule::new("/api/*"));
    eval_value(
        &task,
        &format!("window.first = {}; window.second = {}; 0", fetch("/api/x", ""), fetch("/api/routed", "")),
    );
    let held = interceptor.next(soon()).unwrap();
    drop(interceptor);
    assert_eq!(eval_value(&task, "Promise.all([first, second])"), json!(["200 of the server", "200 of the route"]));
    assert!(matches!(held.continue_(), Err(Error::RequestGone)));
    // More wait than the queue takes.
    let full = intercept(&task, InterceptRule::new("/api/*").capacity(1));
    eval_value(&task, &format!("window.first = {}; 0", fetch("/api/x", "")));
    let two = format!("Promise.race([{}, {}])", fetch("/api/routed", ""), fetch("/api/routed", ""));
    assert_eq!(eval_value(&task, &two), "200 of the route");
    assert!(full.missed() >= 1);
    drop(full);
    assert_eq!(eval_value(&task, "first"), "200 of the server");
    assert_eq!(task.routes(soon()).unwrap().len(), 1, "interceptors are not listed");
}

#[test]
fn a_request_of_a_closed_page_is_gone() {
    let Some(task) = showing("intercept-leaving") else { return };
    let interceptor = intercept(&task, InterceptRule::new("/api/*"));
    task.start_script(&FrameRef::Top, &fetch("/api/x", "")).unwrap();
    let request = interceptor.next(soon()).unwrap();
    let page = request.page().clone();
    task.close_page(&page, soon()).unwrap();
    assert!(matches!(request.fulfil(Fulfilment::new(200, Vec::new(), "")), Err(Error::RequestGone)));
    drop(task);
    assert_eq!(interceptor.next(soon()).unwrap_err(), RecvError::Closed);
}

#[test]
fn interception_routes_and_the_dialog_bridge_work_together() {
    let options = SupervisorOptions::task("intercept-shared").bridge(BridgeMode::Always);
    let Some(task) = showing_with(options) else { return };
    task.site.put("/api/y", Answer::html("y of the server"));
    let aborted = RouteAction::Abort(AbortReason::Failed);
    task.add_route(RouteRule::new("/api/y", aborted), soon()).unwrap();
    let made = |request: InterceptedRequest| request.fulfil(Fulfilment::new(200, Vec::new(), "made up")).unwrap();
    let answers = always(intercept(&task, InterceptRule::new("/api/x")), 1, made);
    assert_eq!(eval_value(&task, &fetch("/api/x", "")), "200 made up");
    assert_eq!(eval_value(&task, &fetch("/api/y", "")), "TypeError");
    task.start_script(&FrameRef::Top, "window.said = confirm('still?')").unwrap();
    until(&task, "the dialog", |now| now.dialogs.iter().any(|dialog| dialog.bridged));
    task.respond(None, ACCEPT, soon()).unwrap();
    assert_eq!(eval_value(&task, "said"), true);
    drop(answers);
    let rule = InterceptRule::new("[");
    let refused = |rule| task.intercept(rule, soon()).map(drop).unwrap_err().code();
    assert_eq!(refused(rule.method("NOT A METHOD")), "BAD_REQUEST");
    assert_eq!(refused(InterceptRule::new("/x").timeout(Duration::ZERO)), "BAD_REQUEST");
    assert_eq!(refused(InterceptRule::new("/x").on_page("nowhere".into())), "TAB_NOT_FOUND");
}
