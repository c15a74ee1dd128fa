//! Framing: chunks of any size, fragments, control frames, and peers that violate the protocol.

use std::io::{Read as _, Write as _};

use cdpilot::cdp::{Capacity, CloseReason, ConnectOptions, Error, Item, RecvError, Watch};
use cdpilot::sync::{Deadline, spawn};
use serde_json::json;

use crate::support::fake_cdp::{Action, Fake, Gate, soon};
use crate::support::fake_cdp_wire::{self as wire, Frame};

/// Numbered events until the connection ends.
fn numbers(events: &cdpilot::cdp::Subscription) -> Vec<u64> {
    let mut seen = Vec::new();
    loop {
        match events.next(soon()) {
            Ok(Item::Event(event)) => {
                let params: serde_json::Value = serde_json::from_slice(event.params()).unwrap();
                seen.push(params["n"].as_u64().unwrap());
            }
            Ok(Item::Lagged(n)) => panic!("lagged by {n}"),
            Err(RecvError::Closed) => return seen,
            Err(RecvError::Timeout) => panic!("stuck after {seen:?}"),
        }
    }
}

/// A small dialogue: every length encoding, fragments around a control frame, and a close.
fn dialogue() -> Vec<u8> {
    let event = |n: u64, pad: usize| wire::event(None, "Test.event", &json!({ "n": n, "pad": "x".repeat(pad) }));
    let long = event(2, 5);
    let (first, second) = long.as_bytes().split_at(20);
    let [one, two, three] = <[_; 3]>::try_from(wire::fragments(&[first, b"", second])).unwrap();
    let mut bytes = wire::text(&event(0, 1));
    bytes.extend(Frame::of(wire::PING).encode(b"p"));
    bytes.extend(wire::text(&event(1, 120)));
    bytes.extend(one);
    bytes.extend(Frame::of(wire::PING).encode(b""));
    bytes.extend(two);
    bytes.extend(three);
    bytes.extend(Frame::of(wire::BINARY).encode(event(3, 0).as_bytes()));
    bytes.extend(wire::close(Some(1001)));
    bytes
}

#[test]
fn messages_split_at_every_byte_are_reassembled_in_order() {
    let whole = dialogue();
    for at in 1..whole.len() {
        let fake = Fake::start();
        fake.on("Test.never").never();
        let connection = fake.connect();
        let events = connection.subscribe(Watch::everything(), Capacity::default());
        // At every other point a caller reads, else the reader thread does.
        let reply = connection.session("S").send_raw("Test.never", &json!({})).unwrap();
        let polled = (at % 2 == 0).then(|| reply.poll_raw(Deadline::after_millis(1)));
        fake.send_raw(&whole[..at]);
        let polled = polled.map(|reply| reply.map_err(|reply| reply.poll_raw(Deadline::after_millis(2))));
        fake.send_raw(&whole[at..]);
        assert_eq!(numbers(&events), [0, 1, 2, 3], "split at {at}");
        assert_eq!(connection.close_reason(), Some(CloseReason::Remote { code: Some(1001) }), "split at {at}");
        drop(polled);
    }
}

#[test]
fn a_message_sent_byte_by_byte_is_reassembled() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    dialogue().chunks(1).for_each(|byte| fake.send_raw(byte));
    assert_eq!(numbers(&events), [0, 1, 2, 3]);
}

#[test]
fn messages_sent_with_the_handshake_are_not_lost() {
    let fake = Fake::start();
    let event = |n: usize, pad: usize| Action::event("Test.event", json!({ "n": n, "pad": "x".repeat(pad) }));
    fake.greet(vec![event(0, 1), event(1, 10_000), event(2, 1)]);
    fake.on("Test.call").reply(json!({}));
    let connection = fake.connect();
    // Nobody can have subscribed before, so they are counted.
    while connection.counters().events < 3 {
        connection.call_raw("Test.call", &json!({}), soon()).unwrap();
    }
    assert_eq!(connection.counters().garbage, 0);
}

#[test]
fn a_ping_is_answered_without_a_caller() {
    let fake = Fake::start();
    let _connection = fake.connect();
    fake.ping(b"are you there");
    fake.ping(b"");
    fake.ping(&[7; 125]);
    fake.wait("pongs", |log| log.pongs.len() == 3);
    fake.log(|log| assert_eq!(log.pongs, [b"are you there".to_vec(), Vec::new(), vec![7; 125]]));
}

#[test]
fn a_ping_is_answered_while_a_caller_waits() {
    let fake = Fake::start();
    let gate = Gate::default();
    fake.on("Test.late").late(&gate).reply(json!({}));
    let connection = fake.connect();
    std::thread::scope(|threads| {
        let caller = threads.spawn(|| connection.call_raw("Test.late", &json!({}), soon()));
        fake.wait("the call", |log| log.requests.len() == 1);
        fake.ping(b"x");
        fake.wait("the pong", |log| log.pongs == [b"x"]);
        gate.open();
        caller.join().unwrap().unwrap();
    });
}

#[test]
fn a_fragmented_message_interleaved_with_a_ping_is_reassembled() {
    let fake = Fake::start();
    fake.on("Test.big").with(|request| {
        let text = request.answer(&json!({ "text": "y".repeat(300_000) }));
        let mut frames = wire::fragments(&text.as_bytes().chunks(1000).collect::<Vec<_>>());
        frames.insert(7, Frame::of(wire::PING).encode(b"between"));
        frames.into_iter().map(Action::Raw).collect()
    });
    let connection = fake.connect();
    let answer = connection.call_raw("Test.big", &json!({}), soon()).unwrap().value().unwrap();
    assert_eq!(answer["text"].as_str().unwrap().len(), 300_000);
    fake.wait("the pong", |log| log.pongs == [b"between"]);
}

/// What a connection ends with when it reads these bytes, with a call under way.
fn ends_with(bytes: &[u8], options: &ConnectOptions) -> CloseReason {
    let fake = Fake::start();
    fake.on("Test.never").act(Action::Raw(bytes.to_vec()));
    let connection = fake.connect_with(options);
    let error = connection.call_raw("Test.never", &json!({}), soon()).unwrap_err();
    assert!(error.is_closed(), "{error:?}");
    assert!(connection.is_closed(), "a call knows already");
    let again = connection.call_raw("Test.again", &json!({}), soon()).unwrap_err();
    assert!(again.is_closed() && again.method() == Some("Test.again"), "{again:?}");
    assert_eq!(connection.counters().in_flight, 0);
    let Error::Closed { reason, .. } = error else { panic!("{error:?}") };
    assert_eq!(connection.close_reason(), Some(reason.clone()));
    fake.wait("the end", |log| log.gone == 1);
    reason
}

#[test]
fn malformed_frames_end_the_connection_with_a_protocol_error() {
    let text = Frame::of(wire::TEXT);
    let part = Frame { fin: false, ..text }.encode(b"{");
    let cases = [
        ("a masked frame", Frame { mask: Some([1, 2, 3, 4]), ..text }.encode(b"{}")),
        ("a reserved bit", Frame { reserved: 4, ..text }.encode(b"{}")),
        ("another reserved bit", Frame { reserved: 1, ..Frame::of(wire::PING) }.encode(b"")),
        ("an unknown data opcode", Frame::of(3).encode(b"{}")),
        ("an unknown control opcode", Frame::of(11).encode(b"")),
        ("a long ping", Frame::of(wire::PING).encode(&[0; 126])),
        ("a ping in fragments", Frame { fin: false, ..Frame::of(wire::PING) }.encode(b"")),
        ("a continuation of nothing", Frame::of(wire::CONTINUATION).encode(b"{}")),
        ("interleaved fragments", [part.clone(), text.encode(b"{}")].concat()),
        ("interleaved beginnings", [part.clone(), part].concat()),
    ];
    for (what, bytes) in cases {
        let reason = ends_with(&bytes, &ConnectOptions::default());
        assert!(matches!(reason, CloseReason::Protocol(_)), "{what}: {reason:?}");
    }
}

#[test]
fn data_after_a_malformed_frame_is_ignored() {
    let fake_answer = |request: &crate::support::fake_cdp::Request| {
        let mut bytes = Frame::of(wire::CONTINUATION).encode(b"{}");
        bytes.extend(wire::text(&wire::event(None, "Test.event", &json!({}))));
        bytes.extend(wire::text(&request.answer(&json!({}))));
        bytes.extend(wire::close(Some(1000)));
        // More than is read at a time, so that the reader thread is woken for the rest.
        bytes.extend(wire::text(&wire::event(None, "Test.event", &json!({}))).repeat(10_000));
        vec![Action::Raw(bytes)]
    };
    for _ in 0..200 {
        let fake = Fake::start();
        fake.on("Test.other").never();
        fake.on("Test.broken").with(fake_answer);
        let connection = fake.connect();
        let events = connection.subscribe(Watch::everything(), Capacity::default());
        std::thread::scope(|threads| {
            // Another caller, who may take over reading.
            threads.spawn(|| connection.call_raw("Test.other", &json!({}), soon()).unwrap_err());
            let error = connection.call_raw("Test.broken", &json!({}), soon()).unwrap_err();
            assert!(matches!(error, Error::Closed { reason: CloseReason::Protocol(_), .. }), "{error:?}");
        });
        assert_eq!(events.next(soon()).unwrap_err(), RecvError::Closed);
    }
}

#[test]
fn the_close_code_is_reported() {
    let options = ConnectOptions::default();
    assert_eq!(ends_with(&wire::close(Some(1000)), &options), CloseReason::Remote { code: Some(1000) });
    assert_eq!(ends_with(&wire::close(Some(4999)), &options), CloseReason::Remote { code: Some(4999) });
    assert_eq!(ends_with(&wire::close(None), &options), CloseReason::Remote { code: None });
    let with_text = Frame::of(wire::CLOSE).encode(b"\x03\xf0going down");
    assert_eq!(ends_with(&with_text, &options), CloseReason::Remote { code: Some(1008) });
}

#[test]
fn a_close_frame_is_answered_and_ends_all_calls() {
    let fake = Fake::start();
    fake.on("Test.never").never();
    let connection = fake.connect();
    let session = connection.session("S");
    let replies: Vec<_> = (0..50).map(|_| session.send_raw("Test.never", &json!({})).unwrap()).collect();
    fake.wait("the calls", |log| log.requests.len() == 50);
    fake.close_with(1012);
    for reply in replies {
        let error = reply.wait_raw(soon()).unwrap_err();
        assert!(matches!(error, Error::Closed { reason: CloseReason::Remote { code: Some(1012) }, .. }), "{error:?}");
    }
    fake.wait("our close frame", |log| log.closes == [Some(1012)] && log.gone == 1);
}

#[test]
fn an_end_inside_a_frame_is_reported_as_the_peers_end() {
    let fake = Fake::start();
    fake.on("Test.never").never();
    let connection = fake.connect();
    let reply = connection.session("S").send_raw("Test.never", &json!({})).unwrap();
    fake.wait("the call", |log| log.requests.len() == 1);
    fake.drop_mid_frame();
    let error = reply.wait_raw(soon()).unwrap_err();
    assert!(matches!(error, Error::Closed { reason: CloseReason::Remote { code: None }, .. }), "{error:?}");
}

#[test]
fn a_message_far_over_the_limit_ends_the_connection_unread() {
    let options = ConnectOptions::new().max_message(1000);
    // Heads alone: not a byte of the payload is sent.
    assert_eq!(ends_with(&Frame::of(wire::TEXT).head(16_001), &options), CloseReason::TooLarge);
    let huge = [&[0x81, 127][..], &u64::MAX.to_be_bytes()].concat();
    assert_eq!(ends_with(&huge, &options), CloseReason::TooLarge);
    let first = Frame { fin: false, ..Frame::of(wire::TEXT) }.encode(&[b' '; 900]);
    let fragments = [first, Frame::of(wire::CONTINUATION).head(15_101)].concat();
    assert_eq!(ends_with(&fragments, &options), CloseReason::TooLarge);
}

#[test]
fn a_message_over_the_limit_is_skipped_with_interleaved_frames() {
    let fake = Fake::start();
    let options = ConnectOptions::new().max_message(1000);
    let connection = fake.connect_with(&options);
    let text = wire::event(Some("S1"), "Test.event", &json!({ "id": "1", "n": [1], "data": "q".repeat(3000) }));
    let (first, rest) = text.as_bytes().split_at(900);
    let (second, third) = rest.split_at(200);
    fake.send_raw(&Frame { fin: false, ..Frame::of(wire::TEXT) }.encode(first));
    fake.send_raw(&Frame { fin: false, ..Frame::of(wire::CONTINUATION) }.encode(second));
    fake.send_raw(&Frame::of(wire::PING).encode(b"x"));
    fake.send_raw(&Frame::of(wire::CONTINUATION).encode(third));
    fake.on("Test.echo").echo();
    assert_eq!(
        connection.call_raw("Test.echo", &json!({ "n": 1 }), soon()).unwrap().value().unwrap(),
        json!({ "n": 1 })
    );
    let error = connection.call_raw("Test.echo", &json!({ "data": "q".repeat(1000) }), soon()).unwrap_err();
    assert!(matches!(error, Error::AnswerTooLarge { limit: 1000, .. }), "{error:?}");
    assert_eq!((connection.counters().garbage, connection.close_reason()), (0, None));
}

#[test]
fn a_message_of_exactly_the_limit_with_a_ping_inside_is_accepted() {
    let fake = Fake::start();
    let text = wire::event(None, "Test.event", &json!({ "n": 1 }));
    let options = ConnectOptions::new().max_message(text.len());
    let connection = fake.connect_with(&options);
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    let mut frames = wire::fragments(&[text.as_bytes(), b""]);
    frames.insert(1, Frame::of(wire::PING).encode(&[1; 125]));
    fake.send_raw(&frames.concat());
    fake.send_raw(&wire::text(&text));
    fake.wait("the pong", |log| log.pongs.len() == 1);
    fake.close_with(1000);
    assert_eq!(numbers(&events), [1, 1]);
}

#[test]
fn endless_empty_fragments_do_not_extend_a_deadline() {
    let fake = Fake::upgraded(|mut socket| {
        let _ = socket.read(&mut [0; 100]); // the call is there, and its caller reads
        let first = Frame { fin: false, ..Frame::of(wire::TEXT) }.encode(b"{");
        let more = Frame { fin: false, ..Frame::of(wire::CONTINUATION) }.encode(b"").repeat(64 * 1024);
        let _ = socket.write_all(&first);
        while socket.write_all(&more).is_ok() {}
    });
    let connection = fake.connect();
    let (send, ended) = crossbeam_channel::bounded(1);
    let caller = connection.clone();
    let thread = spawn("test-caller", move || {
        let _ = send.send(caller.call_raw("Test.never", &json!({}), Deadline::after_millis(100)));
    });
    let outcome = ended.recv_deadline(soon().instant());
    fake.cut_all();
    drop(thread);
    assert!(outcome.expect("the call did not end").unwrap_err().is_timeout());
}

#[test]
fn the_peer_sees_masked_text_frames_and_a_close() {
    let (send, received) = crossbeam_channel::bounded(1);
    let fake = Fake::upgraded(move |mut socket| {
        let mut all = Vec::new();
        let _ = socket.read_to_end(&mut all);
        let _ = send.send(all);
    });
    let connection = fake.connect();
    drop(connection.session("S9").send_raw("Test.one", &json!({ "a": 1 })).unwrap());
    drop(connection);
    let bytes = received.recv_deadline(soon().instant()).unwrap();
    let text = br#"{"id":1,"method":"Test.one","params":{"a":1},"sessionId":"S9"}"#;
    assert_eq!(bytes[..2], [0x81, 0x80 | u8::try_from(text.len()).unwrap()]);
    let (mask, payload) = (&bytes[2..6], &bytes[6..6 + text.len()]);
    let unmasked: Vec<u8> = payload.iter().zip(mask.iter().cycle()).map(|(b, m)| b ^ m).collect();
    assert_eq!(unmasked, text);
    assert_eq!(bytes[6 + text.len()..][..2], [0x88, 0x82], "a close frame at the end");
}
