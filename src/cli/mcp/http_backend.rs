//! Requests to `POST /mcp` of a running server, each on its own socket: closing the socket cancels the call.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::client::ServerAddress;
use super::super::failure::Failure;
use super::super::settings::env;
use crate::config::{Home, Token};
use crate::control::Session;
use crate::mcp::server::http::{METHOD, NAME, SESSION, VERSION, encoded};
use crate::mcp::server::is_modern;
use crate::mcp::{Fault, MODERN, Request};
use crate::sync::{Cancel, Deadline};

/// How long a server has to take a connection.
const CONNECT: Duration = Duration::from_secs(3);
/// How long it is waited for an answer before it is looked whether somebody still wants it.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The largest answer that is read, bytes.
const MAX_ANSWER: usize = 256 << 20;
/// Headers of an answer at most.
const HEADERS: usize = 64;

/// A server that runs.
#[derive(Debug)]
pub(super) struct HttpBackend {
    /// `http://127.0.0.1:18791`.
    base: String,
    token: Option<Token>,
    /// What stands behind the path.
    query: String,
}

/// What a server answered.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Value,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// Nobody takes connections there; nothing was asked.
    Nobody(String),
    /// It ended before it answered.
    Ended,
    /// It did not answer in time.
    Late,
    /// Nobody wants the answer any more.
    Cancelled,
    /// What answers is something else.
    Other(String),
}

impl HttpBackend {
    pub(super) fn new(
        found: &ServerAddress,
        home: Option<&Home>,
        toolsets: &[String],
        profile: Option<&str>,
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
        Ok(Self { base: found.base().to_owned(), token, query: query.finish() })
    }

    /// Where it is.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Whether somebody takes connections there.
    pub(super) fn is_there(&self) -> bool {
        self.connect(Deadline::after(CONNECT)).is_ok()
    }

    /// Asks, and waits for the answer.
    pub(super) fn ask(
        &self,
        request: &Request,
        session: &Session,
        cancel: &Cancel,
        deadline: Deadline,
    ) -> Result<Reply, NoAnswer> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": request.method, "params": request.params }).to_string();
        let mut socket = self.connect(deadline)?;
        // It may refuse before it has read all; then the answer is there though it was not all sent.
        let _ = socket.write_all((self.head(request, session, body.len()) + &body).as_bytes());
        let mut bytes = Vec::new();
        match read(&mut socket, &mut bytes, cancel, deadline) {
            Ok(()) => parse(&bytes),
            Err(NoAnswer::Ended) if !bytes.is_empty() => parse(&bytes),
            Err(none) => Err(none),
        }
    }

    fn connect(&self, deadline: Deadline) -> Result<TcpStream, NoAnswer> {
        let location = self.base.strip_prefix("http://").unwrap_or(&self.base);
        let nobody = |why: String| NoAnswer::Nobody(format!("no server can be reached at {}: {why}", self.base));
        let mut last = nobody("there is no such host".to_owned());
        for address in location.to_socket_addrs().map_err(|problem| nobody(problem.to_string()))? {
            match TcpStream::connect_timeout(&address, deadline.within(CONNECT).left().max(POLL_INTERVAL)) {
                Ok(socket) => {
                    let set = socket.set_nodelay(true).and_then(|()| socket.set_read_timeout(Some(POLL_INTERVAL)));
                    let set = set.and_then(|()| socket.set_write_timeout(Some(CONNECT)));
                    return set.map(|()| socket).map_err(|problem| nobody(problem.to_string()));
                }
                Err(problem) => last = nobody(problem.to_string()),
            }
        }
        Err(last)
    }

    fn head(&self, request: &Request, session: &Session, length: usize) -> String {
        let location = self.base.strip_prefix("http://").unwrap_or(&self.base);
        let query = if self.query.is_empty() { String::new() } else { format!("?{}", self.query) };
        let mut head = format!(
            "POST /mcp{query} HTTP/1.1\r\nHost: {location}\r\nConnection: close\r\nAccept: application/json\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n"
        );
        if let Some(token) = &self.token {
            head.push_str(&format!("Authorization: Bearer {}\r\n", token.reveal()));
        }
        if !session.id().is_empty() {
            head.push_str(&format!("{SESSION}: {}\r\n", session.id()));
        }
        if is_modern(&request.params).is_ok_and(|modern| modern) {
            head.push_str(&format!("{VERSION}: {MODERN}\r\n{METHOD}: {}\r\n", encoded(&request.method)));
            if let Some(name) = request.params.get("name").and_then(Value::as_str) {
                head.push_str(&format!("{NAME}: {}\r\n", encoded(name)));
            }
        }
        head.push_str("\r\n");
        head
    }
}

/// Reads until the server closes the connection.
fn read(socket: &mut TcpStream, bytes: &mut Vec<u8>, cancel: &Cancel, deadline: Deadline) -> Result<(), NoAnswer> {
    let mut piece = vec![0; 64 * 1024];
    loop {
        if cancel.is_set() {
            return Err(NoAnswer::Cancelled);
        }
        match socket.read(&mut piece) {
            Ok(0) if bytes.is_empty() => return Err(NoAnswer::Ended),
            Ok(0) => return Ok(()),
            Ok(count) if bytes.len() + count > MAX_ANSWER => {
                return Err(NoAnswer::Other(format!("the answer is larger than {MAX_ANSWER} bytes")));
            }
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(problem) if is_patience(&problem) && !deadline.passed() => {}
            Err(problem) if is_patience(&problem) => return Err(NoAnswer::Late),
            Err(_) => return Err(NoAnswer::Ended),
        }
    }
}

fn is_patience(problem: &io::Error) -> bool {
    matches!(problem.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// The status and the body. What is cut off is no answer.
fn parse(bytes: &[u8]) -> Result<Reply, NoAnswer> {
    let other = || NoAnswer::Other("what answers there does not speak HTTP as a cdpilot server does".to_owned());
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(bytes).map_err(|_| other())?;
    let httparse::Status::Complete(at) = parsed else { return Err(NoAnswer::Ended) };
    let body = bytes.get(at..).unwrap_or_default();
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse::<usize>().ok());
    if length.is_none_or(|length| body.len() < length) {
        return Err(NoAnswer::Ended);
    }
    let body = serde_json::from_slice(body).map_err(|_| other())?;
    Ok(Reply { status: response.code.unwrap_or_default(), body })
}

impl Reply {
    /// What a response of JSON-RPC comes to, or a failure of the server instead of one.
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
    fn answers_are_taken_whole_or_not_at_all() {
        let whole = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\n{\"a\": 1 }";
        let told = parse(whole).unwrap();
        assert_eq!((told.status, told.body), (400, json!({ "a": 1 })));
        for end in 1..whole.len() {
            assert!(matches!(parse(&whole[..end]), Err(NoAnswer::Ended)), "{end}");
        }
        assert!(matches!(parse(b"SSH-2.0-x\r\n\r\n"), Err(NoAnswer::Other(_))));
    }

    #[test]
    fn failures_of_either_kind_are_told() {
        let outcome = |body: Value| Reply { status: 401, body }.outcome();
        assert_eq!(outcome(json!({ "result": 5 })).unwrap(), 5);
        assert_eq!(outcome(json!({ "error": { "code": -7, "message": "m" } })).unwrap_err().code, -7);
        let told = outcome(json!({ "ok": false, "error": "no token", "code": "UNAUTHORIZED" })).unwrap_err();
        assert_eq!(told.message, "no token (HTTP status 401)");
    }
}
