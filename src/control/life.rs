//! A profile and the life of its browser.

use std::sync::Arc;

use serde_json::Value;

use super::settings::Settings;
use super::shared::Shared;
use super::{
    DialogOutcome, DialogReply, Error, Navigate, Navigated, NewTab, ProfileInfo, RawCall, Status, TabHandle, TabInfo,
};
use crate::page;
use crate::supervisor::{ClosedDialog, Dialog, EventLog};
use crate::sync::Deadline;

/// One profile of a home, and its browser when it runs.
#[derive(Debug)]
pub struct Profile {
    shared: Arc<Shared>,
    settings: Settings,
    events: Arc<EventLog>,
}

/// A browser that runs.
#[derive(Debug)]
pub struct Running {
    /// Its tabs; the supervisor is behind them.
    pub tabs: page::Tabs,
}

fn later<T>() -> Result<T, Error> {
    Err(Error::Conflict { problem: "this is not there yet".to_owned() })
}

impl Profile {
    pub(super) fn new(shared: Arc<Shared>, settings: Settings) -> Self {
        Self { shared, settings, events: Arc::default() }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn is_up(&self) -> bool {
        false
    }

    pub(super) fn retire(&self, deadline: Deadline) -> Result<(), Error> {
        self.stop(deadline).map(drop)
    }

    pub(super) fn end_events(&self) {}

    pub(super) fn info(&self) -> ProfileInfo {
        let settings = &self.settings;
        ProfileInfo {
            name: settings.name.clone(),
            running: false,
            cdp_port: settings.cdp_port,
            user_data_dir: settings.user_data_dir.display().to_string(),
            color: settings.color.clone(),
            is_default: settings.is_default,
            is_remote: settings.is_remote(self.shared.config.browser.attach_only),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// How things stand. Waits for nothing.
    #[must_use]
    pub fn status(&self) -> Status {
        Status {
            enabled: self.shared.config.browser.enabled,
            running: false,
            profile: self.settings.name.clone(),
            pid: None,
            cdp_port: None,
            cdp_url: None,
            browser: None,
            executable_path: None,
            user_data_dir: Some(self.settings.user_data_dir.display().to_string()),
            headless: true,
            color: self.settings.color.clone(),
            attach_only: self.shared.config.browser.attach_only,
            transport: "auto".to_owned(),
            no_sandbox: false,
            tabs: 0,
            pending_dialogs: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            notes: Vec::new(),
        }
    }

    /// Starts the browser, or attaches to it. One that runs is left as it is.
    ///
    /// # Errors
    /// [`Error::Disabled`], [`Error::Resting`], [`Error::Browser`], [`Error::Conflict`].
    pub fn start(&self, headless: Option<bool>, deadline: Deadline) -> Result<Status, Error> {
        let _ = (headless, deadline);
        later()
    }

    /// Stops the browser; of one that somebody else started only the connection ends.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it is being started or stopped at the moment and that takes too long.
    pub fn stop(&self, deadline: Deadline) -> Result<Status, Error> {
        let _ = deadline;
        Ok(self.status())
    }

    /// The browser.
    ///
    /// # Errors
    /// [`Error::NotRunning`].
    pub fn running(&self) -> Result<Arc<Running>, Error> {
        Err(Error::NotRunning { profile: self.settings.name.clone() })
    }

    /// The open tabs, in the order they came. None when the browser does not run. Waits for nothing.
    #[must_use]
    pub fn tabs(&self) -> Vec<TabInfo> {
        Vec::new()
    }

    /// Opens a tab. Starts the browser when it does not run.
    ///
    /// # Errors
    /// [`Error::TabLimit`], [`Error::NavigationBlocked`], [`Error::BadRequest`] for a label that is none, those of
    /// [`start`](Self::start), [`Error::Page`].
    pub fn open_tab(&self, new: NewTab, deadline: Deadline) -> Result<TabInfo, Error> {
        let _ = (new, deadline);
        later()
    }

    /// A tab by its target id, tab id, label, or the beginning of its target id; the one used last without. It is the
    /// one used last from now on.
    ///
    /// # Errors
    /// [`Error::NotRunning`], [`Error::NoTab`], [`Error::NoTabOpen`], [`Error::TabGone`], [`Error::Ambiguous`].
    pub fn tab(&self, wanted: Option<&str>) -> Result<TabHandle, Error> {
        let _ = wanted;
        self.running()?;
        later()
    }

    /// Brings a tab to the front.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab), [`Error::Page`].
    pub fn focus(&self, wanted: &str, deadline: Deadline) -> Result<TabInfo, Error> {
        let _ = (wanted, deadline);
        later()
    }

    /// Gives a tab a label. Another tab that has it loses it.
    ///
    /// # Errors
    /// [`Error::BadRequest`], those of [`tab`](Self::tab).
    pub fn label(&self, wanted: &str, label: &str) -> Result<TabInfo, Error> {
        let _ = (wanted, label);
        later()
    }

    /// Closes a tab; dialogs that it shows are dismissed first.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab), [`Error::Page`].
    pub fn close_tab(&self, wanted: &str, deadline: Deadline) -> Result<TabInfo, Error> {
        let _ = (wanted, deadline);
        later()
    }

    /// Sends a tab to an address. Starts the browser when it does not run.
    ///
    /// # Errors
    /// Those of [`start`](Self::start) and [`tab`](Self::tab), [`Error::NavigationBlocked`], [`Error::Page`].
    pub fn navigate(&self, to: Navigate, deadline: Deadline) -> Result<Navigated, Error> {
        let _ = (to, deadline);
        later()
    }

    /// Sends a raw CDP command. Secrets in its result are covered.
    ///
    /// # Errors
    /// [`Error::RawCdpDisabled`], [`Error::EvaluateDisabled`], [`Error::NavigationBlocked`], [`Error::BadRequest`],
    /// those of [`tab`](Self::tab), [`Error::Page`].
    pub fn raw(&self, call: RawCall, deadline: Deadline) -> Result<Value, Error> {
        let _ = (call, deadline);
        later()
    }

    /// The dialogs that wait and the last ones that closed, of a tab or of all. None when the browser does not run.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab).
    pub fn dialogs(&self, wanted: Option<&str>) -> Result<(Vec<Dialog>, Vec<ClosedDialog>), Error> {
        let _ = wanted;
        Ok((Vec::new(), Vec::new()))
    }

    /// Answers the dialog that is pending, or the next one.
    ///
    /// # Errors
    /// [`supervisor::Error::DialogNotFound`](crate::supervisor::Error::DialogNotFound) and
    /// [`SeveralDialogs`](crate::supervisor::Error::SeveralDialogs) within [`Error::Page`]; those of
    /// [`tab`](Self::tab).
    pub fn answer_dialog(&self, reply: DialogReply, deadline: Deadline) -> Result<DialogOutcome, Error> {
        let _ = (reply, deadline);
        later()
    }

    /// What happens in its browser: one log as long as this lives, whatever becomes of the browser.
    #[must_use]
    pub fn events(&self) -> &Arc<EventLog> {
        &self.events
    }
}
