//! The context of a tool call.

use std::path::PathBuf;
use std::sync::Arc;

use super::files::Workspace;
use super::{AskUser, Guard, ToolError, ToolboxOptions};
use crate::config::{Config, Confirm, Home};
use crate::control::Session;
use cdpilot::code::Code;
use cdpilot::page::{SecretSource, SecretTarget, TypedSecrets};
use cdpilot::setters;
use cdpilot::sync::Deadline;

/// Progress of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Amount done, in units of the tool.
    pub done: f64,
    /// Total amount, if known.
    pub total: Option<f64>,
    /// Current step, for people.
    pub message: String,
}

impl Progress {
    /// Progress that is not measured, with a message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { done: 0.0, total: None, message: message.into() }
    }
}

setters! { Progress:
    done(f64),
    total(some f64),
}

/// The browser, the workspace and the user that the tools of an entry point work with. Cheap to clone.
#[derive(Clone)]
pub struct Scope {
    profile: Option<Arc<str>>,
    workspace: Workspace,
    ask: Option<Arc<dyn AskUser>>,
    secrets: Option<TypedSecrets>,
    /// Whether any may be typed.
    may_type: bool,
    guard: Option<Arc<dyn Guard>>,
    /// Whether the model gets no pictures.
    is_blind: bool,
    /// Which actions of the visual tools show a preview; `None`: as the settings say.
    confirm: Option<Confirm>,
    conversation: Option<Arc<str>>,
    /// The origins of untrusted text that was read, as they are stamped on notes.
    read: Option<Arc<str>>,
}

impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope")
            .field("profile", &self.profile)
            .field("ask", &self.ask.is_some())
            .finish_non_exhaustive()
    }
}

impl Scope {
    /// The scope that options describe. The workspace is the folder of the options, else `tools.workspace` (relative to
    /// the home), else the working folder.
    #[must_use]
    pub fn new(home: &Home, config: &Config, options: &ToolboxOptions) -> Self {
        let configured = || config.tools.workspace.as_ref().map(|path| home.root().join(path));
        let folder = options.workspace.clone().or_else(configured).unwrap_or_else(|| PathBuf::from("."));
        Self {
            profile: options.profile.as_deref().map(Arc::from),
            workspace: Workspace::new(&folder, home),
            ask: options.ask.clone(),
            secrets: None,
            may_type: false,
            guard: None,
            is_blind: false,
            confirm: None,
            conversation: None,
            read: None,
        }
    }

    /// The same for a caller that has read untrusted text: its origins, as they are stamped on notes (`from https://…`).
    #[must_use]
    pub fn having_read(&self, origins: &str) -> Self {
        Self { read: Some(origins.into()), ..self.clone() }
    }

    /// The origins of untrusted text that the caller has read.
    pub(in crate::tools) fn has_read(&self) -> Option<&str> {
        self.read.as_deref()
    }

    /// The same for a conversation, by its id.
    #[must_use]
    pub fn in_conversation(&self, id: &str) -> Self {
        Self { conversation: Some(id.into()), ..self.clone() }
    }

    /// The id of the conversation whose model calls; `None` for other callers.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// The same for a model that gets no pictures: texts do not speak of them.
    #[must_use]
    pub fn without_pictures(&self) -> Self {
        Self { is_blind: true, ..self.clone() }
    }

    /// Whether the model gets no pictures.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        self.is_blind
    }

    /// The same with a choice of which actions of the visual tools show a preview, in place of `agent.confirm`.
    #[must_use]
    pub fn confirming(&self, confirm: Confirm) -> Self {
        Self { confirm: Some(confirm), ..self.clone() }
    }

    /// Which actions of the visual tools show a preview; `None`: as the settings say.
    pub(in crate::tools) fn confirm(&self) -> Option<Confirm> {
        self.confirm
    }

    /// The same with a guard, which allows effects that cannot be undone only with the approval of a person.
    #[must_use]
    pub fn with_guard(&self, guard: Arc<dyn Guard>) -> Self {
        Self { guard: Some(guard), ..self.clone() }
    }

    /// Decides about effects that cannot be undone; `None`: all are allowed.
    #[must_use]
    pub fn guard(&self) -> Option<&dyn Guard> {
        self.guard.as_deref()
    }

    /// The same with secrets that texts to type may name; `any`: whether there are any. Scripts and raw commands are then
    /// refused: they could read what was typed.
    #[must_use]
    pub fn with_secrets(&self, secrets: TypedSecrets, any: bool) -> Self {
        Self { secrets: Some(secrets), may_type: any, ..self.clone() }
    }

    /// Fails if the caller may type secrets.
    pub(in crate::tools) fn check_script(&self) -> Result<(), ToolError> {
        if !self.may_type {
            return Ok(());
        }
        let message = "scripts and raw commands are refused in a conversation with secrets, because they could read a typed one; use the other browser tools";
        Err(ToolError::new(Code::EvaluateDisabled, message))
    }

    /// Fails if the caller may type secrets, and a CSS selector compares values of attributes: whether it matches would tell them.
    pub(in crate::tools) fn check_selector(&self, selector: &str) -> Result<(), ToolError> {
        let compares =
            selector.split('[').skip(1).any(|inside| inside.split(']').next().is_some_and(|test| test.contains('=')));
        if !self.may_type || !(compares || selector.contains('\\')) {
            return Ok(());
        }
        let message = "selectors that compare attributes, as in [value=…], are refused in a conversation with secrets, because they could read a typed one; wait for a text instead";
        Err(ToolError::new(Code::BadRequest, message))
    }

    /// The secrets that texts to type may name.
    pub(in crate::tools) fn typed_secrets(&self) -> TypedSecrets {
        self.secrets.clone().unwrap_or_else(|| TypedSecrets::new(NoSecrets))
    }

    /// The same with the browser of another profile; `None` is the default one.
    #[must_use]
    pub fn with_profile(&self, profile: Option<&str>) -> Self {
        Self { profile: profile.map(Arc::from), ..self.clone() }
    }

    /// The profile whose browser is used; `None` is the default one.
    #[must_use]
    pub fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// Asks the user; `None` without one.
    #[must_use]
    pub fn ask(&self) -> Option<&dyn AskUser> {
        self.ask.as_deref()
    }

    /// Whether the caller is a conversation.
    pub(in crate::tools) fn is_conversation(&self) -> bool {
        self.ask.as_ref().is_some_and(|ask| ask.is_conversation())
    }

    /// The workspace of file and terminal tools.
    pub(in crate::tools) fn workspace(&self) -> &Workspace {
        &self.workspace
    }
}

/// Callers that may use no secrets.
struct NoSecrets;

impl SecretSource for NoSecrets {
    fn typed(&self, name: &str, _: &SecretTarget) -> Result<String, String> {
        Err(format!("the secret {name:?} cannot be used here: secrets are for conversations that name them"))
    }
}

/// The context of a tool call. Tools must not keep any of it.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// The caller's session: its current tab, to-do list and background commands.
    pub session: &'a Session,
    /// The browser, the workspace and the user.
    pub scope: &'a Scope,
    /// Deadline of the call. It is also the end of a call that the client cancels; see [`Deadline::is_cancelled`].
    pub deadline: Deadline<'a>,
    /// Receives progress reports of long calls.
    pub progress: &'a dyn Fn(Progress),
}

impl<'a> ToolContext<'a> {
    /// The context of one call. Its progress is discarded. A call that can be cancelled has a deadline that is bound to a
    /// flag ([`Deadline::cancelled_by`]).
    #[must_use]
    pub fn new(session: &'a Session, scope: &'a Scope, deadline: Deadline<'a>) -> Self {
        Self { session, scope, deadline, progress: &|_| () }
    }
}

setters! { <'a> ToolContext<'a>: progress(&'a dyn Fn(Progress)) }

impl std::fmt::Debug for ToolContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext")
            .field("scope", &self.scope)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
