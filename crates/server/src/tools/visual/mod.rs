//! The visual agent's tools: it sees numbered elements in a picture, and acts on them by number.
//!
//! | file | what it holds |
//! |---|---|
//! | `tab` | `tab`: tabs and navigation |
//! | `highlight` | `highlight`: finding elements |
//! | `action` | `element_interaction`: what can be done, and what waits for its confirmation |
//! | `element` | `element_interaction`: previews, confirmations, carrying out |
//! | `interaction` | `element_interaction`: its arguments |
//! | `presence` | `element_interaction`: whether an element is still there, and whether its use shows a preview first |
//! | `moves` | `element_interaction`: scrolling, swiping, sliders, files |
//! | `waiting` | `element_interaction`: waiting, and keys |
//! | `dialog` | `dialog`: answers to dialogs |
//! | `observe` | what every call answers: the picture and what is to be seen |
//! | `html` | shortening the HTML of an element |
//! | `observation` | the text of it, within a budget |
//! | `page_state` | states in which a page can be neither seen nor used |
//! | `state` | what a session has seen |
//!
//! A click, an input, a choice and a drag may have two phases, as `agent.confirm` says: a preview, and its confirmation by the
//! model. Whatever else is called in between drops the pending action.

mod action;
mod dialog;
mod element;
mod highlight;
mod html;
mod interaction;
mod moves;
mod observation;
mod observe;
mod page_state;
mod presence;
mod state;
mod tab;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::{Effects, Registry, RegistryError, Tool, ToolContext, ToolError};
use crate::config::Confirm;
use crate::control::{self, Control, PerSession, Profile, TabHandle};
use action::Pending;
use cdpilot::code::Code;
use cdpilot::page::{self, VisibleElement};
use cdpilot::redact::Secrets;
use cdpilot::sync::Deadline;
use observation::{MOST_NAME, cut, named, quoted};
use page_state::PageState;
use state::State;

pub(crate) use element::interaction_schema;

/// The toolset of the visual tools.
pub(super) const VISUAL: &str = "visual";
/// Default time limit of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// The visual tools of a home. The [scope](super::Scope) of a call selects the profile.
#[derive(Debug, Clone)]
pub struct VisualTools {
    control: Arc<Control>,
    /// Redacted in page content.
    secrets: Secrets,
    /// Which actions wait for a confirmation.
    confirms: Confirm,
    sessions: Arc<PerSession<Mutex<State>>>,
}

impl VisualTools {
    /// Creates the tools for the browsers of a home. Starts nothing.
    #[must_use]
    pub fn new(control: Arc<Control>) -> Self {
        let confirms = control.config().agent.confirm;
        let secrets = control.secrets().clone();
        let sessions = Arc::new(PerSession::new(|| Mutex::new(State::default())));
        Self { control, secrets, confirms, sessions }
    }

    /// Adds secrets to redact.
    #[must_use]
    pub fn covering(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// Registers the tools.
    ///
    /// # Errors
    /// A name is taken.
    pub fn register(&self, registry: &Registry) -> Result<(), RegistryError> {
        let all: [fn(&Self) -> Tool; 4] = [tab::tool, highlight::tool, element::tool, dialog::tool];
        for tool in all {
            let begins = self.clone();
            let begin = move |call: &ToolContext<'_>| {
                if let Ok(profile) = begins.on(call).profile() {
                    profile.begin_result();
                }
            };
            registry.register(VISUAL, tool(self).beginning(begin).with_effects(Effects::Checked))?;
        }
        Ok(())
    }

    /// Binds the tools to one call.
    fn on<'a>(&'a self, call: &'a ToolContext<'a>) -> Visual<'a> {
        Visual { tools: self, call }
    }
}

/// The visual tools bound to one call.
#[derive(Clone, Copy)]
struct Visual<'a> {
    tools: &'a VisualTools,
    call: &'a ToolContext<'a>,
}

impl std::ops::Deref for Visual<'_> {
    type Target = VisualTools;

    fn deref(&self) -> &VisualTools {
        self.tools
    }
}

impl Visual<'_> {
    fn deadline(&self) -> Deadline<'_> {
        self.call.deadline.within(CALL_TIMEOUT)
    }

    /// The profile of the call, bound to its session.
    fn profile(&self) -> Result<Profile, ToolError> {
        Ok(self.control.profile(self.call.scope.profile())?.for_session(self.call.session))
    }

    fn tab(&self, target: Option<&str>) -> Result<TabHandle, ToolError> {
        self.profile()?.tab(target).map_err(failed)
    }

    fn state(&self) -> Arc<Mutex<State>> {
        self.sessions.of(self.call.session)
    }

    /// Which actions of this call wait for a confirmation.
    fn confirms(&self) -> Confirm {
        self.call.scope.confirm().unwrap_or(self.confirms)
    }

    /// Makes the tab that opened a closed one the current tab again, if it is open.
    fn back_to_opener(&self, closed: &str) -> Option<TabHandle> {
        let opener = self.state().lock().opener_of(closed)?;
        self.tab(Some(&opener)).ok()
    }

    /// Takes the pending action out: a call either confirms it or drops it.
    fn take_pending(&self) -> Option<Pending> {
        self.state().lock().pending.take()
    }
}

/// An error in terms of the visual tools.
fn failed(error: control::Error) -> ToolError {
    use control::Error;
    let message = match &error {
        Error::NoCurrentTab | Error::NoTabOpen => Some("no tab is open; open one with tab (action init, url)"),
        Error::NoTab { .. } => Some("there is no such tab; tab (action list) lists the tabs"),
        Error::TabGone { .. } => {
            Some("the tab was closed; tab lists the others (action list) or opens one (action init, url)")
        }
        Error::DialogOpen { .. } => Some("a dialog is open; answer it with dialog (dialog_action accept or dismiss)"),
        Error::Page(_) if error.kind() == Code::BlockedByDialog => {
            Some("a dialog is open; answer it with dialog (dialog_action accept or dismiss)")
        }
        _ => None,
    };
    let state = PageState::of(&error);
    let mut tool_error = ToolError::from(error);
    if let Some(state) = state {
        return state.error(tool_error);
    }
    if let Some(message) = message {
        message.clone_into(&mut tool_error.message);
    }
    tool_error
}

/// What to do when an element is not as it was shown.
const LOOK_AGAIN: &str = "call highlight to see the elements as they are now";

/// As [`failed`], for a call about some elements: they are named by their ids, as they were shown.
fn failed_at(error: impl Into<control::Error>, elements: &[&VisibleElement]) -> ToolError {
    use page::Error;
    let error = error.into();
    let about = |reference: &str| {
        let is_meant = |element: &&&VisibleElement| element.reference == reference || element.id == reference;
        elements.iter().find(is_meant).or(elements.first()).map_or_else(String::new, |element| named(element))
    };
    let message = match &error {
        control::Error::Page(Error::StaleRef { reference, why }) => {
            Some(format!("{} can no longer be used: {why}; {LOOK_AGAIN}", about(reference)))
        }
        control::Error::Page(Error::RefChanged { reference, now, .. }) => {
            let now = format!("{} {}", now.role, quoted(&cut(&now.name, MOST_NAME)));
            Some(format!("{} has changed since it was shown: it is now {now}; {LOOK_AGAIN}", about(reference)))
        }
        control::Error::Page(Error::NotActionable { what, reason, covered_by, .. }) => {
            let reference = what.split(' ').next().unwrap_or_default();
            let advice = match covered_by {
                Some(_) => "close or scroll away what covers it, then call highlight",
                None => LOOK_AGAIN,
            };
            Some(format!("{} cannot be used: {reason}; {advice}", about(reference)))
        }
        control::Error::Page(Error::DocumentGone { .. }) => {
            Some(format!("the page was replaced by another one meanwhile; {LOOK_AGAIN}"))
        }
        _ => None,
    };
    let mut tool_error = failed(error);
    if let Some(message) = message {
        tool_error.message = message;
    }
    tool_error.details.remove("ref");
    tool_error
}
