//! Requests of `cdpilot chat` to the server, and the stream of a conversation.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded};
use serde_json::Value;
use serde_json::json;

use super::super::args::Global;
use super::super::client::{EventLines, NoAnswer, Request, of_answer};
use super::super::connect::{Connector, ask, reach};
use super::super::failure::{Exit, Failure};
use super::super::output::Out;
use super::super::settings::Settings;
use cdpilot::code::Code;
use cdpilot::sync::spawn;
use cdpilot_server::api::{McpQuery, operations as op};
use cdpilot_server::config::Home;

/// Time limit of a request that is answered at once.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Events that are read ahead.
const AHEAD: usize = 64;

/// The server.
pub(in super::super) struct Link<'a> {
    connector: Connector,
    out: &'a Out,
    patience: Duration,
}

/// An item of a stream.
#[derive(Debug)]
pub(in super::super) enum Item {
    Event {
        /// `None` for parts of an answer, which are not stored.
        id: Option<u64>,
        name: String,
        data: Value,
    },
    /// A line without an event: the connection is alive.
    Alive,
    /// The connection ended.
    Closed,
}

impl<'a> Link<'a> {
    pub(in super::super) fn new(global: &Global, settings: &Settings, out: &'a Out) -> Result<Self, Failure> {
        Ok(Self {
            connector: Connector::new(global)?,
            out,
            patience: settings.timeout(REQUEST_TIMEOUT).max(REQUEST_TIMEOUT),
        })
    }

    pub(in super::super) fn home(&self) -> Option<&Home> {
        self.connector.home.as_ref()
    }

    /// Sends a request and returns the answer.
    pub(in super::super) fn ask(&self, request: &Request) -> Result<Value, Failure> {
        let answer = ask(&self.connector, self.connector.find()?, true, request, self.patience, self.out)?;
        match of_answer(&answer) {
            Some(failure) => Err(failure),
            None => Ok(answer.value),
        }
    }

    /// Lists the tools of a toolset; the answer is JSON-RPC.
    pub(in super::super) fn tools_of(&self, toolset: &str) -> Result<Value, Failure> {
        let query = McpQuery { toolsets: Some(toolset.to_owned()), platform: None };
        let request = Request::new(op::MCP, &query)
            .header("accept", "application/json")
            .message(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }));
        let found = self.connector.find()?;
        let answer = reach(&self.connector, found, true, |client| client.call(&request, self.patience))?;
        Ok(answer.value)
    }

    /// Whether the server is that of our home.
    pub(in super::super) fn is_of_home(&self) -> bool {
        self.connector.find().is_ok_and(|found| found.process().is_some())
    }

    /// The media type and the bytes of an answer.
    pub(in super::super) fn bytes(&self, request: &Request) -> Result<(String, Vec<u8>), Failure> {
        let found = self.connector.find()?;
        let answer = reach(&self.connector, found, false, |client| client.bytes(request, self.patience))?;
        answer.map_err(|answer| of_answer(&answer).unwrap_or_else(no_stream))
    }

    /// Opens the stream of a request: a message, or the rest of a conversation.
    pub(in super::super) fn open(&self, request: &Request) -> Result<Receiver<Item>, Failure> {
        let found = self.connector.find()?;
        let opened =
            reach(&self.connector, found, true, |client| -> Result<_, NoAnswer> { client.follow(request, None) })?;
        items(opened.map_err(|answer| of_answer(&answer).unwrap_or_else(no_stream))?)
    }
}

/// Reads the items of a stream in a thread of its own.
pub(in super::super) fn items(stream: impl Read + Send + 'static) -> Result<Receiver<Item>, Failure> {
    let (send, items) = bounded(AHEAD);
    let read = move || {
        let mut lines = EventLines::default();
        for line in BufReader::new(stream).split(b'\n') {
            let Ok(line) = line else { break };
            let line = String::from_utf8_lossy(&line);
            if line.starts_with("event:") {
                lines.id = None;
            }
            let item = match lines.line(&line) {
                Some((name, data)) => {
                    let id = lines.id.take().and_then(|id| id.parse().ok());
                    Item::Event { id, name, data }
                }
                None if line.starts_with(':') => Item::Alive,
                None => continue,
            };
            // Nobody reads any more.
            if send.send(item).is_err() {
                return;
            }
        }
        let _ = send.send(Item::Closed);
    };
    let thread = spawn("cli-stream", read);
    let thread = thread.map_err(|problem| Failure::internal(format!("cannot read the events: {problem}")))?;
    // Not joined: it ends with the stream, or at the next line after its items are dropped.
    std::mem::forget(thread);
    Ok(items)
}

/// Conversation and number of an image, from its address in an event.
pub(in super::super) fn image(path: &str) -> Option<[&str; 2]> {
    let mut parts = path.strip_prefix("/agent/conversations/")?.split('/');
    let (id, number) = (parts.next()?, parts.nth(1)?);
    let is_plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    (is_plain(id) && is_plain(number)).then_some([id, number])
}

fn no_stream() -> Failure {
    let problem =
        "the server's answer is not that of a cdpilot server; check the address given by --url or CDPILOT_URL";
    Failure::new(Code::Internal, problem).with(Exit::NoBrowser)
}
