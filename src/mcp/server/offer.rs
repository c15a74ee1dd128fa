//! What is answered to a request, whichever way it came.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::super::message::{answer, notification};
use super::super::{Fault, LEGACY, MODERN, OLDER, Request};
use crate::sync::{Cancel, Deadline};
use crate::tools::sets::{Enabled, Toolsets};
use crate::tools::{Call, Outcome, Progress, Registry, Tool, ToolError};

/// What a call may take.
const CALL: Duration = Duration::from_secs(120);
/// How long a list of tools may be kept, milliseconds: dialogs and browsers come and go.
const KEPT: u64 = 5_000;
/// Where a request of the modern era says which revision it is of.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Where it says what its sender can do.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Where an answer says who gives it.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Who asks.
pub struct Peer<'a> {
    /// Is told of progress.
    pub notify: &'a dyn Fn(Value),
    /// Set when nobody waits for the answer any more.
    pub cancel: &'a Cancel,
}

/// The tools that are offered.
#[derive(Debug)]
pub struct Offer {
    registry: Arc<Registry>,
    toolsets: Toolsets,
    enabled: Enabled,
    instructions: String,
}

impl Offer {
    /// The tools of a registry that are enabled. The instructions are for the model, about all of them together.
    #[must_use]
    pub fn new(registry: Arc<Registry>, toolsets: Toolsets, enabled: Enabled, instructions: &str) -> Self {
        Self { registry, toolsets, enabled, instructions: instructions.to_owned() }
    }

    /// The tools that are offered at the moment, by name.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        self.enabled.tools(&self.toolsets, &self.registry)
    }

    /// Answers a request. `None` for what nobody waits for the answer of.
    #[must_use]
    pub fn answer(&self, request: &Request, peer: &Peer<'_>) -> Option<Value> {
        let id = request.id.as_ref()?;
        Some(match self.result(request, peer) {
            Ok(result) => answer(id, result),
            Err(fault) => fault.to_value(Some(id)),
        })
    }

    fn result(&self, request: &Request, peer: &Peer<'_>) -> Result<Value, Fault> {
        let is_modern = is_modern(&request.params)?;
        let result = match (request.method.as_str(), is_modern) {
            ("initialize", false) => return Ok(self.initialized(&request.params)),
            ("ping", false) => return Ok(json!({})),
            ("server/discover", true) => self.discovered(),
            ("tools/list", _) => self.listed(&request.params)?,
            ("tools/call", _) => self.called(&request.params, peer)?,
            (other, _) => {
                return Err(Fault::new(Fault::NO_METHOD, format!("{other:?} is nothing that can be asked here")));
            }
        };
        Ok(if is_modern { result } else { without_modern(result) })
    }

    fn initialized(&self, params: &Map<String, Value>) -> Value {
        let wanted = params.get("protocolVersion").and_then(Value::as_str).unwrap_or(LEGACY);
        let version = if wanted == LEGACY || OLDER.contains(&wanted) { wanted } else { LEGACY };
        json!({
            "protocolVersion": version,
            "capabilities": capabilities(),
            "serverInfo": info(),
            "instructions": self.instructions,
        })
    }

    fn discovered(&self) -> Value {
        json!({
            "resultType": "complete",
            "supportedVersions": [MODERN, LEGACY],
            "capabilities": capabilities(),
            "instructions": self.instructions,
            "ttlMs": 3_600_000,
            "cacheScope": "private",
            "_meta": { SERVER_INFO: info() },
        })
    }

    fn listed(&self, params: &Map<String, Value>) -> Result<Value, Fault> {
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(Fault::new(Fault::INVALID_PARAMS, "there is one page of tools only; leave out cursor"));
        }
        let tools: Vec<Value> = self.tools().iter().map(listed).collect();
        Ok(json!({ "resultType": "complete", "tools": tools, "ttlMs": KEPT, "cacheScope": "private" }))
    }

    fn called(&self, params: &Map<String, Value>, peer: &Peer<'_>) -> Result<Value, Fault> {
        let bad = |problem: String| Fault::new(Fault::INVALID_PARAMS, problem);
        let name = params.get("name").and_then(Value::as_str).ok_or_else(|| bad("name has to be a text".to_owned()))?;
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err(bad("arguments has to be an object".to_owned())),
        };
        let (offered, _) = self.enabled.names(&self.toolsets);
        if !offered.contains(name) || self.registry.get(name).is_none() {
            return Err(bad(format!("there is no tool called {name:?} here")));
        }
        let token = params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned();
        let told = |progress: Progress| {
            let Some(token) = &token else { return };
            let mut params = json!({ "progressToken": token, "progress": progress.done, "message": progress.message });
            if let Some(total) = progress.total {
                params["total"] = json!(total);
            }
            (peer.notify)(notification("notifications/progress", params));
        };
        let call = Call { deadline: Deadline::after(CALL), cancel: peer.cancel, progress: &told };
        Ok(match self.registry.call(name, &call, arguments) {
            Ok(outcome) => content(&outcome),
            Err(error) => refused(&error),
        })
    }
}

/// Whether a request stands by itself. It has to be of the revision that is spoken here then.
fn is_modern(params: &Map<String, Value>) -> Result<bool, Fault> {
    let Some(Value::Object(meta)) = params.get("_meta") else { return Ok(false) };
    let Some(version) = meta.get(VERSION) else { return Ok(false) };
    if version.as_str() != Some(MODERN) {
        let data = json!({ "supported": [MODERN, LEGACY], "requested": version });
        let fault = Fault::new(Fault::UNSUPPORTED_VERSION, "Unsupported protocol version");
        return Err(Fault { data: Some(data), ..fault });
    }
    if !meta.get(CAPABILITIES).is_some_and(Value::is_object) {
        return Err(Fault::new(Fault::INVALID_PARAMS, format!("_meta has to hold {CAPABILITIES}")));
    }
    Ok(true)
}

/// Earlier revisions know nothing of these.
fn without_modern(mut result: Value) -> Value {
    if let Value::Object(map) = &mut result {
        for name in ["resultType", "ttlMs", "cacheScope"] {
            map.remove(name);
        }
    }
    result
}

fn capabilities() -> Value {
    json!({ "tools": { "listChanged": true } })
}

fn info() -> Value {
    json!({ "name": "cdpilot", "title": "cdpilot", "version": env!("CARGO_PKG_VERSION") })
}

fn listed(tool: &Tool) -> Value {
    let mut told = json!({ "name": tool.name, "description": tool.description, "inputSchema": *tool.schema });
    if tool.read_only {
        told["annotations"] = json!({ "readOnlyHint": true });
    }
    told
}

fn content(outcome: &Outcome) -> Value {
    let told = outcome.to_value();
    let mut content = vec![json!({ "type": "text", "text": told.to_string() })];
    for image in &outcome.images {
        let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
        content.push(json!({ "type": "image", "data": data, "mimeType": image.media_type }));
    }
    json!({ "resultType": "complete", "content": content, "structuredContent": told, "isError": false })
}

fn refused(error: &ToolError) -> Value {
    let told = error.to_value();
    let content = json!([{ "type": "text", "text": told.to_string() }]);
    json!({ "resultType": "complete", "content": content, "structuredContent": told, "isError": true })
}
