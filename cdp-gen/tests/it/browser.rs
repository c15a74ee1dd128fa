//! Import from and comparison with a running browser, played by a socket.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

use cdp_gen::import::{Import, from_browser, marks_of};
use cdp_gen::schema::{Event, Shape};
use cdp_gen::{diff, http, pinned};

use crate::support::{failure, synthetic};

/// Answers one connection after the other with the given bytes; gives the address.
// The library's `sync::spawn` is not for this crate; the threads are joined.
#[allow(clippy::disallowed_methods)]
fn serve(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 1024];
            let count = stream.read(&mut buffer).unwrap();
            requests.push(String::from_utf8_lossy(&buffer[..count]).into_owned());
            stream.write_all(answer.as_bytes()).unwrap();
        }
        requests
    });
    (address, thread)
}

fn with_length(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn chunked(body: &str) -> String {
    let mut out = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
    let bytes = body.as_bytes();
    for chunk in bytes.chunks(bytes.len() / 3 + 1) {
        out += &format!("{:x};note=1\r\n{}\r\n", chunk.len(), String::from_utf8_lossy(chunk));
    }
    out + "0\r\n\r\n"
}

/// The pinned protocol as a browser tells it: whole, and with binary marks lost.
fn told() -> String {
    pinned::to_json(&pinned::protocol().unwrap()).replace("\"binary\"", "\"string\"")
}

#[test]
fn answers_of_every_framing_are_read() {
    let until_close = "HTTP/1.0 200 OK\r\n\r\nbody".to_owned();
    let (address, thread) = serve(vec![with_length("body"), chunked("body"), until_close]);
    for _ in 0..3 {
        assert_eq!(http::get(&format!("{address}/json/protocol")).unwrap(), "body");
    }
    let requests = thread.join().unwrap();
    let request = requests[0].to_ascii_lowercase();
    assert!(
        request.starts_with("get /json/protocol http/1.1\r\n") && request.contains("\r\nhost: 127.0.0.1:"),
        "{request}"
    );
}

#[test]
fn bad_answers_are_told() {
    for (answer, message) in [
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "answered with status 404"),
        ("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", ""),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", ""),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", ""),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", ""),
        ("hello", ""),
    ] {
        let (address, thread) = serve(vec![answer.to_owned()]);
        let problem = failure(http::get(&format!("{address}/json/protocol")));
        assert!(problem.starts_with(&address) && problem.ends_with(message), "{answer:?}: {problem}");
        thread.join().unwrap();
    }
    assert!(failure(http::get("https://x")).ends_with("must begin with http://"));
    assert!(http::get("http://127.0.0.1:1/").is_err());
}

/// Chromium 156 tells them; other implementers and older versions do not.
#[test]
fn import_from_a_browser_keeps_the_binary_marks() {
    let about = r#"{"Browser":"Chrome/1.2","Protocol-Version":"1.3"}"#;
    let with_marks = pinned::to_json(&pinned::protocol().unwrap());
    for body in [told(), with_marks] {
        let (address, thread) = serve(vec![with_length(about), chunked(&body)]);
        let import = Import::from_browser(&address).unwrap();
        thread.join().unwrap();
        assert_eq!(import.version, "Chrome/1.2\nprotocol 1.3\n");
        assert_eq!((import.browser.domains.len(), import.js.domains.len()), (53, 6));
        let mut whole = import.browser.clone();
        whole.merge(import.js.clone()).unwrap();
        assert_eq!(whole, pinned::protocol().unwrap());
        assert_eq!(import.marks, marks_of(&whole));
    }
}

#[test]
fn same_protocols_have_no_differences() {
    let (address, thread) = serve(vec![with_length(&told())]);
    let browser = from_browser(&address).unwrap();
    thread.join().unwrap();
    assert_eq!(diff::diff(&pinned::protocol().unwrap(), &browser), Vec::<String>::new());
}

#[test]
fn differences_are_listed_once_each() {
    let left = synthetic();
    let mut right = synthetic();
    right.domains.remove("Old");
    let alpha = right.domains.get_mut("Alpha").unwrap();
    alpha.commands.remove("match");
    alpha.types.remove("Point");
    alpha.events.insert("fresh".to_owned(), Event::default());
    alpha.events.get_mut("moved").unwrap().fields[1].shape = Shape::Number;
    alpha.commands.get_mut("runOnDOMNodes").unwrap().returns.remove(0);
    if let Shape::Enum(values) = &mut alpha.types.get_mut("Kind").unwrap().shape {
        values.retain(|value| value != "3d");
        values.push("4d".to_owned());
    }
    assert_eq!(
        diff::diff(&left, &right),
        [
            "- Alpha.commands.match",
            "- Alpha.commands.runOnDOMNodes.returns.node",
            "+ Alpha.events.fresh",
            "~ Alpha.events.moved.count: integer -> number",
            "- Alpha.types.Kind.3d",
            "+ Alpha.types.Kind.4d",
            "- Alpha.types.Point",
            "- Old",
        ]
    );
}
