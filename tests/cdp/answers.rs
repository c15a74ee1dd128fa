//! Answers: in any order, late, duplicate, unknown, refused, malformed, and dropped.

use std::thread::scope;

use cdpilot::cdp::protocol::{browser, page};
use cdpilot::cdp::{CloseReason, Error, TimeoutKind};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::fake_cdp::{Action, Fake, Gate, soon};

#[test]
fn answers_out_of_order_reach_their_callers() {
    let fake = Fake::start();
    fake.on("Test.wait").never();
    let connection = fake.connect();
    let replies: Vec<_> =
        (0..20).map(|n| connection.session("S").send_raw("Test.wait", &json!({ "n": n })).unwrap()).collect();
    fake.wait("all calls", |log| log.requests.len() == 20);
    let answers: Vec<_> = fake.log(|log| log.requests.iter().map(|r| r.answer(&r.params)).collect());
    for n in [7, 19, 0, 3, 18, 1, 2, 4, 5, 6, 8, 17, 9, 10, 16, 11, 12, 15, 13, 14] {
        fake.send_text(&answers[n]);
    }
    for (n, reply) in replies.into_iter().enumerate() {
        assert_eq!(reply.wait_raw(soon()).unwrap().value().unwrap(), json!({ "n": n }));
    }
    assert_eq!(connection.counters().in_flight, 0);
}

#[test]
fn a_thousand_calls_are_pipelined() {
    let fake = Fake::start();
    fake.on("Test.echo").echo();
    let connection = fake.connect();
    let replies: Vec<_> =
        (0..1000).map(|n| connection.session("S").send_raw("Test.echo", &json!({ "n": n })).unwrap()).collect();
    for (n, reply) in replies.into_iter().enumerate().rev() {
        assert_eq!(reply.wait_raw(soon()).unwrap().value().unwrap()["n"], n);
    }
    assert_eq!(connection.counters().in_flight, 0);
    let sent: Vec<_> = fake.log(|log| log.requests.iter().map(|r| r.params["n"].as_u64().unwrap()).collect());
    assert_eq!(sent, (0..1000).collect::<Vec<_>>(), "commands keep their order");
}

#[test]
fn eight_threads_receive_their_own_answers() {
    let fake = Fake::start();
    fake.on("Test.echo").echo();
    let connection = fake.connect();
    scope(|threads| {
        for thread in 0..8 {
            let connection = connection.clone();
            threads.spawn(move || {
                for n in 0..1000 {
                    let params = json!({ "value": format!("{thread}-{n}") });
                    let answer = connection.call_raw("Test.echo", &params, soon()).unwrap().value().unwrap();
                    assert_eq!(answer, params);
                }
            });
        }
    });
    let counters = connection.counters();
    assert_eq!((counters.in_flight, counters.late_answers, counters.unknown_answers), (0, 0, 0));
    assert_eq!(fake.log(|log| log.requests.len()), 8000);
}

#[test]
fn threads_that_pipeline_and_wait_alternately_lose_no_answer() {
    let fake = Fake::start();
    fake.on("Test.echo").echo();
    let connection = fake.connect();
    scope(|threads| {
        for thread in 0..4 {
            let session = connection.session(format!("S{thread}"));
            threads.spawn(move || {
                for round in 0..60 {
                    let sent: Vec<_> =
                        (0..16).map(|n| session.send_raw("Test.echo", &json!([thread, round, n])).unwrap()).collect();
                    // Odd ones first, so that some are there before they are waited for.
                    let (even, odd): (Vec<_>, Vec<_>) = sent.into_iter().enumerate().partition(|(n, _)| n % 2 == 0);
                    for (n, reply) in odd.into_iter().chain(even) {
                        let answer = reply.wait_raw(soon()).unwrap().value().unwrap();
                        assert_eq!(answer, json!([thread, round, n]));
                    }
                }
            });
        }
    });
    assert_eq!(connection.counters().in_flight, 0);
}

#[test]
fn a_duplicate_answer_is_ignored_and_counted() {
    let fake = Fake::start();
    fake.on("Test.twice").twice().reply(json!({ "n": 1 }));
    let connection = fake.connect();
    assert_eq!(connection.call_raw("Test.twice", &json!({}), soon()).unwrap().value().unwrap()["n"], 1);
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    assert_eq!(connection.counters().late_answers, 1);
}

#[test]
fn answers_to_unknown_ids_are_counted() {
    let fake = Fake::start();
    let connection = fake.connect();
    for id in ["0", "4711", "9223372036854775807", "18446744073709551615"] {
        fake.send_text(&format!(r#"{{"id":{id},"result":{{}}}}"#));
    }
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    let counters = connection.counters();
    assert_eq!(counters.unknown_answers + counters.garbage, 4);
    assert!(counters.unknown_answers >= 3, "{counters:?}");
}

#[test]
fn messages_that_are_not_cdp_are_counted_and_skipped() {
    let fake = Fake::start();
    let connection = fake.connect();
    let texts = [
        "",
        " ",
        "null",
        "[]",
        "[{\"id\":1}]",
        "{",
        "{}",
        "\"x\"",
        r#"{"id":1,"method":"A.b"}"#,
        r#"{"id":"1"}"#,
        "{}{}",
    ];
    fake.garbage();
    texts.iter().for_each(|text| fake.send_text(text));
    fake.binary(&[0xff, 0xfe, 0]);
    assert_eq!(connection.call_raw("Test.next", &json!({}), soon()).unwrap().value().unwrap(), json!({}));
    assert_eq!(connection.counters().garbage, texts.len() as u64 + 2);
}

#[test]
fn an_error_object_becomes_a_typed_error() {
    let fake = Fake::start();
    fake.on("Page.navigate").error(-32000, "Cannot navigate to invalid URL");
    let connection = fake.connect();
    let error = connection.call(&page::Navigate::new("::"), soon()).unwrap_err();
    assert_eq!((error.code(), error.method()), (Some(-32000), Some("Page.navigate")));
    assert!(
        matches!(&error, Error::Protocol { message, data: None, .. } if message == "Cannot navigate to invalid URL")
    );
    assert!(!error.is_closed() && !error.is_timeout());
    assert!(!connection.is_closed());
}

#[test]
fn malformed_error_objects_keep_their_text() {
    let fake = Fake::start();
    let connection = fake.connect();
    let ask = |error: Value| {
        fake.on("Test.fails")
            .with(move |request| vec![Action::Text(json!({ "id": request.id, "error": error }).to_string())]);
        let error = connection.call_raw("Test.fails", &json!({}), soon()).unwrap_err();
        assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
        (error.code().unwrap(), error.to_string())
    };
    let (code, text) =
        ask(json!({ "code": -32602, "message": "Invalid \"x\"\n", "data": "x: string expected", "more": 1 }));
    assert!(code == -32602 && text.contains("Invalid \"x\"") && text.contains("x: string expected"), "{text}");
    let (code, text) = ask(json!({ "code": -1, "data": { "at": [3] } }));
    assert!(code == -1 && text.contains(r#"{"at":[3]}"#), "{text}");
    assert!(ask(json!("the gate is shut")).1.contains("the gate is shut"));
    assert!(ask(json!({ "code": "E5", "message": "the gate is shut" })).1.contains("the gate is shut"));
}

#[test]
fn a_null_error_is_no_error() {
    let fake = Fake::start();
    fake.on("Test.null")
        .with(|r| vec![Action::Text(json!({"id": r.id, "error": null, "result": {"n": 1}}).to_string())]);
    let connection = fake.connect();
    assert_eq!(connection.call_raw("Test.null", &json!({}), soon()).unwrap().value().unwrap(), json!({ "n": 1 }));
}

#[test]
fn an_integer_id_in_float_notation_is_accepted() {
    let fake = Fake::start();
    fake.on("Test.echo").with(|r| vec![Action::Text(format!(" {{ \"result\" : {{}} , \"id\" : {}.0 }} ", r.id))]);
    let connection = fake.connect();
    assert_eq!(connection.call_raw("Test.echo", &json!({}), soon()).unwrap().value().unwrap(), json!({}));
}

#[test]
fn a_decoding_error_names_method_and_json_path() {
    let fake = Fake::start();
    let version = |revision: Value| json!({"protocolVersion": "1.3", "product": "Fake/1", "revision": revision, "userAgent": "", "jsVersion": "1"});
    fake.on("Browser.getVersion").times(1).reply(version(json!(7)));
    let connection = fake.connect();
    match connection.call(&browser::GetVersion::new(), soon()) {
        Err(Error::Decode { method, path, .. }) => assert_eq!((&*method, &*path), ("Browser.getVersion", "revision")),
        other => panic!("{other:?}"),
    }
    // Only that call is harmed, and the same text is there as JSON for who asks for it.
    fake.on("Browser.getVersion").reply(version(json!("r")));
    assert_eq!(connection.call(&browser::GetVersion::new(), soon()).unwrap().product, "Fake/1");
    fake.on("Test.list").reply(json!({"a": [{"b": 1}, {"b": "x"}]}));
    let raw = connection.call_raw("Test.list", &json!({}), soon()).unwrap();
    let error =
        raw.decode::<std::collections::HashMap<String, Vec<std::collections::HashMap<String, u8>>>>().unwrap_err();
    assert!(matches!(&error, Error::Decode { path, .. } if path == "a[1].b"), "{error:?}");
}

#[test]
fn an_unanswered_call_fails_at_its_deadline() {
    let fake = Fake::start();
    let gate = Gate::default();
    fake.on("Test.never").late(&gate).reply(json!({}));
    let connection = fake.connect();
    let error = connection.call_raw("Test.never", &json!({}), Deadline::after_millis(30)).unwrap_err();
    assert!(error.is_timeout());
    assert!(
        matches!(&error, Error::Timeout { kind: TimeoutKind::Reply, method, .. } if method == "Test.never"),
        "{error:?}"
    );
    assert_eq!(connection.counters().in_flight, 0);
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    gate.open();
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    assert_eq!(connection.counters().late_answers, 1);
}

#[test]
fn a_received_answer_is_returned_even_after_the_deadline() {
    let fake = Fake::start();
    let connection = fake.connect();
    let reply = connection.session("S").send_raw("Test.first", &json!({})).unwrap();
    connection.call_raw("Test.second", &json!({}), soon()).unwrap();
    let passed = Deadline::at(std::time::Instant::now());
    assert_eq!(reply.wait_raw(passed).unwrap().value().unwrap(), json!({}));
}

#[test]
fn polling_returns_the_handle_until_the_answer_arrives() {
    let fake = Fake::start();
    let gate = Gate::default();
    fake.on("Test.late").late(&gate).reply(json!({ "n": 5 }));
    let connection = fake.connect();
    let reply = connection.session("S").send_raw("Test.late", &json!({})).unwrap();
    let reply = reply.poll_raw(Deadline::after_millis(10)).unwrap_err();
    let reply = reply.poll_raw(Deadline::after_millis(0)).unwrap_err();
    assert_eq!(connection.counters().in_flight, 1);
    gate.open();
    let raw = reply.poll_raw(soon()).unwrap().unwrap();
    assert_eq!(raw.value().unwrap()["n"], 5);

    fake.on("Browser.getVersion").never();
    let typed = connection.send(&browser::GetVersion::new()).unwrap();
    let typed = typed.poll(Deadline::after_millis(10)).unwrap_err();
    fake.cut();
    let error = typed.poll(soon()).unwrap().unwrap_err();
    assert!(matches!(error, Error::Closed { reason: CloseReason::Remote { code: None }, .. }), "{error:?}");
}

#[test]
fn a_dropped_reply_is_removed_from_the_pending_table() {
    let fake = Fake::start();
    let gate = Gate::default();
    fake.on("Test.late").late(&gate).reply(json!({}));
    let connection = fake.connect();
    let replies: Vec<_> = (0..10).map(|_| connection.session("S").send_raw("Test.late", &json!({})).unwrap()).collect();
    assert_eq!(connection.counters().in_flight, 10);
    drop(replies);
    assert_eq!(connection.counters().in_flight, 0);
    fake.wait("the calls", |log| log.requests.len() == 10);
    gate.open();
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    assert_eq!(connection.counters().late_answers, 10);
}

#[test]
fn parameters_that_cannot_be_serialised_fail_only_their_call() {
    let fake = Fake::start();
    let connection = fake.connect();
    let bad = std::collections::HashMap::from([((1, 2), 3)]);
    match connection.call_raw("Test.bad", &bad, soon()) {
        Err(Error::Encode { method, .. }) => assert_eq!(method, "Test.bad"),
        other => panic!("{other:?}"),
    }
    assert_eq!(connection.counters().in_flight, 0);
    connection.call_raw("Test.good", &json!({ "text": "ü \u{2028} \" \\ \u{0}" }), soon()).unwrap();
    assert_eq!(fake.log(|log| log.methods().join(" ")), "Test.good");
    assert_eq!(fake.log(|log| log.requests[0].params["text"].clone()), "ü \u{2028} \" \\ \u{0}");
}

#[test]
fn a_scripted_peer_answers_a_sequence_of_calls() {
    // What tests of the rooms above build on: sessions made on demand, with rules of their own.
    let fake = Fake::start();
    fake.on("Target.attachToTarget").with(|request| {
        let session = format!("S-{}-{}", request.connection, request.params["targetId"].as_str().unwrap());
        let event = json!({ "sessionId": session });
        vec![Action::event("Target.attachedToTarget", event), Action::Reply(json!({ "sessionId": session }))]
    });
    fake.on("Page.enable").with(|request| {
        let session = request.session.as_deref().unwrap();
        vec![Action::event_in(session, "Page.loadEventFired", json!({ "timestamp": 1 })), Action::Reply(json!({}))]
    });
    fake.on("Page.freeze").act(Action::StopReading);
    for round in 0..2 {
        let connection = fake.connect();
        let attached = connection.call_raw("Target.attachToTarget", &json!({ "targetId": "T" }), soon()).unwrap();
        let id = attached.value().unwrap()["sessionId"].as_str().unwrap().to_owned();
        assert_eq!(id, format!("S-{round}-T"));
        let session = connection.session(id);
        let events = session.subscribe(&["Page.loadEventFired"], cdpilot::cdp::Capacity::default());
        session.call_raw("Page.enable", &json!({}), soon()).unwrap();
        assert!(events.try_next().is_ok());
    }
    let connection = fake.connect();
    let error = connection.call_raw("Page.freeze", &json!({}), Deadline::after_millis(20)).unwrap_err();
    assert!(error.is_timeout());
    let error = connection.call_raw("Page.enable", &json!({}), Deadline::after_millis(20)).unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(fake.log(|log| log.of("Page.enable").len()), 2, "it does not read");
}
