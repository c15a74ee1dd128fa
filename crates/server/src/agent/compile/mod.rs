//! Compiling a recording into a routine: a conversation without a browser, whose tools read the recording and check the routine.
//!
//! The state of the compilation is stored with the recording, in the transactions of the conversation.
//!
//! | file | contents |
//! |---|---|
//! | `begin` | begin, answer, save, end |
//! | `tools` | the tools |
//! | `rounds` | questions to the person |
//! | `trace` | the file with all messages |

mod begin;
mod rounds;
mod tools;
mod trace;

use serde_json::{Value, json};

use super::agents::Inner;
use super::live::{Interrupted, Live};
use super::settings::{Mode, Settings};
use super::turn::End;
use super::{Error, WRITE};
use crate::compile::{Compilation, CompileFailure, CompileStatus, Evidence};
use crate::record::{Event, has_note_of_file, stored_events};
use crate::routine;
use crate::store::{Image, Store, StoredRecording};
use cdpilot::code::Code;
use cdpilot::sync::Deadline;

pub use begin::{CompileBegun, CompileStart};
pub(super) use begin::{check_inputs_of_compilation, recover};
pub(super) use tools::{ASK, all as tools};

/// The setting of a conversation with the id of its recording.
const RECORDING: &str = "recording_id";
/// How often a model is reminded that it has not submitted a routine.
const MOST_REMINDERS: u32 = 3;
/// The code of a compilation that has reached its limit of requests.
const LIMIT_REACHED: &str = "LIMIT_REACHED";

/// The compilation of a conversation.
#[derive(Debug)]
pub(super) struct CompileRun {
    recording: String,
    evidence: Evidence,
    state: Compilation,
    /// Whether the state differs from the stored one.
    is_changed: bool,
    reminders: u32,
}

/// What a final answer leads to.
#[derive(Debug)]
pub(super) enum Concluded {
    /// The person reads the routine.
    Review,
    /// The model gets this notice, and continues.
    Continue(String),
    /// The compilation has failed.
    Failed(String),
}

impl CompileRun {
    /// The compilation of a conversation; `None` if it is none.
    /// `cover` takes secrets out of a value: some may have been stored since the recording was made.
    pub(super) fn of(
        store: &Store,
        conversation: &str,
        settings: &Settings,
        cover: &dyn Fn(&Value) -> Value,
    ) -> Result<Option<Self>, Error> {
        let Some(id) = recording_of(settings) else { return Ok(None) };
        let stored = store.recording(&id, Deadline::after(WRITE))?;
        let stored = stored.ok_or_else(|| Error::conflict("the recording of this compilation was deleted"))?;
        let state = state_of(&stored);
        if state.conversation_id != conversation {
            return Err(Error::conflict("another compilation of the recording was begun, which ended this one"));
        }
        let events = stored_events(store, &id).map_err(|problem| Error::conflict(problem.to_string()))?;
        let events = covered(events, cover)?;
        let text = |text: &str| cover(&text.into()).as_str().unwrap_or_default().to_owned();
        let (name, note) = (stored.name.as_deref().map(text), text(&stored.intent_note));
        let note = if has_note_of_file(&stored) { String::new() } else { note };
        let evidence = Evidence::new(&id, name.as_deref(), &note, events, &state.exclude);
        Ok(Some(Self { recording: id, evidence, state, is_changed: false, reminders: 0 }))
    }

    /// The recording and the state, if it differs from the stored one.
    pub(super) fn take_change(&mut self) -> Option<(String, Value)> {
        std::mem::take(&mut self.is_changed).then(|| (self.recording.clone(), json!(self.state)))
    }

    /// What a final answer of the model leads to.
    pub(super) fn concluded(&mut self, text: &str) -> Concluded {
        let submitted = self.state.review.as_ref().map(|review| review.routine_markdown.as_str());
        let is_submitted = submitted.is_some_and(|text| routine::normalise(&self.state.draft) == text);
        self.is_changed = true;
        if is_submitted && !text.trim().is_empty() {
            self.state.status = CompileStatus::Review;
            self.state.summary_message = text.trim().to_owned();
            return Concluded::Review;
        }
        self.reminders += 1;
        if self.reminders > MOST_REMINDERS {
            return Concluded::Failed(
                "the model ended without submitting a routine; compile again, or use another model".to_owned(),
            );
        }
        Concluded::Continue(match (submitted, is_submitted) {
            (_, true) => "Answer with a short summary for the person.".to_owned(),
            (None, _) => "No routine was submitted yet. The person does not see this answer. Ask with ask_user, or call submit_routine.".to_owned(),
            (Some(_), _) => "The draft differs from the routine that was submitted last. Call submit_routine again.".to_owned(),
        })
    }

    /// A keyframe of an event.
    fn keyframe(&self, store: &Store, index: u64, after: bool) -> Result<Option<Image>, Error> {
        Ok(store.recording_picture(&self.recording, index, after, Deadline::after(WRITE))?)
    }
}

/// Events without secrets.
fn covered(events: Vec<Event>, cover: &dyn Fn(&Value) -> Value) -> Result<Vec<Event>, Error> {
    let unreadable = |problem: serde_json::Error| Error::conflict(format!("an event cannot be read: {problem}"));
    let covered = events.into_iter().map(|event| {
        let mut value = serde_json::to_value(&event).map_err(unreadable)?;
        for part in ["page", "frame", "element", "data"] {
            if let Some(part) = value.get_mut(part) {
                *part = cover(part);
            }
        }
        serde_json::from_value(value).map_err(unreadable)
    });
    covered.collect()
}

/// The id of the recording that a conversation compiles.
fn recording_of(settings: &Settings) -> Option<String> {
    let id = settings.more.get(RECORDING).and_then(Value::as_str);
    id.filter(|_| settings.mode == Mode::Compile).map(ToOwned::to_owned)
}

/// The state of the compilation of a recording.
fn state_of(recording: &StoredRecording) -> Compilation {
    serde_json::from_value(recording.compile.clone()).unwrap_or_default()
}

/// The recording and the state of a compilation whose run has ended early; `None` if the conversation compiles nothing that is
/// in progress.
pub(super) fn ended(inner: &Inner, live: &Live, end: &End) -> Option<(String, Value)> {
    let stored = inner.store.conversation(&live.id, Deadline::after(WRITE)).ok().flatten()?;
    let id = recording_of(&Settings::read(&stored).ok()?)?;
    let recording = inner.store.recording(&id, Deadline::after(WRITE)).ok().flatten()?;
    let mut state = state_of(&recording);
    if state.conversation_id != live.id || state.status != CompileStatus::Running {
        return None;
    }
    let (code, problem) = match (end, live.interrupted()) {
        (End::Failed { code, problem }, _) => (code.as_str(), problem.clone()),
        (End::MaxSteps(most), _) => (
            LIMIT_REACHED,
            format!("{most} requests to the model did not end the compilation; compile again, or use another model"),
        ),
        (_, Some(Interrupted::Stopped)) => (Code::Cancelled.as_str(), STOPPED.to_owned()),
        _ => (Code::Interrupted.as_str(), INTERRUPTED.to_owned()),
    };
    fail(&mut state, code, problem);
    let bodies = inner.store.messages(&live.id, 1, usize::MAX, Deadline::after(WRITE)).unwrap_or_default();
    let bodies: Vec<Value> = bodies.into_iter().map(|message| message.body).collect();
    trace::write(inner, &id, &mut state, &bodies);
    Some((id, json!(state)))
}

/// The recording and the state of a compilation that a person ends while it works or waits for an answer; `None` if the conversation
/// compiles nothing that is in progress.
pub(super) fn cancelled(inner: &Inner, live: &Live) -> Option<(String, Value)> {
    let stored = inner.store.conversation(&live.id, Deadline::after(WRITE)).ok().flatten()?;
    let id = recording_of(&Settings::read(&stored).ok()?)?;
    let recording = inner.store.recording(&id, Deadline::after(WRITE)).ok().flatten()?;
    let mut state = state_of(&recording);
    let is_open = matches!(state.status, CompileStatus::Running | CompileStatus::Asking);
    if state.conversation_id != live.id || !is_open {
        return None;
    }
    fail(&mut state, Code::Cancelled.as_str(), STOPPED.to_owned());
    Some((id, json!(state)))
}

/// Ends a compilation early. A routine that was submitted already is not lost: the person reads it, and why nothing more was done.
fn fail(state: &mut Compilation, code: &str, problem: String) {
    state.question = None;
    if state.review.is_some() {
        state.status = CompileStatus::Review;
        state.summary_message = format!("The model has submitted this text and did not go on after it: {problem}");
        return;
    }
    state.status = CompileStatus::Error;
    state.error = Some(CompileFailure { code: code.to_owned(), problem });
}

const STOPPED: &str = "the compilation was stopped; compile again";
/// Why a compilation that a restart has interrupted failed.
const INTERRUPTED: &str = "the server was restarted meanwhile; compile again: the draft is kept";
