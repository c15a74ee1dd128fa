//! Actions: what a person does to a page.
//!
//! | file | contents |
//! |---|---|
//! | `kinds`, `spec` | all actions, each described once, and how they are described |
//! | `request`, `parse`, `build` | what actions have in common, read from JSON, and built in Rust |
//! | `actionability` | finding an element, and waiting until it can be acted on |
//! | `pointer`, `drag`, `scroll` | the mouse |
//! | `input_probe` | whether trusted input has reached its element |
//! | `typing`, `keyboard`, `forms` | text into fields, keys, form fields |
//! | `secrets` | stored secrets in texts to type |
//! | `evaluate`, `wait`, `conditions` | scripts of the caller; conditions |
//! | `settle`, `settled` | waiting until the effects of an action have ended, and the reason why they have |
//! | `outcome`, `notices` | the answer of an action; messages of the page after it |
//! | `batch` | several actions in a row |
//! | `action_log` | actions in the event log |

#[macro_use]
pub mod spec;

mod action_log;
mod actionability;
mod batch;
mod build;
mod conditions;
mod drag;
mod drop_files;
mod evaluate;
mod forms;
mod input_probe;
mod keyboard;
mod kinds;
mod load_state;
mod notices;
mod outcome;
mod parse;
mod pointer;
mod request;
mod scroll;
mod secrets;
mod settle;
mod settled;
mod typing;
mod wait;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use actionability::{STUCK_AFTER, is_late};
pub use kinds::{ACTIONS, ActKind};
pub use load_state::LoadState;
pub use notices::{Notice, NoticeKind};
pub use request::{
    Act, Button, Direction, Field, FieldValue, Input, Locator, Modifier, MouseEvent, MouseKind, Point, Settle, State,
    WaitFor,
};
pub use secrets::{SecretSource, SecretTarget, TypedSecrets, is_only_secrets, secrets_in};
pub(super) use settle::ActionRequests;
pub use settled::Settled;
pub use spec::{ActionSpec, ArgumentSpec, CommandSpec, FieldSpec, FieldType, ToolArgumentSpec, ToolSpec};

use super::error::Shown;
use super::{Download, Error, Tab};
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{self, ClosedDialog, Dialog, FailedDocument};
use crate::sync::Deadline;

/// The answer of an action: its result and its effects.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Outcome {
    /// The target id of the tab.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub target_id: Option<TargetId>,
    /// The URL of the tab after the action.
    pub url: String,
    /// The result of the action. Its shape depends on the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why the result may not be what the caller wanted, and what to do: for statements that return nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
    /// Whether the document or URL of the tab changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub navigated: bool,
    /// The HTTP status of the new document, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Set when a document failed to load: the tab shows Chromium's error page, and `url` is the failed URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_load: Option<FailedDocument>,
    /// Messages of the page after the action: alerts, status texts, page dialogs that opened, fields that validation
    /// refused, lines of other text that appeared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// Tabs that the action opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new_tabs: Vec<OpenedTab>,
    /// How many popups were closed at once because of the tab limit (`browser.tabs.max`).
    #[serde(skip_serializing_if = "is_none")]
    pub blocked_popups: usize,
    /// Downloads that the action started. The action waits 500 ms for their end; later ones have the state `inProgress`
    /// and no path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
    /// Console errors since the action began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub console_errors: Vec<String>,
    /// File choosers that opened. None is shown to a person: each received the armed files, or was cancelled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub file_choosers: Vec<OpenedChooser>,
    /// Dialogs that opened and were answered at once, by an armed answer or by the dialog policy.
    #[serde(rename = "answered_dialogs", skip_serializing_if = "Vec::is_empty")]
    pub answered_dialogs: Vec<ClosedDialog>,
    /// A dialog is open and blocks the page until it is answered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocked_by_dialog: bool,
    /// Open dialogs of the tab.
    #[serde(rename = "pending_dialogs", skip_serializing_if = "Vec::is_empty")]
    pub pending_dialogs: Vec<Dialog>,
    /// `synthetic` when the events were dispatched by script: because the caller requested it, or because Chromium did
    /// not confirm trusted input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// A script of the page was terminated during the action.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rescued: bool,
    /// Why the action counts as finished.
    pub settled: Settled,
    /// Changed lines of the snapshot, with `+ ` and `- ` in front. Only with `delta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// The answers of a batch's actions, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<Value>>,
    /// How many actions of a batch failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<usize>,
    /// Why a batch ended early: `{reason, afterAction, url, skipped}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aborted: Option<Value>,
    /// The element of the action, for the event log.
    #[serde(skip)]
    pub(crate) element: Option<Shown>,
}

/// A tab that an action opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenedTab {
    /// The target id of the opened tab.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub target_id: TargetId,
    /// The tab id, such as `t3`, where tabs have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<String>,
    /// The URL; the requested one when the server has not answered within 700 ms.
    pub url: String,
    /// The title, if known. Untrusted.
    pub title: String,
}

impl OpenedTab {
    /// A tab that replaces a closed one, for programs that report it as an opened tab.
    #[must_use]
    pub fn new(target_id: TargetId, tab_id: Option<String>, url: String, title: String) -> Self {
        Self { target_id, tab_id, url, title }
    }
}

/// A file chooser that an action opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OpenedChooser {
    /// Names of the files that it received; empty when none were armed.
    #[serde(default)]
    pub files: Vec<String>,
    /// Why it did not receive the armed files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// What performing an action returns, before its effects are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Performed {
    pub(super) result: Option<Value>,
    pub(super) input: Option<Input>,
    pub(super) rescued: bool,
    /// What the caller probably meant to do.
    pub(super) hint: Option<&'static str>,
    /// A dialog or the end of the document interrupted the input.
    pub(super) cut: bool,
    /// The element that was acted on.
    pub(super) element: Option<Shown>,
}

impl Tab {
    /// Performs an action and returns when its effects have ended. A dialog that the action opens is a success. Actions
    /// on one tab take turns, first come, first served; `wait` and `close` do not wait for a turn.
    ///
    /// # Errors
    /// [`Error::Busy`] when the turn does not come before the deadline; [`Error::StaleRef`], [`Error::RefChanged`],
    /// [`Error::NotActionable`], [`Error::NoMatch`], [`Error::BadRequest`], [`Error::Timeout`] and those of the
    /// supervisor.
    pub fn act(&self, act: &Act, deadline: Deadline<'_>) -> Result<Outcome, Error> {
        self.act_as(act, None, deadline)
    }

    /// As [`act`](Self::act), with the name of the actor for the events `action_started` and `action_finished`.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn act_as(&self, act: &Act, actor: Option<&str>, deadline: Deadline<'_>) -> Result<Outcome, Error> {
        let turn = match act.kind.takes_turn() {
            true => Some(self.turn(act.kind.name(), false, deadline)?),
            false => None,
        };
        let outcome = self.act_in_turn(act, actor, deadline);
        drop(turn);
        outcome
    }

    /// As [`act_as`](Self::act_as), for a caller that has the turn. An element that was located and that the page
    /// replaced meanwhile is located again.
    fn act_in_turn(&self, act: &Act, actor: Option<&str>, deadline: Deadline<'_>) -> Result<Outcome, Error> {
        let is_announced = self.supervisor.begin_acting(&self.target, actor, deadline);
        let outcome = self.logged(act, actor, || self.act_on_located(act, actor, deadline));
        if is_announced {
            self.supervisor.end_acting(&self.target);
        }
        outcome
    }

    fn act_on_located(&self, act: &Act, actor: Option<&str>, deadline: Deadline<'_>) -> Result<Outcome, Error> {
        loop {
            let located = match self.located(act, deadline) {
                Err(_) if deadline.is_cancelled() => return Err(supervisor::Error::Cancelled.into()),
                located => located?,
            };
            match self.act_on(&located, actor, deadline) {
                Err(Error::StaleRef { .. } | Error::RefChanged { .. })
                    if matches!(located, std::borrow::Cow::Owned(_)) && !deadline.passed() => {}
                outcome => return outcome.map_err(|error| error.named_by(act.kind.locator())),
            }
        }
    }

    /// As [`act_in_turn`](Self::act_in_turn), for an action whose elements are located.
    fn act_on(&self, act: &Act, actor: Option<&str>, deadline: Deadline<'_>) -> Result<Outcome, Error> {
        let outcome = self.settled(act, actor, deadline);
        if deadline.is_cancelled() {
            return Err(supervisor::Error::Cancelled.into()); // whatever the outcome
        }
        outcome
    }

    /// The tab, with its page made to believe that it has the focus, as input needs it.
    fn focused(&self) -> &Self {
        self.emulate_focus();
        self
    }
}
