//! Subscriptions: filters, losses, and ends.

use std::thread::scope;

use cdpilot::cdp::{Capacity, Connection, Item, RecvError, Subscription, Watch};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::fake_cdp::{Action, Fake, soon};
use crate::support::fake_cdp_wire as wire;

/// Makes sure that everything sent before was read.
fn settle(connection: &Connection) {
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
}

/// What is queued now, as `method@session` or `lost n`.
fn names(events: &Subscription) -> Vec<String> {
    let mut seen = Vec::new();
    while let Ok(item) = events.try_next() {
        seen.push(match item {
            Item::Event(event) => format!("{}@{}", event.method(), event.session().unwrap_or("")),
            Item::Lagged(n) => format!("lost {n}"),
        });
    }
    seen
}

fn number(item: &Item) -> u64 {
    let Item::Event(event) = item else { panic!("{item:?}") };
    let params: Value = serde_json::from_slice(event.params()).unwrap();
    params["n"].as_u64().unwrap()
}

#[test]
fn a_subscription_filters_by_session_and_method() {
    let fake = Fake::start();
    let connection = fake.connect();
    let all = Capacity::default;
    let everything = connection.subscribe(Watch::everything(), all());
    let browser = connection.subscribe(Watch::browser(), all());
    let session = connection.subscribe(Watch::session("S1"), all());
    let methods = connection.subscribe(Watch::everything().only(&["A.x", "B.y"]), all());
    let both = connection.session("S1").subscribe(&["A.x"], all());
    let nothing = connection.subscribe(Watch::everything().only(&[]), all());
    for (to, method) in [(None, "A.x"), (Some("S1"), "A.x"), (Some("S1"), "C.z"), (Some("S10"), "A.x"), (None, "B.y")] {
        fake.emit(to, method, json!({}));
    }
    settle(&connection);
    assert_eq!(names(&everything), ["A.x@", "A.x@S1", "C.z@S1", "A.x@S10", "B.y@"]);
    assert_eq!(names(&browser), ["A.x@", "B.y@"]);
    assert_eq!(names(&session), ["A.x@S1", "C.z@S1"]);
    assert_eq!(names(&methods), ["A.x@", "A.x@S1", "A.x@S10", "B.y@"]);
    assert_eq!(names(&both), ["A.x@S1"]);
    assert_eq!(names(&nothing), [""; 0]);
    assert_eq!(connection.counters().events, 5);
}

#[test]
fn a_full_queue_drops_the_oldest_events_and_counts_them() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::of(10));
    let wide = connection.subscribe(Watch::everything(), Capacity::default());
    fake.flood(25, 0);
    settle(&connection);
    assert!(matches!(events.next(soon()), Ok(Item::Lagged(15))));
    for n in 15..25 {
        assert_eq!(number(&events.next(soon()).unwrap()), n);
    }
    assert_eq!(events.try_next().unwrap_err(), RecvError::Timeout);
    assert_eq!((events.dropped(), wide.dropped()), (15, 0));
    // A queue with room again says nothing of a loss.
    fake.flood(10, 0);
    settle(&connection);
    assert_eq!(names(&events).len(), 10);
    assert_eq!(names(&wide).len(), 35);
    assert_eq!(events.dropped(), 15);
}

#[test]
fn the_byte_limit_drops_events() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::of(1000).bytes(10_000));
    fake.flood(20, 1000);
    settle(&connection);
    let Ok(Item::Lagged(lost)) = events.next(soon()) else { panic!("nothing was lost") };
    let kept = names(&events);
    assert_eq!(lost as usize + kept.len(), 20);
    assert!((5..10).contains(&kept.len()), "{} events of a bit over 1,000 bytes were kept", kept.len());
    // One that is larger than the limit is kept alone; the next pushes it out.
    fake.flood(1, 50_000);
    settle(&connection);
    assert_eq!(names(&events), ["Flood.event@"]);
    fake.flood(1, 50_000);
    fake.flood(1, 0);
    settle(&connection);
    assert_eq!(names(&events), ["lost 1", "Flood.event@"]);
    // Taking events out makes room: nothing is lost here.
    for _ in 0..20 {
        fake.flood(5, 1000);
        settle(&connection);
        assert_eq!(names(&events), ["Flood.event@"; 5]);
    }
}

#[test]
fn latest_keeps_the_newest() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::latest());
    fake.flood(7, 10);
    settle(&connection);
    assert!(matches!(events.next(soon()), Ok(Item::Lagged(6))));
    assert_eq!(number(&events.next(soon()).unwrap()), 6);
    assert_eq!(events.next(Deadline::after_millis(5)).unwrap_err(), RecvError::Timeout);
}

#[test]
fn a_capacity_of_zero_keeps_one_event() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::of(0).bytes(0));
    fake.flood(3, 10);
    settle(&connection);
    assert_eq!(names(&events), ["lost 2", "Flood.event@"]);
}

#[test]
fn queued_events_are_received_after_the_connection_ends() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::of(3));
    fake.flood(5, 0);
    settle(&connection);
    connection.close();
    assert_eq!(names(&events), ["lost 2", "Flood.event@", "Flood.event@", "Flood.event@"]);
    assert_eq!(events.next(soon()).unwrap_err(), RecvError::Closed);
    assert_eq!(events.try_next().unwrap_err(), RecvError::Closed);
    let late = connection.subscribe(Watch::everything(), Capacity::default());
    assert_eq!(late.next(soon()).unwrap_err(), RecvError::Closed);
}

#[test]
fn a_waiting_consumer_is_woken_by_an_event_and_by_the_end() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    scope(|threads| {
        let (response, seen) = crossbeam_channel::bounded(1);
        let events = &events;
        let consumer = threads.spawn(move || {
            let first = number(&events.next(soon()).unwrap());
            response.send(()).unwrap();
            (first, events.next(soon()).unwrap_err())
        });
        fake.flood(1, 0);
        seen.recv_deadline(soon().instant()).unwrap();
        fake.cut();
        assert_eq!(consumer.join().unwrap(), (0, RecvError::Closed));
    });
}

#[test]
fn events_and_the_answers_between_them_keep_their_order() {
    let fake = Fake::start();
    fake.on("Test.mark").after_event("Test.before", json!({ "n": 0 })).reply(json!({}));
    let connection = fake.connect();
    let session = connection.session("S1");
    let events = session.subscribe(&["Test.before"], Capacity::of(4000));
    for n in 1..=500 {
        session.call_raw("Test.mark", &json!({}), soon()).unwrap();
        // The event was sent before the answer, so it is here.
        assert_eq!(names(&events), ["Test.before@S1"], "round {n}");
    }
}

#[test]
fn a_flood_of_events_is_complete_and_ordered_during_calls() {
    let fake = Fake::start();
    fake.on("Test.echo").echo();
    let connection = fake.connect();
    let (count, size) = (20_000, 100);
    let events = connection.subscribe(Watch::everything(), Capacity::of(count));
    scope(|threads| {
        threads.spawn(|| fake.flood(count, size));
        // Callers take the reading role in the middle of it and must hand it on.
        for n in 0..200 {
            let answer = connection.call_raw("Test.echo", &json!({ "n": n }), soon()).unwrap().value().unwrap();
            assert_eq!(answer["n"], n);
        }
        for n in 0..count as u64 {
            assert_eq!(number(&events.next(soon()).unwrap()), n);
        }
    });
    assert_eq!(events.dropped(), 0);
}

#[test]
fn bytes_buffered_by_a_finished_caller_are_processed() {
    // Two answers and a crowd of events in one write, then silence. Whichever caller reads leaves with
    // its answer and most of the crowd unread; nothing else will ever wake the reader.
    let fake = Fake::start();
    let (first, crowd) = (std::sync::Arc::new(parking_lot::Mutex::new(None)), 200);
    fake.on("Test.pair").with(move |request| {
        let Some(other) = first.lock().replace(request.answer(&json!({}))) else { return Vec::new() };
        first.lock().take();
        let mut bytes = [wire::text(&other), wire::text(&request.answer(&json!({})))].concat();
        for n in 0..crowd {
            bytes.extend(wire::text(&wire::event(None, "Test.crowd", &json!({ "n": n }))));
        }
        vec![Action::Raw(bytes)]
    });
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::of(1000));
    for _ in 0..300 {
        scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| connection.call_raw("Test.pair", &json!({}), soon()).unwrap());
            }
        });
        for n in 0..crowd {
            assert_eq!(number(&events.next(soon()).unwrap()), n);
        }
    }
}

#[test]
fn subscriptions_can_change_during_a_flood() {
    let fake = Fake::start();
    let connection = fake.connect();
    let (count, steady) = (5000, connection.subscribe(Watch::everything(), Capacity::of(5000)));
    scope(|threads| {
        threads.spawn(|| fake.flood(count, 10));
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..200 {
                    let passing = connection.subscribe(Watch::everything(), Capacity::of(2));
                    drop(passing.next(Deadline::after_millis(1)));
                }
            });
        }
        for n in 0..count as u64 {
            assert_eq!(number(&steady.next(soon()).unwrap()), n);
        }
    });
}

#[test]
fn every_event_is_either_received_or_counted_as_lost() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::of(16).bytes(3000));
    let count = 10_000;
    scope(|threads| {
        let consumer = threads.spawn(|| {
            let (mut received, mut lost, mut last) = (0, 0, None);
            loop {
                match events.next(soon()) {
                    Ok(Item::Lagged(n)) => lost += n,
                    Ok(item) => {
                        let n = number(&item);
                        assert!(last < Some(n), "{n} came after {last:?}");
                        (received, last) = (received + 1, Some(n));
                    }
                    Err(RecvError::Closed) => return (received, lost),
                    Err(RecvError::Timeout) => panic!("stuck"),
                }
            }
        });
        fake.flood(count, 100);
        settle(&connection);
        connection.close();
        let (received, lost) = consumer.join().unwrap();
        assert_eq!(received + lost, count as u64);
        assert_eq!(events.dropped(), lost);
    });
}

#[test]
fn an_event_without_parameters_reads_as_an_empty_object() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    fake.send_text(r#"{"method":"A.b"}"#);
    fake.send_text(r#"{"params":{"n":1,"t":"\u00fc \" ]}"},"sessionId":"S\u0031","method":"A.\u0063"}"#);
    let Ok(Item::Event(first)) = events.next(soon()) else { panic!() };
    assert_eq!((first.params(), first.session()), (&b"{}"[..], None));
    let Ok(Item::Event(second)) = events.next(soon()) else { panic!() };
    assert_eq!((second.method(), second.session()), ("A.c", Some("S1")));
    let params: Value = serde_json::from_slice(second.params()).unwrap();
    assert_eq!(params, json!({ "n": 1, "t": "ü \" ]}" }));
}
