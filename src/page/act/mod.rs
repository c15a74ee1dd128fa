//! Actions: what a person does to a page.
//!
//! | file | what it holds |
//! |---|---|
//! | `request`, `parse`, `build` | the actions as they are asked for, read from JSON, and built in Rust |
//! | `ready` | finding an element, and waiting until it can be acted on |
//! | `pointer`, `drag`, `scroll` | the mouse |
//! | `arrive` | whether input has arrived |
//! | `typing`, `keyboard`, `forms` | text into fields, keys, form fields |
//! | `evaluate`, `wait`, `conditions` | scripts of the caller; conditions |
//! | `settle`, `told` | what an action caused and when that has ended; what is told of it |
//! | `settled`, `notices` | the reason why it has ended; what the page itself reports |
//! | `batch` | several in a row |
//! | `logged` | actions in the event log |

mod arrive;
mod batch;
mod build;
mod conditions;
mod drag;
mod evaluate;
mod forms;
mod keyboard;
mod logged;
mod notices;
mod parse;
mod pointer;
mod ready;
mod request;
mod scroll;
mod settle;
mod settled;
mod told;
mod typing;
mod wait;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use notices::{Notice, NoticeKind};
pub use request::{
    Act, ActKind, Button, Direction, Field, FieldValue, Input, Locator, Modifier, MouseEvent, MouseKind, Point, Settle,
    State, WaitFor,
};
pub(super) use settle::Acted;
pub use settled::Settled;

use super::error::Shown;
use super::{Download, Error, Tab};
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{self, ClosedDialog, Dialog, FailedDocument};
use crate::sync::{Cancel, Deadline};

/// What came of an action.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Outcome {
    /// The tab.
    #[cfg_attr(feature = "server", schemars(with = "Option<String>"))]
    pub target_id: Option<TargetId>,
    /// Its address afterwards.
    pub url: String,
    /// What it gives, by its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Whether the tab shows another document or address since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub navigated: bool,
    /// The HTTP status of the document that the action led to, when there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The tab could not load a document: what it shows is Chromium's own page about that, and `url` is the address that
    /// failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_load: Option<FailedDocument>,
    /// What the page itself reports since: alerts, status texts, dialogs that opened, refused fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// Tabs that it opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new_tabs: Vec<OpenedTab>,
    /// How many tabs were closed at once because as many were open as may be (`browser.tabs.max`).
    #[serde(skip_serializing_if = "is_none")]
    pub blocked_popups: usize,
    /// Downloads that it started. Their end is waited for 500 ms: after that the state is `inProgress`, and there is no
    /// path yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
    /// Errors on the console since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub console_errors: Vec<String>,
    /// File choosers that opened. None is shown to anybody: each got the files that waited for it, or was cancelled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub file_choosers: Vec<OpenedChooser>,
    /// Dialogs that opened and were answered at once, by an armed answer or by policy.
    #[serde(rename = "answered_dialogs", skip_serializing_if = "Vec::is_empty")]
    pub answered_dialogs: Vec<ClosedDialog>,
    /// A dialog opened; the page waits for its answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocked_by_dialog: bool,
    /// Dialogs that wait.
    #[serde(rename = "pending_dialogs", skip_serializing_if = "Vec::is_empty")]
    pub pending_dialogs: Vec<Dialog>,
    /// `synthetic` when the events were dispatched by script: asked for, or because Chromium did not answer
    /// trusted input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// A script of the page was ended meanwhile.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rescued: bool,
    /// Why the action counts as over.
    pub settled: Settled,
    /// The lines of a snapshot that changed, as `+ ` and `- `; with `delta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// Outcomes of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<Value>>,
    /// How many of a batch failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<usize>,
    /// Why a batch ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aborted: Option<Value>,
    /// Its element, for the event log.
    #[serde(skip)]
    pub(crate) element: Option<Shown>,
}

/// A tab that an action opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenedTab {
    /// Its target id.
    #[cfg_attr(feature = "server", schemars(with = "String"))]
    pub target_id: TargetId,
    /// Its tab id, where tabs have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<String>,
    /// Its address; the one that it is on its way to when its server has not answered within 700 ms.
    pub url: String,
    /// Its title as far as it is known: untrusted.
    pub title: String,
}

/// A file chooser that an action opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OpenedChooser {
    /// Names of the files that it got; empty when none were waiting for it.
    #[serde(default)]
    pub files: Vec<String>,
    /// Why it did not get the files that were waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// What one kind of action gives its caller beside what it caused.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Did {
    pub(super) result: Option<Value>,
    pub(super) input: Option<Input>,
    pub(super) rescued: bool,
    /// Input was cut off by a dialog or the end of the document.
    pub(super) cut: bool,
    /// The element that it was done to.
    pub(super) element: Option<Shown>,
}

impl Tab {
    /// Does it, and answers when what it caused has ended. A dialog that it opens is a success. Actions on one tab take
    /// turns, first come, first served; `wait` and `close` do not wait for a turn.
    ///
    /// # Errors
    /// [`Error::Busy`] when the turn does not come by the deadline;
    /// [`Error::StaleRef`], [`Error::RefChanged`], [`Error::NotActionable`], [`Error::NoMatch`],
    /// [`Error::BadRequest`], [`Error::Timeout`] and those of the supervisor.
    pub fn act(&self, act: &Act, deadline: Deadline) -> Result<Outcome, Error> {
        self.act_as(act, None, deadline)
    }

    /// The same, and the event log says who acts: `action_started` and `action_finished` carry the name.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn act_as(&self, act: &Act, actor: Option<&str>, deadline: Deadline) -> Result<Outcome, Error> {
        let turn = match act.kind.takes_turn() {
            true => Some(self.turn(act.kind.name(), false, deadline)?),
            false => None,
        };
        let outcome = self.act_in_turn(act, actor, deadline);
        drop(turn);
        outcome
    }

    /// The same for who has the turn. An element that a locator matched and that the page has replaced meanwhile is located
    /// anew.
    fn act_in_turn(&self, act: &Act, actor: Option<&str>, deadline: Deadline) -> Result<Outcome, Error> {
        self.logged(act, actor, || self.act_on_located(act, actor, deadline))
    }

    fn act_on_located(&self, act: &Act, actor: Option<&str>, deadline: Deadline) -> Result<Outcome, Error> {
        loop {
            let located = self.located(act, deadline)?;
            match self.act_on(&located, actor, deadline) {
                Err(Error::StaleRef { .. } | Error::RefChanged { .. })
                    if matches!(located, std::borrow::Cow::Owned(_)) && !deadline.passed() => {}
                outcome => return outcome,
            }
        }
    }

    /// The same for elements that are located.
    fn act_on(&self, act: &Act, actor: Option<&str>, deadline: Deadline) -> Result<Outcome, Error> {
        let outcome = self.settled(act, actor, deadline);
        if Cancel::is_current_set() {
            return Err(supervisor::Error::Cancelled.into()); // whatever it came to by then
        }
        outcome
    }

    /// Does it without looking at what comes of it.
    pub(super) fn perform(&self, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        match &act.kind {
            ActKind::Click { .. } | ActKind::Hover { .. } | ActKind::ClickCoords { .. } | ActKind::Mouse { .. } => {
                self.point_at(act, deadline)
            }
            ActKind::ScrollIntoView { .. } | ActKind::Scroll { .. } => self.scroll(act, deadline),
            ActKind::Drag { .. } => self.drag(act, deadline),
            ActKind::Type { .. } | ActKind::InsertText { .. } | ActKind::Press { .. } | ActKind::Focus { .. } => {
                self.write(act, deadline)
            }
            ActKind::Select { .. } | ActKind::Check { .. } | ActKind::Uncheck { .. } | ActKind::Fill { .. } => {
                self.fill_in(act, deadline)
            }
            ActKind::Wait { .. } => self.wait(act, deadline),
            ActKind::Resize { .. } | ActKind::Close {} => self.whole_tab(act, deadline),
            ActKind::Evaluate { .. } => self.evaluate_act(act, deadline),
            ActKind::Batch { .. } => {
                Err(Error::BadRequest { problem: "a batch cannot be done in one step".to_owned() })
            }
        }
    }
}
