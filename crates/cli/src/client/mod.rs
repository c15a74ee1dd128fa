//! HTTP client of the control server: one connection and one round trip per command.
//!
//! | file | contents |
//! |---|---|
//! | `find` | the address of the server |
//! | `request` | a request to a route |
//! | `resolve` | name resolution |
//! | `event_lines` | the events of a stream |
//! | `error_answer` | error answers turned into CLI errors with an exit status |

mod error_answer;
mod event_lines;
mod find;
mod request;
mod resolve;

use std::io;
use std::time::Duration;

use serde_json::Value;
use ureq::config::RedirectAuthHeaders;
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body, Error, Timeout};

use super::failure::Failure;
use cdpilot::browser::is_suspended;
use cdpilot::code::Code;
use cdpilot_server::api::{CLIENT_HEADER, Method, Vocabulary};
use cdpilot_server::config::{Home, Token};
pub(super) use error_answer::{exit_of, of_answer};
pub(super) use event_lines::EventLines;
pub(super) use find::{ServerAddress, Source, find, is_loopback_url, is_server};
pub(super) use request::Request;

/// Time limit for connecting to this machine, and to others.
const LOCAL_CONNECT_LIMIT: Duration = Duration::from_secs(2);
const REMOTE_CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Size limit for answers, bytes; they may contain images.
const MAX_ANSWER: u64 = 512 << 20;

/// A client of one server.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    base: String,
    shown: String,
    /// How to correct the address.
    correct: &'static str,
    token: Option<Token>,
    /// Process id of the server, if known.
    process: Option<u32>,
}

/// An answer of the server.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The body as received.
    pub(super) text: String,
    pub(super) value: Value,
    /// The address of the server, for messages.
    pub(super) server: String,
}

/// Why a request got no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// No server accepts connections at the address.
    Refused(String),
    /// Something else.
    Failed(Failure),
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<NoAnswer> for Failure {
    fn from(none: NoAnswer) -> Self {
        match none {
            NoAnswer::Refused(sentence) => Self::unreachable(sentence),
            NoAnswer::Failed(failure) => failure,
        }
    }
}

impl Client {
    /// Creates a client; nothing is sent yet.
    ///
    /// # Errors
    /// The token of the home cannot be read; the server is suspended.
    pub(super) fn new(found: &ServerAddress, home: Option<&Home>) -> Result<Self, Failure> {
        let token = match (super::settings::env("CDPILOT_TOKEN"), home) {
            (Some(text), _) => Some(Token::given(text)),
            (None, Some(home)) => Token::read(home)?,
            (None, None) => None,
        };
        Self::with_token(found, token)
    }

    /// The same with a token.
    ///
    /// # Errors
    /// The server is suspended.
    pub(super) fn with_token(found: &ServerAddress, token: Option<Token>) -> Result<Self, Failure> {
        let process = found.process();
        if let Some(failure) = process.and_then(suspended) {
            return Err(failure);
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .redirect_auth_headers(RedirectAuthHeaders::Never)
            .timeout_connect(Some(if found.is_near() { LOCAL_CONNECT_LIMIT } else { REMOTE_CONNECT_LIMIT }))
            .user_agent(concat!("cdpilot/", env!("CARGO_PKG_VERSION")));
        // No proxy for this machine.
        let config = if found.is_near() { config.proxy(None) } else { config };
        let shown = format!("{}{}", found.base(), found.source.suffix());
        let agent = Agent::with_parts(config.build(), DefaultConnector::new(), resolve::Addresses::default());
        let correct = found.source.correction();
        Ok(Self { agent, base: found.base().to_owned(), shown, correct, token, process })
    }

    /// Sends a request and reads the whole answer.
    pub(super) fn send(&self, request: &Request, timeout: Duration) -> Result<Answer, NoAnswer> {
        self.read(request, timeout, |value| value.get("ok").is_some_and(Value::is_boolean))
    }

    /// Like [`send`](Self::send), for the MCP route, which answers in JSON-RPC.
    pub(super) fn call(&self, request: &Request, patience: Duration) -> Result<Answer, NoAnswer> {
        self.read(request, patience, |value| {
            value.get("ok").is_some_and(Value::is_boolean) || value["jsonrpc"] == "2.0"
        })
    }

    fn read(&self, request: &Request, patience: Duration, ours: fn(&Value) -> bool) -> Result<Answer, NoAnswer> {
        let mut response = self.ask(request, Some(patience), false)?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(MAX_ANSWER).read_to_string();
        let text = text.map_err(|problem| self.no_answer(&problem, patience))?;
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        if !ours(&value) {
            let what = format!("the program at {} is not a cdpilot server (HTTP status {status})", self.shown);
            return Err(NoAnswer::Failed(Failure::unreachable(format!("{what}; {}", self.correct))));
        }
        Ok(Answer { status, text, value, server: self.shown.clone() })
    }

    /// Opens the event stream, which ends after `limit`; the inner error is an answer of another kind.
    pub(super) fn follow(
        &self,
        request: &Request,
        limit: Option<Duration>,
    ) -> Result<Result<ureq::BodyReader<'static>, Answer>, NoAnswer> {
        let mut response = self.ask(request, limit, true)?;
        let status = response.status().as_u16();
        if status == 200 {
            return Ok(Ok(response.into_body().into_reader()));
        }
        let text = response.body_mut().with_config().limit(MAX_ANSWER).read_to_string();
        let text = text.map_err(|problem| self.no_answer(&problem, REMOTE_CONNECT_LIMIT))?;
        let value = serde_json::from_str(&text).unwrap_or_default();
        Ok(Err(Answer { status, text, value, server: self.shown.clone() }))
    }

    /// Reads an answer that is not JSON: its media type and its bytes. The inner error is an answer of another kind.
    pub(super) fn bytes(
        &self,
        request: &Request,
        patience: Duration,
    ) -> Result<Result<(String, Vec<u8>), Answer>, NoAnswer> {
        let mut response = self.ask(request, Some(patience), false)?;
        let status = response.status().as_u16();
        let kind =
            response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
        let body = response.body_mut().with_config().limit(MAX_ANSWER);
        if status == 200 {
            let bytes = body.read_to_vec().map_err(|problem| self.no_answer(&problem, patience))?;
            return Ok(Ok((kind, bytes)));
        }
        let text = body.read_to_string().map_err(|problem| self.no_answer(&problem, patience))?;
        let value = serde_json::from_str(&text).unwrap_or_default();
        Ok(Err(Answer { status, text, value, server: self.shown.clone() }))
    }

    fn ask(
        &self,
        request: &Request,
        patience: Option<Duration>,
        events: bool,
    ) -> Result<http::Response<Body>, NoAnswer> {
        let mut asked =
            http::Request::builder().method(request.operation.method.name()).uri(request.address(&self.base));
        asked = asked.header(CLIENT_HEADER, Vocabulary::CLI);
        if let Some(token) = &self.token {
            asked = asked.header("authorization", format!("Bearer {}", token.reveal()));
        }
        let kinds = if events { "text/event-stream" } else { "application/json" };
        if !request.headers.iter().any(|(name, _)| *name == "accept") {
            asked = asked.header("accept", kinds);
        }
        for (name, value) in &request.headers {
            asked = asked.header(*name, value);
        }
        let body = request.body.as_ref().map(Value::to_string);
        if body.is_some() {
            asked = asked.header("content-type", "application/json");
        }
        let asked = asked.body(body.unwrap_or_default()).map_err(|_| {
            // The value is not repeated: it may be the token.
            NoAnswer::Failed(Failure::usage(
                "the server's address or token contains invalid characters; check --url, CDPILOT_URL and CDPILOT_TOKEN",
            ))
        })?;
        let limit = patience.unwrap_or(REMOTE_CONNECT_LIMIT);
        let asked = self.agent.configure_request(asked).timeout_global(patience).build();
        let asked = match request.body {
            Some(_) => self.agent.run(asked),
            None => self.agent.run(asked.map(|_| ())),
        };
        asked.map_err(|problem| match self.no_answer(&problem, limit) {
            // A request that changes nothing is safe to retry with the next server.
            NoAnswer::Failed(failure) if request.operation.method == Method::Get && has_gone(&problem) => {
                NoAnswer::Refused(failure.error)
            }
            none => none,
        })
    }

    fn no_answer(&self, problem: &Error, patience: Duration) -> NoAnswer {
        let shown = &self.shown;
        let refused = |why: &str| NoAnswer::Refused(format!("cannot reach a server at {shown}: {why}"));
        match problem {
            Error::Timeout(Timeout::Connect | Timeout::Resolve) => refused("it does not accept connections"),
            Error::Timeout(_) => NoAnswer::Failed(self.process.and_then(suspended).unwrap_or_else(|| {
                Failure::new(
                    Code::Timeout,
                    format!(
                        "the server at {shown} did not answer within {} ms; allow more time with --timeout",
                        patience.as_millis()
                    ),
                )
            })),
            Error::Io(problem) if went_away(problem.kind()) => NoAnswer::Failed(Failure::unreachable(format!(
                "the server at {shown} stopped before it answered; check it with `cdpilot status`"
            ))),
            Error::Io(problem) => refused(&problem.to_string()),
            Error::HostNotFound => refused("unknown host"),
            Error::ConnectionFailed => refused("it does not accept connections"),
            Error::Protocol(_) => NoAnswer::Failed(Failure::unreachable(format!(
                "the program at {shown} is not a cdpilot server (invalid HTTP response); {}",
                self.correct
            ))),
            Error::BadUri(_) | Error::Http(_) => {
                NoAnswer::Failed(Failure::usage(format!("{shown} is not a server address; give http://host:port")))
            }
            other => NoAnswer::Failed(Failure::unreachable(format!(
                "no answer from the server at {shown}: {other}; check it with `cdpilot status`"
            ))),
        }
    }
}

/// The error for a suspended server process; `None` if it is not suspended.
pub(super) fn suspended(process: u32) -> Option<Failure> {
    let what = format!("the server of this home (process {process}) is suspended (SIGSTOP or Ctrl-Z)");
    let hint = "resume it with `cdpilot doctor --fix`, or stop it and its browsers with `cdpilot serve --stop`";
    is_suspended(process).then(|| Failure::unreachable(format!("{what}; {hint}")))
}

fn has_gone(problem: &Error) -> bool {
    matches!(problem, Error::Io(problem) if went_away(problem.kind()))
}

fn went_away(kind: io::ErrorKind) -> bool {
    use io::ErrorKind as K;
    matches!(kind, K::ConnectionReset | K::ConnectionAborted | K::BrokenPipe | K::UnexpectedEof)
}
