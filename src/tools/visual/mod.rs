//! The visual agent's tools: it sees numbered elements in a picture, and acts on them by number.
//!
//! | file | what it holds |
//! |---|---|
//! | `tab` | `tab`: tabs and navigation |
//! | `highlight` | `highlight`: finding elements |
//! | `action` | `element_interaction`: what can be done, and what waits for its confirmation |
//! | `element` | `element_interaction`: carrying it out |
//! | `dialog` | `dialog`: answers to dialogs |
//! | `observe` | what every call answers: the picture and what is to be seen |
//! | `observation` | the text of it, within a budget |
//! | `state` | what a session has seen |
//!
//! A click, an input and a choice have two phases: a preview, and its confirmation by the model. Whatever else is called
//! in between drops the pending action.

mod action;
mod dialog;
mod element;
mod highlight;
mod observation;
mod observe;
mod state;
mod tab;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::{Registry, RegistryError, Tool, ToolContext, ToolError};
use crate::code::Code;
use crate::control::{self, Control, PerSession, Profile, TabHandle};
use crate::page::{self, VisibleElement};
use crate::redact::Secrets;
use crate::sync::Deadline;
use action::Pending;
use state::State;

/// The toolset of the visual tools.
pub(super) const VISUAL: &str = "visual";
/// Default time limit of a call.
const PATIENCE: Duration = Duration::from_secs(30);

/// The visual tools of a home. The [scope](super::Scope) of a call selects the profile.
#[derive(Debug, Clone)]
pub struct VisualTools {
    control: Arc<Control>,
    /// Redacted in page content.
    secrets: Secrets,
    /// Whether clicks, inputs and choices wait for a confirmation.
    confirms: bool,
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
            registry.register(VISUAL, tool(self).beginning(begin))?;
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
    fn deadline(&self) -> Deadline {
        self.call.deadline.within(PATIENCE)
    }

    /// The profile of the call, bound to its session.
    fn profile(&self) -> Result<Profile, ToolError> {
        Ok(self.control.profile(self.call.scope.profile())?.for_session(self.call.session))
    }

    fn tab(&self, wanted: Option<&str>) -> Result<TabHandle, ToolError> {
        self.profile()?.tab(wanted).map_err(failed)
    }

    fn state(&self) -> Arc<Mutex<State>> {
        self.sessions.of(self.call.session)
    }

    /// Takes the pending action out: a call either confirms it or drops it.
    fn take_pending(&self) -> Option<Pending> {
        self.state().lock().pending.take()
    }
}

/// An error in terms of the visual tools.
fn failed(error: control::Error) -> ToolError {
    use control::Error;
    let told = match &error {
        Error::NotRunning { .. } => Some("the browser is not running; start it with tab (action init, url)"),
        Error::NoCurrentTab | Error::NoTabOpen => Some("no tab is open; open one with tab (action init, url)"),
        Error::NoTab { .. } => Some("there is no such tab; tab (action list) lists the tabs"),
        Error::TabGone { .. } => Some("the tab was closed; tab (action list) lists the others"),
        Error::DialogOpen { .. } => Some("a dialog is open; answer it with dialog (dialog_action accept or dismiss)"),
        Error::Page(page::Error::Supervisor(inner)) if inner.is_crash() => {
            Some("the page crashed; load it again with tab (action refresh)")
        }
        Error::Page(_) if error.kind() == Code::BlockedByDialog => {
            Some("a dialog is open; answer it with dialog (dialog_action accept or dismiss)")
        }
        Error::Page(_) if error.kind() == Code::BrowserNotRunning => {
            Some("the browser ended; start it again with tab (action init, url)")
        }
        _ => None,
    };
    let mut tool_error = ToolError::from(error);
    if let Some(told) = told {
        told.clone_into(&mut tool_error.message);
    }
    tool_error
}

/// What errors of the page layer say of snapshots, and what it is for these tools.
const SNAPSHOT_WORDS: [(&str, &str); 3] = [
    ("take a new snapshot and use a ref from it", "call highlight to see the elements as they are now"),
    ("take a new snapshot, or set force to act on it anyway", "call highlight to see the elements as they are now"),
    ("has changed since the snapshot", "has changed since it was shown"),
];

/// As [`failed`], for an element: its ref is replaced by its id.
fn failed_at(error: impl Into<control::Error>, element: &VisibleElement) -> ToolError {
    in_terms_of(failed(error.into()), element)
}

/// An error about an element, with its id instead of its ref.
fn in_terms_of(mut error: ToolError, element: &VisibleElement) -> ToolError {
    error.message = with_id(&error.message, &element.reference, &element.id);
    for (there, here) in SNAPSHOT_WORDS {
        error.message = error.message.replace(there, here);
    }
    error.details.remove("ref");
    error
}

/// A text with an id in place of a ref.
fn with_id(text: &str, reference: &str, id: &str) -> String {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(reference) {
        let end = at + reference.len();
        let bytes = rest.as_bytes();
        let is_whole = !is_word(at.checked_sub(1).and_then(|before| bytes.get(before))) && !is_word(bytes.get(end));
        out.push_str(rest.get(..at).unwrap_or_default());
        out.push_str(if is_whole { id } else { reference });
        rest = rest.get(end..).unwrap_or_default();
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_in_errors_become_ids() {
        assert_eq!(with_id("e1 (button) and e12, e1", "e1", "a1b2c3"), "a1b2c3 (button) and e12, a1b2c3");
        assert_eq!(with_id("there", "e1", "x"), "there");
    }
}
