//! Official MCP servers, used by our client: those of the TypeScript SDK, of both Python SDKs, and two widely used ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use cdpilot::ErrorKind;
use cdpilot::sync::{Cancel, Deadline, pause};
use cdpilot_server::config::McpServer;
use cdpilot_server::mcp::client::{Limits, Servers};
use cdpilot_server::tools::{Outcome, Progress, Registry, Session, ToolContext, ToolError};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::support::leaks::{Baseline, alone};
use crate::support::mcp_peers::Peers;
use crate::support::share::share;
use crate::support::tool_workspace::no_scope;

/// A few tools of the Python SDK, as its documentation writes servers.
const PYTHON: &str = r#"
import asyncio, sys
try:
    from mcp.server import MCPServer as Server, Context
except ImportError:
    try:
        from mcp.server.mcpserver import MCPServer as Server, Context
    except ImportError:
        from mcp.server.fastmcp import FastMCP as Server, Context

server = Server("Sums")

@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b

@server.tool()
def divide(a: int, b: int) -> float:
    """Divides."""
    return a / b

@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts, and tells how far it has come."""
    for n in range(to):
        await ctx.report_progress(n + 1, to)
    return "done"

@server.tool()
async def learn(name: str, ctx: Context) -> str:
    """Learns another tool."""
    def learnt() -> str:
        return "I am " + name
    server.add_tool(learnt, name=name, description="Learnt.")
    if hasattr(ctx, "notify_tools_changed"):
        await ctx.notify_tools_changed()
    else:
        await ctx.session.send_tool_list_changed()
    return "learnt"

server.run()
"#;

struct Driven {
    // Field order: the servers end before the registry goes.
    servers: Servers,
    registry: Arc<Registry>,
}

impl Driven {
    fn new(name: &str, command: &Path, args: &[&str]) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let command = command.to_str().unwrap().to_owned();
        let server = McpServer { command, args, ..McpServer::default() };
        let registry = Arc::new(Registry::new());
        let limits = Limits { start: crate::support::LIMIT, ..Limits::default() };
        let servers = Servers::of(&BTreeMap::from([(name.to_owned(), server)]), &registry, limits);
        let failed = registry.load(&BTreeSet::from([format!("mcp-{name}")]), crate::support::soon());
        assert!(failed.is_empty(), "{failed:?}");
        Self { servers, registry }
    }

    fn names(&self) -> BTreeSet<String> {
        self.registry.all().iter().map(|(name, _)| name.to_string()).collect()
    }

    fn call_with(
        &self,
        name: &str,
        arguments: Value,
        cancel: &Cancel,
        progress: &dyn Fn(Progress),
    ) -> Result<Outcome, ToolError> {
        let (session, scope) = (Session::default(), no_scope());
        let call =
            ToolContext::new(&session, &scope, Deadline::after_secs(600).cancelled_by(cancel)).progress(progress);
        self.registry.call(name, &call, arguments.as_object().cloned().unwrap_or_else(Map::new))
    }

    fn call(&self, name: &str, arguments: Value) -> Result<Outcome, ToolError> {
        self.call_with(name, arguments, &Cancel::new(), &|_| {})
    }

    /// The result, as text or structured.
    fn text(&self, name: &str, arguments: Value) -> String {
        let outcome = self.call(name, arguments).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let text = outcome.fields.get("text").and_then(Value::as_str).map(ToOwned::to_owned);
        text.unwrap_or_else(|| outcome.fields["structured"].to_string())
    }
}

#[test]
fn the_official_everything_server_works() {
    let Some(peers) = Peers::find() else { return };
    let script = peers.script("mcp-server-everything");
    let driven = Driven::new("everything", &peers.node(), &[script.to_str().unwrap()]);
    let names = driven.names();
    assert!(names.contains("echo"), "{names:?}");
    for (name, _) in driven.registry.all() {
        let tool = driven.registry.get(&name).unwrap();
        assert_eq!(tool.schema["type"], "object", "{name}");
        assert!(["anyOf", "oneOf", "allOf"].iter().all(|union| tool.schema.get(union).is_none()), "{name}");
    }
    assert!(driven.text("echo", json!({ "message": "grüße" })).contains("grüße"));
    assert!(driven.text("get-sum", json!({ "a": 19, "b": 23 })).contains("42"));
    let picture = driven.call("get-tiny-image", json!({})).unwrap();
    assert_eq!(picture.images[0].media_type, "image/png");
    assert!(picture.images[0].bytes.starts_with(b"\x89PNG"));
    let structured = driven.call("get-structured-content", json!({ "location": "Chicago" })).unwrap();
    assert!(structured.fields["structured"]["temperature"].is_number(), "{structured:?}");
    let linked = driven.text("get-resource-links", json!({ "count": 2 }));
    assert!(linked.contains("://"), "{linked}");
    let response = Mutex::new(Vec::new());
    let steps = json!({ "duration": 1, "steps": 4 });
    driven.call_with("trigger-long-running-operation", steps, &Cancel::new(), &|p| response.lock().push(p)).unwrap();
    let response = response.into_inner();
    assert!(response.len() >= 3 && response.iter().all(|progress| progress.total == Some(4.0)), "{response:?}");
    // What nobody wants any more is given up, and the server goes on answering.
    let cancel = Cancel::new();
    let long = json!({ "duration": 600, "steps": 6000 });
    let given_up = driven.call_with("trigger-long-running-operation", long, &cancel, &|_| cancel.set()).unwrap_err();
    assert_eq!(given_up.code, ErrorKind::Cancelled);
    assert!(driven.text("echo", json!({ "message": "still here" })).contains("still here"));
    let refused = driven.call("get-sum", json!({ "a": "no number" })).unwrap_err();
    assert_eq!(refused.code, ErrorKind::McpToolError, "{refused:?}");
}

#[test]
fn the_official_filesystem_server_works() {
    let Some(peers) = Peers::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let script = peers.script("mcp-server-filesystem");
    let driven = Driven::new("files", &peers.node(), &[script.to_str().unwrap(), root.to_str().unwrap()]);
    // Three of its names are names of ours.
    let names = driven.names();
    for renamed in ["files_read_file", "files_write_file", "files_search_files"] {
        assert!(names.contains(renamed), "{renamed}: {names:?}");
    }
    let file = root.join("notes.txt");
    let path = file.to_str().unwrap();
    driven.text("files_write_file", json!({ "path": path, "content": "first\nsecond\n" }));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "first\nsecond\n");
    assert_eq!(driven.text("read_text_file", json!({ "path": path })), "first\nsecond\n");
    assert!(driven.text("list_directory", json!({ "path": root })).contains("[FILE] notes.txt"));
    let outside = driven.call("read_text_file", json!({ "path": root.parent().unwrap().join("other") })).unwrap_err();
    assert_eq!(outside.code, ErrorKind::McpToolError, "{outside:?}");
}

#[test]
fn servers_of_both_python_sdks_work() {
    let Some(peers) = Peers::find() else { return };
    for python in share([peers.python(), peers.legacy_python()], 1) {
        let driven = Driven::new("sums", &python, &["-c", PYTHON]);
        let expected = ["add", "count", "divide", "learn"].map(ToOwned::to_owned);
        assert_eq!(driven.names(), BTreeSet::from(expected));
        let sum = driven.call("add", json!({ "a": 2, "b": 40 })).unwrap();
        assert_eq!((&sum.fields["text"], &sum.fields["structured"]), (&json!("42"), &json!({ "result": 42 })));
        let response = Mutex::new(Vec::new());
        driven.call_with("count", json!({ "to": 3 }), &Cancel::new(), &|p| response.lock().push(p.done)).unwrap();
        assert_eq!(*response.lock(), [1.0, 2.0, 3.0]);
        driven.text("learn", json!({ "name": "fresh" }));
        let deadline = crate::support::soon();
        while !driven.names().contains("fresh") {
            assert!(!deadline.passed(), "{}: the new tool is not there", python.display());
            pause(Duration::from_millis(5)); // another process tells of it
        }
        assert_eq!(driven.text("fresh", json!({})), "I am fresh");
        let failed = driven.call("divide", json!({ "a": 1, "b": 0 })).unwrap_err();
        assert_eq!(failed.code, ErrorKind::McpToolError, "{failed:?}");
        assert!(failed.message.contains("divide") || failed.message.contains("zero"), "{failed:?}");
    }
}

#[test]
fn widely_used_servers_work() {
    let Some(peers) = Peers::find() else { return };
    let time = Driven::new("time", &peers.python(), &["-m", "mcp_server_time", "--local-timezone", "Europe/Berlin"]);
    let requested = json!({ "source_timezone": "Asia/Kolkata", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    let response = time.text("convert_time", requested);
    assert!(response.contains("15:30"), "{response}");

    let folder = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"];
        let made = Command::new("git").arg("-C").arg(folder.path()).args(who).args(args).output();
        made.is_ok_and(|made| made.status.success())
    };
    if !(git(&["init", "-q"]) && git(&["commit", "-q", "--allow-empty", "-m", "The first word"])) {
        println!("left out: there is no git");
        return;
    }
    let driven = Driven::new("git", &peers.python(), &["-m", "mcp_server_git"]);
    let log = driven.text("git_log", json!({ "repo_path": folder.path(), "max_count": 1 }));
    assert!(log.contains("The first word"), "{log}");
}

#[test]
fn a_stopped_official_server_leaks_nothing() {
    let Some(peers) = Peers::find() else { return };
    alone(module_path!(), "a_stopped_official_server_leaks_nothing", || {
        let baseline = Baseline::now();
        let script = peers.script("mcp-server-everything");
        let driven = Driven::new("everything", &peers.node(), &[script.to_str().unwrap()]);
        assert!(!baseline.left_over().is_empty());
        let Driven { servers, registry } = driven;
        drop(servers);
        assert!(registry.all().is_empty() && registry.sources().is_empty());
        baseline.assert_back(crate::support::soon());
    });
}
