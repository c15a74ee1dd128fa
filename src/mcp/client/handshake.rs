//! The first words: which revision a server speaks, and which tools it has.
//!
//! As the revision of 2026-07-28 asks of clients that support both protocol revisions, `server/discover` comes first. Servers of today
//! answer it with an error of one kind or another; then `initialize` follows. Some say nothing before `initialize`: they
//! cost the time of the probe, once. Some end: they are started once more, without it
//! (`server`).

use serde_json::{Map, Value, json};

use super::super::{Fault, LEGACY, MODERN, OLDER};
use super::Limits;
use super::link::{Asked, Failed, Link, info};
use crate::sync::Deadline;

/// Pages of a list of tools.
const PAGES: usize = 50;
/// Tools of a server.
const TOOLS: usize = 500;
/// Bytes of all tools of a server, as JSON.
const BYTES: usize = 16 * 1024 * 1024;

/// Why there is no common language.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Problem {
    /// It ended.
    #[error("it ended during startup")]
    Gone,
    /// It says nothing.
    #[error("it did not respond to {0:?} in time")]
    Late(&'static str),
    /// It does not want to.
    #[error("it rejected {method:?}: {fault}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// What it says.
        fault: Fault,
    },
    /// It speaks something else.
    #[error("it supports protocol revision {theirs}; cdpilot supports {MODERN} and {LEGACY}")]
    Version {
        /// What it speaks.
        theirs: String,
    },
    /// It says something that cannot be.
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

/// What is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolRevision {
    /// Each request stands by itself.
    Modern,
    /// What begins with `initialize`.
    Legacy,
}

/// What came of the probe.
enum Probed {
    Modern(Value),
    Legacy,
    /// Nothing yet.
    Silent,
}

/// Finds out what is spoken. With `probe` the newer revision is tried first.
pub(super) fn negotiate(
    link: &Link,
    probe: bool,
    deadline: Deadline,
    limits: &Limits,
) -> Result<ProtocolRevision, Problem> {
    if !probe {
        return initialize(link, deadline);
    }
    let asked = begin_probe(link, deadline)?;
    match asked.within(deadline.within(limits.probe)).map_or(Ok(Probed::Silent), probed)? {
        Probed::Modern(discovered) => Ok(modern(link, &discovered, deadline)),
        Probed::Legacy => initialize(link, deadline),
        Probed::Silent => match initialize(link, deadline) {
            // One that starts slowly and knows nothing of `initialize` has answered both by now, or is about to.
            Err(refused @ Problem::Refused { .. }) => {
                match asked.within(deadline).map_or(Ok(Probed::Silent), probed)? {
                    Probed::Modern(discovered) => Ok(modern(link, &discovered, deadline)),
                    Probed::Legacy | Probed::Silent => Err(refused),
                }
            }
            other => other,
        },
    }
}

fn begin_probe(link: &Link, deadline: Deadline) -> Result<Asked<'_>, Problem> {
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
        // Answered without knowing what was asked.
        Ok(_) => Ok(Probed::Legacy),
        Err(Failed::Fault(Fault { code: Fault::UNSUPPORTED_VERSION, data: Some(data), .. })) => {
            legacy_or_none(&data["supported"])
        }
        Err(Failed::Fault(_)) => Ok(Probed::Legacy),
        Err(other) => Err(Problem::of(other, DISCOVER)),
    }
}

/// Versions as a server names them, shortened: it may say anything.
fn named(versions: &Value) -> String {
    let all: Vec<&str> = versions.as_array().into_iter().flatten().filter_map(Value::as_str).take(8).collect();
    if all.is_empty() { "nothing that it names".to_owned() } else { all.join(", ").chars().take(100).collect() }
}

/// The newer revision: changes of the tools are told to whoever listens.
fn modern(link: &Link, discovered: &Value, deadline: Deadline) -> ProtocolRevision {
    link.speak_modern();
    if discovered["capabilities"]["tools"]["listChanged"] == true {
        let params = Map::from_iter([("notifications".to_owned(), json!({ "toolsListChanged": true }))]);
        if link.subscribe(params, deadline).is_err() {
            tracing::debug!("an MCP server cannot be listened to");
        }
    }
    ProtocolRevision::Modern
}

/// The handshake of earlier revisions.
fn initialize(link: &Link, deadline: Deadline) -> Result<ProtocolRevision, Problem> {
    let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info() });
    let params = params.as_object().cloned().unwrap_or_default();
    let result = link.ask(INITIALIZE, params, deadline).map_err(|failed| Problem::of(failed, INITIALIZE))?;
    let version = result["protocolVersion"].as_str().unwrap_or_default();
    if version != LEGACY && !OLDER.contains(&version) {
        let theirs = if version.is_empty() { "no revision that it names" } else { version };
        return Err(Problem::Version { theirs: theirs.chars().take(100).collect() });
    }
    let told = link.notify("notifications/initialized", json!({}), deadline);
    told.map(|()| ProtocolRevision::Legacy).map_err(|failed| Problem::of(failed, INITIALIZE))
}

/// The tools of a server that are wanted, by its names for them, page by page, as it describes them.
pub(super) fn list(link: &Link, wanted: impl Fn(&str) -> bool, deadline: Deadline) -> Result<Vec<Value>, Problem> {
    let (mut tools, mut bytes, mut cursor) = (Vec::new(), 0, None::<String>);
    for _ in 0..PAGES {
        let params = cursor.map(|cursor| ("cursor".to_owned(), json!(cursor)));
        let page = match link.ask(LIST, params.into_iter().collect(), deadline) {
            Ok(page) => page,
            // A server without tools.
            Err(Failed::Fault(fault)) if fault.code == Fault::NO_METHOD && tools.is_empty() => return Ok(tools),
            Err(failed) => return Err(Problem::of(failed, LIST)),
        };
        // A server may answer anything: what is no object has no fields to be taken.
        let Value::Object(mut page) = page else { return Err(Problem::Answer(LIST)) };
        let Some(Value::Array(more)) = page.remove("tools") else { return Err(Problem::Answer(LIST)) };
        for tool in more.into_iter().filter(|tool| tool["name"].as_str().is_none_or(&wanted)) {
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
