//! Disconnecting clients, event streams, and stopping the server.

use std::io::Read as _;
use std::time::Duration;

use cdpilot::sync::{Deadline, pause, spawn};
use cdpilot_server::http::{Answer, Event, EventSource, HttpServer, Limits, Next, Request};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use http::StatusCode;

use crate::support::leaks::{Baseline, alone};
use crate::support::raw::{Raw, serve};

const PATIENCE: Duration = crate::support::LIMIT;

fn fine() -> Answer {
    Answer::bytes(StatusCode::OK, "text/plain", b"fine".to_vec())
}

#[track_caller]
fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Deadline::after(PATIENCE);
    while !holds() {
        assert!(!deadline.passed(), "not in time: {what}");
        pause(Duration::from_millis(2));
    }
}

/// A server whose requests below `/wait` wait until they are cancelled, and tell of it.
struct Waiting {
    server: HttpServer,
    begun: Receiver<()>,
    cancelled: Receiver<bool>,
}

fn waiting(limits: Limits) -> Waiting {
    let (tell_begun, begun) = bounded(100);
    let (tell, cancelled) = bounded(100);
    let server = serve(limits, move |request: Request| {
        if request.path == "/wait" {
            tell_begun.send(()).unwrap();
            let deadline = request.deadline(PATIENCE);
            while !deadline.passed() {
                pause(Duration::from_millis(2));
            }
            tell.send(request.cancel.is_set() && deadline.is_cancelled()).unwrap();
        }
        fine()
    });
    Waiting { server, begun, cancelled }
}

#[test]
fn a_disconnect_cancels_the_request() {
    let Waiting { server, begun, cancelled } = waiting(Limits::default());
    let full = "x".repeat(40_000); // more than is read ahead
    for (more, half) in [("", false), ("", true), ("GET / HTTP/1.1\r\n", false), (full.as_str(), false)] {
        let mut client = Raw::to(&server);
        client.get("/wait");
        begun.recv_timeout(PATIENCE).unwrap();
        client.send(more);
        let keep = if half {
            client.end();
            Some(client)
        } else {
            drop(client);
            None
        };
        assert_eq!(cancelled.recv_timeout(PATIENCE), Ok(true), "{} bytes more, half {half}", more.len());
        // Who only closed one way still hears what became of it.
        if let Some(mut client) = keep {
            assert_eq!(client.answer().status, 200);
        }
    }
    soon("all to be gone", || server.connections() == 0);
    assert_eq!(Raw::to(&server).get("/").answer().status, 200);
}

#[test]
fn queued_requests_of_disconnected_clients_are_not_executed() {
    let (tell, begun) = bounded(100);
    let (go, gone) = bounded::<()>(100);
    let server = serve(Limits { action_threads: 1, ..Limits::default() }, move |request| {
        tell.send(request.path.clone()).unwrap();
        if request.path == "/first" {
            gone.recv_timeout(PATIENCE).unwrap();
        }
        fine()
    });
    let mut first = Raw::to(&server);
    first.get("/first");
    assert_eq!(begun.recv_timeout(PATIENCE).unwrap(), "/first");
    let mut second = Raw::to(&server);
    second.get("/second").end();
    let mut third = Raw::to(&server);
    third.get("/third");
    // Only when the time that it is given is over has the second hung up.
    pause(Duration::from_millis(600));
    go.send(()).unwrap();
    assert_eq!(begun.recv_timeout(PATIENCE).unwrap(), "/third");
    assert_eq!(second.answer().code(), "CANCELLED");
    assert_eq!(third.answer().status, 200);
    assert_eq!(first.answer().status, 200);
}

/// Events that a test sends.
struct Sent {
    events: Receiver<Event>,
    /// Signals that the source was dropped.
    _dropped: Sender<()>,
}

impl EventSource for Sent {
    fn next(&mut self, deadline: Deadline<'_>) -> Next {
        match self.events.recv_timeout(deadline.left()) {
            Ok(event) if event.data == "panic" => panic!("on purpose"),
            Ok(event) => Next::Event(event),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }
}

/// A server of event streams: for each, its events and a signal when its source is dropped.
struct Streaming {
    server: HttpServer,
    streams: Receiver<(Sender<Event>, Receiver<()>)>,
}

fn streaming(limits: Limits) -> Streaming {
    let (tell, streams) = bounded(100);
    let server = serve(limits, move |request| {
        if request.path != "/events" {
            return fine();
        }
        let (send, events) = bounded(10_000);
        if let Some(id) = request.header("last-event-id") {
            send.send(Event { data: format!("since {id}"), ..Event::default() }).unwrap();
        }
        let (dropped, gone) = bounded(1);
        tell.send((send, gone)).unwrap();
        Answer::events(Sent { events, _dropped: dropped })
    });
    Streaming { server, streams }
}

impl Streaming {
    #[track_caller]
    fn open(&self) -> (Raw, Sender<Event>, Receiver<()>) {
        let mut client = Raw::to(&self.server);
        let head = client.get("/events").head();
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
        assert_eq!((head.header("content-length"), head.closes()), (None, true));
        let (send, gone) = self.streams.recv_timeout(PATIENCE).unwrap();
        (client, send, gone)
    }
}

fn data(data: &str) -> Event {
    Event { data: data.to_owned(), ..Event::default() }
}

/// Waits until the source of a stream was dropped.
#[track_caller]
fn assert_let_go(gone: &Receiver<()>) {
    assert_eq!(gone.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn events_are_streamed_as_they_occur() {
    let streaming = streaming(Limits { comment_every: Duration::from_millis(300), ..Limits::default() });
    let (mut client, send, gone) = streaming.open();
    let event = |name: &str, id: &str, data: &str| Event {
        name: Some(name.to_owned()),
        id: Some(id.to_owned()),
        data: data.to_owned(),
    };
    for (event, text) in [
        (data("{\"a\":1}"), "data: {\"a\":1}\n\n"),
        (
            event("console", "7", "one\ntwo\r\nthree\rfour\n"),
            "event: console\nid: 7\ndata: one\ndata: two\ndata: three\ndata: four\ndata: \n\n",
        ),
        (event("a\nb", "1\r\n\0-2", ""), "event: ab\nid: 1-2\ndata: \n\n"),
    ] {
        send.send(event).unwrap();
        let got = client.until("\n\n");
        assert_eq!(got.trim_start_matches(":\n\n"), text);
    }
    // Nothing to tell: it shows that it lives.
    assert_eq!(client.until(":\n\n"), ":\n\n");
    send.send(data("after")).unwrap();
    client.until("data: after\n\n");
    drop(send);
    assert!(client.rest().iter().all(|byte| b":\n".contains(byte)));
    assert_let_go(&gone);
    // A reconnecting client sends the last id that it received.
    let mut client = Raw::to(&streaming.server);
    client.send("GET /events HTTP/1.1\r\nHost: h\r\nLast-Event-ID: 41\r\n\r\n");
    client.until("data: since 41\n\n");
    // HEAD only sees the head.
    let mut client = Raw::to(&streaming.server);
    let head = client.send("HEAD /events HTTP/1.1\r\nHost: h\r\n\r\n").head();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    client.end().assert_over();
}

#[test]
fn streams_end_with_their_clients_and_are_limited() {
    let streaming = streaming(Limits { streams: 2, action_threads: 1, ..Limits::default() });
    let (first, _send_first, first_gone) = streaming.open();
    let (mut second, send, second_gone) = streaming.open();
    let mut third = Raw::to(&streaming.server);
    let got = third.get("/events").answer();
    assert_eq!((got.status, got.code().as_str()), (503, "BUSY"));
    let (_, third_gone) = streaming.streams.recv_timeout(PATIENCE).unwrap();
    assert_let_go(&third_gone);
    // Streams hold no worker.
    assert_eq!(Raw::to(&streaming.server).get("/").answer().status, 200);
    // A quiet stream sees its client go.
    drop(first);
    assert_let_go(&first_gone);
    // A source that panics ends its stream alone.
    send.send(data("panic")).unwrap();
    assert!(second.rest().is_empty());
    assert_let_go(&second_gone);
    soon("a place to be free", || {
        let mut client = Raw::to(&streaming.server);
        let free = client.get("/events").head().status == 200;
        drop(streaming.streams.recv_timeout(PATIENCE).unwrap());
        free
    });
}

#[test]
fn an_unread_stream_is_closed() {
    let limits = Limits { writing: Duration::from_millis(500), ..Limits::default() };
    let streaming = streaming(limits);
    let (_deaf, send, gone) = streaming.open();
    let (mut reader, send_reader, _) = streaming.open();
    let big = data(&"x".repeat(100_000));
    let deadline = Deadline::after(PATIENCE);
    while send.try_send(big.clone()).is_ok() && !deadline.passed() {}
    assert_let_go(&gone);
    send_reader.send(data("still here")).unwrap();
    reader.until("data: still here\n\n");
}

#[test]
fn stopping_lets_requests_finish() {
    let (tell, begun) = bounded(100);
    let (go, gone) = bounded::<()>(100);
    let server = serve(Limits { action_threads: 1, ..Limits::default() }, move |_| {
        tell.send(()).unwrap();
        gone.recv_timeout(PATIENCE).unwrap();
        fine()
    });
    let address = server.address();
    let mut idle = Raw::to(&server);
    let mut reading = Raw::to(&server);
    reading.send("GET / HTTP/1.1\r\nHo");
    let mut working = Raw::to(&server);
    working.get("/working").get("/behind");
    begun.recv_timeout(PATIENCE).unwrap();
    let mut queued = Raw::to(&server);
    queued.get("/queued");
    soon("all to be seen", || server.connections() == 4);
    pause(Duration::from_millis(100)); // nothing tells that a request stands in the queue
    let stopping = spawn("test-stop", move || assert!(server.stop(Deadline::after(PATIENCE)))).unwrap();
    idle.assert_over();
    reading.assert_over();
    soon("nobody to listen", || std::net::TcpStream::connect(address).is_err());
    go.send(()).unwrap();
    go.send(()).unwrap();
    for client in [&mut working, &mut queued] {
        let got = client.answer();
        assert_eq!((got.status, got.closes()), (200, true));
        client.assert_over();
    }
    stopping.join();
}

#[test]
fn stopping_cancels_slow_requests() {
    let Waiting { server, begun, cancelled } = waiting(Limits::default());
    let mut client = Raw::to(&server);
    client.get("/wait");
    begun.recv_timeout(PATIENCE).unwrap();
    assert!(server.stop(Deadline::after_millis(50)));
    assert_eq!(cancelled.recv_timeout(PATIENCE), Ok(true));
    assert_eq!(client.answer().status, 200);
    client.assert_over();
}

#[test]
fn stopping_abandons_a_handler_that_ignores_cancellation() {
    let (tell, begun) = bounded(1);
    let (go, gone) = bounded::<()>(0);
    let server = serve(Limits::default(), move |_| {
        tell.send(()).unwrap();
        let _ = gone.recv_timeout(PATIENCE);
        fine()
    });
    let mut client = Raw::to(&server);
    client.get("/");
    begun.recv_timeout(PATIENCE).unwrap();
    assert!(!server.stop(Deadline::after_millis(10)));
    client.assert_over();
    drop(go);
}

#[test]
fn a_stopped_http_server_leaks_nothing() {
    alone(module_path!(), "a_stopped_http_server_leaks_nothing", || {
        let baseline = Baseline::now();
        for drops in [false, true] {
            let Waiting { server, begun, .. } = waiting(Limits::default());
            let streaming = streaming(Limits::default());
            let mut clients: Vec<Raw> = (0..20).map(|_| Raw::to(&server)).collect();
            for client in &mut clients[..10] {
                client.get("/wait");
                begun.recv_timeout(PATIENCE).unwrap();
            }
            for client in &mut clients[10..15] {
                assert_eq!(client.get("/ctl").answer().status, 200);
            }
            clients[16].send("POST / HTT");
            let streams: Vec<_> = (0..5).map(|_| streaming.open()).collect();
            if drops {
                drop((streams, clients));
                drop((server, streaming));
            } else {
                assert!(server.stop(Deadline::after_millis(100)));
                assert!(streaming.server.stop(Deadline::after(PATIENCE)), "streams end at once");
                for (mut client, _send, gone) in streams {
                    assert_let_go(&gone);
                    client.stream.read_exact(&mut []).unwrap();
                    client.assert_over();
                }
                drop(clients);
            }
            baseline.assert_back(Deadline::after(PATIENCE));
        }
    });
}
