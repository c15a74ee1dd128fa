//! HTTP transport: headers, which must match the body, and status codes.
//!
//! See <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>.

use std::borrow::Cow;

use base64::Engine as _;
use serde_json::Value;

use super::super::{Fault, Id, MODERN, Message, Request};
use super::answer::{is_legacy, unsupported, version};

/// Header: protocol revision.
pub const VERSION: &str = "mcp-protocol-version";
/// Header: method.
pub const METHOD: &str = "mcp-method";
/// Header: name of the called tool.
pub const NAME: &str = "mcp-name";
/// Header: session of the client.
pub const SESSION: &str = "mcp-session-id";

/// Prefix and suffix of a Base64-encoded header value.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// MCP headers of a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Headers<'a> {
    /// [`VERSION`].
    pub version: Option<&'a str>,
    /// [`METHOD`].
    pub method: Option<&'a str>,
    /// [`NAME`].
    pub name: Option<&'a str>,
}

/// A decoded body.
#[derive(Debug, Clone, PartialEq)]
pub enum Posted {
    /// A notification or a response; answered with 202.
    Notification,
    /// A request, its id, and whether it is of [`MODERN`](super::super::MODERN).
    Request(Request, Id, bool),
}

/// A rejected request.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// The status.
    pub status: u16,
    /// The body: a JSON-RPC error.
    pub body: Value,
}

impl Refused {
    /// 400 with a fault.
    #[must_use]
    pub fn bad(fault: &Fault, id: Option<&Id>) -> Self {
        Self { status: 400, body: fault.to_value(id) }
    }
}

/// Decodes a body and checks the headers against it.
///
/// # Errors
/// The error response.
pub fn read(headers: &Headers<'_>, body: &[u8]) -> Result<Posted, Refused> {
    let read = match std::str::from_utf8(body) {
        Ok(text) => Message::read(text),
        Err(_) => Err((Fault::new(Fault::PARSE, "the body is not UTF-8"), None)),
    };
    let request = match read {
        Ok(Message::Request(request)) => request,
        Ok(Message::Answer { .. }) if headers.version != Some(MODERN) => return Ok(Posted::Notification),
        Ok(Message::Answer { id, .. }) => {
            let fault = Fault::new(Fault::INVALID_REQUEST, "unexpected response: the server sent no request");
            return Err(Refused::bad(&fault, Some(&id)));
        }
        Err((fault, id)) => return Err(Refused::bad(&fault, id.as_ref())),
    };
    let Some(id) = request.id.clone() else { return Ok(Posted::Notification) };
    match check(headers, &request) {
        Ok(is_modern) => Ok(Posted::Request(request, id, is_modern)),
        Err(fault) => Err(Refused::bad(&fault, Some(&id))),
    }
}

/// Whether a request is self-contained. Its headers must then match the body.
fn check(headers: &Headers<'_>, request: &Request) -> Result<bool, Fault> {
    let mismatch = |problem: String| Fault::new(Fault::HEADER_MISMATCH, format!("Header mismatch: {problem}"));
    let Some(said) = version(&request.params) else {
        return match headers.version {
            None => Ok(false),
            Some(version) if is_legacy(version) => Ok(false),
            Some(MODERN) => {
                Err(mismatch(format!("MCP-Protocol-Version is {MODERN}, but _meta has no protocol version")))
            }
            Some(other) => Err(unsupported(&Value::from(other))),
        };
    };
    let fits = |name: &str, header: Option<&str>, body: Option<&str>| match (header, body) {
        (Some(header), Some(body)) if header == body => Ok(()),
        (Some(header), Some(body)) => Err(mismatch(format!("{name} is {header:?}, but the body has {body:?}"))),
        (Some(header), None) => Err(mismatch(format!("{name} is {header:?}, but the body has none"))),
        (None, _) => Err(mismatch(format!("{name} is missing or repeated"))),
    };
    fits("MCP-Protocol-Version", headers.version, said.as_str())?;
    // Checked before the other headers, which may differ in unknown revisions.
    super::is_modern(&request.params)?;
    fits("Mcp-Method", headers.method, Some(&request.method))?;
    if request.method == "tools/call" {
        let name = headers.name.map(decoded).transpose().map_err(mismatch)?;
        fits("Mcp-Name", name.as_deref(), request.params.get("name").and_then(Value::as_str))?;
    }
    Ok(true)
}

/// Decodes a header value that may be Base64-encoded.
fn decoded(header: &str) -> Result<Cow<'_, str>, String> {
    let inner = header.strip_prefix(ENCODED.0).and_then(|rest| rest.strip_suffix(ENCODED.1));
    let Some(inner) = inner else { return Ok(header.into()) };
    let bytes = base64::engine::general_purpose::STANDARD.decode(inner).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map(Cow::Owned).ok_or_else(|| "Mcp-Name is not Base64 of UTF-8 text".to_owned())
}

/// Encodes a name as header value, with Base64 if necessary.
#[must_use]
pub fn encoded(name: &str) -> Cow<'_, str> {
    let plain = name.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && name.trim() == name;
    if plain && !(name.starts_with(ENCODED.0) && name.ends_with(ENCODED.1)) {
        return name.into();
    }
    let inner = base64::engine::general_purpose::STANDARD.encode(name);
    format!("{}{inner}{}", ENCODED.0, ENCODED.1).into()
}

/// The HTTP status of an answer.
#[must_use]
pub fn status(is_modern: bool, answer: &Value) -> u16 {
    match answer.pointer("/error/code").and_then(Value::as_i64) {
        Some(Fault::NO_METHOD) if is_modern => 404,
        Some(Fault::INVALID_PARAMS | Fault::UNSUPPORTED_VERSION | Fault::HEADER_MISMATCH) if is_modern => 400,
        _ => 200,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_through_headers_whole() {
        for name in ["plain", "two words", "ü", " padded ", "a\nb", "=?base64?bm8=?=", ""] {
            let header = encoded(name);
            assert!(header.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{header:?}");
            assert_eq!(decoded(&header).unwrap(), name);
        }
        assert_eq!(encoded("plain"), "plain");
        for bad in ["=?base64?!?=", "=?base64?/w==?="] {
            assert!(decoded(bad).is_err(), "{bad}");
        }
    }
}
