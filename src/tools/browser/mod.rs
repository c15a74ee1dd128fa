//! The browser for a model: one tab at a time, the one that was used last, unless another is named.
//!
//! | file | what it holds |
//! |---|---|
//! | `see` | snapshots, pictures, console, images of the page |
//! | `act` | clicks, keys, forms, waiting, scripts |
//! | `tabs` | tabs and where they go |
//! | `dialog` | answers to dialogs |
//! | `raw` | commands of the protocol |
//! | `vision` | what a model that looks at pictures says |
//!
//! What a page shows is told as it is and marked as untrusted; a dialog that opened is told with whatever was called.

mod act;
mod dialog;
mod raw;
mod see;
mod tabs;
mod vision;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Outcome, Registry, RegistryError, ToolError};
use crate::control::{self, Control, Profile, TabHandle};
use crate::llm::{self, Client};
use crate::page;

/// The toolset of all of them.
const BROWSER: &str = "browser";

/// The browser that tools work with: a profile of a home.
#[derive(Debug, Clone)]
pub struct Browser {
    control: Arc<Control>,
    profile: Option<String>,
    eyes: Option<Client>,
}

impl Browser {
    /// That of a profile, or of the default one. Nothing is started yet.
    #[must_use]
    pub fn new(control: Arc<Control>, profile: Option<String>) -> Self {
        Self { control, profile, eyes: None }
    }

    /// The same with a model that looks at pictures, for `browser_vision`.
    #[must_use]
    pub fn seeing_with(mut self, eyes: Client) -> Self {
        self.eyes = Some(eyes);
        self
    }

    /// Adds the tools.
    ///
    /// # Errors
    /// Others are called like them.
    pub fn register(&self, registry: &Registry) -> Result<(), RegistryError> {
        for tool in
            [tabs::all(self), see::all(self), act::all(self), dialog::all(self), raw::all(self), vision::all(self)]
                .into_iter()
                .flatten()
        {
            registry.register(BROWSER, tool)?;
        }
        Ok(())
    }

    fn profile(&self) -> Result<Arc<Profile>, ToolError> {
        Ok(self.control.profile(self.profile.as_deref())?)
    }

    fn tab(&self, wanted: Option<&str>) -> Result<TabHandle, ToolError> {
        Ok(self.profile()?.tab(wanted)?)
    }

    /// Whether there is a browser that the protocol is spoken with. Waits for nothing.
    fn is_reachable(&self) -> bool {
        self.control.profile(self.profile.as_deref()).is_ok_and(|profile| profile.running().is_ok())
    }

    /// Adds the dialogs that wait, so that nobody overlooks one.
    fn with_dialogs(&self, outcome: Outcome) -> Outcome {
        if outcome.fields.contains_key("pending_dialogs") {
            return outcome;
        }
        match self.profile().and_then(|profile| Ok(profile.dialogs(None)?)) {
            Ok((pending, _)) if !pending.is_empty() => outcome.with("pending_dialogs", json!(pending)),
            _ => outcome,
        }
    }
}

impl From<control::Error> for ToolError {
    fn from(error: control::Error) -> Self {
        let details = error.details();
        named(error.code(), &error, details)
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

fn named(code: &'static str, error: &dyn std::error::Error, details: Option<Value>) -> ToolError {
    let told = ToolError::new(code, error.to_string());
    match details {
        Some(Value::Object(details)) => details.into_iter().fold(told, |told, (name, value)| told.with(&name, value)),
        _ => told,
    }
}
