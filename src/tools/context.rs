//! What a call of a tool is made with.

use std::path::PathBuf;
use std::sync::Arc;

use super::files::Workspace;
use super::{AskUser, ToolboxOptions};
use crate::config::{Config, Home};
use crate::control::Session;
use crate::sync::{Cancel, Deadline};

/// Progress of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub done: f64,
    /// Of how much, where that is known.
    pub total: Option<f64>,
    /// What is being done, for a person.
    pub message: String,
}

/// Where the tools of an entry point work: in which browser, in which folder, and whom they can ask. Cheap to clone.
#[derive(Clone)]
pub struct Scope {
    profile: Option<Arc<str>>,
    workspace: Workspace,
    ask: Option<Arc<dyn AskUser>>,
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
    /// The scope that options describe. The workspace is the folder of the options, else `tools.workspace` (relative to the
    /// home), else the working folder.
    #[must_use]
    pub fn new(home: &Home, config: &Config, options: &ToolboxOptions) -> Self {
        let configured = || config.tools.workspace.as_ref().map(|path| home.root().join(path));
        let folder = options.workspace.clone().or_else(configured).unwrap_or_else(|| PathBuf::from("."));
        Self {
            profile: options.profile.as_deref().map(Arc::from),
            workspace: Workspace::new(&folder, home),
            ask: options.ask.clone(),
        }
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

    /// The person who can be asked.
    #[must_use]
    pub fn ask(&self) -> Option<&dyn AskUser> {
        self.ask.as_deref()
    }

    /// The folder that files and commands are in.
    pub(in crate::tools) fn workspace(&self) -> &Workspace {
        &self.workspace
    }
}

/// What a call of a tool is made with: who calls, where, until when. A tool keeps nothing of it.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// Who calls: the session has its own current tab, to-do list and background commands.
    pub session: &'a Session,
    /// In which browser and folder, and whom it can ask.
    pub scope: &'a Scope,
    /// When the call has to be answered.
    pub deadline: Deadline,
    /// Set when the caller does not wait for the answer any more.
    pub cancel: &'a Cancel,
    /// Receives the progress of a long call.
    pub progress: &'a dyn Fn(Progress),
}

impl std::fmt::Debug for ToolContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext")
            .field("scope", &self.scope)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
