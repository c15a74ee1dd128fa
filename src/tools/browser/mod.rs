//! The browser for a model: one tab at a time, the one that was used last, unless another is named.
//!
//! | file | what it holds |
//! |---|---|
//! | `observe` | snapshots, pictures, console, images of the page |
//! | `act` | clicks, keys, forms, waiting, scripts |
//! | `tabs` | tabs and where they go |
//! | `dialog` | answers to dialogs |
//! | `upload` | files into pages |
//! | `raw` | commands of the protocol |
//! | `result` | what results have in common |
//! | `vision` | what a model that looks at pictures says |
//!
//! What a page shows is told as it is and marked as untrusted; a dialog that opened is told with whatever was called.

mod act;
mod dialog;
mod observe;
mod raw;
mod result;
mod tabs;
mod upload;
mod vision;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Capped, Outcome, Registry, RegistryError, Scope, ToolContext, ToolError};
use crate::code::Code;
use crate::control::{self, Control, FileKind, Profile, TabHandle};
use crate::llm::{self, Client};
use crate::page;
use crate::redact::Secrets;
use crate::sync::Deadline;

/// The toolset of all of them.
pub(super) const BROWSER: &str = "browser";
/// What a page is waited for where nobody says how long: many callers give up after a minute.
const PATIENCE: Duration = Duration::from_secs(30);
/// Characters of a result at most.
const RESULT: usize = 20_000;
/// What errors advise people and programs, and what models can do instead.
const ADVICE: [(&str, &str); 9] = [
    ("`cdpilot browser tabs` or GET /tabs lists them", "browser_tabs lists them"),
    ("open one with `cdpilot browser open URL` or POST /tabs/open", "browser_navigate opens one"),
    ("stop the browser with POST /stop", "browser_tabs closes tabs, and the browser is not yours to end"),
    ("caught already, see POST /wait/download", "caught already, and told by whatever caused them"),
    ("made with POST /act", "made with browser_drag"),
    ("see POST /hooks/file-chooser", "see browser_upload"),
    ("with targetId, or the frame with frameId", "with target_id, or the frame with frame_id"),
    (
        "answer it first, or navigate with dismissDialogs (--dismiss-dialogs) to dismiss it",
        "answer it with browser_dialog, or call browser_navigate with dismiss_dialogs: true",
    ),
    ("or give this action more time (timeoutMs)", "or read the page meanwhile"),
];
/// When a call that names no time of its own has to be done.
fn soon(call: &ToolContext<'_>) -> Deadline {
    call.deadline.within(PATIENCE)
}

/// The tools of the browsers of a home. Each call says in its [scope](super::Scope) which profile it is for.
#[derive(Debug, Clone)]
pub struct BrowserTools {
    control: Arc<Control>,
    vision_model: Option<Client>,
    /// What the tools that need a model for pictures wait for.
    missing: Arc<str>,
    /// Covered in what is read of pages.
    secrets: Secrets,
}

impl BrowserTools {
    /// Those for the browsers of a home. Nothing is started yet.
    #[must_use]
    pub fn new(control: Arc<Control>) -> Self {
        let secrets = control.secrets().clone();
        Self { control, vision_model: None, missing: super::vision::MISSING.into(), secrets }
    }

    /// The same with a model that looks at pictures, for `browser_vision`.
    #[must_use]
    pub fn with_vision_model(mut self, vision_model: Client) -> Self {
        self.vision_model = Some(vision_model);
        self
    }

    /// The same without such a model, and what is missing for one.
    #[must_use]
    pub fn without_vision_model(mut self, missing: &str) -> Self {
        self.missing = missing.into();
        self
    }

    /// The same with further secrets to cover.
    #[must_use]
    pub fn covering(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// Adds the tools.
    ///
    /// # Errors
    /// Others are called like them.
    pub fn register(&self, registry: &Registry) -> Result<(), RegistryError> {
        let rooms = [tabs::all, observe::all, act::all, dialog::all, upload::all, raw::all, vision::all];
        for tool in rooms.iter().flat_map(|all| all(self)) {
            let (begins, fails) = (self.clone(), self.clone());
            let begin = move |call: &ToolContext<'_>| begins.on(call).begin();
            let fail = move |call: &ToolContext<'_>, error| fails.on(call).failed(error);
            let tool = tool.beginning(begin).failing(fail);
            registry.register(BROWSER, tool)?;
        }
        Ok(())
    }

    /// The browser of one call.
    fn on<'a>(&'a self, call: &'a ToolContext<'a>) -> Browser<'a> {
        Browser { tools: self, call }
    }

    /// Whether a browser is running that CDP reaches. Does not block.
    fn is_reachable(&self, scope: &Scope) -> bool {
        self.control.profile(scope.profile()).is_ok_and(|profile| profile.running().is_ok())
    }
}

/// The browser that one call works with.
#[derive(Clone, Copy)]
struct Browser<'a> {
    tools: &'a BrowserTools,
    call: &'a ToolContext<'a>,
}

impl std::ops::Deref for Browser<'_> {
    type Target = BrowserTools;

    fn deref(&self) -> &BrowserTools {
        self.tools
    }
}

impl Browser<'_> {
    /// A call begins: dialogs that closed before are no news to a client that calls first.
    fn begin(&self) {
        if let Ok(profile) = self.profile() {
            profile.begin_result();
        }
    }

    /// The profile that the call is for, as its session uses it.
    fn profile(&self) -> Result<Profile, ToolError> {
        Ok(self.control.profile(self.call.scope.profile())?.for_session(self.call.session))
    }

    fn tab(&self, wanted: Option<&str>) -> Result<TabHandle, ToolError> {
        Ok(self.profile()?.tab(wanted)?)
    }

    /// The same for a read, which leaves the current tab as it is.
    fn tab_to_read(&self, wanted: Option<&str>) -> Result<TabHandle, ToolError> {
        Ok(self.profile()?.tab_to_read(wanted)?)
    }

    /// Adds a result of a script or a command. One that is more than a model reads at once is written into a file, and its
    /// first lines are told.
    fn with_result(&self, outcome: Outcome, result: Value) -> Result<Outcome, ToolError> {
        let text = match &result {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if text.chars().count() <= RESULT {
            return Ok(outcome.with("result", result));
        }
        let (text, ending) = match self.secrets.cover_json(result) {
            Value::String(text) => (text, "txt"),
            other => (serde_json::to_string_pretty(&other).unwrap_or_default(), "json"),
        };
        let path = self.control.files().save(FileKind::Media, ending, text.as_bytes())?;
        let told = Capped::of(&text, RESULT).noted(&format!("in {}", path.display()));
        Ok(outcome.with("result", told).with("result_path", json!(path)))
    }

    /// An error as it is told: with the dialogs that wait, which most often are why.
    fn failed(&self, mut error: ToolError) -> ToolError {
        if error.details.contains_key("pending_dialogs") {
            result::brief_dialogs(&mut error.details);
            return error.with("untrusted", result::UNTRUSTED);
        }
        match self.profile().map(|profile| profile.dialogs(None)) {
            Ok(Ok((pending, _))) if !pending.is_empty() => {
                let pending: Vec<Value> = pending.iter().map(result::dialog).collect();
                error.with("pending_dialogs", pending).with("untrusted", result::UNTRUSTED)
            }
            _ => error,
        }
    }
}

impl From<control::Error> for ToolError {
    fn from(error: control::Error) -> Self {
        let details = error.details();
        let message = gone(&error).map_or_else(
            || ADVICE.iter().fold(error.to_string(), |message, (from, to)| message.replace(from, to)),
            str::to_owned,
        );
        named(error.code(), message, details)
    }
}

impl From<page::Error> for ToolError {
    fn from(error: page::Error) -> Self {
        control::Error::from(error).into()
    }
}

impl From<llm::Error> for ToolError {
    fn from(error: llm::Error) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

/// What is gone, and how it comes back.
fn gone(error: &control::Error) -> Option<&'static str> {
    use control::Error;
    match error {
        Error::NoCurrentTab => {
            Some("you have no tab yet; browser_navigate opens one, or name one as target: browser_tabs lists them")
        }
        Error::NotRunning { .. } => Some("the browser is not running; browser_navigate starts it"),
        Error::Page(_) if error.kind() == Code::BrowserNotRunning => {
            Some("the browser has ended; browser_navigate starts it again")
        }
        Error::Page(page::Error::Supervisor(inner)) if inner.is_crash() => {
            Some("the page has crashed; browser_navigate with action reload brings it back")
        }
        _ => None,
    }
}

fn named(code: &'static str, message: String, details: Option<Value>) -> ToolError {
    let told = ToolError::new(code, message);
    match details {
        Some(Value::Object(details)) => details.into_iter().fold(told, |told, (name, value)| told.with(&name, value)),
        _ => told,
    }
}
