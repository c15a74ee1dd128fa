//! Serves the tools of a registry over MCP.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::super::message::notification;
use super::super::{Fault, Request};
use super::{Backend, Peer};
use crate::tools::toolsets::{Enabled, Problem, Toolsets};
use crate::tools::{Outcome, Progress, Registry, Scope, Tool, ToolContext, ToolError};
use cdpilot::sync::{Cancel, Deadline};

/// Time limit of a call.
const CALL: Duration = Duration::from_secs(120);
/// Time limit for loading external tools.
const LOAD: Duration = Duration::from_secs(10);
/// Cache lifetime of the tool list, in milliseconds.
const KEPT: u64 = 5_000;

/// Key in `_meta` of `tools/list`: list the loaded tools only, without starting MCP servers. For frequent polling.
pub const LOADED_ONLY: &str = "cdpilot/asItIs";

/// Serves the enabled tools of a registry.
#[derive(Debug)]
pub struct ToolServer {
    registry: Arc<Registry>,
    toolsets: Toolsets,
    enabled: Enabled,
    scope: Scope,
}

impl ToolServer {
    /// Serves the enabled tools of a registry in a scope.
    #[must_use]
    pub fn new(registry: Arc<Registry>, toolsets: Toolsets, enabled: Enabled, scope: Scope) -> Self {
        Self { registry, toolsets, enabled, scope }
    }

    /// The available tools, by name. Loads no external tools.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        self.enabled.tools(&self.toolsets, &self.registry, &self.scope)
    }

    /// Problems of the toolsets that are enabled by name. `all` reports none, so that one invalid custom toolset does not
    /// disable the others.
    #[must_use]
    pub fn problems(&self) -> BTreeSet<Problem> {
        let named: Vec<&String> = self.enabled.toolsets.iter().filter(|name| !Toolsets::means_all(name)).collect();
        self.toolsets.resolve_all(&named, &self.enabled.off).problems
    }

    /// Answers a request; `None` for a notification.
    #[must_use]
    pub fn answer(&self, request: &Request, peer: &Peer<'_>) -> Option<Value> {
        super::answer(self, request, peer)
    }

    /// Loads external tools. Returns failures by toolset.
    fn load(&self, cancel: &Cancel) -> Vec<(String, ToolError)> {
        let deadline = Deadline::after(LOAD).cancelled_by(cancel);
        let failed = self.enabled.load(&self.toolsets, &self.registry, deadline);
        for (toolset, problem) in &failed {
            tracing::warn!(%toolset, %problem, "tools are left out");
        }
        failed
    }

    /// Checks that a tool is enabled; loads external tools if it is not known yet. Fails with the toolsets that could not be
    /// loaded.
    fn find(&self, name: &str, cancel: &Cancel) -> Result<(), Vec<(String, ToolError)>> {
        let is_there = || self.registry.get(name).is_some() && self.enabled.names(&self.toolsets).0.contains(name);
        if is_there() {
            return Ok(());
        }
        let failed = self.load(cancel);
        if is_there() { Ok(()) } else { Err(failed) }
    }
}

impl Backend for ToolServer {
    fn instructions(&self) -> String {
        super::instructions_for(&self.enabled.names(&self.toolsets).0)
    }

    fn list(&self, request: &Request, peer: &Peer<'_>) -> Result<Value, Fault> {
        if request.params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(Fault::new(Fault::INVALID_PARAMS, "the tool list has one page; omit cursor"));
        }
        let loaded_only = request.params.get("_meta").and_then(|meta| meta.get(LOADED_ONLY));
        if loaded_only.is_none_or(|loaded_only| *loaded_only != true) {
            let _ = self.load(peer.cancel);
        }
        let tools: Vec<Value> = self.tools().iter().map(listed).collect();
        Ok(json!({ "resultType": "complete", "tools": tools, "ttlMs": KEPT, "cacheScope": "private" }))
    }

    fn call(&self, request: &Request, peer: &Peer<'_>) -> Result<Value, Fault> {
        let params = &request.params;
        let bad = |problem: String| Fault::new(Fault::INVALID_PARAMS, problem);
        let name = match params.get("name") {
            Some(Value::String(name)) => name.as_str(),
            Some(_) => return Err(bad("params.name must be a string".to_owned())),
            None => return Err(bad("params.name is missing; give the name of a tool".to_owned())),
        };
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err(bad("arguments must be an object".to_owned())),
        };
        let deadline = Deadline::after(CALL).cancelled_by(peer.cancel);
        if let Err(failed) = self.find(name, peer.cancel) {
            if self.registry.get(name).is_some() {
                return Err(bad(format!(
                    "{name} is not enabled here; add it with --toolsets of `cdpilot mcp`, ?toolsets= of POST /mcp, or \
                     tools.platforms.mcp in config.yaml"
                )));
            }
            // The tool may belong to a toolset that failed to load.
            return match failed.into_iter().next() {
                Some((toolset, problem)) => {
                    let message =
                        format!("unknown tool {name:?}; the tools of {toolset} could not be loaded: {problem}");
                    Ok(refused(&ToolError::new(problem.code, message)))
                }
                None => Err(bad(format!("unknown tool {name:?}; call tools/list for valid names"))),
            };
        }
        let token = params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned();
        let on_progress = |progress: Progress| {
            let Some(token) = &token else { return };
            let mut params = json!({ "progressToken": token, "progress": progress.done, "message": progress.message });
            if let Some(total) = progress.total {
                params["total"] = json!(total);
            }
            (peer.notify)(notification("notifications/progress", params));
        };
        let call = ToolContext { session: peer.session, scope: &self.scope, deadline, progress: &on_progress };
        Ok(match self.registry.call(name, &call, arguments) {
            Ok(outcome) => content(&outcome),
            Err(error) => refused(&error),
        })
    }

    fn names(&self) -> Option<BTreeSet<String>> {
        Some(self.tools().iter().map(|tool| tool.name.to_string()).collect())
    }
}

fn listed(tool: &Tool) -> Value {
    let mut value = json!({ "name": tool.name, "description": tool.description, "inputSchema": *tool.schema });
    if tool.read_only {
        value["annotations"] = json!({ "readOnlyHint": true });
    }
    value
}

fn content(outcome: &Outcome) -> Value {
    let value = outcome.to_value();
    let mut content = vec![json!({ "type": "text", "text": value.to_string() })];
    for image in &outcome.images {
        let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
        content.push(json!({ "type": "image", "data": data, "mimeType": image.media_type }));
    }
    json!({ "resultType": "complete", "content": content, "structuredContent": value, "isError": false })
}

/// The result of a failed call.
pub(super) fn refused(error: &ToolError) -> Value {
    let value = error.to_value();
    let content = json!([{ "type": "text", "text": value.to_string() }]);
    json!({ "resultType": "complete", "content": content, "structuredContent": value, "isError": true })
}
