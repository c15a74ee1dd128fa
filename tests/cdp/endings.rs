//! How connections begin and end: URLs, handshakes, silence, peers that do not read, closing.

use std::io::{Read as _, Write as _};
use std::thread::scope;
use std::time::Duration;

use cdpilot::cdp::{Capacity, CloseReason, ConnectOptions, Connection, Error, TimeoutKind, Watch};
use cdpilot::sync::{Deadline, pause};
use serde_json::json;

use crate::support::fake_cdp::{Fake, soon};
use crate::support::fake_cdp_wire::Frame;
use crate::support::leaks;

/// An endpoint that answers the handshake with these bytes, and what connecting to it gives.
fn refused(answer: &'static [u8]) -> String {
    let fake = Fake::script(move |mut socket| {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            let Ok(1) = socket.read(&mut byte) else { return };
            request.extend(byte);
        }
        let _ = socket.write_all(answer);
    });
    match Connection::connect(&fake.address(), &ConnectOptions::default()) {
        Err(Error::Connect { problem }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refused_handshake_reports_the_reason() {
    let problem = refused(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nnope");
    assert!(problem.contains("403"), "{problem}");
    let problem = refused(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert!(problem.contains("200"), "{problem}");
    assert!(!refused(b"SSH-2.0-OpenSSH_9.6\r\n\r\n").is_empty());
    assert!(!refused(b"").is_empty());
    assert!(!refused(b"HTTP/1.1 101 Switching Protocols\r\n\r\n").is_empty());
}

#[test]
fn a_closed_port_is_a_connection_error() {
    let address = Fake::start().address(); // gone again
    match Connection::connect(&address, &ConnectOptions::default()) {
        Err(Error::Connect { problem }) => assert!(problem.contains("refused"), "{problem}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_and_unreachable_urls_are_different_errors() {
    for address in ["", "x", "http://127.0.0.1:1/", "127.0.0.1:9222", "ws://", "ws:///path", "ws://a b/", "file:///x"] {
        let error = Connection::connect(address, &ConnectOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Address { .. }), "{address}: {error:?}");
    }
}

#[test]
fn localhost_and_extra_headers_are_supported() {
    let fake = Fake::start();
    let options = ConnectOptions::new().headers(vec![("Authorization".into(), "Bearer abc".into())]);
    let address = format!("ws://localhost:{}/devtools/browser/one?x=1", fake.port());
    let connection = Connection::connect(&address, &options).unwrap();
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    fake.log(|log| {
        let (path, headers) = &log.handshakes[0];
        assert_eq!(path, "/devtools/browser/one?x=1");
        assert!(headers.contains(&("authorization".to_owned(), "Bearer abc".to_owned())), "{headers:?}");
        // Chromium refuses handshakes that come with an origin.
        assert!(!headers.iter().any(|(name, _)| name == "origin"));
    });
    for (name, value) in [("a b", "x"), ("x", "a\nb")] {
        let options = ConnectOptions::new().headers(vec![(name.into(), value.into())]);
        let error = Connection::connect(&fake.address(), &options).unwrap_err();
        assert!(matches!(error, Error::Address { .. }), "{error:?}");
    }
}

/// No word of the address may show.
fn assert_redacted(shown: &str) {
    for secret in ["user", "secret", "TOKEN", "token", "hunter2"] {
        assert!(!shown.contains(secret), "{secret:?} shows in: {shown}");
    }
}

#[test]
fn displayed_connections_and_errors_contain_no_url() {
    let fake = Fake::start();
    let silent = Fake::silent_handshake();
    let forbidding = Fake::script(|mut socket| {
        let _ = socket.read(&mut [0; 4096]);
        let _ = socket.write_all(b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: TOKEN\r\n\r\ntoken TOKEN secret");
    });
    let garbling = Fake::script(|mut socket| {
        let _ = socket.read(&mut [0; 4096]);
        let _ = socket.write_all(b"TOKEN token secret hunter2\r\n\r\n");
    });
    let dead = Fake::start().port();
    let options = ConnectOptions::new()
        .headers(vec![("Cookie".into(), "hunter2".into())])
        .connect_timeout(Duration::from_millis(300));
    assert_redacted(&format!("{options:?}"));
    let places = [silent.port(), forbidding.port(), garbling.port(), dead].map(|port| format!("127.0.0.1:{port}"));
    let more = ["127.0.0.1:notaport", "[::1", "no.such.host.invalid:9", "", "127.0.0.1:99999999"].map(str::to_owned);
    for place in places.iter().chain(&more) {
        for scheme in ["ws", "wss", "http", "w s"] {
            let address = format!("{scheme}://user:secret@{place}/devtools/browser/TOKEN?token=hunter2");
            let Err(error) = Connection::connect(&address, &options) else { panic!("{scheme} {place} connected") };
            assert_redacted(&format!("{error} {error:?}"));
        }
    }
    let address = format!("ws://user:secret@127.0.0.1:{}/devtools/browser/TOKEN?token=hunter2", fake.port());
    let connection = Connection::connect(&address, &options).unwrap();
    let session = connection.session("S");
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    fake.on("Test.never").never();
    let reply = session.send_raw("Test.never", &json!({})).unwrap();
    assert_redacted(&format!("{connection:?} {session:?} {events:?} {reply:?}"));
    let late = connection.call_raw("Test.never", &json!({}), Deadline::after_millis(1)).unwrap_err();
    assert_redacted(&format!("{late} {late:?}"));
    fake.cut();
    let ended = reply.wait_raw(soon()).unwrap_err();
    assert_redacted(&format!("{ended} {ended:?} {:?} {connection:?}", connection.close_reason()));
}

#[test]
fn calls_to_a_silent_peer_fail_at_their_deadlines() {
    let fake = Fake::upgraded(|mut socket| {
        let _ = std::io::copy(&mut socket, &mut std::io::sink()); // reads and says nothing
    });
    let connection = fake.connect();
    for _ in 0..3 {
        let error = connection.call_raw("Test.never", &json!({}), Deadline::after_millis(20)).unwrap_err();
        assert!(matches!(error, Error::Timeout { kind: TimeoutKind::Reply, .. }), "{error:?}");
    }
    assert!(!connection.is_closed());
    assert_eq!(connection.counters().in_flight, 0);
}

#[test]
fn unanswered_pings_end_the_connection() {
    for calling in [false, true] {
        let (send, received) = crossbeam_channel::bounded(1);
        let fake = Fake::upgraded(move |mut socket| {
            let mut all = Vec::new();
            let _ = socket.read_to_end(&mut all);
            let _ = send.send(all);
        });
        let options = ConnectOptions::new().keepalive(Some(Duration::from_millis(100)));
        let connection = fake.connect_with(&options);
        let events = connection.subscribe(Watch::everything(), Capacity::default());
        if calling {
            let error = connection.call_raw("Test.never", &json!({}), soon()).unwrap_err();
            assert!(matches!(error, Error::Closed { reason: CloseReason::Silent, .. }), "{error:?}");
        }
        assert!(events.next(soon()).is_err());
        assert_eq!(connection.close_reason(), Some(CloseReason::Silent));
        let bytes = received.recv_deadline(soon().instant()).unwrap();
        // Masked pings without a payload are six bytes each.
        let pings = bytes.windows(2).filter(|head| *head == [0x89, 0x80]).count();
        assert!(pings >= 2, "{pings} pings went out before the end");
    }
}

/// The address of the fake, for the process that is going to be stopped.
const STOPPED: &str = "CDPILOT_TEST_STOPPED";

#[cfg(target_os = "linux")]
#[test]
fn a_resumed_process_keeps_its_connection() {
    use rustix::process::{Pid, Signal, kill_process};
    if let Ok(address) = std::env::var(STOPPED) {
        return stopped_process(&address);
    }
    let fake = Fake::start();
    fake.on("Test.ready").never();
    let mut child = leaks::rerun(module_path!(), "a_resumed_process_keeps_its_connection")
        .env(STOPPED, fake.address())
        .spawn()
        .unwrap();
    fake.wait("the first call", |log| log.of("Test.ready").len() == 1);
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    pause(Duration::from_millis(30)); // its last wait is over then, and the first ping far
    kill_process(id, Signal::STOP).unwrap();
    pause(Duration::from_millis(800)); // what is tested: eight times the keepalive
    kill_process(id, Signal::CONT).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(fake.log(|log| log.of("Test.again").len()), 1);
}

#[cfg(target_os = "linux")]
fn stopped_process(address: &str) {
    let options = ConnectOptions::new().keepalive(Some(Duration::from_millis(100)));
    let connection = Connection::connect(address, &options).unwrap();
    connection.call_raw("Test.before", &json!({}), soon()).unwrap();
    connection.call_raw("Test.ready", &json!({}), Deadline::after_millis(10)).unwrap_err();
    pause(Duration::from_millis(1000)); // it is stopped in here
    connection.call_raw("Test.again", &json!({}), soon()).unwrap();
}

#[test]
fn sending_to_a_peer_that_does_not_read_fails_at_the_deadline() {
    let fake = Fake::start();
    fake.on("Test.big").with(|_| Vec::new());
    fake.stop_reading();
    let connection = fake.connect();
    let params = json!({ "data": "z".repeat(4 * 1024 * 1024) });
    let timed_out = |outcome: Result<_, Error>, kinds: &[TimeoutKind]| match outcome.unwrap_err() {
        Error::Timeout { kind, .. } => {
            assert!(kinds.contains(&kind), "{kind:?}");
            kind
        }
        other => panic!("{other:?}"),
    };
    // Until the buffers of the system are full, a message is sent but not answered.
    let both = [TimeoutKind::Send, TimeoutKind::Reply];
    let mut sent = 0;
    while timed_out(connection.call_raw("Test.big", &params, Deadline::after_millis(100)).map(drop), &both)
        == TimeoutKind::Reply
    {
        sent += 1;
        assert!(sent < 64, "the peer takes everything");
    }
    // Now several callers at once, large and small: they end at their deadlines, queued or not.
    scope(|threads| {
        for n in 0..4 {
            let (connection, params) = (&connection, &params);
            threads.spawn(move || {
                for _ in 0..3 {
                    let deadline = Deadline::after_millis(100);
                    let outcome = match n % 2 {
                        0 => connection.call_raw("Test.big", params, deadline),
                        _ => connection.call_raw("Test.small", &json!({}), deadline),
                    };
                    timed_out(outcome.map(drop), &both);
                    assert!(deadline.passed());
                }
            });
        }
    });
    assert!(!connection.is_closed());
    assert_eq!(connection.counters().in_flight, 0);
    // When it reads again, what was begun is finished and things go on; nothing arrives in parts.
    fake.go_on_reading();
    for n in 0..20 {
        connection.call_raw("Test.next", &json!({ "n": n }), soon()).unwrap();
    }
    fake.log(|log| {
        assert!(log.garbage.is_empty());
        assert_eq!(log.of("Test.next").len(), 20);
        assert!(log.of("Test.big").iter().all(|request| request.params == params));
    });
}

#[test]
fn senders_wait_for_a_full_queue_until_their_deadline() {
    let fake = Fake::start();
    fake.on("*").never();
    fake.stop_reading();
    let connection = fake.connect();
    let session = connection.session("S");
    let params = json!({ "data": "z".repeat(1024 * 1024) });
    // The first sends fill the system's buffers, then the queue, until one of them gives up.
    let mut replies = Vec::new();
    let error = loop {
        match session.send_by(&Big(&params), Deadline::after_millis(200)) {
            Ok(reply) => replies.push(reply),
            Err(Error::Timeout { kind: TimeoutKind::Send, .. }) if replies.len() < 60 => {}
            Err(error) => break error,
        }
        assert!(replies.len() < 200, "the queue has no bound");
    };
    assert!(matches!(error, Error::Timeout { kind: TimeoutKind::Send, .. }), "{error:?}");
    assert_eq!(connection.counters().in_flight, replies.len());
    // A close wakes who waits for room.
    scope(|threads| {
        let sender = threads.spawn(|| session.send_by(&Big(&params), soon()).map(drop));
        let (begun, deadline) = (replies.len() + 1, soon());
        while connection.counters().in_flight < begun && !deadline.passed() {
            std::thread::yield_now();
        }
        connection.close();
        assert!(sender.join().unwrap().unwrap_err().is_closed());
    });
    for reply in replies {
        assert!(reply.wait(soon()).unwrap_err().is_closed());
    }
}

struct Big<'a>(&'a serde_json::Value);

impl serde::Serialize for Big<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl cdpilot::cdp::rt::Command for Big<'_> {
    const METHOD: &'static str = "Test.big";
    type Returns = cdpilot::cdp::rt::Empty;
}

#[test]
fn dropping_the_connection_ends_waits_of_other_threads() {
    for _ in 0..30 {
        let fake = Fake::start();
        fake.on("Test.never").never();
        let connection = fake.connect();
        let reply = connection.session("S").send_raw("Test.never", &json!({})).unwrap();
        scope(|threads| {
            let waiter = threads.spawn(|| reply.wait_raw(soon()).unwrap_err());
            fake.wait("the call", |log| log.requests.len() == 1);
            drop(connection);
            let error = waiter.join().unwrap();
            assert!(matches!(error, Error::Closed { reason: CloseReason::Local, .. }), "{error:?}");
        });
    }
}

#[test]
fn closing_ends_every_waiting_caller() {
    for _ in 0..20 {
        let fake = Fake::start();
        fake.on("Test.never").never();
        let connection = fake.connect();
        scope(|threads| {
            let call = || connection.call_raw("Test.never", &json!({}), soon()).unwrap_err();
            let callers: Vec<_> = (0..6).map(|_| threads.spawn(call)).collect();
            fake.wait("the calls", |log| log.requests.len() == 6);
            connection.close();
            for caller in callers {
                let error = caller.join().unwrap();
                assert!(matches!(error, Error::Closed { reason: CloseReason::Local, .. }), "{error:?}");
            }
        });
        connection.close();
        assert_eq!(connection.close_reason(), Some(CloseReason::Local));
        fake.wait("the end", |log| log.gone == 1);
    }
}

#[test]
fn after_a_closed_error_the_connection_is_closed() {
    for _ in 0..200 {
        let fake = Fake::upgraded(|socket| {
            let _ = socket.peek(&mut [0]); // until the call is there
        });
        let connection = fake.connect();
        let session = connection.session("S");
        // Two callers, so that one is notified by another thread.
        let one = session.send_raw("Test.never", &json!({}));
        scope(|threads| {
            let connection = &connection;
            threads.spawn(move || {
                let ended = connection.call_raw("Test.never", &json!({}), soon()).unwrap_err();
                assert!(ended.is_closed() && connection.is_closed(), "{ended:?}");
            });
            if let Ok(reply) = one {
                assert!(reply.wait_raw(soon()).unwrap_err().is_closed());
                assert!(connection.is_closed());
            }
        });
    }
}

#[test]
fn received_frames_are_decoded_exactly() {
    // The tests stand on this encoder.
    assert_eq!(Frame::of(1).encode(b"hi"), b"\x81\x02hi");
    assert_eq!(
        Frame { mask: Some([1, 0, 0, 0]), fin: false, reserved: 4, opcode: 2 }.encode(b"ab"),
        b"\x42\x82\x01\0\0\0\x60b"
    );
    assert_eq!(Frame::of(1).head(126), [0x81, 126, 0, 126]);
    assert_eq!(Frame::of(1).head(65_536), [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
}
