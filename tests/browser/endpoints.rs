//! Browser endpoints: parsed, redacted, and resolved.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Instant;

use cdpilot::browser::{Endpoint, Error, Resolve, redact, resolve};
use cdpilot::sync::{Deadline, Thread, spawn};

#[test]
fn endpoint_urls_are_parsed() {
    let read = |text| Endpoint::parse(text).map(|e| e.url()).unwrap();
    assert_eq!(read("ws://h:1/devtools/browser/x?token=t"), "ws://h:1/devtools/browser/x?token=t");
    assert_eq!(read("wss://h"), "wss://h:443/");
    assert_eq!(read(" http://h:81/a "), "http://h:81/a");
    assert_eq!(read("h:4000"), "http://h:4000/");
    assert_eq!(read("4000"), "http://127.0.0.1:4000/");
    assert_eq!(read("[::1]:4000"), "http://[::1]:4000/");
    assert_eq!(read("https://u:p@[fe80::1]/x"), "https://[fe80::1]:443/x");
    assert!(Endpoint::parse("localhost:1").unwrap().is_loopback());
    assert!(Endpoint::parse("[::1]:1").unwrap().is_loopback());
    assert!(Endpoint::parse("127.9.9.9:1").unwrap().is_loopback());
    assert!(!Endpoint::parse("localhost.evil.test:1").unwrap().is_loopback());
    for bad in ["", "ftp://h:1", "webdriver+http://h:1", "ws://", "http://h:99999", "http://h:0", "h:port", "ws:// x"] {
        let error = Endpoint::parse(bad).unwrap_err();
        assert!(matches!(error, Error::BadUrl { .. }), "{bad}: {error:?}");
    }
}

#[test]
fn a_displayed_endpoint_contains_no_secret() {
    let endpoint = Endpoint::parse("wss://me:hush@grid.example:7/devtools/browser/hush?token=hush").unwrap();
    assert_eq!(endpoint.to_string(), "wss://grid.example:7/…");
    for (plain, shown) in
        [("http://u:hush@h:1", "http://h:1"), ("http://h:1/", "http://h:1"), ("h:1/?hush", "http://h:1/…")]
    {
        assert_eq!(Endpoint::parse(plain).unwrap().to_string(), shown);
    }
    assert!(!format!("{endpoint:?}").contains("hush"));
    assert_eq!(endpoint.authorization().unwrap(), "Basic bWU6aHVzaA==");
    assert_eq!(Endpoint::parse("ws://a%3Ab:%40@h:1").unwrap().authorization().unwrap(), "Basic YTpiOkA=");
    for bad in ["ftp://me:hush@h", "ws://me:hush@h:hush/hush"] {
        let error = Endpoint::parse(bad).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
    }
}

#[test]
fn texts_are_redacted() {
    let same = ["nothing here", "see http://docs.example/page for help", "a :// b"];
    for text in same {
        assert_eq!(redact(text), text);
    }
    assert_eq!(redact("on ws://127.0.0.1:1/devtools/browser/s3cret\nnext"), "on ws://127.0.0.1:1/…\nnext");
    assert_eq!(redact("(wss://u:s3cret@h/x?token=s3cret)"), "(wss://h/…)");
    assert_eq!(
        redact("\"ws://[::1]:1/devtools/browser/s3cret\" or http://u:s3cret@h/a"),
        "\"ws://[::1]:1/…\" or http://h/…"
    );
    assert_eq!(redact("https://h/json?token=s3cret"), "https://h/…");
    assert_eq!(redact("http://h:1/devtools/page/s3cret"), "http://h:1/…");
    assert_eq!(redact("at webdriver+http://u:s3cret@h/wd/hub/session/s3cret."), "at webdriver+http://h/…");
}

/// Answers `answers` requests of one connection each and hands back their heads.
fn http(answers: Vec<String>) -> (u16, Thread, std::sync::mpsc::Receiver<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, heads) = std::sync::mpsc::sync_channel(8);
    let thread = spawn("test-http", move || {
        for answer in answers {
            let (socket, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(&socket).lines().map_while(Result::ok);
            let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
            let _ = (&socket).write_all(answer.as_bytes());
            let _ = send.send(head);
        }
    })
    .unwrap();
    (port, thread, heads)
}

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

fn version(url: &str) -> String {
    answer("200 OK", &format!(r#"{{"Browser":"Chrome/1","webSocketDebuggerUrl":"{url}"}}"#))
}

fn resolved(url: &str, profiles: Vec<PathBuf>) -> Result<Endpoint, Error> {
    let headers = [("X-Key".to_owned(), "k".to_owned())];
    resolve(&Endpoint::parse(url)?, &Resolve::new(crate::support::soon()).headers(&headers).profiles(profiles))
}

#[test]
fn a_websocket_url_needs_no_discovery_request() {
    let url = "ws://127.0.0.1:1/devtools/browser/x";
    assert_eq!(resolved(url, vec![]).unwrap().url(), url);
}

#[test]
fn discovery_replaces_the_host_that_the_browser_reports() {
    let (port, thread, heads) = http(vec![version("ws://chrome-7.inner:9333/devtools/browser/abc")]);
    let found = resolved(&format!("http://127.0.0.1:{port}"), vec![]).unwrap();
    assert_eq!(found.url(), format!("ws://127.0.0.1:{port}/devtools/browser/abc"));
    let head = heads.recv().unwrap();
    assert_eq!(head[0], "GET /json/version HTTP/1.1");
    assert!(head.iter().any(|line| line.eq_ignore_ascii_case("x-key: k")), "{head:?}");
    thread.join();
}

#[test]
fn token_user_and_path_of_the_url_are_kept() {
    let (port, thread, heads) = http(vec![version("ws://inner:1/devtools/browser/abc")]);
    let found = resolved(&format!("http://me:pw@127.0.0.1:{port}/chrome/?token=t"), vec![]).unwrap();
    assert_eq!(found.url(), format!("ws://127.0.0.1:{port}/chrome/devtools/browser/abc?token=t"));
    assert_eq!(found.authorization().unwrap(), "Basic bWU6cHc=");
    let head = heads.recv().unwrap();
    assert_eq!(head[0], "GET /chrome/json/version?token=t HTTP/1.1");
    assert!(head.iter().any(|line| line.eq_ignore_ascii_case("authorization: Basic bWU6cHc=")), "{head:?}");
    thread.join();
}

#[test]
fn a_path_prefix_is_not_duplicated() {
    let (port, thread, heads) = http(vec![version("ws://inner:1/p/devtools/browser/abc?k=1")]);
    let found = resolved(&format!("http://127.0.0.1:{port}/p/json/version?token=t"), vec![]).unwrap();
    assert_eq!(found.url(), format!("ws://127.0.0.1:{port}/p/devtools/browser/abc?k=1"), "its own query wins");
    assert_eq!(heads.recv().unwrap()[0], "GET /p/json/version?token=t HTTP/1.1");
    thread.join();
}

#[test]
fn without_json_version_the_url_comes_from_devtools_active_port() {
    let folder = tempfile::tempdir().unwrap();
    let (port, thread, _heads) = http(vec![answer("404 Not Found", ""), answer("404 Not Found", "")]);
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("DevToolsActivePort"), "1\n/devtools/browser/other").unwrap();
    let url = format!("http://localhost:{port}");
    let profiles = vec![PathBuf::from("/no/such/profile"), other.path().to_owned(), folder.path().to_owned()];

    let error = resolved(&url, profiles.clone()).unwrap_err();
    assert!(matches!(error, Error::NotCdp { .. }) && error.to_string().contains("DevToolsActivePort"), "{error}");

    std::fs::write(folder.path().join("DevToolsActivePort"), format!("{port}\n/devtools/browser/abc\n")).unwrap();
    assert_eq!(resolved(&url, profiles).unwrap().url(), format!("ws://localhost:{port}/devtools/browser/abc"));
    thread.join();
}

#[test]
fn non_browsers_and_closed_ports_are_different_errors() {
    let answers = [
        answer("200 OK", "<html>hello</html>"),
        answer("200 OK", "{}"),
        answer("401 Unauthorized", ""),
        answer("302 Found", ""),
        "SSH-2.0-OpenSSH_9.2\r\n".to_owned(),
    ];
    for body in answers {
        let (port, thread, _heads) = http(vec![body.clone()]);
        let error = resolved(&format!("http://u:hush@127.0.0.1:{port}/?token=hush"), vec![]).unwrap_err();
        assert!(matches!(error, Error::NotCdp { .. }), "{body}: {error:?}");
        assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
        thread.join();
    }
    let (port, thread, _heads) = http(vec![answer("200 OK", "")]);
    drop(std::net::TcpStream::connect(("127.0.0.1", port)).unwrap());
    thread.join(); // nobody listens there any more
    let error = resolved(&format!("127.0.0.1:{port}"), vec![]).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}

#[test]
fn a_host_name_that_chromium_rejects_is_requested_by_ip_address() {
    let refusal = "Host header is specified and is not an IP address or localhost.";
    let inner = version("ws://127.0.0.1:1/devtools/browser/abc");
    let (port, thread, heads) = http(vec![answer("500 Internal Server Error", refusal), inner]);
    let found = resolved(&format!("http://localhost:{port}"), vec![]);
    let heads = [heads.recv().unwrap(), heads.recv().unwrap()];
    assert!(heads[1].iter().any(|line| line.eq_ignore_ascii_case(&format!("host: 127.0.0.1:{port}"))), "{heads:?}");
    assert_eq!(found.unwrap().url(), format!("ws://127.0.0.1:{port}/devtools/browser/abc"));
    thread.join();
}

#[test]
fn a_silent_server_fails_at_the_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let requested = Endpoint::parse(&listener.local_addr().unwrap().to_string()).unwrap();
    let began = Instant::now();
    let how = Resolve::new(Deadline::after_millis(300));
    let error = resolve(&requested, &how).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert!(began.elapsed() < crate::support::LIMIT, "{:?}", began.elapsed());
}
