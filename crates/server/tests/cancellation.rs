//! Every wait ends soon after its work was cancelled, whichever entry point the work came through.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cdpilot::ErrorKind;
use cdpilot::browser::{AttachOptions, BrowserProcess, LaunchOptions};
use cdpilot::cdp::{ConnectOptions, Connection};
use cdpilot::page::{Act, Upload};
use cdpilot::supervisor::{EventFilter, InterceptRule};
use cdpilot::sync::{Cancel, Deadline, pause, spawn};
use cdpilot_server::mcp::server::{Backend, Limits, ToolServer, serve};
use cdpilot_server::tools::toolsets::{Enabled, Toolsets};
use cdpilot_server::tools::{Registry, Session, Source, ToolError};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::chrome::soon;
use crate::support::share::share;
use crate::support::site::{Answer, Held};
use crate::support::test_tab::TestTab;
use crate::support::tool_workspace::ToolWorkspace;

/// How soon a wait is to end, with room for a machine that is busy. All waits have more time than this.
const SOON: Duration = crate::support::LIMIT;
/// Long enough for a wait to be under way where nothing tells that it is.
const UNDER_WAY: Duration = Duration::from_millis(300);

fn long() -> Deadline<'static> {
    Deadline::after_secs(120)
}

/// An operation that waits until its deadline, and says how it ended.
type Work<'a> = Box<dyn FnOnce(Deadline<'_>) -> String + Send + 'a>;

fn work<'a, T: std::fmt::Debug>(work: impl FnOnce(Deadline<'_>) -> T + Send + 'a) -> Work<'a> {
    Box::new(move |deadline| format!("{:?}", work(deadline)))
}

/// Cancels an operation once it is under way. Its outcome.
fn cancelled(what: &str, work: Work<'_>) -> String {
    let (cancel, outcome) = (Cancel::new(), Mutex::new(String::new()));
    let took = std::thread::scope(|scope| {
        let worker = scope.spawn(|| *outcome.lock() = work(long().cancelled_by(&cancel)));
        pause(UNDER_WAY);
        assert!(!worker.is_finished(), "{what} has ended before it was cancelled: {}", outcome.lock());
        let set = Instant::now();
        cancel.set();
        worker.join().unwrap();
        set.elapsed()
    });
    assert!(took < SOON, "{what} ended {took:?} after it was cancelled");
    outcome.into_inner()
}

/// Loads until its deadline.
struct Slow(&'static str);

impl Source for Slow {
    fn toolset(&self) -> &str {
        self.0
    }

    fn load(&self, deadline: Deadline<'_>) -> Result<(), ToolError> {
        while !deadline.passed() {
            pause(Duration::from_millis(5));
        }
        Err(ToolError::new(
            if deadline.is_cancelled() { ErrorKind::Cancelled } else { ErrorKind::Timeout },
            "not loaded",
        ))
    }
}

#[test]
fn waits_for_programs_and_servers_end() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("not-a-browser");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 300\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut launch =
        LaunchOptions::new().executable(program).headless(true).user_agent(cdpilot::browser::UserAgent::Native);
    launch.start_timeout = Duration::from_secs(300);
    let connect = ConnectOptions::new().connect_timeout(Duration::from_secs(300));
    let mut attach = AttachOptions::from(connect.clone());
    attach.webdriver.session_timeout = Duration::from_secs(300);
    let attached = |scheme: &str| {
        let (url, attach) = (format!("{scheme}://{address}"), attach.clone());
        work(move |by| BrowserProcess::attach_until(&url, &attach, by).map(drop))
    };
    let registry = Arc::new(Registry::new());
    for source in ["mcp-one", "mcp-two"] {
        registry.add_source(Arc::new(Slow(source)));
    }
    let load = |sources: &'static [&'static str]| {
        let (registry, sources) = (Arc::clone(&registry), sources.iter().map(|name| (*name).to_owned()).collect());
        work(move |by| registry.load(&sources, by))
    };
    let all: [(&str, Work<'_>, &str); 6] = [
        ("launching a browser", work(|by| BrowserProcess::launch_until(&launch, by).map(drop)), "Err("),
        ("attaching", attached("http"), "Err("),
        ("creating a WebDriver session", attached("webdriver+http"), "Err("),
        (
            "a WebSocket handshake",
            work(|by| Connection::connect_until(&format!("ws://{address}/"), &connect, by).map(drop)),
            "Err(",
        ),
        ("loading tools", load(&["mcp-one"]), "Cancelled"),
        ("loading tools in parallel", load(&["mcp-one", "mcp-two"]), "mcp-two"),
    ];
    for (what, work, expected) in all {
        let outcome = cancelled(what, work);
        assert!(outcome.contains(expected), "{what}: {outcome}");
    }
}

#[test]
fn waits_for_a_page_end() {
    let Some(paged) = TestTab::showing("cancel-page", "<title>cancel</title><button>press</button>") else { return };
    let (supervisor, top, target) = (paged.supervisor(), paged.top(), paged.tab.target().clone());
    let held = Held::default();
    paged.site.put("/silent", Answer::html("late").held_by(&held));
    let events = supervisor.subscribe(&target, EventFilter::methods(&["Page.fileChooserOpened"]), soon()).unwrap();
    let interceptor = supervisor.intercept(InterceptRule::new("**/nothing"), soon()).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let files = [file.path().to_owned()];
    let Upload::Armed(armed) = paged.tab.arm_chooser(&files, None, long()).unwrap() else { panic!("no chooser") };
    let act = |act: Value| {
        let (tab, act) = (Arc::clone(&paged.tab), Act::parse(act).unwrap());
        work(move |by| tab.act(&act, by))
    };
    let turn = paged.tab.turn("test", false, soon()).unwrap();
    let outcome = cancelled("an action in the queue", act(json!({ "kind": "click", "locator": "text=press" })));
    assert!(outcome.contains("Cancelled"), "{outcome}");
    drop(turn);
    let all: Vec<(&str, Work<'_>, &str)> = vec![
        ("a wait for text", act(json!({ "kind": "wait", "text": "never" })), "Cancelled"),
        ("a wait for an element", act(json!({ "kind": "wait", "locator": "text=never" })), "Cancelled"),
        ("an action on an element", act(json!({ "kind": "click", "locator": "text=never" })), "Cancelled"),
        ("an nth element", act(json!({ "kind": "click", "locator": "text=press >> nth=7" })), "Cancelled"),
        (
            "a promise that is never settled",
            work(|by| supervisor.evaluate(&top, "new Promise(() => {})", by).map(|_| ())),
            "Cancelled",
        ),
        ("an event of a page", work(|by| events.next(by).map(|_| ())), "Timeout"),
        ("a request to answer", work(|by| interceptor.next(by).map(|_| ())), "Timeout"),
        ("a file chooser", work(|by| armed.wait(by)), "Cancelled"),
        ("a dialog", work(|by| supervisor.wait_until(by, |now| !now.dialogs.is_empty()).map(|_| ())), "None"),
        // The last one: the page does not answer afterwards.
        (
            "a navigation to a server that never answers",
            work(|by| supervisor.navigate(&top, &paged.site.url("a", "/silent"), by).map(|_| ())),
            "Cancelled",
        ),
    ];
    for (what, work, expected) in all {
        let outcome = cancelled(what, work);
        assert!(outcome.contains(expected), "{what}: {outcome}");
    }
    held.release();
    // Nothing is sent for work that was cancelled before.
    let cancel = Cancel::new();
    cancel.set();
    let by = long().cancelled_by(&cancel);
    let outcome = supervisor.evaluate(&top, "1", by).map(|_| ());
    assert!(format!("{outcome:?}").contains("Cancelled"), "{outcome:?}");
}

#[test]
fn a_client_that_hangs_up_frees_the_thread_of_its_request() {
    let Some(served) = TestServer::browsing_with(|_, options| options.limits.action_threads = 1) else { return };
    served.show("<button>Press</button>");
    let held = Held::default();
    for path in ["/one", "/two", "/three", "/four"] {
        served.site.put(path, Answer::html("late").held_by(&held));
    }
    let url = |path: &str| served.site.url("a", path);
    let tool = |name: &str, arguments: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
    let never = json!({ "text": "never", "timeout_ms": 110_000 });
    let all = [
        ("/act", json!({ "kind": "wait", "text": "never", "timeoutMs": 110_000 }), None),
        ("/act", json!({ "kind": "click", "selector": "#never", "timeoutMs": 110_000 }), None),
        ("/act", json!({ "kind": "evaluate", "fn": "new Promise(() => {})", "timeoutMs": 110_000 }), None),
        ("/mcp", tool("browser_wait", never), None),
        ("/mcp?toolsets=web", tool("web_extract", json!({ "url": url("/one") })), Some("/one")),
        ("/mcp?toolsets=web", tool("web_extract", json!({ "urls": [url("/two"), url("/three")] })), Some("/two")),
        ("/navigate", json!({ "url": url("/four"), "timeoutMs": 110_000 }), Some("/four")),
    ];
    for (path, body, requested) in share(all, 3) {
        let accept = "Accept: application/json\r\n";
        let waiting = served.api.send("POST", path, Some(&body.to_string()), accept);
        match requested {
            Some(requested) => served.site.wait_requested(&format!("a.localhost{requested}"), 1),
            None => pause(UNDER_WAY),
        }
        let gone = Instant::now();
        drop(waiting);
        // The only thread for requests that wait answers the next one.
        let open = json!({ "url": "about:blank", "background": true }).to_string();
        let mut next = served.api.send("POST", "/tabs/open", Some(&open), accept);
        let mut text = String::new();
        next.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "after {body}: {text}");
        assert!(gone.elapsed() < SOON, "{body} kept its thread for {:?}", gone.elapsed());
    }
    // The tabs of `web_extract` are closed although the calls were cancelled.
    let gone = |tabs: &Value| !tabs.to_string().contains("/one") && !tabs.to_string().contains("/two");
    served.api.until("the background tabs are closed", "/tabs", gone);
    held.release();
}

#[test]
fn a_cancelled_call_of_a_connection_ends_its_command() {
    let shop = ToolWorkspace::new("terminal: {enabled: true}");
    let toolsets = Toolsets::new(Arc::clone(&shop.registry), std::collections::BTreeMap::new());
    let offer = ToolServer::new(Arc::clone(&shop.registry), toolsets, Enabled::new(["terminal"]), shop.scope.clone());
    let backend: Arc<dyn Backend> = Arc::new(offer);
    let (reader, mut input) = std::io::pipe().unwrap();
    let (output, writer) = std::io::pipe().unwrap();
    let limits = Limits { calls: 1, ..Limits::default() };
    let served = spawn("test-mcp", move || {
        serve(&backend, &Session::new(), reader, writer, &Cancel::new(), &limits).unwrap();
    })
    .unwrap();
    let mut say = |message: Value| writeln!(input, "{message}").unwrap();
    let call = |id: u64, command: &str| {
        let params = json!({ "name": "terminal", "arguments": { "command": command } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    say(call(1, "echo begun > begun; sleep 100; echo late > late"));
    let until = soon();
    while !shop.path("work/begun").exists() {
        assert!(!until.passed(), "the command does not begin");
        pause(Duration::from_millis(5));
    }
    say(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    // The only thread for calls is free for the next one, and the cancelled one is not answered.
    let cancelled_at = Instant::now();
    say(call(2, "echo second"));
    let mut line = String::new();
    let mut lines = BufReader::new(output);
    lines.read_line(&mut line).unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert!(answer["id"] == 2 && line.contains("second"), "{answer}");
    assert!(cancelled_at.elapsed() < SOON, "the call ended {:?} after it was cancelled", cancelled_at.elapsed());
    assert!(!shop.path("work/late").exists());
    drop(input);
    served.join();
}
