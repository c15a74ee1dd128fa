//! JSON-RPC messages. See <https://www.jsonrpc.org/specification>.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The id of a request and its response.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// A request, or a notification when it has no id.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// `None` for a notification.
    pub id: Option<Id>,
    /// Method name.
    pub method: String,
    /// Parameters.
    pub params: Map<String, Value>,
}

/// A received message.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// A request or a notification.
    Request(Request),
    /// A response to one of our requests.
    Answer {
        /// Id of the request.
        id: Id,
        /// Result or error.
        outcome: Result<Value, Fault>,
    },
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct Fault {
    /// See <https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes>.
    pub code: i64,
    /// Message for people and models.
    pub message: String,
    /// Additional data.
    pub data: Option<Value>,
}

impl Fault {
    /// Invalid JSON.
    pub const PARSE: i64 = -32700;
    /// Not a valid JSON-RPC message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// Unknown method.
    pub const NO_METHOD: i64 = -32601;
    /// Invalid parameters.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Internal error.
    pub const INTERNAL: i64 = -32603;
    /// HTTP headers contradict the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// Unsupported protocol revision.
    pub const UNSUPPORTED_VERSION: i64 = -32022;

    /// Creates an error without data.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The JSON-RPC error response; `id` is `None` when the request's id could not be read.
    #[must_use]
    pub fn to_value(&self, id: Option<&Id>) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        json!({ "jsonrpc": "2.0", "id": id, "error": error })
    }
}

/// A JSON-RPC response.
#[must_use]
pub(super) fn answer(id: &Id, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A JSON-RPC notification.
#[must_use]
pub(super) fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    /// The fault to answer with, and the request's id if it could be read.
    pub fn read(text: &str) -> Result<Self, (Fault, Option<Id>)> {
        // Some programs write a byte order mark, which parsers may ignore (RFC 8259, section 8.1).
        let value: Value = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
            .map_err(|problem| (Fault::new(Fault::PARSE, format!("invalid JSON: {problem}")), None))?;
        Self::of(value)
    }

    /// The message in a JSON value.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of(value: Value) -> Result<Self, (Fault, Option<Id>)> {
        let bad = |problem: &str, id: Option<Id>| (Fault::new(Fault::INVALID_REQUEST, problem), id);
        let Value::Object(mut map) = value else {
            return Err(bad("a message must be one JSON object; batches are not supported", None));
        };
        let id = match map.remove("id") {
            None => None,
            Some(id) => match serde_json::from_value(id) {
                Ok(id) => Some(id),
                Err(_) => return Err(bad("id must be a string or an integer", None)),
            },
        };
        if map.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(bad("jsonrpc must be \"2.0\"", id));
        }
        if let Some(method) = map.remove("method") {
            let Value::String(method) = method else { return Err(bad("method must be a string", id)) };
            let params = match map.remove("params") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(params)) => params,
                Some(_) => return Err((Fault::new(Fault::INVALID_PARAMS, "params must be an object"), id)),
            };
            return Ok(Self::Request(Request { id, method, params }));
        }
        let Some(id) = id else { return Err(bad("the message has neither method nor id", None)) };
        if let Some(result) = map.remove("result") {
            return Ok(Self::Answer { id, outcome: Ok(result) });
        }
        let Some(Value::Object(error)) = map.remove("error") else {
            return Err(bad("the message has no method, result or error", Some(id)));
        };
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
        Ok(Self::Answer { id, outcome: Err(Fault { code, message, data: error.get("data").cloned() }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let read = |text: &str| Message::read(text);
        let request = |id, params: Value| {
            let params = params.as_object().cloned().unwrap_or_default();
            Message::Request(Request { id, method: "m".to_owned(), params })
        };
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}}"#),
            Ok(request(Some(Id::Number(7)), json!({ "a": 1 })))
        );
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":"x","method":"m"}"#),
            Ok(request(Some(Id::Text("x".into())), json!({})))
        );
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"m"}"#), Ok(request(None, json!({}))));
        assert_eq!(read("\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"m\"}"), Ok(request(None, json!({}))));
        let expected = Message::Answer { id: Id::Number(1), outcome: Ok(json!(5)) };
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"result":5}"#), Ok(expected));
        let fault = Fault { code: -1, message: "no".into(), data: None };
        let expected = Message::Answer { id: Id::Number(1), outcome: Err(fault) };
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#), Ok(expected));
    }

    #[test]
    fn what_is_no_message_says_why() {
        let code = |text: &str| Message::read(text).map_err(|(fault, id)| (fault.code, id)).unwrap_err();
        assert_eq!(code("{"), (Fault::PARSE, None));
        for bad in [
            "[]",
            "1",
            r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#,
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
        ] {
            assert_eq!(code(bad), (Fault::INVALID_REQUEST, None), "{bad}");
        }
        assert_eq!(code(r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#), (Fault::INVALID_REQUEST, Some(Id::Number(1))));
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#),
            (Fault::INVALID_PARAMS, Some(Id::Number(1)))
        );
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#), (Fault::INVALID_REQUEST, None));
    }
}
