//! What a detach or a crash does to the calls of a session, and to those of others.

use cdpilot::cdp::{Connection, Error, GoneReason, RawReply, Reply, Session};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::fake_cdp::{Fake, soon};

fn attach(fake: &Fake, parent: Option<&str>, child: &str) {
    let info =
        json!({"targetId": "T", "type": "page", "title": "", "url": "", "attached": true, "canAccessOpener": false});
    let params = json!({"sessionId": child, "targetInfo": info, "waitingForDebugger": false});
    fake.emit(parent, "Target.attachedToTarget", params);
}

fn detach(fake: &Fake, parent: Option<&str>, child: &str) {
    fake.emit(parent, "Target.detachedFromTarget", json!({ "sessionId": child }));
}

/// Sends a call that is never answered.
fn hang(session: &Session) -> Reply<RawReply> {
    session.send_raw("Test.never", &json!({})).unwrap()
}

fn gone(reply: Reply<RawReply>) -> GoneReason {
    match reply.wait_raw(soon()) {
        Err(Error::SessionGone { method, reason }) => {
            assert_eq!(method, "Test.never");
            reason
        }
        other => panic!("{other:?}"),
    }
}

/// Whether a call still waits, once the connection has read all that was sent before.
fn still_waits(connection: &Connection, reply: Reply<RawReply>) -> Reply<RawReply> {
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    reply.poll_raw(Deadline::after_millis(0)).expect_err("it should still wait")
}

fn setting() -> (Fake, Connection) {
    let fake = Fake::start();
    fake.on("Test.never").never();
    let connection = fake.connect();
    (fake, connection)
}

#[test]
fn an_unknown_session_fails_only_its_call() {
    let (fake, connection) = setting();
    fake.on("Page.enable").error(-32001, "Session with given id not found.");
    let error = connection.session("S1").call_raw("Page.enable", &json!({}), soon()).unwrap_err();
    assert!(matches!(error, Error::SessionGone { reason: GoneReason::Unknown, .. }), "{error:?}");
    // Without a session the same code is a plain refusal.
    let error = connection.call_raw("Page.enable", &json!({}), soon()).unwrap_err();
    assert_eq!(error.code(), Some(-32001));
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
}

#[test]
fn a_detach_fails_only_the_calls_of_its_session() {
    let (fake, connection) = setting();
    attach(&fake, None, "S1");
    attach(&fake, None, "S2");
    let first: Vec<_> = (0..5).map(|_| hang(&connection.session("S1"))).collect();
    let other = hang(&connection.session("S2"));
    let browser = hang(&connection.session("S12"));
    fake.wait("the calls", |log| log.requests.len() == 7);
    detach(&fake, None, "S1");
    for reply in first {
        assert_eq!(gone(reply), GoneReason::Detached);
    }
    drop((still_waits(&connection, other), still_waits(&connection, browser)));
}

#[test]
fn a_detach_ends_child_sessions() {
    let (fake, connection) = setting();
    attach(&fake, None, "page");
    attach(&fake, Some("page"), "frame");
    attach(&fake, Some("frame"), "worker");
    attach(&fake, None, "other");
    attach(&fake, Some("other"), "other-frame");
    let mine = ["page", "frame", "worker"].map(|id| hang(&connection.session(id)));
    let others = ["other", "other-frame"].map(|id| hang(&connection.session(id)));
    fake.wait("the calls", |log| log.requests.len() == 5);
    detach(&fake, None, "page");
    for reply in mine {
        assert_eq!(gone(reply), GoneReason::Detached);
    }
    let others = others.map(|reply| still_waits(&connection, reply));
    detach(&fake, Some("other"), "other-frame");
    let [page, frame] = others;
    assert_eq!(gone(frame), GoneReason::Detached);
    drop(still_waits(&connection, page));
}

#[test]
fn a_reused_session_id_is_a_new_session() {
    let (fake, connection) = setting();
    attach(&fake, None, "page");
    attach(&fake, Some("page"), "frame");
    detach(&fake, Some("page"), "frame");
    attach(&fake, None, "frame"); // now by itself
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    let frame = hang(&connection.session("frame"));
    detach(&fake, None, "page");
    drop(still_waits(&connection, frame));
}

#[test]
fn an_inspector_detach_ends_its_own_session() {
    let (fake, connection) = setting();
    attach(&fake, None, "S1");
    let reply = hang(&connection.session("S1"));
    let other = hang(&connection.session("S2"));
    fake.emit(Some("S1"), "Inspector.detached", json!({ "reason": "target_closed" }));
    assert_eq!(gone(reply), GoneReason::Detached);
    drop(still_waits(&connection, other));
}

#[test]
fn a_crash_fails_renderer_calls_until_the_renderer_returns() {
    let (fake, connection) = setting();
    fake.on("Page.navigate").never();
    let (session, other) = (connection.session("S1"), connection.session("S2"));
    let needs_renderer = hang(&session);
    let by_browser = session.send_raw("Page.navigate", &json!({ "url": "about:blank" })).unwrap();
    let elsewhere = hang(&other);
    fake.wait("the calls", |log| log.requests.len() == 3);
    fake.emit(Some("S1"), "Inspector.targetCrashed", json!({}));
    assert_eq!(gone(needs_renderer), GoneReason::Crashed);
    let waits = (still_waits(&connection, by_browser), still_waits(&connection, elsewhere));

    // What is sent now fails at once, and is not even sent.
    let error = session.call_raw("Runtime.evaluate", &json!({ "expression": "1" }), soon()).unwrap_err();
    assert!(matches!(error, Error::SessionGone { reason: GoneReason::Crashed, .. }), "{error:?}");
    assert_eq!(fake.log(|log| log.of("Runtime.evaluate").len()), 0);
    // What the browser process answers passes, and so do other sessions.
    for method in ["Target.getTargetInfo", "Browser.getVersion", "Page.reload", "Page.close", "Storage.getCookies"] {
        session.call_raw(method, &json!({}), soon()).unwrap();
    }
    other.call_raw("Runtime.evaluate", &json!({}), soon()).unwrap();

    fake.emit(Some("S1"), "Inspector.targetReloadedAfterCrash", json!({}));
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    session.call_raw("Runtime.evaluate", &json!({}), soon()).unwrap();
    drop(waits);
}

#[test]
fn a_detach_clears_the_crash() {
    let (fake, connection) = setting();
    attach(&fake, None, "S1");
    fake.emit(Some("S1"), "Inspector.targetCrashed", json!({}));
    detach(&fake, None, "S1");
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    connection.session("S1").call_raw("Runtime.evaluate", &json!({}), soon()).unwrap();
}

#[test]
fn unexpected_lifecycle_events_are_ignored() {
    let (fake, connection) = setting();
    let reply = hang(&connection.session("S1"));
    for method in
        ["Target.attachedToTarget", "Target.detachedFromTarget", "Inspector.detached", "Inspector.targetCrashed"]
    {
        fake.emit(None, method, json!({}));
        fake.emit(None, method, json!({ "sessionId": 7 }));
        fake.emit(None, method, json!([]));
        fake.send_text(&format!(r#"{{"method":"{method}"}}"#));
    }
    drop(still_waits(&connection, reply));
    assert_eq!(connection.counters().events, 16);
}

#[test]
fn a_session_keeps_the_connection_open_but_a_reply_does_not() {
    let (fake, connection) = setting();
    let session = connection.session("S1");
    drop(connection);
    session.call_raw("Test.next", &json!({}), soon()).unwrap();
    assert_eq!((session.id(), session.connection().is_closed()), ("S1", false));
    let reply = hang(&session);
    fake.wait("the call", |log| log.of("Test.never").len() == 1);
    assert_eq!(fake.log(|log| log.of("Test.never")[0].session.clone()), Some("S1".to_owned()));
    drop(session);
    assert!(reply.wait_raw(soon()).unwrap_err().is_closed());
    fake.wait("the end", |log| log.gone == 1);
}
