//! The MCP client with servers that hang, crash or send invalid messages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cdpilot::ErrorKind;
use cdpilot::sync::{Cancel, Deadline, pause, spawn};
use cdpilot_server::config::McpServer;
use cdpilot_server::mcp::client::{Limits, Servers};
use cdpilot_server::tools::toolsets::{Enabled, Toolsets};
use cdpilot_server::tools::{Registry, Session, ToolContext, ToolError};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::support::fake_mcp::{noted, play, server};
use crate::support::leaks::{Baseline, alone, rerun};
use crate::support::soon;
use crate::support::tool_workspace::no_scope;

/// The test that plays the servers of all of them.
const STAGE: &str = "tools_of_a_server_are_listed_and_called";

/// Nothing that a test waits for is long; a server that answers is never taken for one that does not.
fn limits() -> Limits {
    Limits { probe: Duration::from_secs(20), first_pause: Duration::from_millis(20), ..Limits::default() }
}

/// A home's servers, and the folder in which they note what they do.
struct Staged {
    // Field order: the servers end before their folder goes.
    servers: Servers,
    registry: Arc<Registry>,
    folder: TempDir,
}

impl Staged {
    fn new(behaviour: &str) -> Self {
        Self::with(behaviour, limits(), |_| {})
    }

    fn with(behaviour: &str, limits: Limits, change: impl FnOnce(&mut McpServer)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut fake = server(module_path!(), STAGE, behaviour, folder.path());
        change(&mut fake);
        let registry = Arc::new(Registry::new());
        let servers = Servers::of(&BTreeMap::from([("fake".to_owned(), fake)]), &registry, limits);
        Self { servers, registry, folder }
    }

    /// The same, its tools listed.
    fn listed(behaviour: &str) -> Self {
        let staged = Self::new(behaviour);
        staged.load(soon()).unwrap();
        staged
    }

    fn load(&self, deadline: Deadline<'_>) -> Result<(), ToolError> {
        let failed = self.registry.load(&BTreeSet::from(["mcp-fake".to_owned()]), deadline);
        failed.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
    }

    fn call_by(&self, name: &str, text: &str, deadline: Deadline<'_>) -> Result<String, ToolError> {
        call(&self.registry, name, text, deadline)
    }

    fn call(&self, name: &str, text: &str) -> Result<String, ToolError> {
        self.call_by(name, text, soon())
    }

    fn names(&self) -> BTreeSet<String> {
        self.registry.all().iter().map(|(name, _)| name.to_string()).collect()
    }

    fn noted(&self, what: &str) -> Vec<String> {
        noted(self.folder.path(), what)
    }

    fn starts(&self) -> usize {
        self.noted("started").len()
    }

    /// Waits until something is noted.
    fn until_noted(&self, what: &str) {
        until(what, || !self.noted(what).is_empty());
    }
}

fn call(registry: &Registry, name: &str, text: &str, deadline: Deadline<'_>) -> Result<String, ToolError> {
    let arguments = Map::from_iter([("text".to_owned(), json!(text))]);
    let (session, scope) = (Session::default(), no_scope());
    let call = ToolContext::new(&session, &scope, deadline);
    let outcome = registry.call(name, &call, arguments)?;
    Ok(outcome.fields["text"].as_str().unwrap().to_owned())
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = soon();
    while !holds() {
        assert!(!deadline.passed(), "not in time: {what}");
        pause(Duration::from_millis(5)); // another process does it
    }
}

#[test]
fn tools_of_a_server_are_listed_and_called() {
    if play() {
        return;
    }
    let staged = Staged::new("");
    let toolsets = Toolsets::new(Arc::clone(&staged.registry), BTreeMap::new());
    assert!(toolsets.is_known("mcp-fake") && toolsets.is_known("fake"));
    assert_eq!((staged.starts(), staged.names()), (0, BTreeSet::new()), "nothing is started before it is asked for");
    let enabled = Enabled::new(vec!["fake".to_owned()]);
    assert_eq!(enabled.load(&toolsets, &staged.registry, soon()), []);
    let names: BTreeSet<String> =
        enabled.tools(&toolsets, &staged.registry, &no_scope()).iter().map(|tool| tool.name.to_string()).collect();
    assert!(names.contains("say") && names.contains("hang"), "{names:?}");
    assert_eq!(staged.call("say", "hello").unwrap(), "say: hello");
    assert_eq!(enabled.load(&toolsets, &staged.registry, soon()), []);
    assert_eq!(staged.starts(), 1, "{:?}", staged.noted(""));
    let received = staged.noted("heard");
    let expected = ["server/discover modern", "initialize", "notifications/initialized", "tools/list", "tools/call"];
    assert_eq!(received, expected.map(|method| format!("heard {method}")), "probed as the newer revision asks");
    let Staged { servers, registry, folder: _folder } = staged;
    drop(servers);
    assert!(registry.all().is_empty() && registry.sources().is_empty());
}

#[test]
fn a_crash_fails_only_the_calls_under_way() {
    let staged = Staged::listed("");
    let registry = Arc::clone(&staged.registry);
    let (send, other) = crossbeam_channel::bounded(1);
    let waiting = spawn("test-waits", move || {
        let _ = send.send(call(&registry, "hang", "", soon()));
    });
    staged.until_noted("hangs");
    let generation = staged.registry.generation();
    assert_eq!(staged.call("crash", "").unwrap_err().code, ErrorKind::McpServerGone);
    assert_eq!(other.recv_deadline(soon().instant()).unwrap().unwrap_err().code, ErrorKind::McpServerGone);
    drop(waiting);
    assert_eq!(staged.call("say", "again").unwrap(), "say: again");
    assert_eq!(staged.starts(), 2);
    assert_eq!(staged.registry.generation(), generation, "its tools were there all the time");
}

#[test]
fn a_late_call_is_cancelled_and_the_server_keeps_running() {
    let staged = Staged::listed("");
    let late = staged.call_by("hang", "", Deadline::after_millis(300)).unwrap_err();
    assert_eq!(late.code, ErrorKind::Timeout, "{late:?}");
    staged.until_noted("cancelled");
    let cancel = Cancel::new();
    let (flag, folder) = (cancel.clone(), staged.folder.path().to_owned());
    let gives_up = spawn("test-gives-up", move || {
        until("the second call", || noted(&folder, "hangs").len() == 2);
        flag.set();
    });
    assert_eq!(staged.call_by("hang", "", soon().cancelled_by(&cancel)).unwrap_err().code, ErrorKind::Cancelled);
    drop(gives_up);
    until("both are cancelled", || staged.noted("cancelled").len() == 2);
    let ids = |what: &str| staged.noted(what).iter().map(|line| line.replace(what, "")).collect::<Vec<_>>();
    assert_eq!(ids("cancelled"), ids("hangs"));
    assert_eq!(staged.call("say", "on").unwrap(), "say: on");
    assert_eq!(staged.starts(), 1, "one that answers is not ended");
}

#[test]
fn a_server_that_stops_reading_is_restarted() {
    let limits = Limits { alive: Duration::from_millis(200), patience: Duration::from_millis(100), ..limits() };
    let staged = Staged::with("", limits, |_| {});
    staged.load(soon()).unwrap();
    let late = staged.call_by("stop-reading", "", Deadline::after_millis(300)).unwrap_err();
    assert_eq!(late.code, ErrorKind::Timeout, "{late:?}");
    // Whether this one is still sent to the old one or already to the new one, nobody can say.
    until("it answers again", || staged.call_by("say", "x", Deadline::after_secs(5)).is_ok());
    assert!(staged.starts() >= 2);
}

#[test]
fn a_full_pipe_does_not_block_the_caller() {
    let limits = Limits { alive: Duration::from_millis(200), patience: Duration::from_millis(100), ..limits() };
    let staged = Staged::with("", limits, |_| {});
    staged.load(soon()).unwrap();
    let _ = staged.call_by("stop-reading", "", Deadline::after_millis(1));
    let large = "x".repeat(1024 * 1024);
    let late = staged.call_by("say", &large, Deadline::after_millis(300)).unwrap_err();
    assert!([ErrorKind::Timeout, ErrorKind::McpServerGone].contains(&late.code), "{late:?}");
    until("it answers again", || staged.call_by("say", &large, Deadline::after_secs(5)).is_ok());
}

#[test]
fn invalid_and_unterminated_lines_are_skipped() {
    let staged = Staged::listed("");
    assert_eq!(staged.call("nonsense", "").unwrap(), "still sane");
    assert_eq!(staged.call("giant", "").unwrap(), "after a giant line");
    let huge = staged.call("huge", "").unwrap_err();
    assert!(huge.code == ErrorKind::McpToolError && huge.message.contains("16 MiB"), "{huge:?}");
    assert_eq!(staged.call("say", "on").unwrap(), "say: on");
    assert_eq!(staged.starts(), 1);
}

#[test]
fn an_invalid_result_fails_only_its_call() {
    let staged = Staged::listed("");
    for odd in ["5", "\"text\"", "[1]", "true", "null", "{\"content\": 7, \"isError\": true}"] {
        assert_eq!(staged.call("odd", odd).unwrap_err().code, ErrorKind::McpToolError, "{odd}");
    }
    assert_eq!(
        staged.call("odd", "{\"content\": [null, 1, {\"type\": 2}], \"structuredContent\": 3}").map(drop),
        Ok(())
    );
    assert_eq!((staged.call("say", "on").unwrap().as_str(), staged.starts()), ("say: on", 1));
    let none = Staged::new("odd-list").load(soon()).unwrap_err();
    assert!(none.code == ErrorKind::McpServerDown && none.message.contains("tools/list"), "{none}");
}

#[test]
fn an_undecodable_answer_fails_its_call_at_once() {
    let staged = Staged::listed("");
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        // Another call is under way: only the id says whose answer it is.
        let hanging = scope.spawn(|| staged.call_by("hang", "", soon().cancelled_by(&cancel)));
        staged.until_noted("hangs");
        for (kind, said) in [
            ("escape", "invalid JSON"),
            ("bytes", "not UTF-8"),
            ("nothing", "no method, result"),
            ("deep", "invalid JSON"),
        ] {
            let failed = staged.call("undecodable", kind).unwrap_err();
            assert!(failed.code == ErrorKind::McpToolError && failed.message.contains(said), "{kind}: {failed:?}");
        }
        assert_eq!(staged.call("undecodable", "lone").unwrap(), "a\u{fffd}b");
        assert!(!hanging.is_finished());
        cancel.set();
        assert_eq!(hanging.join().unwrap().unwrap_err().code, ErrorKind::Cancelled);
    });
    assert_eq!((staged.call("say", "on").unwrap().as_str(), staged.starts()), ("say: on", 1));
}

#[test]
fn a_flood_of_change_notifications_is_coalesced() {
    let staged = Staged::listed("");
    staged.call("flood", "fresh").unwrap();
    until("the new tool", || staged.names().contains("fresh"));
    let lists = staged.noted("heard tools/list").len();
    assert!(lists <= 4, "{lists} lists");
}

#[test]
fn invisible_characters_of_a_server_are_escaped() {
    let staged = Staged::listed("sly");
    assert!(staged.names().contains("re_u202e_ad"), "{:?}", staged.names());
    let tool = staged.registry.get("re_u202e_ad").unwrap();
    assert_eq!(&*tool.description, r"x\u{202e}y\u{200b}z");
    assert_eq!(tool.schema["properties"]["text"]["description"], r"Which\u{202e}one");
    assert!(staged.call("re_u202e_ad", "it").unwrap().ends_with(": it"));
}

#[test]
fn tools_can_be_added_and_removed_at_run_time() {
    for behaviour in ["", "modern"] {
        let staged = Staged::listed(behaviour);
        let before = staged.registry.generation();
        staged.call("grow", "fresh").unwrap();
        until("the new tool", || staged.names().contains("fresh"));
        assert!(staged.registry.generation() > before);
        assert_eq!(staged.call("fresh", "tool").unwrap(), "fresh: tool");
        staged.call("shrink", "fresh").unwrap();
        until("it is gone", || !staged.names().contains("fresh"));
        assert_eq!(staged.call("fresh", "").unwrap_err().code, ErrorKind::UnknownTool);
        assert!(staged.names().contains("say"));
    }
}

#[test]
fn all_pages_of_a_tool_list_are_read_up_to_a_limit() {
    let paged = Staged::listed("pages");
    assert_eq!(paged.names(), Staged::listed("").names());
    let endless = Staged::listed("pages endless");
    assert_eq!(endless.names(), paged.names());
    assert!(endless.noted("heard tools/list").len() < 200);
}

#[test]
fn existing_tool_names_are_kept_and_filters_apply() {
    let staged = Staged::with("tool:browser_click tool:read_file tool:with.dot", limits(), |server| {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        server.tools.include = list(&["browser_click", "read_file", "with.dot", "say"]);
        server.tools.exclude = list(&["say"]);
    });
    staged.load(soon()).unwrap();
    let expected = ["fake_browser_click", "fake_read_file", "say", "with_dot"].map(ToOwned::to_owned);
    assert_eq!(staged.names(), BTreeSet::from(expected));
    // Called by its own name there.
    assert_eq!(staged.call("fake_browser_click", "x").unwrap(), "browser_click: x");
    assert_eq!(staged.call("with_dot", "x").unwrap(), "with.dot: x");
    assert_eq!(staged.call("browser_click", "").unwrap_err().code, ErrorKind::UnknownTool);
}

#[test]
fn allowed_tools_are_found_among_very_many() {
    let all = Staged::listed("many");
    assert_eq!(all.names().len(), 500);
    let few = Staged::with("many", limits(), |server| {
        server.tools.include = ["a0999", "say"].map(ToOwned::to_owned).into();
    });
    few.load(soon()).unwrap();
    assert_eq!(few.names(), BTreeSet::from(["a0999", "say"].map(ToOwned::to_owned)));
}

#[test]
fn a_slow_start_continues_in_the_background() {
    let staged = Staged::new("slow");
    let (quick, folder) = (tempfile::tempdir().unwrap(), staged.folder.path());
    let other = BTreeMap::from([("quick".to_owned(), server(module_path!(), STAGE, "", quick.path()))]);
    let _servers = Servers::of(&other, &staged.registry, limits());
    let both = BTreeSet::from(["mcp-fake".to_owned(), "mcp-quick".to_owned()]);
    let failed = staged.registry.load(&both, Deadline::after_secs(2));
    // The quick one may be late on a machine that has other things to do; the slow one cannot be there.
    let slow = failed.iter().find(|(toolset, _)| toolset == "mcp-fake").unwrap();
    assert_eq!(slow.1.code, ErrorKind::Timeout, "{slow:?}");
    assert!(staged.registry.load(&BTreeSet::from(["mcp-quick".to_owned()]), soon()).is_empty());
    std::fs::write(folder.join("go"), "").unwrap();
    staged.load(soon()).unwrap();
    assert_eq!(staged.starts(), 1, "the start that was given up waiting for went on");
    // The quick one came first and has the bare names.
    assert_eq!(staged.call("fake_say", "x").unwrap(), "say: x");
}

#[test]
fn a_hanging_start_is_abandoned() {
    let limits = Limits {
        start: Duration::from_millis(500),
        patience: Duration::from_millis(50),
        first_pause: Duration::from_secs(600),
        ..limits()
    };
    let staged = Staged::with("deaf", limits, |_| {});
    let failed = staged.load(soon()).unwrap_err();
    assert_eq!(failed.code, ErrorKind::McpServerDown, "{failed:?}");
    assert!(failed.message.contains("did not respond"), "{failed:?}");
}

#[test]
fn a_server_that_cannot_be_started_reports_the_reason_without_secrets() {
    let limits = Limits { first_pause: Duration::from_secs(600), ..limits() };
    let staged = Staged::with("broken", limits.clone(), |server| {
        server.env.insert("FAKE_KEY".to_owned(), "open sesame".to_owned());
    });
    let failed = staged.load(soon()).unwrap_err();
    assert_eq!(failed.code, ErrorKind::McpServerDown);
    assert!(failed.message.contains("the key [secret] is not accepted"), "{failed:?}");
    assert!(failed.message.contains("Retry in 60") && !failed.message.contains("sesame"), "{failed:?}");
    let starts = staged.starts();
    assert_eq!(staged.load(soon()).unwrap_err().code, ErrorKind::McpServerDown);
    assert_eq!(staged.starts(), starts, "not before its time");

    let staged = Staged::with("", limits, |server| server.command = "no-such-program-anywhere".to_owned());
    let failed = staged.load(soon()).unwrap_err();
    assert!(failed.message.contains("program \"no-such-program-anywhere\" not found"), "{failed:?}");
}

#[test]
fn servers_of_all_protocol_revisions_work() {
    let received = |staged: &Staged| {
        staged.call("say", "").unwrap();
        staged.noted("heard").iter().map(|line| line.trim_start_matches("heard ").to_owned()).collect::<Vec<_>>()
    };
    let legacy = ["initialize", "notifications/initialized", "tools/list", "tools/call"];
    let modern = ["server/discover modern", "subscriptions/listen modern", "tools/list modern", "tools/call modern"];
    assert_eq!(received(&Staged::listed("modern")), modern);
    let silent = Staged::with("silent", Limits { probe: Duration::from_millis(200), ..limits() }, |_| {});
    silent.load(soon()).unwrap();
    assert_eq!(received(&silent)[1..], legacy);
    // Known for what it is, it is not probed again.
    assert_eq!(silent.call("crash", "").unwrap_err().code, ErrorKind::McpServerGone);
    assert_eq!(received(&silent).iter().filter(|line| line.contains("discover")).count(), 1);
    let touchy = Staged::listed("touchy");
    assert_eq!(received(&touchy)[1..], legacy, "one that ends at the probe is started without");
    assert_eq!(touchy.starts(), 2);
    let failed = Staged::new("future").load(soon()).unwrap_err();
    assert!(failed.message.contains("2099-01-01") && failed.message.contains("2025-11-25"), "{failed:?}");
}

#[test]
fn requests_of_a_server_are_answered() {
    let staged = Staged::listed("");
    let response = |method: &str| serde_json::from_str::<Value>(&staged.call("ask", method).unwrap()).unwrap();
    assert_eq!(response("ping"), json!({ "result": {}, "error": null }));
    for method in ["roots/list", "sampling/createMessage", "elicitation/create"] {
        assert_eq!(response(method)["error"]["code"], -32601, "{method}");
    }
}

#[test]
fn a_server_gets_a_minimal_environment() {
    let staged = Staged::with("", limits(), |server| drop(server.env.insert("MINE".to_owned(), "1".to_owned())));
    staged.load(soon()).unwrap();
    let names = staged.call("env", "").unwrap();
    let names: BTreeSet<&str> = names.split_whitespace().collect();
    assert!(names.contains("MINE") && names.contains("PATH"), "{names:?}");
    // Cargo gives its tests some.
    assert!(!names.iter().any(|name| name.starts_with("CDPILOT_") || name.starts_with("CARGO")), "{names:?}");
}

#[test]
fn a_stopped_server_leaks_nothing() {
    alone(module_path!(), "a_stopped_server_leaks_nothing", || {
        let baseline = Baseline::now();
        for behaviour in ["", "stubborn", "slow", "deaf"] {
            let limits = Limits { patience: Duration::from_millis(100), ..limits() };
            let staged = Staged::with(behaviour, limits, |_| {});
            if ["slow", "deaf"].contains(&behaviour) {
                let _ = staged.load(Deadline::after_millis(200));
            } else {
                staged.load(soon()).unwrap();
                assert_eq!(staged.call("crash", "").unwrap_err().code, ErrorKind::McpServerGone);
                staged.call("say", "").unwrap();
            }
            drop(staged);
        }
        baseline.assert_back(soon());
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_does_not_outlive_its_client() {
    const NAME: &str = "a_server_does_not_outlive_its_client";
    const DOOMED: &str = "FAKE_MCP_DOOMED";
    if let Some(folder) = std::env::var_os(DOOMED) {
        let fake = server(module_path!(), STAGE, "stubborn", Path::new(&folder));
        let registry = Arc::new(Registry::new());
        let _servers = Servers::of(&BTreeMap::from([("fake".to_owned(), fake)]), &registry, limits());
        let failed = registry.load(&BTreeSet::from(["mcp-fake".to_owned()]), soon());
        assert_eq!(failed, []);
        return pause(Duration::from_secs(60)); // until it is killed
    }
    let folder = tempfile::tempdir().unwrap();
    let quiet = std::process::Stdio::null;
    let mut doomed = rerun(module_path!(), NAME);
    let mut doomed = doomed.env(DOOMED, folder.path()).stdout(quiet()).stderr(quiet()).spawn().unwrap();
    until("it is listed", || !noted(folder.path(), "heard tools/list").is_empty());
    let started = noted(folder.path(), "started");
    let id = started[0].trim_start_matches("started ").to_owned();
    let runs = || {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    };
    assert!(runs());
    doomed.kill().unwrap();
    doomed.wait().unwrap();
    until("it has ended", || !runs());
}
