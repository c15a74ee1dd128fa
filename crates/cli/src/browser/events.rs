//! `cdpilot events`: follows the server's event stream.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use clap::Args;

use super::super::client::{Client, EventLines, NoAnswer, Request, of_answer};
use super::super::failure::{Exit, Failure};
use super::super::output::Out;
use super::super::values::whole;
use super::show;
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot_server::api::{EventsQuery, operations as op};

/// The types of events.
const TYPES: [&str; 22] = [
    "tab_opened",
    "tab_closed",
    "popup_blocked",
    "frame",
    "navigated",
    "navigation_blocked",
    "dialog_opened",
    "dialog_closed",
    "console",
    "file_chooser",
    "download",
    "crashed",
    "responsiveness",
    "resync",
    "bridge",
    "rescued",
    "disconnected",
    "reconnected",
    "action_started",
    "action_finished",
    "ended",
    "reset",
];

#[derive(Debug, Args)]
#[command(after_help = "Prints one line per event; with --json one object per event. Ends after --count events, \
                  after --timeout, when the server stops, or with Ctrl-C.")]
pub(in super::super) struct Events {
    /// Start after this event, given by its eventId or seq, if the server still has it; 0: all stored events [default:
    /// only new events]
    #[arg(long, value_name = "ID")]
    since: Option<String>,
    /// Exit after N events
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..))]
    count: Option<u64>,
    /// Show only events of this type; repeatable [default: all]
    #[arg(long = "type", value_name = "TYPE", value_parser = TYPES)]
    kinds: Vec<String>,
    /// Show only events of this tab: id (t1), label, target id or unique prefix of the target id
    #[arg(long, value_name = "TAB")]
    target: Option<String>,
}

impl Events {
    pub(super) fn request(&self) -> Request {
        let query = EventsQuery { since: self.since.clone() };
        Request::new(op::EVENTS, &query).tab(self.target.as_deref())
    }

    /// Prints events until --count, the end of the stream or `limit`.
    pub(super) fn follow(
        &self,
        client: &Client,
        request: &Request,
        limit: Option<Duration>,
        out: &Out,
    ) -> Result<Exit, NoAnswer> {
        let until = limit.map(Deadline::after);
        let stream = match client.follow(request, limit)? {
            Ok(stream) => BufReader::new(stream),
            Err(answer) => {
                let unknown = || {
                    Failure::unreachable(
                        "the server did not send an event stream; check the address given by --url or CDPILOT_URL",
                    )
                };
                return Err(NoAnswer::Failed(of_answer(&answer).unwrap_or_else(unknown)));
            }
        };
        let (mut reading, mut seen) = (EventLines::default(), 0);
        for line in stream.split(b'\n') {
            if until.is_some_and(|until| until.passed()) {
                break;
            }
            let Ok(line) = line else { break };
            let Some((name, mut value)) = reading.line(&String::from_utf8_lossy(&line)) else { continue };
            if !self.kinds.is_empty() && !self.kinds.contains(&name) {
                continue;
            }
            if out.json {
                // A value for --since that is valid across server restarts.
                if let (Some(object), Some(id)) = (value.as_object_mut(), &reading.id) {
                    object.insert("eventId".to_owned(), id.as_str().into());
                }
                out.object(&value);
            } else {
                show::event(&name, &value, out);
            }
            seen += 1;
            if self.count == Some(seen) {
                return Ok(Exit::Done);
            }
        }
        if until.is_some_and(|until| until.passed()) {
            return match self.count {
                None => Ok(Exit::Done),
                Some(count) => {
                    let text = format!("only {seen} of {count} events happened before --timeout");
                    Err(NoAnswer::Failed(Failure::new(Code::Timeout, text)))
                }
            };
        }
        let ended = "the server closed the event stream; check it with `cdpilot status`";
        Err(NoAnswer::Failed(Failure::unreachable(ended)))
    }
}
