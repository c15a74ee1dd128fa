//! Limits for clients: time, connections, threads, memory, descriptors.

use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cdpilot::sync::pause;
use cdpilot_server::http::{Answer, HttpServer, Limits, Request};
use crossbeam_channel::{Receiver, Sender, bounded};
use http::StatusCode;

use crate::support::raw::{Raw, serve};

const SHORT: Duration = Duration::from_millis(300);

fn fine(_: Request) -> Answer {
    Answer::bytes(StatusCode::OK, "text/plain", b"fine".to_vec())
}

/// Waits until something holds.
#[track_caller]
fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = crate::support::soon();
    while !holds() {
        assert!(!deadline.passed(), "not in time: {what}");
        pause(Duration::from_millis(2));
    }
}

/// A server whose requests below `/held` wait until the test lets them go.
struct Held {
    server: HttpServer,
    begun: Receiver<String>,
    /// One message lets one go.
    go: Sender<()>,
}

fn held(limits: Limits) -> Held {
    let (tell, begun) = bounded(1000);
    let (go, gone) = bounded::<()>(1000);
    let server = serve(limits, move |request| {
        if request.path.contains("held") {
            tell.send(request.path.clone()).unwrap();
            gone.recv_timeout(crate::support::LIMIT).unwrap();
        }
        fine(request)
    });
    Held { server, begun, go }
}

#[test]
fn slow_requests_are_closed() {
    let server = serve(Limits { reading: SHORT, idle: SHORT, ..Limits::default() }, fine);
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n";
    for slow in [
        "G".to_owned(),
        "GET / HTTP/1.1\r\nHo".to_owned(),
        format!("{head}Content-Length: 2\r\n\r\n{{"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n"),
    ] {
        let mut client = Raw::to(&server);
        let got = client.send(&slow).answer();
        assert_eq!((got.status, got.code().as_str(), got.closes()), (408, "TIMEOUT", true), "{slow:?}");
        client.end().assert_over();
    }
    // Without a request there is no answer.
    Raw::to(&server).assert_over();
    let mut client = Raw::to(&server);
    assert_eq!(client.get("/").answer().status, 200);
    client.assert_over();
    soon("all to be gone", || server.connections() == 0);
}

#[test]
fn single_bytes_do_not_extend_the_time_limit() {
    let server = serve(Limits { reading: SHORT, ..Limits::default() }, fine);
    let mut drops = Raw::to(&server);
    drops.stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let begun = Instant::now();
    drops.send("GET / HTTP/1.1\r\nHost: h\r\nX: ");
    let mut piece = [0; 100];
    // The time counts from the first byte, not from the last.
    let read = loop {
        assert!(begun.elapsed() < crate::support::LIMIT, "the connection is still open");
        match drops.stream.read(&mut piece) {
            Ok(count) => break count,
            Err(_) => drops.send("y"),
        };
    };
    assert!(piece[..read].starts_with(b"HTTP/1.1 408 "), "{:?}", String::from_utf8_lossy(&piece[..read]));
}

#[test]
fn hundreds_of_idle_connections_delay_no_request() {
    let server = serve(Limits::default(), fine);
    let mut idle: Vec<Raw> = (0..350).map(|_| Raw::to(&server)).collect();
    let mut slow: Vec<Raw> = (0..150).map(|_| Raw::to(&server)).collect();
    for client in &mut slow {
        client.send("GET / HTTP/1.1\r\nHo");
    }
    for _ in 0..20 {
        assert_eq!(Raw::to(&server).get("/").answer().status, 200);
    }
    // And they are served when they do ask.
    for client in &mut idle {
        assert_eq!(client.get("/").answer().status, 200);
    }
    for client in &mut slow {
        assert_eq!(client.send("st: h\r\n\r\n").answer().status, 200);
    }
}

#[test]
fn at_the_limit_the_longest_idle_connection_is_closed() {
    let Held { server, begun, go } = held(Limits { connections: 4, ..Limits::default() });
    let mut first = Raw::to(&server);
    assert_eq!(first.get("/").answer().status, 200);
    let mut asking: Vec<Raw> = (0..3).map(|_| Raw::to(&server)).collect();
    for client in &mut asking {
        client.get("/held");
    }
    asking.iter().for_each(|_| drop(begun.recv().unwrap()));
    let mut fifth = Raw::to(&server);
    assert_eq!(fifth.get("/held").until(""), "");
    first.assert_over();
    begun.recv().unwrap();
    // Now all four are being served: no idle connection can be closed.
    let mut sixth = Raw::to(&server);
    let got = sixth.get("/").answer();
    assert_eq!((got.status, got.code().as_str(), got.closes()), (503, "BUSY", true));
    sixth.end().assert_over();
    (0..4).for_each(|_| go.send(()).unwrap());
    for client in asking.iter_mut().chain([&mut fifth]) {
        assert_eq!(client.answer().status, 200);
    }
    assert_eq!(Raw::to(&server).get("/").answer().status, 200);
}

#[test]
fn a_full_lane_returns_503_and_the_other_continues() {
    let limits = Limits { action_threads: 3, control_threads: 1, queue: 2, ..Limits::default() };
    let Held { server, begun, go } = held(limits);
    let mut working: Vec<Raw> = (0..3).map(|_| Raw::to(&server)).collect();
    for client in &mut working {
        client.get("/held");
        begun.recv().unwrap(); // as many at once as there are threads
    }
    let mut queued: Vec<Raw> = (0..2).map(|_| Raw::to(&server)).collect();
    for client in &mut queued {
        client.get("/held");
    }
    // Which of the next is the first too many depends on when the two are read.
    let mut more = Vec::new();
    let refused = loop {
        let mut client = Raw::to(&server);
        client.get("/held");
        client.stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        if client.stream.peek(&mut [0]).is_ok() {
            break client.answer();
        }
        more.push(client);
        assert!(more.len() < 3, "the queue takes too many");
    };
    assert_eq!((refused.status, refused.code().as_str()), (503, "BUSY"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    for _ in 0..5 {
        assert_eq!(Raw::to(&server).get("/ctl/status").answer().status, 200);
    }
    let waiting = more.len() + 5;
    (0..waiting).for_each(|_| go.send(()).unwrap());
    let served = working.iter_mut().chain(&mut queued).chain(&mut more);
    let served: Vec<u16> = served.map(|client| client.answer().status).collect();
    assert_eq!(served.iter().filter(|status| **status == 200).count(), 5, "{served:?}");
}

#[test]
fn every_request_of_a_burst_is_answered() {
    // Threads are started, and requests refused, in the same moment.
    let server = serve(Limits { queue: 1, ..Limits::default() }, fine);
    for _ in 0..5 {
        let mut clients: Vec<Raw> = (0..40).map(|_| Raw::to(&server)).collect();
        for client in &mut clients {
            client.get("/");
        }
        let response: Vec<u16> = clients.iter_mut().map(|client| client.answer().status).collect();
        assert!(response.contains(&200) && response.iter().all(|status| matches!(status, 200 | 503)), "{response:?}");
    }
}

#[test]
fn the_total_size_of_bodies_is_limited() {
    let limits = Limits { bodies_bytes: 3_000_000, reading: Duration::from_secs(15), ..Limits::default() };
    let server = serve(limits, fine);
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    let mut slow: Vec<Raw> = (0..3).map(|_| Raw::to(&server)).collect();
    for client in &mut slow {
        client.send(head.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"));
        assert_eq!(client.head().status, 100);
    }
    let got = Raw::to(&server).send(head).answer();
    assert_eq!((got.status, got.code().as_str(), got.header("retry-after")), (503, "BUSY", Some("1")));
    // What needs no body is served.
    assert_eq!(Raw::to(&server).get("/").answer().status, 200);
    // A disconnecting client frees its bytes.
    drop(slow.pop());
    let whole = head.to_owned() + &" ".repeat(1_000_000);
    soon("room for a body", || Raw::to(&server).send(&whole).answer().status == 200);
    // And so does one that was served.
    for _ in 0..4 {
        assert_eq!(Raw::to(&server).send(&whole).answer().status, 200);
    }
}

#[test]
fn a_client_that_does_not_read_blocks_no_thread() {
    let body: Arc<[u8]> = vec![b'x'; 24 * 1024 * 1024].into();
    let answer = Arc::clone(&body);
    let limits = Limits { control_threads: 1, writing: Duration::from_secs(2), ..Limits::default() };
    let server = serve(limits, move |request| match request.path.as_str() {
        "/ctl/big" => Answer::bytes(StatusCode::OK, "text/plain", answer.to_vec()),
        _ => fine(request),
    });
    let mut deaf: Vec<Raw> = (0..2).map(|_| Raw::to(&server)).collect();
    for client in &mut deaf {
        client.get("/ctl/big");
    }
    // The only thread of the lane is free although two big answers lie about.
    assert_eq!(Raw::to(&server).get("/ctl/x").answer().status, 200);
    // Who reads slowly, but reads, gets all of it; behind it the connection serves on.
    let mut slow = Raw::to(&server);
    assert_eq!(slow.get("/ctl/big").head().status, 200);
    let mut left = body.len();
    let mut piece = vec![0; 3 * 1024 * 1024];
    while left > 0 {
        let most = piece.len().min(left);
        let count = slow.stream.read(&mut piece[..most]).unwrap();
        assert!(count > 0, "cut short, {left} bytes are missing");
        left -= count;
        pause(Duration::from_millis(1));
        // Data that came with the head has been read by then.
        if left < 64 * 1024 {
            break;
        }
    }
    // Who reads nothing at all is closed.
    soon("the deaf to be gone", || server.connections() <= 1);
    for client in &mut deaf {
        let got = client.rest();
        assert!(got.len() < body.len(), "all {} bytes came", got.len());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_server_survives_running_out_of_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use crate::support::leaks::{Baseline, alone};

    alone(module_path!(), "the_server_survives_running_out_of_descriptors", || {
        let Held { server, begun, go } = held(Limits::default());
        assert_eq!(Raw::to(&server).get("/").answer().status, 200);
        let mut busy = Raw::to(&server);
        busy.get("/held");
        begun.recv().unwrap();
        let before = getrlimit(Resource::Nofile);
        let room = Baseline::now().count_files() as u64 + 12;
        setrlimit(Resource::Nofile, Rlimit { current: Some(room), maximum: before.maximum }).unwrap();
        // Each connection takes two here: the client's end is in this process too.
        let mut clients = Vec::new();
        while let Ok(stream) = std::net::TcpStream::connect(server.address()) {
            clients.push(stream);
            assert!(clients.len() < 100, "the limit does not hold");
        }
        let ticks = || std::fs::read_to_string("/proc/self/stat").unwrap();
        let spent = |stat: String| -> u64 {
            let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
            fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
        };
        // Who is being served is served, and nothing spins meanwhile.
        go.send(()).unwrap();
        assert_eq!(busy.answer().status, 200);
        let keep = clients.split_off(clients.len() / 2);
        drop(clients);
        let from = spent(ticks());
        soon("a new client to be served", || {
            let Ok(stream) = std::net::TcpStream::connect(server.address()) else { return false };
            drop(stream);
            Raw::to(&server).get("/").answer().status == 200
        });
        assert!(spent(ticks()) - from < 100, "a second of work for a few connections");
        drop(keep);
        setrlimit(Resource::Nofile, before).unwrap();
        assert_eq!(Raw::to(&server).get("/").answer().status, 200);
    });
}
