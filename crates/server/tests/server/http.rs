//! Requests and responses of the HTTP engine, over raw sockets.

use cdpilot::ErrorKind;
use cdpilot_server::http::{Answer, HttpServer, Limits, Request};
use http::StatusCode;
use http::header::HeaderName;
use serde_json::json;

use crate::support::raw::{Got, Raw, serve, serve_behind};

/// Returns the request as text.
fn echo(request: Request) -> Answer {
    let body = String::from_utf8(request.body.clone()).unwrap();
    Answer::json(
        StatusCode::OK,
        &json!({
            "method": request.method.as_str(),
            "path": request.path,
            "segments": request.segments,
            "query": request.query,
            "body": body,
            "probe": request.header("x-probe"),
            "cancelled": request.cancel.is_set(),
        }),
    )
}

fn echoing() -> HttpServer {
    serve(Limits::default(), echo)
}

/// The response to some bytes on one connection.
#[track_caller]
fn once(server: &HttpServer, bytes: impl AsRef<[u8]>) -> Got {
    Raw::to(server).send(bytes).answer()
}

#[test]
fn a_request_is_parsed_and_answered() {
    let server = echoing();
    let mut client = Raw::to(&server);
    let got = client.send("GET /a%20b/c%2Fd//?x=1&y=a+b%26&bare&=e HTTP/1.1\r\nHost: h\r\nX-Probe: 7\r\n\r\n").answer();
    assert_eq!(got.status, 200);
    let said = got.json();
    assert_eq!(said["path"], "/a%20b/c%2Fd//");
    assert_eq!(said["segments"], json!(["a b", "c/d", "", ""]));
    assert_eq!(said["query"], json!([["x", "1"], ["y", "a b&"], ["bare", ""], ["", "e"]]));
    assert_eq!((&said["probe"], &said["cancelled"]), (&json!("7"), &json!(false)));
    for (name, value) in [
        ("content-type", "application/json"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("connection", "keep-alive"),
    ] {
        assert_eq!(got.header(name), Some(value), "{name}");
    }
    assert!(!got.headers.iter().any(|(name, _)| name.starts_with("access-control")));
    // The same connection again, with a body.
    assert_eq!(client.post("/x", r#"{"é":1}"#).answer().json()["body"], r#"{"é":1}"#);
    assert_eq!(server.connections(), 1);
}

#[test]
fn chunked_bodies_are_decoded() {
    let server = echoing();
    let mut client = Raw::to(&server);
    let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json; charset=utf-8\r\n\r\n";
    for (chunks, body) in [
        ("0\r\n\r\n", ""),
        ("3\r\nabc\r\n0\r\n\r\n", "abc"),
        ("1;x=y\r\na\r\n00A \t;q=\"1\"\r\n0123456789\r\n0;last\r\nTrailer: t\r\nOther: u\r\n\r\n", "a0123456789"),
    ] {
        let got = client.send(head).send(chunks).answer();
        assert_eq!((got.status, got.json()["body"].as_str()), (200, Some(body)), "{chunks:?}");
    }
}

#[test]
fn requests_split_at_every_byte_are_parsed_alike() {
    let server = echoing();
    let text = "\r\nPOST /a?b=c HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
                4;e\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\nT: u\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n";
    let mut whole = Raw::to(&server);
    whole.send(text);
    let expected = (whole.answer(), whole.answer());
    assert_eq!(expected.0.json()["body"], "{\"a\":1}");
    assert_eq!(expected.1.json()["path"], "/next");
    let mut client = Raw::to(&server);
    for at in 1..text.len() {
        let (first, second) = text.as_bytes().split_at(at);
        client.send(first).send(second);
        assert_eq!((client.answer(), client.answer()), expected, "split at {at}");
    }
    let mut client = Raw::to(&server);
    text.bytes().for_each(|byte| {
        client.send([byte]);
    });
    assert_eq!((client.answer(), client.answer()), expected, "byte by byte");
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = serve(Limits { hang_up: 4 * crate::support::LIMIT, ..Limits::default() }, echo);
    let mut client = Raw::to(&server);
    // Alternating lanes, more than is buffered while one is answered.
    let paths: Vec<String> =
        (0..600).map(|n| if n % 2 == 0 { format!("/ctl/{n}") } else { format!("/act/{n}") }).collect();
    let all: String =
        paths.iter().map(|path| format!("GET {path} HTTP/1.1\r\nHost: h\r\nX-Pad: {path:060}\r\n\r\n")).collect();
    assert!(all.len() > 2 * Limits::default().head_bytes);
    client.send(&all);
    for path in &paths {
        assert_eq!(client.answer().json()["path"], path.as_str());
    }
    // A client may half-close after its last request; its requests are answered.
    client.send(&all).end();
    for path in &paths {
        assert_eq!(client.answer().json()["path"], path.as_str());
    }
    client.assert_over();
}

#[test]
fn connections_are_kept_alive_or_closed_as_specified() {
    let server = echoing();
    for (head, keeps) in [
        ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nHost: h\r\nConnection: foo, Close\r\n\r\n", false),
        ("GET / HTTP/1.0\r\n\r\n", false),
        ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", true),
    ] {
        let mut client = Raw::to(&server);
        let got = client.send(head).answer();
        assert_eq!((got.status, got.closes()), (200, !keeps), "{head:?}");
        if keeps {
            assert_eq!(client.get("/again").answer().status, 200, "{head:?}");
        } else {
            client.assert_over();
        }
    }
}

#[test]
fn head_has_no_body() {
    let server = serve(Limits::default(), |request| match request.path.as_str() {
        "/none" => Answer::bytes(StatusCode::NO_CONTENT, "text/plain", Vec::new()),
        _ => Answer::bytes(StatusCode::OK, "text/plain", b"0123456789".to_vec())
            .with(HeaderName::from_static("content-length"), "77".parse().unwrap())
            .with(HeaderName::from_static("cache-control"), "max-age=60".parse().unwrap()),
    });
    let mut client = Raw::to(&server);
    let head = client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n").head();
    let get = client.get("/x").answer();
    assert_eq!(head.headers, get.headers);
    assert_eq!((get.header("content-length"), get.text()), (Some("10"), "0123456789"));
    assert_eq!(get.header("cache-control"), Some("max-age=60"), "what the handler says stands");
    let none = client.get("/none").answer();
    assert_eq!((none.status, none.header("content-length")), (204, None));
    assert_eq!(client.get("/x").answer().status, 200);
}

#[test]
fn malformed_requests_are_refused_and_the_connection_closed() {
    let server = echoing();
    let long = format!("GET / HTTP/1.1\r\nHost: h\r\nX: {}", "a".repeat(17_000));
    let many = format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "X: a\r\n".repeat(64));
    let chunked = |chunks: &str| {
        format!(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
        )
    };
    let post = |headers: &str| {
        format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n{headers}\r\n\r\n{{}}")
    };
    let get = |headers: &str| format!("GET / HTTP/1.1\r\n{headers}\r\n\r\n");
    let target = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n");
    let cases: Vec<Vec<u8>> = [
        // No HTTP/1.1 or 1.0.
        "GET /\r\n\r\n".into(),
        "GET / HTTP/0.9\r\nHost: h\r\n\r\n".into(),
        "GET / HTTP/1.2\r\nHost: h\r\n\r\n".into(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(),
        "\u{16}\u{3}\u{1}\u{2}".into(),
        "{\"jsonrpc\": \"2.0\"}".into(),
        "\r\n\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n".into(),
        "AMETHODTHATISMUCHTOOLONGTOBEONEATALL".into(),
        // Lines.
        "GET / HTTP/1.1\nHost: h\n\n".into(),
        get("Host: h\r\n folded: x"),
        get("Host: h\r\nA : b"),
        get("Host: h\r\nA\u{0}: b"),
        get("Host: h\r\nA: b\u{0}"),
        get("Host: h\r\n: b"),
        get("Host: h\r\nno colon"),
        long,
        many,
        // Hosts and targets.
        get("X: no host"),
        get("Host: a\r\nHost: a"),
        target("path"),
        target("*"),
        target("/a#b"),
        target("/a%zz"),
        target("/a%ff"),
        target("/?a=%ff"),
        target("/é"),
        target("https://h/"),
        target("http://h?x"),
        "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n".into(),
        // Two readers could see different requests.
        post("Content-Length: 2\r\nTransfer-Encoding: chunked"),
        post("Content-Length: 2\r\nContent-Length: 3"),
        post("Content-Length: 2, 2"),
        post("Content-Length: +2"),
        post("Content-Length: 0x2"),
        post("Content-Length: "),
        post("Content-Length: -1"),
        post("Transfer-Encoding: gzip, chunked"),
        post("Transfer-Encoding: identity"),
        post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n0\r\n\r\n".into(),
        post("Content-Length: 2\r\nExpect: the-unexpected"),
        // Chunks.
        chunked("\r\n"),
        chunked("x\r\n"),
        chunked("-1\r\n"),
        chunked("1\nab"),
        chunked("1\r\nab\r\n"),
        chunked("1\r\na\n0\r\n\r\n"),
        chunked("1\r\r\na\r\n"),
        chunked(" 1\r\na\r\n"),
        chunked(&format!("1;{}", "x".repeat(300))),
        chunked(&format!("0\r\n{}", "T: u\r\n".repeat(900))),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect();
    for case in cases {
        let mut client = Raw::to(&server);
        let got = client.send(&case).answer();
        let shown: String = String::from_utf8_lossy(&case).chars().take(120).collect();
        assert_eq!((got.status, got.code().as_str(), got.closes()), (400, "BAD_REQUEST", true), "{shown:?}");
        client.end().assert_over();
    }
    assert_eq!(once(&server, target("/")).status, 200);
    assert_eq!(once(&server, target("http://h:1/p?q")).json()["path"], "/p");
    assert_eq!(once(&server, post("Content-Length: 2\r\nContent-Length: 2")).status, 200, "the same twice is one");
}

#[test]
fn bodies_must_be_json_within_the_size_limit() {
    let server = echoing();
    let post = |headers: &str, body: &str| format!("POST / HTTP/1.1\r\nHost: h\r\n{headers}\r\n\r\n{body}");
    for (headers, status, code) in [
        ("Content-Length: 2", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("Content-Length: 2\r\nContent-Type: text/plain", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("Content-Length: 2\r\nContent-Type: application/jsonx", 415, "UNSUPPORTED_MEDIA_TYPE"),
        (
            "Content-Length: 2\r\nContent-Type: application/json\r\nContent-Type: text/plain",
            415,
            "UNSUPPORTED_MEDIA_TYPE",
        ),
        (
            "Content-Length: 2\r\nContent-Type: application/json\r\nContent-Encoding: gzip",
            415,
            "UNSUPPORTED_MEDIA_TYPE",
        ),
        ("Transfer-Encoding: chunked", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("Content-Length: 1048577\r\nContent-Type: application/json", 413, "BODY_TOO_LARGE"),
        ("Content-Length: 99999999999999999999999\r\nContent-Type: application/json", 413, "BODY_TOO_LARGE"),
    ] {
        // Before a byte of the body has come.
        let got = once(&server, post(headers, ""));
        assert_eq!((got.status, got.code().as_str(), got.closes()), (status, code, true), "{headers}");
    }
    for chunks in ["100001\r\n", "FFFFFFFFFFFFFFF\r\n", "FFFFFFFFFFFFFFFFFF\r\n"] {
        let headers = "Transfer-Encoding: chunked\r\nContent-Type: application/json";
        assert_eq!(once(&server, post(headers, chunks)).code(), "BODY_TOO_LARGE", "{chunks}");
    }
    let most = " ".repeat(1024 * 1024);
    let headers = "Content-Length: 1048576\r\nContent-Type: Application/JSON ; charset=utf-8";
    assert_eq!(once(&server, post(headers, &most)).json()["body"], most.as_str());
    // Without body: its type is irrelevant.
    assert_eq!(once(&server, post("Content-Length: 0\r\nContent-Type: text/plain", "")).status, 200);
    assert_eq!(once(&server, post("X: y", "")).status, 200);
}

#[test]
fn a_client_that_keeps_sending_receives_the_error() {
    let server = echoing();
    let mut client = Raw::to(&server);
    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n");
    client.send(" ".repeat(3_000_000));
    assert_eq!(client.answer().code(), "BODY_TOO_LARGE");
    client.end().assert_over();
}

#[test]
fn authentication_precedes_the_body() {
    let refuse = |head: &cdpilot_server::http::Head| match head.header("x-key") {
        Some("yes") => Ok(()),
        Some("panic") => panic!("the gate falls"),
        _ => Err(Answer::failure(StatusCode::UNAUTHORIZED, ErrorKind::Unauthorized, "the key is missing")),
    };
    let server = serve_behind(Limits::default(), refuse, echo);
    let post = |key: &str, more: &str| {
        format!(
            "POST / HTTP/1.1\r\nHost: h\r\nX-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n{more}\r\n"
        )
    };
    let mut client = Raw::to(&server);
    let got = client.send(post("no", "")).answer();
    assert_eq!((got.status, got.code().as_str(), got.closes()), (401, "UNAUTHORIZED", true));
    client.send("{}").end().assert_over();
    let mut client = Raw::to(&server);
    assert_eq!(client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n").head().status, 401);
    client.end().assert_over();
    // No `100 Continue` for unauthenticated or refused requests.
    assert_eq!(once(&server, post("no", "Expect: 100-continue\r\n")).status, 401);
    let large = post("yes", "Expect: 100-continue\r\n").replace("Length: 2", "Length: 2000000");
    assert_eq!(once(&server, large).status, 413);
    let mut client = Raw::to(&server);
    assert_eq!(client.send(post("yes", "Expect: 100-continue\r\n")).head().status, 100);
    assert_eq!(client.send("{}").answer().json()["body"], "{}");
    // Without the wait, no `100 Continue` is sent.
    assert_eq!(once(&server, post("yes", "Expect: 100-continue\r\n") + "{}").status, 200);
    assert_eq!(once(&server, post("panic", "")).code(), "INTERNAL");
    assert_eq!(once(&server, post("yes", "") + "{}").status, 200);
}

#[test]
fn a_panicking_handler_results_in_500() {
    let one = Limits { action_threads: 1, ..Limits::default() };
    let server = serve(one, |request| if request.path == "/panic" { panic!("on purpose") } else { echo(request) });
    let mut client = Raw::to(&server);
    for _ in 0..3 {
        let got = client.get("/panic").answer();
        assert_eq!((got.status, got.code().as_str(), got.closes()), (500, "INTERNAL", false));
        assert!(!got.text().contains("on purpose"), "{}", got.text());
        assert_eq!(client.get("/fine").answer().status, 200, "the only worker lives on");
    }
}
