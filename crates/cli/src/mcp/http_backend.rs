//! Requests to `POST /mcp` of a running server, each on its own socket: closing the socket cancels the call.

use std::time::Duration;

use http::Uri;
use serde_json::{Value, json};

use super::super::client::ServerAddress;
use super::super::failure::Failure;
use super::super::settings::env;
use cdpilot::http::client::{self, Tcp, exchange};
use cdpilot::sync::Deadline;
use cdpilot_server::api::{Method, SESSION_HEADER};
use cdpilot_server::config::{Home, Token};
use cdpilot_server::control::Session;
use cdpilot_server::mcp::server::http::{METHOD, NAME, SESSION, VERSION, encoded};
use cdpilot_server::mcp::server::is_modern;
use cdpilot_server::mcp::{Fault, MODERN, Request};

/// Time limit for connecting to a server.
const CONNECT: Duration = Duration::from_secs(3);
/// Maximum size of an answer, in bytes.
const MAX_ANSWER: usize = 256 << 20;

/// A running server.
#[derive(Debug)]
pub(super) struct HttpBackend {
    /// `http://127.0.0.1:18791`.
    base: String,
    token: Option<Token>,
    /// The query of its URL.
    query: String,
    /// The session that the user chose.
    session: Option<String>,
}

/// The answer of a server.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Value,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// No server accepts connections; the request was not sent.
    Nobody(String),
    /// The server ended before it answered.
    Ended,
    /// The server did not answer in time.
    Late,
    /// The request was cancelled.
    Cancelled,
    /// The answer is not that of a cdpilot server.
    Other(String),
}

impl HttpBackend {
    pub(super) fn new(
        found: &ServerAddress,
        home: Option<&Home>,
        toolsets: &[String],
        profile: Option<&str>,
        session: Option<&str>,
    ) -> Result<Self, Failure> {
        let token = match (env("CDPILOT_TOKEN"), home) {
            (Some(text), _) => Some(Token::given(text)),
            (None, Some(home)) => Token::read(home)?,
            (None, None) => None,
        };
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        if !toolsets.is_empty() {
            query.append_pair("toolsets", &toolsets.join(","));
        }
        if let Some(profile) = profile {
            query.append_pair("profile", profile);
        }
        Ok(Self { base: found.base().to_owned(), token, query: query.finish(), session: session.map(str::to_owned) })
    }

    /// The base URL of the server.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Whether a server accepts connections.
    pub(super) fn is_there(&self, deadline: Deadline<'_>) -> bool {
        self.uri("/").and_then(|uri| self.connect(&uri, deadline.renewed(CONNECT))).is_ok()
    }

    /// Sends a request and waits for the answer.
    pub(super) fn ask(&self, request: &Request, session: &Session, deadline: Deadline<'_>) -> Result<Reply, NoAnswer> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": request.method, "params": request.params }).to_string();
        let query = if self.query.is_empty() { String::new() } else { format!("?{}", self.query) };
        let uri = self.uri(&format!("/mcp{query}"))?;
        let (headers, body) = (self.headers(request, session), Some(body.as_bytes()));
        let asked =
            client::Request { method: Method::Post.name(), uri: &uri, headers: &headers, body, max_answer: MAX_ANSWER };
        let (status, body) = exchange(&self.connect(&uri, deadline)?, &asked).map_err(no_answer)?;
        let body = serde_json::from_slice(&body).map_err(|_| other_server())?;
        Ok(Reply { status, body })
    }

    fn uri(&self, target: &str) -> Result<Uri, NoAnswer> {
        format!("{}{target}", self.base).parse().map_err(|_| NoAnswer::Other("it is not a server address".to_owned()))
    }

    fn connect<'a>(&self, uri: &Uri, deadline: Deadline<'a>) -> Result<Tcp<'a>, NoAnswer> {
        Tcp::connect(uri, CONNECT, deadline)
            .map_err(|why| NoAnswer::Nobody(format!("no server can be reached at {}: {why}", self.base)))
    }

    fn headers(&self, request: &Request, session: &Session) -> Vec<(String, String)> {
        let mut headers = self.own_headers(session);
        headers.push(("Content-Type", "application/json".to_owned()));
        if is_modern(&request.params).is_ok_and(|modern| modern) {
            headers.push((VERSION, MODERN.to_owned()));
            headers.push((METHOD, encoded(&request.method).into_owned()));
            if let Some(name) = request.params.get("name").and_then(Value::as_str) {
                headers.push((NAME, encoded(name).into_owned()));
            }
        }
        named(headers)
    }

    /// Ends the connection's session: its to-do list and background commands are dropped; its tabs stay open without an
    /// owner.
    pub(super) fn end(&self, session: &Session, deadline: Deadline<'_>) {
        let Ok(uri) = self.uri("/mcp") else { return };
        let headers = named(self.own_headers(session));
        let asked =
            client::Request { method: "DELETE", uri: &uri, headers: &headers, body: None, max_answer: MAX_ANSWER };
        if let Ok(connection) = self.connect(&uri, deadline) {
            // A server that has stopped has dropped the session too.
            let _ = exchange(&connection, &asked);
        }
    }

    /// Headers of every request that identify the client.
    fn own_headers(&self, session: &Session) -> Vec<(&'static str, String)> {
        let mut headers = vec![("Accept", "application/json".to_owned())];
        if let Some(token) = &self.token {
            headers.push(("Authorization", format!("Bearer {}", token.reveal())));
        }
        if !session.id().is_empty() {
            headers.push((SESSION, session.id().to_owned()));
        }
        if let Some(name) = &self.session {
            headers.push((SESSION_HEADER, name.clone()));
        }
        headers
    }
}

fn named(headers: Vec<(&'static str, String)>) -> Vec<(String, String)> {
    headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn no_answer(problem: client::Error) -> NoAnswer {
    use client::Error as E;
    match problem {
        E::Broken(_) | E::NoAnswer | E::Incomplete => NoAnswer::Ended,
        E::Timeout { .. } => NoAnswer::Late,
        E::Cancelled => NoAnswer::Cancelled,
        E::TooLong => NoAnswer::Other(format!("the answer is larger than {MAX_ANSWER} bytes")),
        E::NotHttp | E::Malformed => other_server(),
        E::Header | E::Connect { .. } | E::Thread { .. } => NoAnswer::Other(problem.to_string()),
    }
}

fn other_server() -> NoAnswer {
    NoAnswer::Other("another program answers at that address, not a cdpilot server".to_owned())
}

impl Reply {
    /// The result of a JSON-RPC response, or the failure of the server.
    pub(super) fn outcome(mut self) -> Result<Value, Fault> {
        if let Some(result) = self.body.get_mut("result") {
            return Ok(result.take());
        }
        let error = &self.body["error"];
        if let Some(code) = error["code"].as_i64() {
            let message = error["message"].as_str().unwrap_or_default().to_owned();
            return Err(Fault { code, message, data: error.get("data").cloned() });
        }
        let sentence = error.as_str().unwrap_or("the server answers something that is no response");
        Err(Fault::new(Fault::INTERNAL, format!("{sentence} (HTTP status {})", self.status)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_either_kind_are_reported() {
        let outcome = |body: Value| Reply { status: 401, body }.outcome();
        assert_eq!(outcome(json!({ "result": 5 })).unwrap(), 5);
        assert_eq!(outcome(json!({ "error": { "code": -7, "message": "m" } })).unwrap_err().code, -7);
        let fault = outcome(json!({ "ok": false, "error": "no token", "code": "UNAUTHORIZED" })).unwrap_err();
        assert_eq!(fault.message, "no token (HTTP status 401)");
    }
}
