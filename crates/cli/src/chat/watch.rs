//! Following a run until it ends, asks something or is paused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError};
use serde_json::Value;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::super::client::Request;
use super::super::failure::{Exit, Failure};
use super::answers::Asked;
use super::commands::Typed;
use super::input::Input;
use super::link::{Item, Link};
use super::show::Show;
use cdpilot::code::Code;
use cdpilot::sync::{Deadline, pause};
use cdpilot_server::api::{AnswerDialog, Operation, operations as op};

/// How often Ctrl-C is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long a lost connection is restored: a server needs seconds to restart.
const RESTORED: Duration = Duration::from_secs(10);
/// Exit status after a second Ctrl-C.
const LEFT: i32 = 130;

/// Ctrl-C. While a run is followed, the first one pauses it; all others end the program.
#[derive(Debug)]
pub(in super::super) struct Interrupts {
    came: Arc<AtomicBool>,
}

impl Interrupts {
    pub(in super::super) fn register() -> Result<Self, Failure> {
        // Set: the next signal ends the program.
        let came = Arc::new(AtomicBool::new(true));
        flag::register_conditional_shutdown(SIGINT, LEFT, Arc::clone(&came))
            .and_then(|_| flag::register(SIGINT, Arc::clone(&came)))
            .map_err(|problem| Failure::internal(format!("cannot handle Ctrl-C: {problem}")))?;
        Ok(Self { came })
    }

    /// From now on, Ctrl-C pauses the run that is begun or followed.
    pub(in super::super) fn pause_run(&self) -> Pausing<'_> {
        self.came.store(false, Ordering::SeqCst);
        Pausing { interrupts: self }
    }
}

/// While it exists, the first Ctrl-C pauses the run.
#[derive(Debug)]
pub(in super::super) struct Pausing<'i> {
    interrupts: &'i Interrupts,
}

impl Pausing<'_> {
    pub(in super::super) fn came(&self) -> bool {
        self.interrupts.came.load(Ordering::SeqCst)
    }

    fn forget(&self) {
        self.interrupts.came.store(false, Ordering::SeqCst);
    }
}

impl Drop for Pausing<'_> {
    fn drop(&mut self) {
        self.interrupts.came.store(true, Ordering::SeqCst);
    }
}

/// Why a run is not followed any more.
#[derive(Debug, PartialEq)]
pub(super) enum Stop {
    /// The task is done.
    Done,
    /// It was stopped.
    Stopped,
    Failed {
        problem: String,
        code: String,
    },
    Asked(Asked),
    /// Ctrl-C paused it.
    Paused,
    /// Time is over.
    TimedOut,
}

/// A conversation that is followed.
#[derive(Debug, Default)]
pub(super) struct Followed {
    pub(super) id: String,
    /// Id of the last event that was read.
    pub(super) last: u64,
    /// The last text of the model.
    pub(super) text: String,
    /// The last `usage_metrics`.
    pub(super) usage: Value,
    /// The open dialog: target id and dialog id.
    pub(super) dialog: Option<(String, String)>,
    /// Whether commands are read from the terminal during a run.
    pub(super) takes_commands: bool,
}

impl Followed {
    pub(super) fn of(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    /// A request for the conversation.
    pub(super) fn request<I, A>(&self, operation: Operation<I, A>) -> Request {
        Request::at(operation, &[&self.id])
    }

    /// The rest of the stream.
    pub(super) fn rest(&self) -> Request {
        let stream = self.request(op::CONVERSATION_STREAM);
        if self.last == 0 { stream } else { stream.header("last-event-id", self.last) }
    }

    /// Follows the stream of a request.
    pub(super) fn watch(
        &mut self,
        request: &Request,
        link: &Link<'_>,
        show: &mut Show<'_>,
        pausing: &Pausing<'_>,
        limit: Option<Deadline<'_>>,
    ) -> Result<Stop, Failure> {
        let mut items = link.open(request)?;
        self.read(&mut items, link, show, pausing, limit)
    }

    fn read(
        &mut self,
        items: &mut Receiver<Item>,
        link: &Link<'_>,
        show: &mut Show<'_>,
        pausing: &Pausing<'_>,
        limit: Option<Deadline<'_>>,
    ) -> Result<Stop, Failure> {
        loop {
            if pausing.came() {
                // A run that has ended meanwhile cannot be paused; its last events follow.
                match link.ask(&self.request(op::PAUSE)) {
                    Ok(_) => return Ok(Stop::Paused),
                    Err(failure) if failure.kind() == Some(Code::Conflict) => {
                        pausing.forget();
                    }
                    Err(failure) => return Err(failure),
                }
            }
            if limit.is_some_and(|limit| limit.passed()) {
                return Ok(Stop::TimedOut);
            }
            if self.takes_commands
                && let Some(line) = Input::pending()
            {
                self.obey(&Typed::parse(&line), link, show);
            }
            match items.recv_timeout(POLL_INTERVAL) {
                Ok(Item::Event { id, name, data }) => {
                    self.last = id.unwrap_or(self.last);
                    show.event(&name, &data);
                    if let Some(stop) = self.event(&name, &data) {
                        return Ok(stop);
                    }
                }
                Ok(Item::Alive) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Item::Closed) | Err(RecvTimeoutError::Disconnected) => *items = self.again(link)?,
            }
        }
    }

    /// Carries out what is typed during a run. Problems are printed; the run goes on.
    fn obey(&mut self, typed: &Typed, link: &Link<'_>, show: &mut Show<'_>) {
        let done = match typed {
            Typed::Empty => return,
            Typed::Dialog { accept, text } => self.answer_dialog(link, *accept, text.clone()),
            Typed::Stop => link.ask(&self.request(op::STOP_RUN)).map(|_| ()),
            _ => {
                show.note("The run goes on; /dialog and /stop work meanwhile, Ctrl-C pauses it.");
                return;
            }
        };
        match (done, typed) {
            (Err(failure), _) => show.note(&failure.error),
            (Ok(()), Typed::Dialog { accept, .. }) => show.note(if *accept { "Accepted." } else { "Dismissed." }),
            (Ok(()), _) => {}
        }
    }

    /// Answers the open dialog.
    pub(super) fn answer_dialog(&mut self, link: &Link<'_>, accept: bool, text: Option<String>) -> Result<(), Failure> {
        let none = "no dialog is open in the pages of this conversation";
        let (target, dialog) = self.dialog.clone().ok_or_else(|| Failure::new(Code::NoDialog, none))?;
        let answer = AnswerDialog { accept, prompt_text: text, dialog_id: Some(dialog) };
        link.ask(&Request::new(op::ANSWER_DIALOG, &answer).tab(Some(&target)))?;
        self.dialog = None;
        Ok(())
    }

    /// Opens a lost stream again.
    fn again(&self, link: &Link<'_>) -> Result<Receiver<Item>, Failure> {
        let until = Deadline::after(RESTORED);
        loop {
            match link.open(&self.rest()) {
                Err(failure) if failure.exit == Exit::NoBrowser && !until.passed() => pause(Duration::from_millis(250)),
                opened => return opened,
            }
        }
    }

    fn event(&mut self, name: &str, data: &Value) -> Option<Stop> {
        let text = |field: &str| data[field].as_str().unwrap_or_default().to_owned();
        match name {
            // Of a run that has begun with its stream.
            "connected" if self.id.is_empty() => self.id = text("conversation_id"),
            "agent_event" if data["type"] == "MessageEvent" && data["source"] == "agent" => self.text = text("text"),
            "usage_metrics" => self.usage = data.clone(),
            "dialog" if data["state"] == "opened" => {
                let dialog = |field: &str| data["dialog"][field].as_str().unwrap_or_default().to_owned();
                self.dialog = Some((dialog("target_id"), dialog("id")));
            }
            "dialog" => self.dialog = None,
            "help_request" => {
                return Some(Stop::Asked(Asked::of_event(data)));
            }
            "complete" if data["stopped"] == true => return Some(Stop::Stopped),
            "complete" => return Some(Stop::Done),
            "error" => return Some(Stop::Failed { problem: text("error"), code: text("code") }),
            _ => {}
        }
        None
    }
}
