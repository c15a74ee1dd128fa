//! `cdpilot supervise` with other endpoints: headers, tokens and kinds of URLs.

use serde_json::{Value, json};

use crate::cli_run::{Program, Ran};
use crate::support::fake_cdp::Fake;
use crate::support::fake_grid::{Answer, Grid, GridRequest, ID, refusal, session};

fn browser() -> Fake {
    let fake = Fake::start();
    fake.on("Browser.getVersion").reply(json!({
        "protocolVersion": "1.3", "product": "Chrome/1", "revision": "r", "userAgent": "u", "jsVersion": "1"
    }));
    fake
}

/// A grid that also answers as a browser's HTTP endpoint.
fn grid(fake: &Fake) -> Grid {
    Grid::start(Some(fake), |seen: &GridRequest| match (seen.method.as_str(), seen.path.split('?').next()) {
        ("GET", Some("/json/version")) => {
            Answer::Json(200, json!({ "webSocketDebuggerUrl": "ws://inner:1/devtools/browser/hush-path" }))
        }
        ("POST", _) => session(json!({ "se:cdp": format!("ws://node:1/session/{ID}/se/cdp?k=hush-token") })),
        _ => Answer::Json(200, json!({ "value": null })),
    })
}

/// Runs `supervise` with everything logged; stdin ends at once.
fn supervise(url: &str) -> Ran {
    let headers = ["--cdp-header", "X-Key: hush-header", "--cdp-header", "Authorization:Bearer hush-bearer"];
    let ran = Program::new().run(&[&["supervise", "-vv", "--cdp-url", url][..], &headers].concat());
    for secret in ["hush", ID] {
        assert!(!format!("{ran:?}").contains(secret), "{secret}: {ran:?}");
    }
    ran
}

fn has(headers: &[(String, String)], name: &str, value: &str) -> bool {
    headers.iter().filter(|(n, _)| n == name).eq([&(name.to_owned(), value.to_owned())])
}

#[test]
fn attach_sends_headers_and_prints_no_secret() {
    for kind in ["http", "webdriver+http", "ws"] {
        let fake = browser();
        let grid = grid(&fake);
        let url = format!("{kind}://me:hush-word@127.0.0.1:{}/?token=hush-query", grid.port());
        let ran = supervise(&url);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("\"type\":\"ready\""), "{ran:?}");
        for seen in grid.seen() {
            assert!(has(&seen.headers, "x-key", "hush-header"), "{seen:?}");
            assert!(has(&seen.headers, "authorization", "Bearer hush-bearer"), "the header wins: {seen:?}");
            assert!(seen.path.contains("token=hush-query"), "{seen:?}");
        }
        fake.log(|log| {
            let (path, headers) = &log.handshakes[0];
            assert!(has(headers, "x-key", "hush-header") && has(headers, "authorization", "Bearer hush-bearer"));
            assert!(
                path.ends_with(if kind == "webdriver+http" { "k=hush-token" } else { "token=hush-query" }),
                "{path}"
            );
        });
        assert_eq!(grid.count("DELETE"), usize::from(kind == "webdriver+http"));
    }
}

#[test]
fn invalid_headers_are_usage_errors_and_not_quoted() {
    let program = Program::new();
    let bad =
        ["hush", "hush hush: x", ": hush", "X-Hush:", "X: hush\nY: hush", "Host: hush", "Sec-WebSocket-Key: hush"];
    for text in bad {
        let args = ["supervise", "--cdp-url", "localhost:1", "--cdp-header", "X-Ok: 1", "--cdp-header", text];
        for args in [args.to_vec(), [&args[..], &["--json"]].concat()] {
            let ran = program.run(&args);
            assert_eq!(ran.code, Some(2), "{ran:?}");
            let shown = format!("{ran:?}").to_lowercase();
            assert!(shown.contains("--cdp-header number 2") && !shown.contains("hush"), "{ran:?}");
        }
    }
    let ran = program.run(&["supervise", "--launch", "--cdp-header", "X-Key: hush", "--json"]);
    assert_eq!((ran.code, format!("{ran:?}").contains("hush")), (Some(2), false), "{ran:?}");
    let ran = program.run(&["supervise", "wss://me:hush@h/hush?token=hush"]);
    assert_eq!((ran.code, format!("{ran:?}").contains("hush")), (Some(2), false), "{ran:?}");
}

#[test]
fn failures_of_webdriver_backends_have_codes() {
    let response = |url: &str| -> (Option<i32>, Value) {
        let ran = Program::new().run(&["supervise", "--json", "--timeout", "2000", "--cdp-url", url]);
        assert!(!format!("{ran:?}").contains("hush"), "{ran:?}");
        (ran.code, ran.json())
    };
    let (exit, rest) = response("rest+https://me:hush@127.0.0.1:1/hush");
    assert_eq!((exit, &rest["code"]), (Some(3), &json!("BROWSER_ERROR")), "{rest}");
    assert!(rest["error"].as_str().unwrap().contains("supervision is not available"), "{rest}");
    let cases = [
        (refusal(500, "session not created", "queue is full, hush"), "BROWSER_ERROR"),
        (Answer::Raw("HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n".to_owned()), "BROWSER_NOT_RUNNING"),
        (Answer::Never, "TIMEOUT"),
    ];
    for (answer, code) in cases {
        let grid = Grid::with_session(None, answer);
        let (exit, failure) = response(&format!("webdriver+http://me:hush@127.0.0.1:{}/hush", grid.port()));
        assert_eq!((exit, &failure["code"]), (Some(3), &json!(code)), "{failure}");
    }
}
