//! What holds up a run: a named state within two seconds, with what helps.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use serde::Serialize;

use super::agents::Inner;
use super::events::{AGENT_EVENT, AgentEvent};
use super::live::Live;
use super::now;
use super::reading::Overview;
use crate::control::{Profile, TabHealth};
use crate::store::{Batch, ConversationState, QuestionKind};

/// From when on a run counts as held up by the model or a tool.
const PATIENCE: Duration = Duration::from_millis(700);
/// How often it is looked for.
const EVERY: Duration = Duration::from_millis(300);

macro_rules! states {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal),+ $(,)?) => {
        /// Why a conversation does not go on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum HoldUpState { $($(#[doc = $doc])+ $name),+ }

        impl HoldUpState {
            /// Its name in answers and events.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

states! {
    /// `dialog`: a page shows a dialog of the browser.
    Dialog = "dialog",
    /// `page_busy`: a page does not answer, because of a script or a slow server.
    PageBusy = "page_busy",
    /// `page_crashed`: a page has crashed.
    PageCrashed = "page_crashed",
    /// `browser_gone`: the browser has ended, or the connection to it is lost.
    BrowserGone = "browser_gone",
    /// `tool`: a tool runs.
    Tool = "tool",
    /// `model`: the model has not finished its answer.
    Model = "model",
    /// `model_failing`: the endpoint of the model fails, and the request is repeated.
    ModelFailing = "model_failing",
    /// `approval`: an action needs approval.
    Approval = "approval",
    /// `question`: the model has asked something.
    Question = "question",
    /// `paused`: it was paused.
    Paused = "paused",
    /// `queued`: too many conversations run.
    Queued = "queued",
    /// `storage`: what happens cannot be stored.
    Storage = "storage",
}

/// What holds up a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct HoldUp {
    /// The reason.
    pub state: HoldUpState,
    /// Since when, in seconds since 1970, if known.
    pub since: Option<f64>,
    /// What helps, as a sentence.
    pub help: String,
}

impl HoldUp {
    fn new(state: HoldUpState, since: Option<f64>, help: impl Into<String>) -> Self {
        Self { state, since, help: help.into() }
    }
}

/// What a run is doing.
#[derive(Debug, Clone)]
enum Doing {
    /// It waits for the model.
    Model { is_failing: bool },
    /// A tool runs; the browser that it may use.
    Tool { name: String, pages: Profile },
}

/// What a run is doing, since when, and what was reported of it.
#[derive(Debug, Clone)]
pub(super) struct Activity {
    doing: Doing,
    began: Instant,
    since: f64,
    reported: Option<HoldUpState>,
}

impl Activity {
    pub(super) fn model() -> Self {
        Self::new(Doing::Model { is_failing: false })
    }

    pub(super) fn tool(name: &str, pages: Profile) -> Self {
        Self::new(Doing::Tool { name: name.to_owned(), pages })
    }

    fn new(doing: Doing) -> Self {
        Self { doing, began: Instant::now(), since: now(), reported: None }
    }

    /// The request to the model has failed, and is repeated.
    pub(super) fn fails(&mut self) {
        if let Doing::Model { is_failing } = &mut self.doing {
            *is_failing = true;
        }
    }

    fn is_tool(&self) -> bool {
        matches!(self.doing, Doing::Tool { .. })
    }

    /// What holds it up, if it has lasted for long.
    fn hold_up(&self) -> Option<HoldUp> {
        if self.began.elapsed() < PATIENCE {
            return None;
        }
        let since = Some(self.since);
        Some(match &self.doing {
            Doing::Model { is_failing: false } => {
                HoldUp::new(HoldUpState::Model, since, "The model has not finished its answer. Wait, or stop the run.")
            }
            Doing::Model { is_failing: true } => HoldUp::new(
                HoldUpState::ModelFailing,
                since,
                "The endpoint of the model fails; the request is repeated for up to two minutes. Check it in llm.json, or stop the run.",
            ),
            Doing::Tool { name, pages } => {
                let (state, help) = of_pages(pages)
                    .unwrap_or_else(|| (HoldUpState::Tool, format!("The tool {name} runs. Wait, or stop the run.")));
                HoldUp::new(state, since, help)
            }
        })
    }
}

/// What holds up the pages of a conversation.
fn of_pages(pages: &Profile) -> Option<(HoldUpState, String)> {
    if let Ok((pending, _)) = pages.dialogs(None)
        && let Some(dialog) = pending.first()
    {
        let help = format!(
            "A page shows a {} dialog ({}). Answer it: POST /hooks/dialog, or /dialog in cdpilot chat.",
            dialog.kind.as_str(),
            dialog.id
        );
        return Some((HoldUpState::Dialog, help));
    }
    Some(match pages.health()? {
        TabHealth::Crashed => (HoldUpState::PageCrashed, "A page has crashed. Reload or close it.".to_owned()),
        TabHealth::Busy => (
            HoldUpState::PageBusy,
            "A page does not answer: a script keeps it busy, or its server has not answered yet. Wait, or reload or close it.".to_owned(),
        ),
        TabHealth::Gone => {
            (HoldUpState::BrowserGone, "The connection to the browser is lost. Start it again, or stop the run.".to_owned())
        }
    })
}

/// What holds up a conversation, if anything does.
pub(super) fn of(overview: &Overview, live: Option<&Live>) -> Option<HoldUp> {
    let stored = &overview.conversation;
    if let Some(question) = &overview.question {
        let since = Some(question.asked_at);
        return Some(match question.kind {
            QuestionKind::Approval => HoldUp::new(
                HoldUpState::Approval,
                since,
                "An action needs approval. Answer with approval_id and decision (once, origin, kind or refuse).",
            ),
            _ => HoldUp::new(HoldUpState::Question, since, "The model has asked something. Answer its question."),
        });
    }
    let activity = live.and_then(Live::activity);
    // A tool that runs ends before the pause begins.
    if overview.paused && !activity.as_ref().is_some_and(Activity::is_tool) {
        return Some(HoldUp::new(HoldUpState::Paused, None, "The run is paused. Resume or stop it."));
    }
    if overview.queued {
        let help = "Other conversations run; this one starts when one of them ends. Stop one of them.";
        return Some(HoldUp::new(HoldUpState::Queued, None, help));
    }
    if stored.state == ConversationState::Error && overview.lost_end {
        let help =
            "What happened last could not be stored. Free space on the disk of the home, then resume the conversation.";
        return Some(HoldUp::new(HoldUpState::Storage, None, help));
    }
    activity.filter(|_| overview.running)?.hold_up()
}

/// Body of the thread that reports what holds up runs, until the sender is dropped.
pub(super) fn watch(inner: &Inner, end: &Receiver<()>) {
    while end.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        for live in inner.running() {
            if catch_unwind(AssertUnwindSafe(|| report(inner, &live))).is_err() {
                tracing::error!(conversation = %live.id, "what holds up a run could not be found out: a panic");
            }
        }
    }
}

/// Reports once what holds up a run.
fn report(inner: &Inner, live: &Arc<Live>) {
    let Some(activity) = live.activity() else { return };
    if activity.reported.is_some_and(|state| !matches!(state, HoldUpState::Model | HoldUpState::Tool)) {
        return;
    }
    let Some(hold_up) = activity.hold_up().filter(|found| activity.reported != Some(found.state)) else { return };
    if !live.set_reported(activity.began, hold_up.state) {
        return;
    }
    // Answers of models and tools often take this long: that is no news.
    if matches!(hold_up.state, HoldUpState::Model | HoldUpState::Tool) {
        return;
    }
    let event = AgentEvent::system(&*hold_up.help).with("held_up", hold_up.state.as_str()).into_value();
    if let Err(problem) = live.commit(&inner.store, Batch::new().event(AGENT_EVENT, event)) {
        tracing::warn!(conversation = %live.id, %problem, "what holds up a run could not be stored");
    }
}

impl Activity {
    /// Whether it is the one that began at a time, which is then marked as reported.
    pub(super) fn mark(&mut self, began: Instant, state: HoldUpState) -> bool {
        let is_same = self.began == began;
        if is_same {
            self.reported = Some(state);
        }
        is_same
    }
}
