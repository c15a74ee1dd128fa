//! Starting a recording and following its events.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clap::Args;
use crossbeam_channel::{Receiver, RecvTimeoutError};
use serde_json::Value;

use super::super::args::Global;
use super::super::browser::address::complete;
use super::super::chat::link::{Item, Link};
use super::super::chat::watch::{Interrupts, Pausing};
use super::super::client::Request;
use super::super::failure::{Exit, Failure};
use super::super::output::Out;
use super::super::settings::env;
use super::lines;
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot_server::api::operations as op;
use cdpilot_server::api::{CreateRecording, LaunchMode};

/// How often Ctrl-C and the time limit are looked for.
const POLL: Duration = Duration::from_millis(200);
/// How long the last event is held back: what is typed changes it.
const HELD: Duration = Duration::from_millis(1_200);
/// How long a lost connection is restored.
const RESTORED: Duration = Duration::from_secs(10);
/// How many printed lines are remembered, to print an event again only if its line has changed.
const REMEMBERED: usize = 64;

#[derive(Debug, Args)]
pub(super) struct Start {
    /// URL to open first; without a scheme https:// is used, for localhost and loopback addresses http://
    #[arg(value_parser = complete)]
    url: Option<String>,
    /// Record the tabs of this conversation instead of a window
    #[arg(long, value_name = "ID", conflicts_with_all = ["url", "current_window"])]
    conversation: Option<String>,
    /// Record the window in front instead of opening one
    #[arg(long)]
    current_window: bool,
    /// Name of the recording
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Return as soon as the recording has started; `cdpilot record stop` stops it
    #[arg(long)]
    detach: bool,
}

pub(super) fn run(link: &Link<'_>, args: &Start, global: &Global, out: &Out) -> Result<Exit, Failure> {
    let is_of_window = args.conversation.is_none();
    let profile = || global.profile.clone().or_else(|| env("CDPILOT_PROFILE"));
    let wanted = CreateRecording {
        browser_id: None,
        profile: if is_of_window { profile() } else { global.profile.clone() },
        conversation_id: args.conversation.clone(),
        name: args.name.clone(),
        launch_mode: args.current_window.then_some(LaunchMode::CurrentWindow),
        start_url: args.url.clone(),
    };
    // Ctrl-C stops a recording that has begun.
    let interrupts = Interrupts::register()?;
    let started = link.ask(&Request::new(op::START_RECORDING, &wanted))?;
    let id = started["recording_id"].as_str().unwrap_or_default().to_owned();
    if args.detach || out.json {
        out.object(&started);
        out.line(&format!("recording {id}; `cdpilot record stop` stops it"));
        return Ok(Exit::Done);
    }
    out.aside(&format!("recording {id}; Ctrl-C stops it"));
    let limit = global.timeout.map(|millis| Deadline::after(Duration::from_millis(millis)));
    let mut following = Following { id, last: 0, held: None, printed: BTreeMap::new() };
    let ended = following.follow(link, &interrupts.pause_run(), limit, out)?;
    let Some(recording) = ended else {
        let problem = format!(
            "the time limit has passed, and the recording {} goes on; `cdpilot record stop` stops it",
            following.id
        );
        return Err(Failure::new(Code::Timeout, problem));
    };
    out.line(&lines::ended(&recording));
    let is_whole = !matches!(recording["stop_reason"].as_str(), Some("browser_disconnected" | "server_ended"));
    Ok(if is_whole { Exit::Done } else { Exit::Failed })
}

/// A recording that is followed.
struct Following {
    id: String,
    /// Id of the last item of the stream.
    last: u64,
    /// The newest event, which may still change, and when it came.
    held: Option<(Value, Instant)>,
    /// Lines of the newest printed events, by number.
    printed: BTreeMap<u64, String>,
}

impl Following {
    /// The rest of the stream.
    fn rest(&self, link: &Link<'_>) -> Result<Receiver<Item>, Failure> {
        let stream = Request::at(op::RECORDING_STREAM, &[&self.id]);
        link.open(&if self.last == 0 { stream } else { stream.header("last-event-id", self.last) })
    }

    /// Prints events until the recording ends, and returns it; `None` when the time limit has passed. Ctrl-C stops it.
    fn follow(
        &mut self,
        link: &Link<'_>,
        interrupt: &Pausing<'_>,
        limit: Option<Deadline<'_>>,
        out: &Out,
    ) -> Result<Option<Value>, Failure> {
        let mut items = self.rest(link)?;
        let mut is_stopping = false;
        loop {
            if limit.is_some_and(|limit| limit.passed()) {
                self.print_held(out);
                return Ok(None);
            }
            if interrupt.came() && !std::mem::replace(&mut is_stopping, true) {
                link.ask(&Request::at(op::STOP_RECORDING, &[&self.id]))?;
            }
            if self.held.as_ref().is_some_and(|(_, since)| since.elapsed() >= HELD) {
                self.print_held(out);
            }
            match items.recv_timeout(POLL) {
                Ok(Item::Event { id, name, data }) => {
                    self.last = id.unwrap_or(self.last);
                    match name.as_str() {
                        "recording_event" => self.event(data, out),
                        "complete" => {
                            self.print_held(out);
                            return Ok(Some(data["recording"].clone()));
                        }
                        "error" => {
                            let problem = data["error"].as_str().unwrap_or("the events cannot be read").to_owned();
                            return Err(Failure::of_text(
                                data["code"].as_str().unwrap_or("INTERNAL").to_owned(),
                                problem,
                            ));
                        }
                        _ => {}
                    }
                }
                Ok(Item::Alive) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Item::Closed) | Err(RecvTimeoutError::Disconnected) => items = self.restored(link)?,
            }
        }
    }

    /// The rest of the stream after the connection was lost.
    fn restored(&self, link: &Link<'_>) -> Result<Receiver<Item>, Failure> {
        let until = Deadline::after(RESTORED);
        loop {
            cdpilot::sync::pause(POLL);
            match self.rest(link) {
                Err(failure) if failure.exit == Exit::NoBrowser && !until.passed() => {}
                opened => return opened,
            }
        }
    }

    /// Takes an event, which is printed when the next one comes, or does not change any more.
    fn event(&mut self, event: Value, out: &Out) {
        if self.held.as_ref().is_some_and(|(held, _)| held["event_index"] != event["event_index"]) {
            self.print_held(out);
        }
        self.held = Some((event, Instant::now()));
    }

    fn print_held(&mut self, out: &Out) {
        let Some((event, _)) = self.held.take() else { return };
        let (index, line) = (event["event_index"].as_u64().unwrap_or_default(), lines::event(&event));
        if self.printed.get(&index).is_none_or(|before| *before != line) {
            out.line(&line);
        }
        self.printed.insert(index, line);
        if self.printed.len() > REMEMBERED {
            self.printed.pop_first();
        }
    }
}
