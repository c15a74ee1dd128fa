//! Browsers from WebDriver servers: a fake grid in front of a fake browser.

use std::time::{Duration, Instant};

use cdpilot::browser::{AttachOptions, Backend, BrowserProcess, Error, Surface, WebDriverProblem};
use cdpilot::cdp::ConnectOptions;
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::fake_cdp::{Fake, soon};
use crate::support::fake_grid::{Answer, Grid, GridRequest, ID, refusal, session};
use crate::support::leaks::{Baseline, alone};

fn browser() -> Fake {
    let fake = Fake::start();
    fake.on("Browser.getVersion").reply(json!({
        "protocolVersion": "1.3", "product": "Chrome/1", "revision": "r", "userAgent": "u", "jsVersion": "1"
    }));
    fake
}

/// What a node in a container tells: its inner address.
fn inner() -> Value {
    json!({ "browserName": "chrome", "se:cdp": format!("ws://172.20.0.3:4444/session/{ID}/se/cdp") })
}

fn options() -> AttachOptions {
    let mut options = AttachOptions::default();
    options.connect.headers = vec![("X-Key".to_owned(), "hush-header".to_owned())];
    options.webdriver.keep_alive = None;
    options
}

fn failed(url: &str, options: &AttachOptions) -> Error {
    let error = BrowserProcess::attach_with(url, options).unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("hush") && !shown.contains(ID), "{shown}");
    error
}

fn problem(error: Error) -> WebDriverProblem {
    let Error::WebDriver { problem, .. } = error else { panic!("{error:?}") };
    problem
}

#[test]
fn webdriver_and_cdp_urls_are_distinguished() {
    let kind = |text: &str| Backend::parse(text).map(|backend| backend.to_string());
    assert_eq!(kind("wss://u:hush@h/hush?hush").unwrap(), "wss://h:443/…");
    assert_eq!(kind("4000").unwrap(), "http://127.0.0.1:4000");
    assert_eq!(kind("WebDriver+HTTP://u:hush@h:4444/hush?hush").unwrap(), "webdriver+http://h:4444/…");
    assert_eq!(kind(" webdriver+https://h ").unwrap(), "webdriver+https://h:443");
    assert_eq!(kind("rest+http://u:hush@h/api").unwrap(), "rest+http://h:80/…");
    for bad in
        ["webdriver+ws://h", "webdriver+h:4444", "webdriver+4444", "rest+wss://h", "rest+", "webdriver+", "bidi+ws://h"]
    {
        assert!(matches!(Backend::parse(bad), Err(Error::BadUrl { .. })), "{bad}");
    }
    let rest = Backend::parse("rest+http://h").unwrap();
    assert!(!rest.has_cdp() && rest.hidden() == Surface::ALL);
    let grid = Backend::parse("webdriver+http://h").unwrap();
    assert!(grid.has_cdp() && grid.hidden().is_empty() && grid.endpoint().port() == 80);
    assert!(!format!("{:?}", kind("webdriver+http://u:hush@h/hush")).contains("hush"));
}

#[test]
fn without_cdp_there_is_no_supervision() {
    let error = failed("rest+http://me:hush@127.0.0.1:1/api?hush", &options());
    assert!(error.is_without_cdp(), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("rest+http://127.0.0.1:1/…") && text.contains("dialogs, frames, console"), "{text}");

    // As geckodriver answers.
    for capabilities in [json!({ "browserName": "firefox", "moz:processID": 1 }), json!({ "se:cdp": "" })] {
        let grid = Grid::with_session(None, session(capabilities));
        let error = failed(&grid.address(), &options());
        assert!(error.is_without_cdp() && error.to_string().contains("webdriver+http://"), "{error}");
        assert_eq!(grid.count("DELETE"), 1);
    }
}

#[test]
fn a_session_is_created_used_and_deleted() {
    let fake = browser();
    let grid = Grid::with_session(Some(&fake), session(inner()));
    let url = format!("webdriver+http://me:hush@127.0.0.1:{}/wd/hub/?token=hush-query", grid.port());
    let mut requested = options();
    requested.webdriver.capabilities.insert("se:name".to_owned(), "mine".into());
    requested.webdriver.capabilities.insert("unhandledPromptBehavior".to_owned(), "accept".into());
    assert!(!format!("{requested:?}").contains("hush") && !format!("{requested:?}").contains("mine"));
    let browser = BrowserProcess::attach_with(&url, &requested).unwrap();

    assert!(browser.is_ours() && browser.pid().is_none());
    assert_eq!(browser.webdriver().unwrap().origin(), format!("http://127.0.0.1:{}", grid.port()));
    assert_eq!(browser.version().product, "Chrome/1");
    let place = format!("ws://127.0.0.1:{}/session/{ID}/se/cdp?token=hush-query", grid.port());
    assert_eq!(browser.endpoint().unwrap().url(), place, "the place that was asked, with its token");
    assert!(!format!("{browser:?}").contains("hush") && !format!("{browser:?}").contains(ID));

    let seen = grid.seen();
    assert_eq!((seen.len(), seen[0].method.as_str()), (1, "POST"));
    assert_eq!(seen[0].path, "/wd/hub/session?token=hush-query");
    assert_eq!(seen[0].header("authorization"), Some("Basic bWU6aHVzaA=="));
    assert_eq!(seen[0].header("x-key"), Some("hush-header"));
    assert!(seen[0].header("content-type").unwrap().starts_with("application/json"));
    let wanted = &seen[0].body["capabilities"]["alwaysMatch"];
    assert_eq!((&wanted["browserName"], &wanted["se:name"]), (&json!("chrome"), &json!("mine")));
    assert_eq!(wanted["unhandledPromptBehavior"], "ignore", "dialogs are ours");
    assert!(wanted["goog:chromeOptions"]["args"].is_array());

    fake.log(|log| {
        let (path, headers) = &log.handshakes[0];
        assert_eq!(*path, format!("/session/{ID}/se/cdp?token=hush-query"));
        for (name, value) in [("x-key", "hush-header"), ("authorization", "Basic bWU6aHVzaA==")] {
            assert!(headers.contains(&(name.to_owned(), value.to_owned())), "{headers:?}");
        }
    });
    browser.close(soon()).unwrap();
    let last = grid.seen().pop().unwrap();
    assert_eq!(
        (last.method.as_str(), last.path.as_str()),
        ("DELETE", &*format!("/wd/hub/session/{ID}?token=hush-query"))
    );
    assert_eq!((last.header("x-key"), grid.count("DELETE")), (Some("hush-header"), 1));
}

#[test]
fn a_token_in_the_reported_address_is_kept() {
    let fake = browser();
    // A name from a network of containers, behind a proxy that puts a path before everything.
    let response = json!({ "se:cdp": format!("ws://node-chrome:5555/session/{ID}/se/cdp?k=own") });
    let grid = Grid::with_session(Some(&fake), session(response));
    let browser =
        BrowserProcess::attach_with(&format!("{}/grid/wd/hub/session?token=t", grid.address()), &options()).unwrap();
    let place = format!("ws://127.0.0.1:{}/grid/session/{ID}/se/cdp?k=own", grid.port());
    assert_eq!(browser.endpoint().unwrap().url(), place);
    drop(browser);
    assert_eq!(grid.seen().pop().unwrap().path, format!("/grid/wd/hub/session/{ID}?token=t"));
}

#[test]
fn a_cdp_url_on_another_host_is_used_unchanged_without_secrets() {
    let fake = browser();
    let response = format!("ws://localhost:{}/cdp/of/mine?own=1", fake.port());
    let grid = Grid::with_session(None, session(json!({ "se:cdp": response })));
    let url = format!("webdriver+http://me:hush@127.0.0.1:{}/?token=hush", grid.port());
    let browser = BrowserProcess::attach_with(&url, &options()).unwrap();
    assert_eq!(browser.endpoint().unwrap().url(), response);
    fake.log(|log| {
        let (path, headers) = &log.handshakes[0];
        assert_eq!(path, "/cdp/of/mine?own=1");
        assert!(!headers.iter().any(|(name, _)| name == "x-key" || name == "authorization"), "{headers:?}");
    });
    // Nor is a public name replaced, though the path is the grid's. No address is at hand that would
    // answer: port 9 of a network for examples.
    let response = json!({ "se:cdp": format!("ws://203.0.113.7:9/session/{ID}/se/cdp") });
    let grid = Grid::with_session(Some(&fake), session(response));
    let mut hasty = options();
    hasty.connect.connect_timeout = Duration::from_millis(300);
    let error = failed(&grid.address(), &hasty);
    assert!(matches!(error, Error::Cdp(_) | Error::Unreachable { .. }), "{error:?}");
    assert_eq!(fake.log(|log| log.handshakes.len()), 1);
    assert_eq!(grid.count("DELETE"), 1);
}

#[test]
fn a_debugger_address_is_resolved_to_its_websocket_url() {
    let fake = browser();
    let version = json!({ "webSocketDebuggerUrl": format!("ws://127.0.0.1:{}/devtools/browser/x", fake.port()) });
    // The same port plays driver and browser here.
    let grid = Grid::start(Some(&fake), move |seen: &GridRequest| match (seen.method.as_str(), seen.path.as_str()) {
        ("GET", "/json/version") => Answer::Json(200, version.clone()),
        ("POST", _) => {
            let place = seen.header("host").unwrap();
            session(json!({ "browserName": "msedge", "ms:edgeOptions": { "debuggerAddress": place } }))
        }
        _ => Answer::Json(200, json!({ "value": null })),
    });
    let mut requested = options();
    requested.webdriver.capabilities.insert("browserName".to_owned(), "MicrosoftEdge".into());
    let browser = BrowserProcess::attach_with(&grid.address(), &requested).unwrap();
    assert_eq!(browser.endpoint().unwrap().url(), format!("ws://127.0.0.1:{}/devtools/browser/x", grid.port()));
    let wanted = &grid.seen()[0].body["capabilities"]["alwaysMatch"];
    assert!(wanted.get("ms:edgeOptions").is_some() && wanted.get("goog:chromeOptions").is_none(), "{wanted}");
}

/// Linux connects to this machine at 0.0.0.0, which is not a loopback address by its name.
#[cfg(target_os = "linux")]
#[test]
fn a_loopback_address_of_a_remote_server_is_reported() {
    let response = json!({ "goog:chromeOptions": { "debuggerAddress": "localhost:40001" } });
    let grid = Grid::with_session(None, session(response));
    let error = failed(&format!("webdriver+http://0.0.0.0:{}", grid.port()), &options());
    assert!(matches!(error, Error::NotCdp { .. }) && error.to_string().contains("se:cdp"), "{error}");
    assert_eq!(grid.count("DELETE"), 1);
    let wanted = &grid.seen()[0].body["capabilities"]["alwaysMatch"]["goog:chromeOptions"]["args"];
    assert!(!wanted.as_array().unwrap().contains(&json!("--no-sandbox")), "{wanted}");

    // A grid that thinks it is asked from its own machine.
    let fake = browser();
    let response = json!({ "se:cdp": format!("ws://localhost:4444/session/{ID}/se/cdp") });
    let grid = Grid::with_session(Some(&fake), session(response));
    let browser =
        BrowserProcess::attach_with(&format!("webdriver+http://0.0.0.0:{}", grid.port()), &options()).unwrap();
    assert_eq!(browser.endpoint().unwrap().port(), grid.port());
}

#[test]
fn a_refused_session_is_reported_without_secrets() {
    let message = "Could not start a new session. New session request rejected: the queue is full for hush-header, \
        hush-query, wss://me:hush@grid/session/hush\nBuild info: hush\nHost info: hush";
    let grid = Grid::with_session(None, refusal(500, "session not created", message));
    let url = format!("webdriver+http://me:hush@127.0.0.1:{}/hush-path/?token=hush-query", grid.port());
    let error = failed(&url, &options());
    assert!(error.to_string().contains("queue is full") && error.to_string().contains("free slot"), "{error}");
    let WebDriverProblem::Refused { code, message } = problem(error) else { panic!() };
    assert_eq!(code, "session not created");
    assert!(message.ends_with("wss://grid/…"), "{message}");
    assert_eq!(grid.count("POST") + grid.count("DELETE"), 1);
}

#[test]
fn non_webdriver_servers_are_reported() {
    let raw = |status: &str, body: &str| {
        Answer::Raw(format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
    };
    let cases = [
        (raw("200 OK", "<html>hush</html>"), Some(200), "web page"),
        (raw("401 Unauthorized", ""), Some(401), "password"),
        (raw("404 Not Found", "nothing here"), Some(404), "/wd/hub"),
        (raw("503 Service Unavailable", "<html>"), Some(503), "log"),
        (raw("200 OK", "{\"value\":{}}"), Some(200), "no session id"),
        (Answer::Raw("SSH-2.0-OpenSSH_9.2\r\n".to_owned()), None, "HTTP"),
    ];
    for (answer, status, word) in cases {
        let grid = Grid::with_session(None, answer);
        let error = failed(&grid.address(), &options());
        assert!(error.to_string().contains(word), "{error}");
        let WebDriverProblem::Answer { status: response, .. } = problem(error) else { panic!("{status:?}") };
        assert_eq!(response, status);
    }
    let port = Grid::with_session(None, Answer::Never).port();
    let error = failed(&format!("webdriver+http://127.0.0.1:{port}"), &options());
    assert!(matches!(problem(error), WebDriverProblem::Unreachable { .. }));
}

#[test]
fn older_grids_are_found_at_their_path_prefix() {
    let fake = browser();
    let grid = Grid::start(Some(&fake), |seen: &GridRequest| match (seen.method.as_str(), seen.path.as_str()) {
        ("POST", "/session") => refusal(404, "unknown command", "unknown command: session"),
        ("POST", _) => session(inner()),
        _ => Answer::Json(200, json!({ "value": null })),
    });
    drop(BrowserProcess::attach_with(&grid.address(), &options()).unwrap());
    let paths: Vec<String> = grid.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(paths, ["/session", "/wd/hub/session", &format!("/wd/hub/session/{ID}")]);
}

#[test]
fn a_slow_session_start_succeeds() {
    let fake = browser();
    let (go, gate) = crossbeam_channel::bounded(1);
    let grid = Grid::with_session(Some(&fake), Answer::After(gate, Box::new(session(inner()))));
    let mut requested = options();
    // Connecting has a limit of its own, which waiting in a queue does not use up.
    requested.connect.connect_timeout = Duration::from_secs(5);
    requested.webdriver.session_timeout = soon().left();
    let opener = cdpilot::sync::spawn("test-go", move || {
        cdpilot::sync::pause(Duration::from_millis(300));
        go.send(()).unwrap();
    });
    let browser = BrowserProcess::attach_with(&grid.address(), &requested).unwrap();
    browser.close(soon()).unwrap();
    opener.unwrap().join();
}

#[test]
fn a_session_created_after_the_deadline_is_deleted() {
    let (go, gate) = crossbeam_channel::bounded(1);
    let grid = Grid::with_session(None, Answer::After(gate, Box::new(session(inner()))));
    let mut hasty = options();
    hasty.webdriver.session_timeout = Duration::from_millis(200);
    let began = Instant::now();
    let error = failed(&grid.address(), &hasty);
    assert!(began.elapsed() < crate::support::LIMIT, "{:?}", began.elapsed());
    assert!(matches!(problem(error), WebDriverProblem::Timeout { .. }));
    go.send(()).unwrap();
    grid.wait("DELETE", 1);
}

#[test]
fn a_session_with_an_unreachable_browser_is_deleted() {
    // The grid answers the handshake with 502.
    let grid = Grid::with_session(None, session(inner()));
    let error = failed(&grid.address(), &options());
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert_eq!(grid.count("DELETE"), 1);
    // The browser is there and does not answer.
    let mute = Fake::start();
    mute.on("Browser.getVersion").never();
    let grid = Grid::with_session(Some(&mute), session(inner()));
    let mut hasty = options();
    hasty.connect.connect_timeout = Duration::from_millis(300);
    assert!(matches!(failed(&grid.address(), &hasty), Error::Cdp(inner) if inner.is_timeout()));
    assert_eq!(grid.count("DELETE"), 1);
    // Its address cannot be read.
    let grid = Grid::with_session(None, session(json!({ "se:cdp": "ftp://hush" })));
    assert!(matches!(failed(&grid.address(), &options()), Error::NotCdp { .. }));
    assert_eq!(grid.count("DELETE"), 1);
}

#[test]
fn a_session_with_an_idle_connection_is_kept_alive() {
    let fake = browser();
    let grid = Grid::start(Some(&fake), |seen: &GridRequest| match seen.method.as_str() {
        "POST" => session(inner()),
        // It goes on through trouble.
        "GET" => refusal(500, "unknown error", "the node is busy"),
        _ => Answer::Json(200, json!({ "value": null })),
    });
    let mut requested = options();
    requested.webdriver.keep_alive = Some(Duration::from_millis(20));
    let browser = BrowserProcess::attach_with(&grid.address(), &requested).unwrap();
    let before = fake.log(|log| log.requests.len());
    grid.wait("GET", 5);
    assert!(
        grid.seen().iter().filter(|seen| seen.method == "GET").all(|seen| {
            seen.path == format!("/session/{ID}/timeouts") && seen.header("x-key") == Some("hush-header")
        })
    );
    assert_eq!(fake.log(|log| log.requests.len()), before, "nothing over CDP");
    browser.close(soon()).unwrap();
    assert_eq!(grid.seen().pop().unwrap().method, "DELETE");
}

#[test]
fn closing_a_session_that_already_ended_succeeds() {
    let fake = browser();
    let grid = Grid::start(Some(&fake), |seen: &GridRequest| match seen.method.as_str() {
        "POST" => session(inner()),
        _ => refusal(404, "invalid session id", "no such session"),
    });
    let mut requested = options();
    requested.webdriver.keep_alive = Some(Duration::from_millis(20));
    let browser = BrowserProcess::attach_with(&grid.address(), &requested).unwrap();
    grid.wait("GET", 1);
    browser.close(soon()).unwrap();
    assert_eq!(grid.count("GET"), 1, "nobody asks again");
}

#[test]
fn a_close_takes_no_longer_than_its_deadline() {
    let fake = browser();
    let grid = Grid::start(Some(&fake), |seen: &GridRequest| match seen.method.as_str() {
        "POST" => session(inner()),
        _ => Answer::Never,
    });
    let mut requested = options();
    requested.webdriver.keep_alive = Some(Duration::from_millis(20));
    let browser = BrowserProcess::attach_with(&grid.address(), &requested).unwrap();
    grid.wait("GET", 1); // under way, and never answered
    let began = Instant::now();
    let error = browser.close(Deadline::after_millis(300)).unwrap_err();
    assert!(began.elapsed() < crate::support::LIMIT, "{:?}", began.elapsed());
    assert!(matches!(&error, Error::SessionLeft { .. }) && error.to_string().contains("idle"), "{error:?}");
    assert!(!format!("{error} {error:?}").contains(ID), "{error:?}");
}

#[test]
fn webdriver_sessions_leak_nothing() {
    alone(module_path!(), "webdriver_sessions_leak_nothing", || {
        let fake = browser();
        let grid = Grid::with_session(Some(&fake), session(inner()));
        let dead = Grid::with_session(None, session(inner()));
        let mut requested = options();
        requested.webdriver.keep_alive = Some(Duration::from_millis(20));
        let around = |url: &str| {
            drop(BrowserProcess::attach_with(url, &requested));
            let _ = BrowserProcess::attach(url, &ConnectOptions::default());
        };
        let ours = |line: &String| line.contains("wd-") || line.contains("cdp-");
        for _ in 0..3 {
            around(&grid.address());
            around(&dead.address());
        }
        // The servers' own threads end with them.
        let left: Vec<String> = Baseline::default().left_over().into_iter().filter(ours).collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!((grid.count("POST"), grid.count("DELETE")), (6, 6));
    });
}
