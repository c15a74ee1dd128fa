//! Browser tools for models. They use the current tab of the session unless a call names another as `target`.
//!
//! | file | what it holds |
//! |---|---|
//! | `observe` | snapshots, screenshots, console, images of the page |
//! | `act` | clicks, keys, forms, waiting, scripts |
//! | `tabs` | tabs and navigation |
//! | `dialog` | answers to dialogs |
//! | `upload` | files into pages |
//! | `raw` | raw CDP commands |
//! | `result` | fields common to results |
//! | `vision` | questions about screenshots, answered by a vision model |
//!
//! Page content is returned verbatim and marked as untrusted. Every result lists open dialogs.

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

use super::{Capped, Effects, Outcome, Registry, RegistryError, Scope, Tool, ToolContext, ToolError};
use crate::control::{self, Control, FileKind, Profile, TabHandle};
use crate::llm::{self, Client};
use cdpilot::code::Code;
use cdpilot::page;
use cdpilot::redact::Secrets;
use cdpilot::sync::Deadline;

/// The toolset of the browser tools.
pub(crate) const BROWSER: &str = "browser";
/// The tool that does what was recorded. Models do not get it: runs of routines call it by themselves.
pub(crate) const RECORDED: &str = "recorded_action";
/// Default time limit of a call. Many clients give up after a minute.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size of a result, in characters. Larger results are saved to a file.
const RESULT: usize = 20_000;
/// The deadline of a call without a time limit of its own.
fn soon<'a>(call: &ToolContext<'a>) -> Deadline<'a> {
    call.deadline.within(CALL_TIMEOUT)
}

/// The browser tools of a home. The [scope](super::Scope) of a call selects the profile.
#[derive(Debug, Clone)]
pub struct BrowserTools {
    control: Arc<Control>,
    vision_model: Option<Client>,
    /// What `browser_vision` needs when there is no vision model.
    missing: Arc<str>,
    /// Redacted in page content.
    secrets: Secrets,
}

impl BrowserTools {
    /// Creates the tools for the browsers of a home. Starts nothing.
    #[must_use]
    pub fn new(control: Arc<Control>) -> Self {
        let secrets = control.secrets().clone();
        Self { control, vision_model: None, missing: super::vision::MISSING.into(), secrets }
    }

    /// Sets the vision model for `browser_vision`.
    #[must_use]
    pub fn with_vision_model(mut self, vision_model: Client) -> Self {
        self.vision_model = Some(vision_model);
        self
    }

    /// Disables `browser_vision`; `missing` tells the user what it needs.
    #[must_use]
    pub fn without_vision_model(mut self, missing: &str) -> Self {
        self.missing = missing.into();
        self
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
        let rooms = [tabs::all, observe::all, act::all, dialog::all, upload::all, raw::all, vision::all];
        self.add(registry, rooms.iter().flat_map(|all| all(self)))
    }

    /// Registers `browser_vision` again, with another vision model.
    ///
    /// # Errors
    /// The name is taken.
    pub(super) fn register_vision(&self, registry: &Registry) -> Result<(), RegistryError> {
        self.add(registry, vision::all(self))
    }

    fn add(&self, registry: &Registry, tools: impl IntoIterator<Item = Tool>) -> Result<(), RegistryError> {
        for tool in tools {
            registry.register(BROWSER, self.complete(tool))?;
        }
        Ok(())
    }

    /// A tool with what all browser tools do at their begin and after an error.
    fn complete(&self, tool: Tool) -> Tool {
        let (begins, fails) = (self.clone(), self.clone());
        let begin = move |call: &ToolContext<'_>| begins.on(call).begin();
        let fail = move |call: &ToolContext<'_>, error| fails.on(call).failed(error);
        tool.beginning(begin).failing(fail).with_effects(Effects::Checked)
    }

    /// The tool [`RECORDED`]. It is not registered.
    pub(crate) fn recorded(&self) -> Tool {
        self.complete(act::recorded(self))
    }

    /// Binds the tools to one call.
    fn on<'a>(&'a self, call: &'a ToolContext<'a>) -> Browser<'a> {
        Browser { tools: self, call }
    }

    /// Whether a browser with CDP is running, or may be started during a conversation, whose tools stay the same. Does not block.
    fn is_reachable(&self, scope: &Scope) -> bool {
        scope.is_conversation() || self.control.profile(scope.profile()).is_ok_and(|profile| profile.running().is_ok())
    }
}

/// The browser tools bound to one call.
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
    /// Starts a call: dialogs that closed before the first call of a session are not reported.
    fn begin(&self) {
        if let Ok(profile) = self.profile() {
            profile.begin_result();
        }
    }

    /// The profile of the call, bound to its session.
    fn profile(&self) -> Result<Profile, ToolError> {
        Ok(self.control.profile(self.call.scope.profile())?.for_session(self.call.session))
    }

    fn tab(&self, target: Option<&str>) -> Result<TabHandle, ToolError> {
        Ok(self.profile()?.tab(target)?)
    }

    /// The tab for a read-only tool; does not change the current tab.
    fn tab_to_read(&self, wanted: Option<&str>) -> Result<TabHandle, ToolError> {
        Ok(self.profile()?.tab_to_read(wanted)?)
    }

    /// Adds the result of a script or a command. A result above the limit is saved to a file; the outcome then has its
    /// first lines and the path.
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
        let shown = Capped::of(&text, RESULT).noted(&format!("full result in {}", path.display()));
        Ok(outcome.with("result", shown).with("result_path", json!(path)))
    }

    /// Adds open dialogs, the most likely cause, to an error.
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
        let mut message = match &error {
            control::Error::RawRefused { method, refusal } => {
                format!("{method} is not allowed: {}", alternative(refusal))
            }
            control::Error::Page(page::Error::Busy { .. }) => {
                format!("{error}, or take a browser_snapshot and retry later")
            }
            _ => missing(&error).map_or_else(|| error.to_string(), str::to_owned),
        };
        if let Some(next) = next_step(&error) {
            message.push_str("; ");
            message.push_str(next);
        }
        named(error.kind(), message, details)
    }
}

impl From<page::Error> for ToolError {
    fn from(error: page::Error) -> Self {
        control::Error::from(error).into()
    }
}

impl From<llm::Error> for ToolError {
    fn from(error: llm::Error) -> Self {
        Self::new(error.kind(), error.to_string())
    }
}

/// The message for a missing tab, browser or page, in terms of tools.
fn missing(error: &control::Error) -> Option<&'static str> {
    use control::Error;
    match error {
        Error::NoCurrentTab => Some(
            "this session has no current tab; open one with browser_navigate, or pass target (list tabs with browser_tabs)",
        ),
        Error::NotRunning { .. } => Some("the browser is not running; start it with browser_navigate"),
        Error::Page(_) if error.kind() == Code::BrowserNotRunning => {
            Some("the browser ended; restart it with browser_navigate")
        }
        Error::Page(page::Error::Supervisor(inner)) if inner.is_crash() => {
            Some("the page crashed; reload it with browser_navigate (action reload)")
        }
        _ => None,
    }
}

/// What to do next, in tool names, where the message does not say it.
fn next_step(error: &control::Error) -> Option<&'static str> {
    use control::Error;
    match error {
        Error::NoTab { .. } => Some("browser_tabs lists the tabs"),
        Error::NoTabOpen => Some("browser_navigate opens one"),
        Error::TabGone { .. } => {
            Some("name another tab as target (browser_tabs lists them), or open one with browser_tabs, action open")
        }
        Error::DialogOpen { .. } => {
            Some("answer it with browser_dialog, or call browser_navigate with dismiss_dialogs: true")
        }
        _ => None,
    }
}

/// What to call instead of a refused command, in tool names.
fn alternative(refusal: &control::Refusal) -> String {
    use control::Refusal;
    match refusal {
        Refusal::StopsBrowser => {
            "close a tab with browser_tabs (action close); tools cannot close the browser".to_owned()
        }
        Refusal::CatchesDownloads => {
            "downloads are captured automatically and listed in downloads of the result that caused them".to_owned()
        }
        Refusal::CatchesFileChoosers => format!("{refusal}, use browser_upload"),
        Refusal::Drags => "drags are made with browser_drag".to_owned(),
        Refusal::NamesTarget => "name the tab with target_id, or the frame with frame_id".to_owned(),
        _ => refusal.to_string(),
    }
}

fn named(code: Code, message: String, details: Option<Value>) -> ToolError {
    let error = ToolError::new(code, message);
    match details {
        Some(Value::Object(details)) => {
            details.into_iter().fold(error, |error, (name, value)| error.with(&name, value))
        }
        _ => error,
    }
}
