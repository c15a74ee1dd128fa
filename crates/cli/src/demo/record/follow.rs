//! Requests to the server of the demo, and the events of its recording as they are stored.

use std::collections::BTreeMap;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError};
use serde_json::Value;

use super::super::super::chat::link::{Item, items};
use super::super::super::client::{Client, NoAnswer, Request, find, of_answer};
use super::super::super::failure::Failure;
use super::super::super::record::lines;
use super::Problem;
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot_server::api::operations as op;
use cdpilot_server::server::Server;

/// Time limit for an answer.
const ANSWER: Duration = Duration::from_secs(30);

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self::new(failure.kind().unwrap_or(Code::Internal), failure.error)
    }
}

/// A client of the server.
pub(super) struct Api(Client);

impl Api {
    pub(super) fn of(server: &Server) -> Result<Self, Problem> {
        let found = find(Some(server.url()), None)?;
        Ok(Self(Client::with_token(&found, Some(server.token().clone()))?))
    }

    pub(super) fn ask(&self, request: &Request) -> Result<Value, Problem> {
        let answer = self.0.send(request, ANSWER).map_err(failed)?;
        match of_answer(&answer) {
            Some(failure) => Err(failure.into()),
            None => Ok(answer.value),
        }
    }

    pub(super) fn bytes(&self, request: &Request) -> Result<Vec<u8>, Problem> {
        let answer = self.0.bytes(request, ANSWER).map_err(failed)?;
        answer.map(|(_, bytes)| bytes).map_err(|_| Problem::new(Code::Internal, "a screenshot of an event is missing"))
    }

    /// Follows a recording from its beginning.
    pub(super) fn follow(&self, id: &str) -> Result<Events, Problem> {
        let stream = self.0.follow(&Request::at(op::RECORDING_STREAM, &[id]), None).map_err(failed)?;
        let stream = stream.map_err(|_| Problem::new(Code::Internal, "the events of the recording cannot be read"))?;
        Ok(Events { items: items(stream)?, all: BTreeMap::new(), shown: 0 })
    }
}

fn failed(none: NoAnswer) -> Problem {
    Failure::from(none).into()
}

/// The events of the recording.
pub(super) struct Events {
    items: Receiver<Item>,
    all: BTreeMap<u64, Value>,
    /// Number of the last one that was shown.
    shown: u64,
}

impl Events {
    /// Waits until one of the events that were not shown yet is as expected.
    pub(super) fn until(
        &mut self,
        what: &str,
        deadline: Deadline<'_>,
        accept: impl Fn(&Value) -> bool,
    ) -> Result<(), Problem> {
        while !self.all.range(self.shown + 1..).any(|(_, event)| accept(event)) {
            let why = match self.items.recv_deadline(deadline.instant()) {
                Ok(Item::Event { name, data, .. }) if name == "recording_event" => {
                    self.all.insert(data["event_index"].as_u64().unwrap_or_default(), data);
                    continue;
                }
                Ok(Item::Event { name, .. }) if name == "complete" => "before the recording ended",
                Ok(Item::Event { .. } | Item::Alive) => continue,
                Ok(Item::Closed) | Err(RecvTimeoutError::Disconnected) => "before the connection was lost",
                Err(RecvTimeoutError::Timeout) => "in time",
            };
            let events: Vec<String> = self.all.values().map(lines::event).collect();
            let problem = format!("{what} was not recorded {why}; recorded: {}", events.join("; "));
            return Err(Problem::new(Code::Timeout, problem));
        }
        Ok(())
    }

    /// The first event of a type; `null` without one.
    pub(super) fn first(&self, kind: &str) -> Value {
        self.all.values().find(|event| event["event_type"] == kind).cloned().unwrap_or_default()
    }

    /// The events that were not shown yet, a line for each.
    pub(super) fn lines(&mut self) -> Vec<String> {
        let lines = self.all.range(self.shown + 1..).map(|(_, event)| lines::event(event)).collect();
        self.shown = self.all.keys().next_back().copied().unwrap_or_default();
        lines
    }
}
