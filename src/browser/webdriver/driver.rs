//! Commands to a WebDriver server, and parsing its answers. <https://www.w3.org/TR/webdriver2/#protocol>

use std::time::Instant;

use serde_json::Value;

use super::super::Error;
use super::super::endpoint::Endpoint;
use super::error::WebDriverProblem as Problem;
use crate::cdp::{self, ConnectOptions, http};
use crate::redact::redact_addresses;
use crate::sync::Deadline;

/// Maximum length of a server's message that is passed on, in characters.
const MAX_MESSAGE: usize = 400;
/// Shorter texts are not secrets: covering them would only damage messages.
const MIN_SECRET: usize = 3;

/// A server, and the headers of every command.
#[derive(Clone)]
pub(super) struct Driver {
    /// Includes the base path of commands, without trailing slash.
    server: Endpoint,
    headers: Vec<(String, String)>,
    roots: Vec<Vec<u8>>,
}

impl Driver {
    pub(super) fn new(requested: &Endpoint, connect: &ConnectOptions) -> Self {
        let mut server = requested.clone();
        server.path = base(requested).to_owned();
        let headers = server.headers(&connect.headers);
        Self { server, headers, roots: connect.tls_roots.clone() }
    }

    pub(super) fn server(&self) -> &Endpoint {
        &self.server
    }

    /// The same server with another path.
    pub(super) fn below(&self, path: &str) -> Self {
        Self { server: Endpoint { path: path.to_owned(), ..self.server.clone() }, ..self.clone() }
    }

    /// Sends a command. Returns the `value` of its answer.
    pub(super) fn command(
        &self,
        method: &'static str,
        path: &str,
        body: Option<&Value>,
        deadline: Deadline<'_>,
    ) -> Result<Value, Problem> {
        let began = Instant::now();
        let address = Endpoint { path: format!("{}{path}", self.server.path), ..self.server.clone() }.url();
        let body = body.map(|body| body.to_string().into_bytes());
        let mut headers = self.headers.clone();
        if body.is_some() {
            headers.push(("Content-Type".to_owned(), "application/json; charset=utf-8".to_owned()));
        }
        let request =
            http::Request { method, address: &address, headers: &headers, body: body.as_deref(), roots: &self.roots };
        let (status, body) = http::send(&request, deadline).map_err(|error| match error {
            cdp::Error::Timeout { .. } => Problem::Timeout { after: began.elapsed() },
            cdp::Error::Connect { problem } if problem.contains("does not speak HTTP") => {
                Problem::Answer { status: None, problem }
            }
            cdp::Error::Connect { problem } | cdp::Error::Address { problem } => Problem::Unreachable { problem },
            other => Problem::Unreachable { problem: other.to_string() },
        })?;
        self.read(status, &body)
    }

    fn read(&self, status: u16, body: &[u8]) -> Result<Value, Problem> {
        let answer = |problem: String| Problem::Answer { status: Some(status), problem };
        let Ok(Value::Object(mut whole)) = serde_json::from_slice(body) else {
            let what = match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(b'<') => "a web page",
                Some(_) => "something that is not JSON",
                None => "nothing",
            };
            return Err(answer(format!("it answers with status {status} and {what}")));
        };
        let value = whole.remove("value").unwrap_or_default();
        if let Some(code) = value.get("error").and_then(Value::as_str) {
            let message = value.get("message").and_then(Value::as_str).unwrap_or_default();
            return Err(Problem::Refused { code: self.clean(code), message: self.clean(message) });
        }
        if status == 200 { Ok(value) } else { Err(answer(format!("it answers with status {status}"))) }
    }

    /// A server's message without secrets, on one line and cut.
    fn clean(&self, text: &str) -> String {
        // Followed by stacks, build information, and capabilities with addresses.
        let ends = ["\nBuild info:", "\nStacktrace:", "\nHost info:", "\n  (Session info:", "\n#0 "];
        let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
        let text = text.split_at(end).0.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut text = redact_addresses(&text);
        for secret in self.secrets() {
            text = text.replace(&secret, "…");
        }
        text.chars().take(MAX_MESSAGE).collect()
    }

    /// Sent values that a server may repeat, the longest first.
    fn secrets(&self) -> Vec<String> {
        let mut found: Vec<&str> = Vec::new();
        for (_, value) in &self.headers {
            found.push(value);
            found.extend(value.split_whitespace().skip(1));
        }
        if let Some(query) = &self.server.query {
            found.push(query);
            found.extend(query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value)));
        }
        if let Some(user) = &self.server.user {
            found.push(user);
            found.extend(user.split(':'));
        }
        found.extend(self.server.path.split('/').filter(|part| !["wd", "hub", "session"].contains(part)));
        let mut found: Vec<String> =
            found.into_iter().filter(|secret| secret.len() >= MIN_SECRET).map(str::to_owned).collect();
        found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        found
    }

    /// The error of a command.
    pub(super) fn error(&self, problem: Problem) -> Error {
        Error::WebDriver { endpoint: self.server.to_string(), problem }
    }
}

/// The base path of commands: users also give the address of a command.
pub(super) fn base(requested: &Endpoint) -> &str {
    let path = requested.path.trim_end_matches('/');
    path.strip_suffix("/session").unwrap_or(path)
}
