//! Faults that other programs of this kind have, one test each, under the number of the fault in our
//! list of them: what must not happen here.

use std::io::Read as _;
use std::thread::scope;

use cdpilot::cdp::protocol::{page, target};
use cdpilot::cdp::{Capacity, ConnectOptions, Connection, Error, Item, TimeoutKind, Watch};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::fake_cdp::{Action, Fake, Gate, soon};
use crate::support::leaks::{self, Baseline};

#[test]
fn fault_01_a_slow_read_does_not_delay_a_write() {
    let fake = Fake::start();
    let gate = Gate::default();
    fake.on("Test.slow").late(&gate).reply(json!({ "slow": true }));
    fake.on("Test.fast").echo();
    let connection = fake.connect();
    scope(|threads| {
        // This caller reads the stream and waits in it.
        let slow = threads.spawn(|| connection.call_raw("Test.slow", &json!({}), soon()));
        fake.wait("the slow call", |log| log.of("Test.slow").len() == 1);
        for n in 0..500 {
            let answer = connection.call_raw("Test.fast", &json!({ "n": n }), soon()).unwrap();
            assert_eq!(answer.value().unwrap()["n"], n);
        }
        assert!(!slow.is_finished(), "its answer is still held back");
        gate.open();
        assert_eq!(slow.join().unwrap().unwrap().value().unwrap()["slow"], true);
    });
}

#[test]
fn fault_02_an_event_consumer_may_make_calls() {
    let fake = Fake::start();
    fake.on("Test.echo").echo();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::of(1000));
    fake.flood(300, 10);
    for n in 0..300 {
        let Ok(Item::Event(event)) = events.next(soon()) else { panic!("event {n} did not come") };
        let params: Value = serde_json::from_slice(event.params()).unwrap();
        assert_eq!(params["n"], n, "in order");
        let answer = connection.call_raw("Test.echo", &json!({ "n": n }), soon()).unwrap();
        assert_eq!(answer.value().unwrap()["n"], n);
    }
}

#[test]
fn fault_03_a_silent_connection_stays_open() {
    // Many keepalive intervals without a word but pongs, with a caller waiting and with none.
    let fake = Fake::start();
    let gate = Gate::default();
    fake.on("Test.late").late(&gate).reply(json!({}));
    let options = ConnectOptions::new().keepalive(Some(std::time::Duration::from_millis(100)));
    let connection = fake.connect_with(&options);
    fake.wait("pings", |log| log.pings >= 6);
    scope(|threads| {
        let caller = threads.spawn(|| connection.call_raw("Test.late", &json!({}), soon()));
        fake.wait("the call", |log| log.requests.len() == 1);
        let before = fake.log(|log| log.pings);
        fake.wait("more pings", |log| log.pings >= before + 6);
        gate.open();
        caller.join().unwrap().unwrap();
    });
    assert!(!connection.is_closed());
}

#[test]
fn fault_05_a_late_answer_leaks_nothing() {
    let fake = Fake::start();
    let gate = Gate::default();
    fake.on("Test.late").late(&gate).reply(json!({}));
    let connection = fake.connect();
    for _ in 0..50 {
        let error = connection.call_raw("Test.late", &json!({}), Deadline::after_millis(1)).unwrap_err();
        assert!(error.is_timeout(), "{error:?}");
        assert_eq!(connection.counters().in_flight, 0);
    }
    fake.wait("the calls", |log| log.of("Test.late").len() == 50);
    gate.open();
    fake.send_text(r#"{"id":123456,"result":{}}"#);
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    let counters = connection.counters();
    assert_eq!((counters.late_answers, counters.unknown_answers, counters.in_flight), (50, 1, 0));
}

#[test]
fn fault_06_an_unknown_enum_value_passes() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    let next = || match events.next(soon()) {
        Ok(Item::Event(event)) => event,
        other => panic!("{other:?}"),
    };
    fake.emit(Some("S"), "Page.frameDetached", json!({ "frameId": "F", "reason": "evaporated", "since": [1] }));
    let event = next();
    let detached = event.decode::<page::FrameDetachedEvent>().unwrap();
    assert_eq!((detached.frame_id.as_str(), detached.reason.unwrap().as_str()), ("F", "evaporated"));

    fake.emit(None, "Sauna.heated", json!({ "degrees": 90 }));
    assert_eq!(next().method(), "Sauna.heated");
}

#[test]
fn fault_06_invalid_parameters_fail_only_their_decoder() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    let bystander = connection.subscribe(Watch::everything(), Capacity::default());
    fake.emit(Some("S"), "Page.frameDetached", json!({ "frameId": 7, "reason": "swap" }));
    fake.send_text(r#"{"method":"Page.frameDetached","params":{"frameId":nonsense}}"#);
    for watched in [&events, &bystander] {
        let Ok(Item::Event(event)) = watched.next(soon()) else { panic!("no event") };
        match event.decode::<page::FrameDetachedEvent>() {
            Err(Error::Decode { method, path, .. }) => {
                assert_eq!((&*method, &*path), ("Page.frameDetached", "frameId"))
            }
            other => panic!("{other:?}"),
        }
        let Ok(Item::Event(event)) = watched.next(soon()) else { panic!("no event") };
        assert!(matches!(event.decode::<page::FrameDetachedEvent>(), Err(Error::Decode { .. })));
    }
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
}

#[test]
fn fault_08_threads_end_with_the_last_handle() {
    leaks::alone(module_path!(), "fault_08_threads_end_with_the_last_handle", || {
        let baseline = Baseline::now();
        for round in 0..50 {
            let fake = Fake::start();
            fake.on("Test.never").never();
            let connection = fake.connect();
            let events = connection.subscribe(Watch::everything(), Capacity::default());
            let session = connection.session("S");
            let clone = connection.clone();
            let reply = session.send_raw("Test.never", &json!({})).unwrap();
            match round % 3 {
                0 => clone.close(),
                1 => fake.cut(),
                _ => {}
            }
            drop((connection, session));
            if round % 3 == 2 {
                clone.call_raw("Test.next", &json!({}), soon()).unwrap();
            }
            drop(clone);
            assert!(reply.wait_raw(soon()).unwrap_err().is_closed());
            drop(events);
        }
        baseline.assert_back(soon());
    });
}

#[test]
fn fault_10_subscribing_during_events_does_not_hang() {
    let fake = Fake::start();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::of(500));
    fake.flood(500, 0);
    let mut more = Vec::new();
    for n in 0..500 {
        assert!(matches!(events.next(soon()), Ok(Item::Event(_))), "event {n}");
        more.push(connection.subscribe(Watch::everything(), Capacity::of(1)));
    }
    drop(more);
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
}

#[test]
fn fault_12_a_slow_subscriber_receives_the_number_of_lost_events() {
    let fake = Fake::start();
    fake.on("Test.echo").echo();
    let connection = fake.connect();
    let slow = connection.subscribe(Watch::everything(), Capacity::of(8));
    let brisk = connection.subscribe(Watch::everything(), Capacity::of(5000));
    fake.flood(5000, 200);
    // The one that reads nothing harms neither calls nor other subscribers.
    for n in 0..20 {
        assert_eq!(connection.call_raw("Test.echo", &json!({ "n": n }), soon()).unwrap().value().unwrap()["n"], n);
    }
    for n in 0..5000 {
        assert!(matches!(brisk.next(soon()), Ok(Item::Event(_))), "event {n}");
    }
    assert!(matches!(slow.next(soon()), Ok(Item::Lagged(4992))), "lost {}", slow.dropped());
    assert!(matches!(slow.next(soon()), Ok(Item::Event(_))));
    assert!(!connection.is_closed());
}

fn timed_out(connect: impl FnOnce(&ConnectOptions) -> Result<Connection, Error>, kind: TimeoutKind) {
    let options = ConnectOptions::new().connect_timeout(std::time::Duration::from_millis(200));
    match connect(&options) {
        Err(Error::Timeout { kind: which, .. }) => assert_eq!(which, kind),
        other => panic!("{other:?}"),
    }
}

#[test]
fn fault_13_the_handshake_has_a_deadline() {
    let fake = Fake::silent_handshake();
    timed_out(|options| Connection::connect(&fake.address(), options), TimeoutKind::Handshake);
    // An endpoint that keeps talking without ever finishing its answer.
    let talker = Fake::script(|mut socket| {
        use std::io::Write as _;
        let _ = socket.write_all(b"HTTP/1.1 101 Switching Protocols\r\nX-Endless: ");
        while socket.write_all(b"o").is_ok() {
            let _ = socket.set_read_timeout(Some(std::time::Duration::from_millis(20)));
            let _ = socket.read(&mut [0; 4096]);
        }
    });
    timed_out(|options| Connection::connect(&talker.address(), options), TimeoutKind::Handshake);
}

#[cfg(unix)]
#[test]
fn fault_13_connecting_has_a_deadline() {
    use std::net::{SocketAddr, TcpListener, TcpStream};
    // A listener whose queue is full: further connects get no answer at all.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    while let Ok(socket) = TcpStream::connect_timeout(&address, std::time::Duration::from_millis(100)) {
        queued.push(socket);
        assert!(queued.len() < 100, "the queue is never full");
    }
    let url = format!("ws://{address}/devtools/browser/x");
    timed_out(|options| Connection::connect(&url, options), TimeoutKind::Connect);
}

#[test]
fn fault_13_an_unanswered_command_does_not_block_others() {
    let fake = Fake::start();
    fake.on("Page.enable").in_session("frozen").never();
    let connection = fake.connect();
    let frozen = connection.session("frozen");
    let pending = frozen.send_raw("Page.enable", &json!({})).unwrap();
    for n in 0..20 {
        connection.session(format!("S{n}")).call_raw("Page.enable", &json!({}), soon()).unwrap();
        frozen.call_raw("Page.close", &json!({}), soon()).unwrap();
    }
    drop(pending.poll_raw(Deadline::after_millis(0)).expect_err("it should still wait"));
}

#[test]
fn fault_14_commands_back_to_back_keep_their_order() {
    let fake = Fake::start();
    let gate = Gate::default();
    fake.on("Network.enable").late(&gate).reply(json!({}));
    // The worker is let go by the last command only; waiting for the first would wait for ever.
    let opener = gate.clone();
    fake.on("Runtime.runIfWaitingForDebugger").with(move |_| {
        opener.open();
        vec![Action::Reply(json!({}))]
    });
    let connection = fake.connect();
    let session = connection.session("worker");
    let enable = session.send_raw("Network.enable", &json!({})).unwrap();
    let resume = session.send_raw("Runtime.runIfWaitingForDebugger", &json!({})).unwrap();
    enable.wait_raw(soon()).unwrap();
    resume.wait_raw(soon()).unwrap();
    assert_eq!(fake.log(|log| log.methods().join(" ")), "Network.enable Runtime.runIfWaitingForDebugger");
}

#[test]
fn fault_15_a_message_over_100_mib_is_refused() {
    let fake = Fake::start();
    let connection = fake.connect();
    let limit = 100 * 1024 * 1024;
    let error = connection.call_raw("Test.huge", &"x".repeat(limit), soon()).unwrap_err();
    match &error {
        Error::TooLarge { method, bytes, limit: response } => {
            assert_eq!((&**method, *response), ("Test.huge", limit));
            assert!(*bytes > limit);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(connection.counters().in_flight, 0);
    connection.call_raw("Test.next", &json!({}), soon()).unwrap();
    assert_eq!(fake.log(|log| log.methods().join(" ")), "Test.next");
}

#[test]
fn fault_15_a_large_message_is_sent_as_one_frame() {
    let (send, head) = crossbeam_channel::bounded(1);
    let fake = Fake::upgraded(move |mut socket| {
        let mut head = [0; 10];
        let _ = socket.read_exact(&mut head);
        let _ = send.send(head);
        let _ = std::io::copy(&mut socket, &mut std::io::sink());
    });
    let connection = fake.connect();
    let params = json!({ "data": "x".repeat(5_000_000) });
    let reply = connection.session("S").send_raw("Test.large", &params).unwrap();
    let head = head.recv_deadline(soon().instant()).unwrap();
    assert_eq!(head[..2], [0x81, 0xff], "text, final, masked, long");
    assert!(u64::from_be_bytes(head[2..].try_into().unwrap()) > 5_000_000);
    drop(reply);
}

#[test]
fn fault_15_large_binary_answers_are_accepted() {
    let fake = Fake::start();
    fake.on("Test.picture")
        .with(|request| vec![Action::Binary(request.answer(&json!({ "data": "p".repeat(5_000_000) })).into_bytes())]);
    let connection = fake.connect();
    let answer = connection.call_raw("Test.picture", &json!({}), soon()).unwrap();
    assert_eq!(answer.value().unwrap()["data"].as_str().unwrap().len(), 5_000_000);
}

#[test]
fn fault_18_closing_does_not_wait_for_other_handles() {
    let fake = Fake::start();
    fake.on("Test.never").never();
    let connection = fake.connect();
    let events = connection.subscribe(Watch::everything(), Capacity::default());
    let held = (connection.clone(), connection.session("S"), connection.session("S2"));
    let typed = held.1.send(&target::GetTargets::new()).unwrap();
    let reply = held.1.send_raw("Test.never", &json!({})).unwrap();
    scope(|threads| {
        let waiter = threads.spawn(|| held.2.call_raw("Test.never", &json!({}), soon()));
        fake.wait("both calls", |log| log.of("Test.never").len() == 2);
        connection.close();
        assert!(waiter.join().unwrap().unwrap_err().is_closed());
    });
    assert!(reply.wait_raw(soon()).unwrap_err().is_closed());
    drop((typed, events, held));
    fake.wait("the end", |log| log.gone == 1);
}
