//! Actions: what a person does to a page.
//!
//! | file | what it holds |
//! |---|---|
//! | `request`, `parse` | the actions as they are asked for |
//! | `ready` | finding an element, and waiting until it can be acted on |
//! | `pointer`, `drag`, `scroll` | the mouse |
//! | `arrive` | whether input has arrived |
//! | `typing`, `keyboard`, `forms` | text into fields, keys, form fields |
//! | `evaluate`, `wait`, `conditions` | scripts of the caller; conditions |
//! | `settle`, `told` | what an action caused and when that has ended; what is told of it |
//! | `batch` | several in a row |

mod arrive;
mod batch;
mod conditions;
mod drag;
mod evaluate;
mod forms;
mod keyboard;
mod parse;
mod pointer;
mod ready;
mod request;
mod scroll;
mod settle;
mod told;
mod typing;
mod wait;

use serde::Serialize;
use serde_json::Value;

pub use request::{
    Act, Button, Direction, Field, FieldValue, Input, Kind, Locator, Modifier, MouseEvent, MouseKind, Point, State,
    WaitFor,
};

use super::{Download, Error, Tab};
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{self, Dialog};
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
    /// Tabs that it opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "server", schemars(with = "Vec<String>"))]
    pub new_tabs: Vec<TargetId>,
    /// Downloads that it started, where they are caught, as they stood when it was over: their end is not
    /// waited for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
    /// Errors on the console since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub console_errors: Vec<String>,
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
    /// Why what it caused counts as ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<String>,
    /// What changed on the page, with `delta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// Outcomes of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<Value>>,
    /// How many of a batch failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<usize>,
    /// Why a batch ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aborted: Option<Value>,
}

/// What one kind of action gives its caller beside what it caused.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Did {
    pub(super) result: Option<Value>,
    pub(super) input: Option<Input>,
    pub(super) rescued: bool,
}

impl Tab {
    /// Does it, and answers when what it caused has ended. A dialog that it opens is a success.
    ///
    /// # Errors
    /// [`Error::StaleRef`], [`Error::RefChanged`], [`Error::NotActionable`], [`Error::NoMatch`],
    /// [`Error::BadRequest`], [`Error::Timeout`] and those of the supervisor.
    pub fn act(&self, act: &Act, deadline: Deadline) -> Result<Outcome, Error> {
        let outcome = self.settled(act, deadline);
        if Cancel::is_current_set() {
            return Err(supervisor::Error::Cancelled.into()); // whatever it came to by then
        }
        outcome
    }

    /// Does it without looking at what comes of it.
    pub(super) fn perform(&self, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        match &act.kind {
            Kind::Click { .. } | Kind::Hover { .. } | Kind::ClickCoords { .. } | Kind::Mouse { .. } => {
                self.point_at(act, deadline)
            }
            Kind::ScrollIntoView { .. } | Kind::Scroll { .. } => self.scroll(act, deadline),
            Kind::Drag { .. } => self.drag(act, deadline),
            Kind::Type { .. } | Kind::InsertText { .. } | Kind::Press { .. } => self.write(act, deadline),
            Kind::Select { .. } | Kind::Check { .. } | Kind::Uncheck { .. } | Kind::Fill { .. } => {
                self.fill_in(act, deadline)
            }
            Kind::Wait { .. } => self.wait(act, deadline),
            Kind::Resize { .. } | Kind::Close {} => self.whole_tab(act, deadline),
            Kind::Evaluate { .. } => self.evaluate(act, deadline),
            Kind::Batch { .. } => Err(Error::BadRequest { problem: "a batch cannot be done in one step".to_owned() }),
        }
    }
}
