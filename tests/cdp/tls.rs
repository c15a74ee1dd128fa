//! `wss://`: the same behaviour as without TLS, and certificates.

use std::io::{Read as _, Write as _};

use cdpilot::cdp::protocol::{browser, runtime};
use cdpilot::cdp::{CloseReason, ConnectOptions, Connection, Error, TimeoutKind, http};
use cdpilot::sync::{Deadline, Thread, spawn};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use tungstenite::Message;

use crate::support::fake_cdp::{Fake, soon};
use crate::support::tls::server;

const ROOT: &[u8] = include_bytes!("../../crates/testkit/data/tls/root.pem");
const LARGE: usize = 5 * 1024 * 1024;

/// A browser behind TLS. Answers echo the length of the request; `Test.large` is answered with 5 MB,
/// `Test.refresh` changes the keys of the connection, `Test.close` ends it.
fn browser() -> Fake {
    Fake::script(|socket| {
        let Ok(mut socket) = tungstenite::accept(server(socket)) else { return };
        while let Ok(message) = socket.read() {
            let Message::Text(text) = message else { continue };
            let request: Value = serde_json::from_str(&text).unwrap();
            let result = match request["method"].as_str().unwrap() {
                "Test.large" => json!({"text": "x".repeat(LARGE)}),
                "Test.close" => {
                    let _ = socket.close(None);
                    continue;
                }
                "Test.refresh" => {
                    // Asks the client for new keys of its own too; it answers with its next message.
                    socket.get_mut().conn.refresh_traffic_keys().unwrap();
                    json!({})
                }
                _ => json!({"bytes": text.len()}),
            };
            let answer = json!({"id": request["id"], "result": result}).to_string();
            if socket.send(Message::text(answer)).is_err() {
                return;
            }
        }
    })
}

fn address(fake: &Fake) -> String {
    format!("wss://localhost:{}/devtools/browser/secret", fake.port())
}

fn trusting() -> ConnectOptions {
    ConnectOptions::default().tls_roots(vec![ROOT.to_vec()])
}

fn connect(fake: &Fake) -> Connection {
    Connection::connect(&address(fake), &trusting()).unwrap()
}

fn call(connection: &Connection, method: &'static str) -> Value {
    connection.call_raw(method, &json!({}), soon()).unwrap().value().unwrap()
}

#[test]
fn calls_work_over_tls() {
    let fake = browser();
    let connection = connect(&fake);
    for _ in 0..100 {
        assert!(call(&connection, "Test.echo")["bytes"].as_u64().unwrap() > 20);
    }
    // Many under way, from several threads.
    let threads: Vec<Thread> = (0..4)
        .map(|n| {
            let connection = connection.clone();
            let body = move || {
                let replies: Vec<_> =
                    (0..50).map(|_| connection.send(&runtime::Evaluate::new("1".repeat(100))).unwrap()).collect();
                drop(replies);
                call(&connection, "Test.echo");
            };
            spawn(format!("caller-{n}"), body).unwrap()
        })
        .collect();
    threads.into_iter().for_each(Thread::join);
    assert_eq!(connection.counters().in_flight, 0);
}

#[test]
fn large_messages_work_over_tls_in_both_directions() {
    let fake = browser();
    let connection = connect(&fake);
    for _ in 0..2 {
        assert_eq!(call(&connection, "Test.large")["text"].as_str().unwrap().len(), LARGE);
        let params = json!({"text": "y".repeat(LARGE)});
        let answer = connection.call_raw("Test.echo", &params, soon()).unwrap().value().unwrap();
        assert!(answer["bytes"].as_u64().unwrap() > LARGE as u64);
    }
}

#[test]
fn partial_tls_writes_are_completed() {
    let (go, gate) = crossbeam_channel::bounded::<()>(1);
    let fake = Fake::script(move |socket| {
        let Ok(mut socket) = tungstenite::accept(server(socket)) else { return };
        let _ = gate.recv();
        while let Ok(message) = socket.read() {
            let Message::Text(text) = message else { continue };
            let id = serde_json::from_str::<Value>(&text).unwrap()["id"].clone();
            let _ = socket.send(Message::text(json!({"id": id, "result": {"bytes": text.len()}}).to_string()));
        }
    });
    let connection = connect(&fake);
    let params = json!({"text": "z".repeat(2 * LARGE)});
    let error = connection.call_raw("Test.echo", &params, Deadline::after_millis(200)).unwrap_err();
    assert!(matches!(error, Error::Timeout { kind: TimeoutKind::Send, .. }), "{error:?}");
    // Queued behind the rest of the first.
    let later = connection.send(&runtime::Evaluate::new("1")).unwrap();
    go.send(()).unwrap();
    assert!(call(&connection, "Test.echo")["bytes"].as_u64().unwrap() < 100);
    drop(later);
    assert_eq!(connection.counters().unknown_answers, 0);
}

#[test]
fn a_root_certificate_in_der_is_accepted() {
    let fake = browser();
    let der = CertificateDer::from_pem_slice(ROOT).unwrap().to_vec();
    let options = ConnectOptions::default().tls_roots(vec![der]);
    call(&Connection::connect(&address(&fake), &options).unwrap(), "Test.echo");
}

#[test]
fn key_updates_are_supported() {
    let fake = browser();
    let connection = connect(&fake);
    for _ in 0..3 {
        call(&connection, "Test.refresh");
        call(&connection, "Test.large");
    }
}

#[test]
fn either_side_may_close_the_connection() {
    let fake = browser();
    let connection = connect(&fake);
    connection.close();
    assert_eq!(connection.close_reason(), Some(CloseReason::Local));

    let connection = connect(&fake);
    let error = connection.call_raw("Test.close", &json!({}), soon()).unwrap_err();
    assert!(error.is_closed(), "{error:?}");
    assert!(matches!(connection.close_reason(), Some(CloseReason::Remote { .. })), "{:?}", connection.close_reason());
    let version = connection.call(&browser::GetVersion::new(), soon());
    assert!(version.unwrap_err().is_closed());
}

/// The problem of a refused connection, after a look whether it gives the address away.
fn problem(address: &str, options: &ConnectOptions) -> String {
    let error = Connection::connect(address, options).unwrap_err();
    let shown = format!("{error} {error:?}");
    for part in ["localhost", "127.0.0.1", "secret"] {
        assert!(!shown.contains(part), "{shown}");
    }
    let Error::Connect { problem } = error else { panic!("{error:?}") };
    problem
}

#[test]
fn an_untrusted_certificate_is_refused() {
    let fake = browser();
    let problem = problem(&address(&fake), &ConnectOptions::default());
    assert!(problem.contains("not trusted"), "{problem}");
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let fake = browser();
    let problem = problem(&format!("wss://127.0.0.1:{}/secret", fake.port()), &trusting());
    assert!(problem.contains("different host name"), "{problem}");
}

#[test]
fn an_invalid_root_certificate_is_reported() {
    let fake = browser();
    for root in [b"nothing".to_vec(), Vec::new(), b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n".to_vec()]
    {
        let options = ConnectOptions::default().tls_roots(vec![root]);
        let problem = problem(&address(&fake), &options);
        assert!(problem.contains("root certificate"), "{problem}");
    }
}

#[test]
fn a_peer_without_tls_is_reported() {
    let fake = Fake::script(|mut socket| {
        let mut some = [0; 16];
        let _ = socket.read(&mut some);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let problem = problem(&address(&fake), &trusting());
    assert!(problem.contains("does not speak TLS"), "{problem}");
    // Nor does it hang on who says nothing and goes.
    let fake = Fake::script(drop);
    assert!(!self::problem(&address(&fake), &trusting()).is_empty());
}

#[test]
fn a_silent_handshake_ends_at_the_deadline() {
    let fake = Fake::silent_handshake();
    let options = trusting().connect_timeout(std::time::Duration::from_millis(200));
    let error = Connection::connect(&address(&fake), &options).unwrap_err();
    assert!(matches!(error, Error::Timeout { kind: TimeoutKind::Handshake, .. }), "{error:?}");
}

#[test]
fn https_discovery_works() {
    let fake = Fake::script(|socket| {
        let mut tls = server(socket);
        let mut some = [0; 1024];
        let _ = tls.read(&mut some);
        let _ = tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
        let _ = tls.flush();
    });
    let address = format!("https://localhost:{}/json/version", fake.port());
    let roots = [ROOT.to_vec()];
    let answer = http::get_trusting(&address, &[], &roots, crate::support::soon()).unwrap();
    assert_eq!(answer, (200, b"{}".to_vec()));
    assert!(http::get(&address, &[], crate::support::soon()).is_err());
}

/// Driver and browser behind one port: the session, the browser's connection, the deletion.
#[test]
fn webdriver_sessions_work_over_tls() {
    use cdpilot::browser::{AttachOptions, BrowserProcess};
    let (tell, answer) = crossbeam_channel::bounded(8);
    let turn = std::sync::atomic::AtomicUsize::new(0);
    let fake = Fake::script(move |socket| {
        let mut tls = server(socket);
        if turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 1 {
            let tell = tell.clone();
            #[allow(clippy::result_large_err)] // tungstenite's type
            let upgrade = move |request: &tungstenite::handshake::server::Request, response| {
                let _ = tell.send(format!("{} {:?}", request.uri(), request.headers()));
                Ok(response)
            };
            let Ok(mut socket) = tungstenite::accept_hdr(tls, upgrade) else { return };
            while let Ok(Message::Text(text)) = socket.read() {
                let id = serde_json::from_str::<Value>(&text).unwrap()["id"].clone();
                let version = json!({
                    "protocolVersion": "1.3", "product": "Chrome/1", "revision": "", "userAgent": "", "jsVersion": ""
                });
                let _ = socket.send(Message::text(json!({ "id": id, "result": version }).to_string()));
            }
            return;
        }
        let mut text = Vec::new();
        let whole = |text: &str| !text.starts_with("POST") || text.ends_with('}');
        while !std::str::from_utf8(&text).is_ok_and(|text| text.contains("\r\n\r\n") && whole(text)) {
            let mut some = [0; 1024];
            let Ok(came @ 1..) = tls.read(&mut some) else { return };
            text.extend_from_slice(&some[..came]);
        }
        let _ = tell.send(String::from_utf8_lossy(&text).into_owned());
        let capabilities = json!({ "se:cdp": "ws://node:4444/session/abc/se/cdp" });
        let body = json!({ "value": { "sessionId": "abc", "capabilities": capabilities } }).to_string();
        let _ = write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let _ = tls.flush();
    });
    let mut options = AttachOptions::from(trusting());
    options.connect.headers.push(("X-Key".to_owned(), "k".to_owned()));
    options.webdriver.keep_alive = None;
    let url = format!("webdriver+https://me:pw@localhost:{}/?token=t", fake.port());
    let browser = BrowserProcess::attach_with(&url, &options).unwrap();
    assert_eq!(browser.endpoint().unwrap().to_string(), format!("wss://localhost:{}/…", fake.port()));
    browser.close(crate::support::soon()).unwrap();
    for start in ["POST /session?token=t", "/session/abc/se/cdp?token=t", "DELETE /session/abc?token=t"] {
        let came: String = answer.recv().unwrap();
        assert!(came.starts_with(start), "{came}");
        let lower = came.to_ascii_lowercase();
        assert!(
            lower.contains("x-key") && lower.contains("authorization") && came.contains("Basic bWU6cHc="),
            "{came}"
        );
    }
}
