//! Property tests: reading arbitrary input neither panics nor hangs nor mixes up messages.

use std::io::Write as _;

use cdpilot::cdp::{Capacity, ConnectOptions, Connection, Item, RecvError, Subscription, Watch, fuzzing};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::fake_cdp::{Fake, soon};
use crate::support::fake_cdp_wire::{self as wire, Frame};
use crate::support::share::rounds;

/// Any JSON value, three levels deep.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC*".prop_map(Value::from),
        "[\\\\\"{}\\[\\],: \n\u{0}\u{1f}]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("\\PC{0,8}", inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Any JSON object, with the names of an envelope among its keys.
fn object() -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof![
        "id|method|sessionId|params|result|error".prop_map(String::from),
        "\\PC{0,8}".prop_map(String::from),
    ];
    let id = any::<u64>().prop_map(Value::from);
    let method = "[A-Z][a-z]{1,5}\\.[a-z]{1,5}".prop_map(Value::from);
    let usual = (proptest::option::of(id), proptest::option::of(method));
    (vec((key, value()), 0..6), usual).prop_map(|(fields, (id, method))| {
        let mut object: Map<_, _> = fields.into_iter().collect();
        object.extend(id.map(|id| ("id".to_owned(), id)));
        object.extend(method.map(|method| ("method".to_owned(), method)));
        object
    })
}

/// What the scanner should find in an object, by the JSON library.
fn expected(object: &Value) -> (Option<u64>, [Option<String>; 2], [Option<Value>; 3]) {
    // Some proxies write 7 as 7.0; an id of twenty digits was never ours.
    let digits = object["id"].to_string();
    let id = digits.strip_suffix(".0").unwrap_or(&digits).parse().ok();
    let id = id.filter(|id| *id < 10_000_000_000_000_000_000 && !digits.starts_with('-'));
    let text = |key: &str| object[key].as_str().map(str::to_owned);
    let body = |key: &str| object.get(key).cloned();
    let error = body("error").filter(|error| !error.is_null());
    (id, [text("method"), text("sessionId")], [body("params"), body("result"), error])
}

/// What it did find.
fn found(text: &str) -> (Option<u64>, [Option<String>; 2], [Option<Value>; 3]) {
    let outside = fuzzing::envelope_parts(text.as_bytes()).expect("a valid object was refused");
    let body = |text: Option<Vec<u8>>| text.map(|text| serde_json::from_slice(&text).expect("a range is one value"));
    let bodies = [body(outside.params), body(outside.result), body(outside.error)];
    (outside.id, [outside.method, outside.session], bodies)
}

/// Events until the end, as what lies in them under `n`.
fn until_the_end(events: &Subscription) -> Vec<u64> {
    let mut seen = Vec::new();
    loop {
        match events.next(soon()) {
            Ok(Item::Event(event)) => {
                let params: Value = serde_json::from_slice(event.params()).unwrap();
                seen.push(params["n"].as_u64().unwrap());
            }
            Ok(Item::Lagged(n)) => panic!("lagged by {n}"),
            Err(RecvError::Closed) => return seen,
            Err(RecvError::Timeout) => panic!("stuck after {seen:?}"),
        }
    }
}

/// Pieces of a stream, cut where the numbers say.
fn pieces<'a>(whole: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(whole.len() + 1)).collect();
    at.extend([0, whole.len()]);
    at.sort_unstable();
    at.windows(2).map(|ends| &whole[ends[0]..ends[1]]).collect()
}

fn small_connection(fake: &Fake) -> (Connection, Subscription) {
    let connection = fake.connect_with(&ConnectOptions::new().max_message(100_000));
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    (connection, events)
}

/// Sizes of padding around the steps of the length encoding.
fn padding() -> impl Strategy<Value = usize> {
    prop_oneof![0..150usize, 60_000..70_000usize, Just(16 * 1024)]
}

/// How many inputs the scanner reads in each test.
fn cases() -> u32 {
    u32::try_from(rounds("CDPILOT_TEST_CASES", 300, 2000)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scanning_any_bytes_does_not_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = fuzzing::envelope(&bytes);
    }

    #[test]
    fn scanning_anything_like_json_does_not_panic(text in "[{}\\[\\]\",:\\\\ a-c0-9.\\-\u{0}ü]{0,60}") {
        let _ = fuzzing::envelope(text.as_bytes());
        let _ = fuzzing::envelope_parts(format!("{{{text}}}").as_bytes());
    }

    #[test]
    fn a_valid_object_is_scanned_as_the_json_library_reads_it(object in object(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
        prop_assert_eq!(found(&text), expected(&serde_json::from_str(&text).unwrap()));
    }

    #[test]
    fn a_truncated_message_is_rejected(object in object(), at: prop::sample::Index) {
        let text = Value::Object(object).to_string();
        prop_assert!(!fuzzing::envelope(&text.as_bytes()[..at.index(text.len())]));
    }

    #[test]
    fn inserted_bytes_do_not_panic(object in object(), at: prop::sample::Index, with in vec(any::<u8>(), 1..4)) {
        let mut text = Value::Object(object).to_string().into_bytes();
        let at = at.index(text.len());
        text.splice(at..at, with);
        let _ = fuzzing::envelope_parts(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_end_the_connection_or_are_skipped(bytes in vec(any::<u8>(), 0..400), sound: bool) {
        // Half of the cases begin like a frame that is allowed, so that more is read of them.
        let bytes = if sound { Frame::of(wire::TEXT).encode(&bytes) } else { bytes };
        let fake = Fake::upgraded(move |mut socket| drop(socket.write_all(&bytes)));
        let (connection, events) = small_connection(&fake);
        while !matches!(events.next(soon()), Err(RecvError::Closed)) {
            prop_assert!(!soon().passed());
        }
        prop_assert!(connection.is_closed());
    }

    #[test]
    fn arbitrary_frames_end_the_connection_or_are_skipped(
        frames in vec((0..16u8, any::<bool>(), vec(any::<u8>(), 0..130)), 0..12),
    ) {
        let bytes: Vec<u8> =
            frames.iter().flat_map(|(opcode, fin, payload)| Frame { fin: *fin, ..Frame::of(*opcode) }.encode(payload)).collect();
        let fake = Fake::upgraded(move |mut socket| drop(socket.write_all(&bytes)));
        let (connection, events) = small_connection(&fake);
        while !matches!(events.next(soon()), Err(RecvError::Closed)) {}
        let error = connection.call_raw("Test.next", &json!({}), soon()).unwrap_err();
        prop_assert!(error.is_closed());
    }

    #[test]
    fn a_valid_stream_in_any_chunks_gives_the_same_messages(
        messages in vec((padding(), 1..5usize, any::<bool>()), 1..8),
        cuts in vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut whole = Vec::new();
        for (n, (pad, parts, ping)) in messages.iter().enumerate() {
            let text = wire::event(None, "Test.event", &json!({ "n": n, "pad": "x".repeat(*pad) }));
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(text.len().div_ceil(*parts)).collect();
            let mut frames = wire::fragments(&chunks);
            if *ping {
                frames.insert(frames.len() / 2, Frame::of(wire::PING).encode(b"ping"));
            }
            whole.extend(frames.concat());
        }
        let fake = Fake::start();
        let (connection, events) = small_connection(&fake);
        pieces(&whole, &cuts).into_iter().for_each(|piece| fake.send_raw(piece));
        let pings = messages.iter().filter(|(_, _, ping)| *ping).count();
        fake.wait("the pongs", |log| log.pongs.len() == pings);
        fake.close_with(1000);
        prop_assert_eq!(until_the_end(&events), (0..messages.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(connection.counters().garbage, 0);
    }
}

#[cfg(unix)]
proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_pipe_in_any_chunks_gives_the_same_messages(
        sizes in vec(padding(), 1..8),
        cuts in vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let message = |(n, pad): (usize, &usize)| {
            wire::event(None, "Test.event", &json!({ "n": n, "pad": "x".repeat(*pad) })) + "\0"
        };
        let whole: String = sizes.iter().enumerate().map(message).collect();
        let (fake, connection) = Fake::over_pipe(&ConnectOptions::default());
        let events = connection.subscribe(Watch::everything(), Capacity::default());
        pieces(whole.as_bytes(), &cuts).into_iter().for_each(|piece| fake.send_raw(piece));
        fake.cut();
        prop_assert_eq!(until_the_end(&events), (0..sizes.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(connection.counters().garbage, 0);
    }

    #[test]
    fn arbitrary_bytes_on_a_pipe_are_skipped(bytes in vec(prop_oneof![Just(0u8), any::<u8>()], 0..300)) {
        let (fake, connection) = Fake::over_pipe(&ConnectOptions::default());
        fake.send_raw(&bytes);
        fake.send_raw(b"\0");
        connection.call_raw("Test.next", &json!({}), soon()).unwrap();
        fake.cut();
        let error = connection.call_raw("Test.never", &json!({}), soon()).unwrap_err();
        prop_assert!(error.is_closed());
    }
}
