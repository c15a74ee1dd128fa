//! Answers to requests, independent of the transport.

use serde_json::{Map, Value, json};

use super::super::message::answer as answered;
use super::super::{Fault, LEGACY, MODERN, OLDER, Request};
use super::{Backend, Peer};

/// Key in `_meta`: the protocol revision of a request.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Key in `_meta`: capabilities of the client.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Key in `_meta`: name and version of the server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Cache lifetime of the result of `server/discover`, in milliseconds.
const KEPT: u64 = 3_600_000;

/// Answers a request; `None` for a notification. `subscriptions/listen` is handled by the transport.
#[must_use]
pub fn answer(backend: &dyn Backend, request: &Request, peer: &Peer<'_>) -> Option<Value> {
    let id = request.id.as_ref()?;
    Some(match result(backend, request, peer) {
        Ok(result) => answered(id, result),
        Err(fault) => fault.to_value(Some(id)),
    })
}

fn result(backend: &dyn Backend, request: &Request, peer: &Peer<'_>) -> Result<Value, Fault> {
    let is_modern = is_modern(&request.params)?;
    let result = match (request.method.as_str(), is_modern) {
        ("initialize", false) => return Ok(initialized(backend, &request.params)),
        ("ping", false) => return Ok(json!({})),
        ("server/discover", true) => discovered(backend),
        ("tools/list", _) => backend.list(request, peer)?,
        ("tools/call", _) => backend.call(request, peer)?,
        (other, _) => {
            return Err(Fault::new(Fault::NO_METHOD, format!("unknown method {other:?}")));
        }
    };
    Ok(if is_modern { result } else { without_modern(result) })
}

/// Whether a request is self-contained, by its parameters. Its revision must then be supported.
///
/// # Errors
/// [`Fault::UNSUPPORTED_VERSION`], [`Fault::INVALID_PARAMS`].
pub fn is_modern(params: &Map<String, Value>) -> Result<bool, Fault> {
    let Some(version) = version(params) else { return Ok(false) };
    if version.as_str() != Some(MODERN) {
        return Err(unsupported(version));
    }
    if !params.get("_meta").and_then(|meta| meta.get(CAPABILITIES)).is_some_and(Value::is_object) {
        return Err(Fault::new(Fault::INVALID_PARAMS, format!("_meta must contain {CAPABILITIES}")));
    }
    Ok(true)
}

/// The protocol revision in the parameters of a request.
pub(super) fn version(params: &Map<String, Value>) -> Option<&Value> {
    params.get("_meta").and_then(Value::as_object)?.get(VERSION)
}

/// The error for an unsupported protocol revision.
pub(super) fn unsupported(version: &Value) -> Fault {
    let data = json!({ "supported": [MODERN, LEGACY], "requested": version });
    let fault = Fault::new(Fault::UNSUPPORTED_VERSION, "Unsupported protocol version");
    Fault { data: Some(data), ..fault }
}

/// Whether a protocol revision is one of those that begin with `initialize`.
pub(super) fn is_legacy(version: &str) -> bool {
    version == LEGACY || OLDER.contains(&version)
}

fn initialized(backend: &dyn Backend, params: &Map<String, Value>) -> Value {
    let requested_version = params.get("protocolVersion").and_then(Value::as_str).unwrap_or(LEGACY);
    json!({
        "protocolVersion": if is_legacy(requested_version) { requested_version } else { LEGACY },
        "capabilities": capabilities(),
        "serverInfo": info(),
        "instructions": backend.instructions(),
    })
}

fn discovered(backend: &dyn Backend) -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": [MODERN, LEGACY],
        "capabilities": capabilities(),
        "instructions": backend.instructions(),
        "ttlMs": KEPT,
        "cacheScope": "private",
        "_meta": { SERVER_INFO: info() },
    })
}

/// Removes fields that older revisions do not have.
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
