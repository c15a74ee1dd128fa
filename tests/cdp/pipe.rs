//! The same connection over a pair of pipes.

use std::thread::scope;

use cdpilot::cdp::{Capacity, CloseReason, ConnectOptions, Connection, Error, Item, RecvError, TimeoutKind, Watch};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::fake_cdp::{Action, Fake, Gate, soon};

fn pipe() -> (Fake, Connection) {
    Fake::over_pipe(&ConnectOptions::default())
}

#[test]
fn calls_and_events_work_over_a_pipe() {
    let (fake, connection) = pipe();
    fake.on("Test.echo").after_event("Test.event", json!({ "n": 1 })).echo();
    let events = connection.subscribe(Watch::session("S"), Capacity::default());
    let answer = connection.session("S").call_raw("Test.echo", &json!({ "text": "ü\u{0}" }), soon()).unwrap();
    assert_eq!(answer.value().unwrap(), json!({ "text": "ü\u{0}" }));
    assert!(matches!(events.try_next(), Ok(Item::Event(event)) if event.method() == "Test.event"));
    fake.on("Test.fails").error(-32601, "'Test.fails' wasn't found");
    assert_eq!(connection.call_raw("Test.fails", &json!({}), soon()).unwrap_err().code(), Some(-32601));
}

#[test]
fn threads_share_a_pipe_connection() {
    let (fake, connection) = pipe();
    fake.on("Test.echo").echo();
    scope(|threads| {
        for thread in 0..4 {
            let connection = &connection;
            threads.spawn(move || {
                for n in 0..500 {
                    let params = json!([thread, n, "p".repeat(n * 3)]);
                    let answer = connection.call_raw("Test.echo", &params, soon()).unwrap();
                    assert_eq!(answer.value().unwrap(), params);
                }
            });
        }
    });
    assert_eq!(connection.counters().in_flight, 0);
}

#[test]
fn messages_split_at_every_byte_are_reassembled() {
    let (fake, connection) = pipe();
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    let message = |n: usize| format!("{{\"method\":\"Test.event\",\"params\":{{\"n\":{n}}}}}\0");
    let whole = [message(0), message(1)].concat().into_bytes();
    for at in 0..=whole.len() {
        fake.send_raw(&whole[..at]);
        connection.session("S").send_raw("Test.idle", &json!({})).map(drop).unwrap();
        fake.send_raw(&whole[at..]);
        for n in 0..2 {
            let Ok(Item::Event(event)) = events.next(soon()) else { panic!("split at {at}") };
            assert_eq!(event.params(), format!("{{\"n\":{n}}}").as_bytes(), "split at {at}");
        }
        fake.on("Test.idle").never(); // an answer would fall between the pieces
    }
}

#[test]
fn large_messages_are_transferred_in_both_directions() {
    let (fake, connection) = pipe();
    fake.on("Test.echo").echo();
    let params = json!({ "data": "q".repeat(5_000_000) });
    assert_eq!(connection.call_raw("Test.echo", &params, soon()).unwrap().value().unwrap(), params);
}

#[test]
fn a_message_over_the_limit_fails_only_its_call() {
    let (fake, connection) = Fake::over_pipe(&ConnectOptions::new().max_message(500));
    fake.on("Test.echo").echo();
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    for bytes in [501, 5_000] {
        let error = connection.call_raw("Test.echo", &json!({ "data": "q".repeat(bytes) }), soon()).unwrap_err();
        assert!(matches!(error, Error::AnswerTooLarge { bytes: read, limit: 500, .. } if read > bytes), "{error:?}");
    }
    // Written out, since its order counts.
    let params = format!(r#"{{"requestId":"1","kind":"x","request":{{"body":"{}"}}}}"#, "q".repeat(5_000));
    fake.send_raw(format!("{{\"method\":\"Test.event\",\"params\":{params},\"sessionId\":\"S1\"}}\0").as_bytes());
    assert_eq!(
        connection.call_raw("Test.echo", &json!({ "n": 1 }), soon()).unwrap().value().unwrap(),
        json!({ "n": 1 })
    );
    let Ok(Item::Event(event)) = events.try_next() else { panic!("no event") };
    assert_eq!((event.method(), event.session(), event.is_cut()), ("Test.event", Some("S1"), true));
    assert_eq!(serde_json::from_slice::<Value>(event.params()).unwrap(), json!({ "requestId": "1", "kind": "x" }));
}

#[test]
fn an_unterminated_message_ends_the_connection() {
    let (fake, connection) = Fake::over_pipe(&ConnectOptions::new().max_message(100));
    fake.on("Test.big").act(Action::Raw(vec![b' '; 1601]));
    let error = connection.call_raw("Test.big", &json!({}), soon()).unwrap_err();
    assert!(matches!(error, Error::Closed { reason: CloseReason::TooLarge, .. }), "{error:?}");
}

#[test]
fn garbage_is_counted() {
    let (fake, connection) = pipe();
    fake.garbage();
    fake.send_raw(b"\0\0{\0\xff\0");
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    assert_eq!(connection.counters().garbage, 5);
}

#[test]
fn the_end_of_the_browser_ends_the_connection() {
    let (fake, connection) = pipe();
    fake.on("Test.never").act(Action::Cut);
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    let error = connection.call_raw("Test.never", &json!({}), soon()).unwrap_err();
    assert!(matches!(error, Error::Closed { reason: CloseReason::Remote { code: None }, .. }), "{error:?}");
    assert_eq!(events.next(soon()).unwrap_err(), RecvError::Closed);
}

#[test]
fn the_browser_sees_the_pipe_close_while_a_caller_waits() {
    for _ in 0..20 {
        let (fake, connection) = pipe();
        fake.on("Test.never").never();
        scope(|threads| {
            let caller = threads.spawn(|| connection.call_raw("Test.never", &json!({}), soon()));
            fake.wait("the call", |log| log.requests.len() == 1);
            connection.close();
            assert!(caller.join().unwrap().unwrap_err().is_closed());
        });
        // The write end is gone though handles are left.
        fake.wait("the end of the pipe", |log| log.gone == 1);
    }
}

#[test]
fn closing_ends_a_waiting_call_of_an_unresponsive_browser() {
    let (fake, connection) = pipe();
    fake.on("Test.freeze").act(Action::StopReading);
    let deadline = soon();
    scope(|threads| {
        let caller = threads.spawn(|| connection.call_raw("Test.freeze", &json!({}), deadline));
        fake.wait("the call", |log| log.requests.len() == 1);
        connection.close();
        assert!(caller.join().unwrap().unwrap_err().is_closed());
        assert!(!deadline.passed(), "it waited until its deadline");
    });
}

#[test]
fn a_silent_pipe_stays_open() {
    let options = ConnectOptions::new().keepalive(Some(std::time::Duration::from_millis(20)));
    let (fake, connection) = Fake::over_pipe(&options);
    let gate = Gate::default();
    fake.on("Test.late").late(&gate).reply(json!({}));
    let error = connection.call_raw("Test.late", &json!({}), Deadline::after_millis(200)).unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    gate.open();
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    fake.log(|log| assert!(log.garbage.is_empty()));
}

#[test]
fn sending_to_a_browser_that_does_not_read_fails_at_the_deadline() {
    let (fake, connection) = pipe();
    fake.on("Test.big").never();
    fake.stop_reading();
    let params = json!({ "data": "z".repeat(1_500_000) });
    let mut kinds = Vec::new();
    for _ in 0..6 {
        match connection.call_raw("Test.big", &params, Deadline::after_millis(50)).unwrap_err() {
            Error::Timeout { kind, .. } => kinds.push(kind),
            other => panic!("{other:?}"),
        }
    }
    assert!(kinds.contains(&TimeoutKind::Send), "{kinds:?}");
    fake.go_on_reading();
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    fake.log(|log| {
        assert!(log.garbage.is_empty());
        assert!(log.of("Test.big").iter().all(|request| request.params == params));
    });
}

#[test]
fn a_flood_of_events_is_complete_and_ordered() {
    let (fake, connection) = pipe();
    fake.on("Test.echo").echo();
    let events = connection.subscribe(Watch::everything(), Capacity::of(5000));
    scope(|threads| {
        threads.spawn(|| fake.flood(5000, 300));
        for n in 0..50 {
            let answer = connection.call_raw("Test.echo", &json!({ "n": n }), soon()).unwrap();
            assert_eq!(answer.value().unwrap()["n"], n);
        }
        for n in 0..5000 {
            let Ok(Item::Event(event)) = events.next(soon()) else { panic!("event {n} did not come") };
            assert!(event.params().starts_with(format!("{{\"n\":{n},").as_bytes()));
        }
    });
}
