//! Negotiates the protocol revision with a server and lists its tools.
//!
//! As revision 2026-07-28 specifies for clients of both revisions, `server/discover` is sent first, as a probe. Most
//! current servers answer it with an error; `initialize` follows. Some ignore requests before `initialize`: the probe
//! then costs its time limit once. Some exit: `server` starts them once more without the probe.

use serde_json::{Map, Value, json};

use super::super::{Fault, LEGACY, MODERN, OLDER};
use super::Limits;
use super::link::{Failed, Link, PendingRequest, info};
use cdpilot::sync::Deadline;

/// Maximum number of pages of a tool list.
const PAGES: usize = 50;
/// Maximum number of tools of a server.
const TOOLS: usize = 500;
/// Maximum size of all tools of a server as JSON, in bytes.
const BYTES: usize = 16 * 1024 * 1024;

/// Why the handshake failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Problem {
    /// The server ended.
    #[error("it ended during startup")]
    Gone,
    /// The server did not respond to this method.
    #[error("it did not respond to {0:?} in time")]
    Late(&'static str),
    /// The server returned an error.
    #[error("it rejected {method:?}: {fault}")]
    Refused {
        /// The method.
        method: &'static str,
        /// The error.
        fault: Fault,
    },
    /// No common protocol revision.
    #[error("it supports protocol revision {theirs}; cdpilot supports {MODERN} and {LEGACY}")]
    Version {
        /// The revisions that the server supports.
        theirs: String,
    },
    /// The server returned an invalid response to this method.
    #[error("it returned an invalid response to {0:?}")]
    Answer(&'static str),
}

impl Problem {
    fn of(failed: Failed, method: &'static str) -> Self {
        match failed {
            Failed::Fault(fault) => Self::Refused { method, fault },
            Failed::Late | Failed::Cancelled => Self::Late(method),
            Failed::Gone => Self::Gone,
        }
    }
}

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";
const LIST: &str = "tools/list";

/// The negotiated protocol revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolRevision {
    /// [`MODERN`]: self-contained requests.
    Modern,
    /// [`LEGACY`] or an older one: begins with `initialize`.
    Legacy,
}

/// Result of the probe.
enum Probed {
    Modern(Value),
    Legacy,
    /// No response yet.
    Silent,
}

/// Negotiates the protocol revision. With `probe`, tries the newer revision first.
pub(super) fn negotiate(
    link: &Link,
    probe: bool,
    deadline: Deadline<'_>,
    limits: &Limits,
) -> Result<ProtocolRevision, Problem> {
    if !probe {
        return initialize(link, deadline);
    }
    let pending = begin_probe(link, deadline)?;
    match pending.within(deadline.within(limits.probe)).map_or(Ok(Probed::Silent), probed)? {
        Probed::Modern(discovered) => Ok(modern(link, &discovered, deadline)),
        Probed::Legacy => initialize(link, deadline),
        Probed::Silent => match initialize(link, deadline) {
            // A slow server that does not know `initialize` has answered both requests by now, or is about to.
            Err(refused @ Problem::Refused { .. }) => {
                match pending.within(deadline).map_or(Ok(Probed::Silent), probed)? {
                    Probed::Modern(discovered) => Ok(modern(link, &discovered, deadline)),
                    Probed::Legacy | Probed::Silent => Err(refused),
                }
            }
            other => other,
        },
    }
}

fn begin_probe<'a>(link: &'a Link, deadline: Deadline<'_>) -> Result<PendingRequest<'a>, Problem> {
    link.begin(DISCOVER, Map::new(), deadline, false).map_err(|failed| Problem::of(failed, DISCOVER))
}

fn probed(outcome: Result<Value, Failed>) -> Result<Probed, Problem> {
    let speaks = |versions: &Value, version: &str| {
        versions.as_array().is_some_and(|versions| versions.iter().any(|one| one == version))
    };
    let legacy_or_none = |versions: &Value| {
        if speaks(versions, LEGACY) || OLDER.iter().any(|older| speaks(versions, older)) {
            return Ok(Probed::Legacy);
        }
        Err(Problem::Version { theirs: named(versions) })
    };
    match outcome {
        Ok(discovered) if speaks(&discovered["supportedVersions"], MODERN) => Ok(Probed::Modern(discovered)),
        Ok(discovered) if discovered["supportedVersions"].is_array() => {
            legacy_or_none(&discovered["supportedVersions"])
        }
        // An answer by a server that does not know the method.
        Ok(_) => Ok(Probed::Legacy),
        Err(Failed::Fault(Fault { code: Fault::UNSUPPORTED_VERSION, data: Some(data), .. })) => {
            legacy_or_none(&data["supported"])
        }
        Err(Failed::Fault(_)) => Ok(Probed::Legacy),
        Err(other) => Err(Problem::of(other, DISCOVER)),
    }
}

/// The server's revisions for an error, shortened, since they are untrusted.
fn named(versions: &Value) -> String {
    let all: Vec<&str> = versions.as_array().into_iter().flatten().filter_map(Value::as_str).take(8).collect();
    if all.is_empty() { "no listed revision".to_owned() } else { all.join(", ").chars().take(100).collect() }
}

/// Switches to the newer revision and subscribes to changes of the tools.
fn modern(link: &Link, discovered: &Value, deadline: Deadline<'_>) -> ProtocolRevision {
    link.speak_modern();
    if discovered["capabilities"]["tools"]["listChanged"] == true {
        let params = Map::from_iter([("notifications".to_owned(), json!({ "toolsListChanged": true }))]);
        if link.subscribe(params, deadline).is_err() {
            tracing::debug!("cannot subscribe to changes of an MCP server");
        }
    }
    ProtocolRevision::Modern
}

/// The handshake of older revisions.
fn initialize(link: &Link, deadline: Deadline<'_>) -> Result<ProtocolRevision, Problem> {
    let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info() });
    let params = params.as_object().cloned().unwrap_or_default();
    let result = link.ask(INITIALIZE, params, deadline).map_err(|failed| Problem::of(failed, INITIALIZE))?;
    let version = result["protocolVersion"].as_str().unwrap_or_default();
    if version != LEGACY && !OLDER.contains(&version) {
        let theirs = if version.is_empty() { "no listed revision" } else { version };
        return Err(Problem::Version { theirs: theirs.chars().take(100).collect() });
    }
    let sent = link.notify("notifications/initialized", json!({}), deadline);
    sent.map(|()| ProtocolRevision::Legacy).map_err(|failed| Problem::of(failed, INITIALIZE))
}

/// Lists the tools whose names `wanted` accepts, as the server describes them.
pub(super) fn list(
    link: &Link,
    is_included: impl Fn(&str) -> bool,
    deadline: Deadline<'_>,
) -> Result<Vec<Value>, Problem> {
    let (mut tools, mut bytes, mut cursor) = (Vec::new(), 0, None::<String>);
    for _ in 0..PAGES {
        let params = cursor.map(|cursor| ("cursor".to_owned(), json!(cursor)));
        let page = match link.ask(LIST, params.into_iter().collect(), deadline) {
            Ok(page) => page,
            // A server without tools.
            Err(Failed::Fault(fault)) if fault.code == Fault::NO_METHOD && tools.is_empty() => return Ok(tools),
            Err(failed) => return Err(Problem::of(failed, LIST)),
        };
        // The response is untrusted; it may not be an object.
        let Value::Object(mut page) = page else { return Err(Problem::Answer(LIST)) };
        let Some(Value::Array(more)) = page.remove("tools") else { return Err(Problem::Answer(LIST)) };
        for tool in more.into_iter().filter(|tool| tool["name"].as_str().is_none_or(&is_included)) {
            bytes += tool.to_string().len();
            if bytes > BYTES {
                tracing::warn!(
                    "the tools of an MCP server are described in more than {BYTES} bytes; the rest is left out"
                );
                return Ok(tools);
            }
            tools.push(tool);
        }
        cursor =
            page.get("nextCursor").and_then(Value::as_str).filter(|cursor| !cursor.is_empty()).map(ToOwned::to_owned);
        if cursor.is_none() || tools.len() >= TOOLS {
            break;
        }
    }
    if tools.len() > TOOLS || cursor.is_some() {
        tracing::warn!(
            tools = tools.len(),
            "an MCP server has more tools than are taken; name those you need in include"
        );
        tools.truncate(TOOLS);
    }
    Ok(tools)
}
