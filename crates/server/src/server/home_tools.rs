//! The tools offered over MCP: one toolbox for all profiles and sessions of the home.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde_json::Value;

use crate::config::Config;
use crate::control::{self, Control};
use crate::llm::{self, Models};
use crate::mcp::client::Servers;
use crate::mcp::server::ToolServer;
use crate::store::Store;
use crate::tools::toolsets::{Problem, setting_problems};
use crate::tools::{Toolbox, ToolboxError, ToolboxOptions, enabled, secrets_of_models, secrets_with};
use cdpilot::redact::{ChangingSecrets, Secrets};

/// Name of the MCP entry point in the settings.
const PLATFORM: &str = "mcp";

/// Why no tools are offered.
#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    /// The profile does not exist.
    #[error(transparent)]
    Control(#[from] control::Error),
    /// The toolbox cannot be opened.
    #[error(transparent)]
    Toolbox(#[from] ToolboxError),
    /// A requested toolset does not exist.
    #[error(transparent)]
    Toolset(#[from] Problem),
    /// The server is stopping.
    #[error("the server is stopping; try again when it is running again")]
    Ending,
}

/// The toolbox and the MCP servers that provide some of its tools.
#[derive(Debug)]
struct Opened {
    toolbox: Toolbox,
    _servers: Servers,
}

#[derive(Debug, Default)]
enum State {
    /// No tools were requested yet.
    #[default]
    Unused,
    Open(Arc<Opened>),
    Closed,
}

/// The tools of a home for all profiles and sessions, opened on first request.
#[derive(Debug)]
pub struct HomeTools {
    control: Arc<Control>,
    /// Locked only to copy a handle.
    state: Mutex<State>,
    /// The secrets of the models, which are redacted.
    of_models: ChangingSecrets,
    /// Held while the models are read, changed and written, so that of two requests the second sees the result of the first.
    /// No other operation waits for it.
    writes: Mutex<()>,
    store: OnceLock<Store>,
}

impl HomeTools {
    /// Tools for these browsers. Nothing is started yet.
    pub(super) fn new(control: &Arc<Control>) -> Self {
        let (state, of_models, writes) = (Mutex::default(), ChangingSecrets::default(), Mutex::default());
        let tools = Self { control: Arc::clone(control), state, of_models, writes, store: OnceLock::new() };
        tools.models_changed();
        tools
    }

    /// Gives the tools the database of the home.
    pub(super) fn set_store(&self, store: &Store) {
        let _ = self.store.set(store.clone());
        if let State::Open(opened) = &*self.state.lock() {
            opened.toolbox.set_store(store.clone());
        }
    }

    /// The secrets to redact in texts of pages and in results of tools. They follow the settings of the models.
    pub(super) fn secrets(&self) -> Secrets {
        secrets_with(&self.control, &self.of_models)
    }

    /// Replaces the models of the home; see [`Models::replaced`]. The tools use the new ones from the next call on.
    ///
    /// # Errors
    /// Those of [`Models::replaced`] and [`Models::save`].
    pub(super) fn replace_models(&self, new: Value) -> Result<Models, llm::Error> {
        let home = self.control.home();
        let writing = self.writes.lock();
        let models = Models::of(home).unwrap_or_default().replaced(new)?;
        models.save(home)?;
        drop(writing);
        self.models_changed();
        Ok(models)
    }

    /// Applies the settings of the models.
    fn models_changed(&self) {
        let opened = match &*self.state.lock() {
            State::Open(opened) => Some(Arc::clone(opened)),
            State::Unused | State::Closed => None,
        };
        match opened {
            Some(opened) => log_failure(opened.toolbox.apply_models()),
            None => {
                let models = Models::of(self.control.home()).unwrap_or_default();
                self.of_models.replace(secrets_of_models(&models));
            }
        }
    }

    /// The tools offered over MCP for a profile (default: the default profile), limited to these toolsets and tools
    /// (default: the configured ones).
    ///
    /// # Errors
    /// [`OfferError`]. Errors in the configured toolsets are only logged.
    pub fn offer(&self, profile: Option<&str>, toolsets: &[String]) -> Result<ToolServer, OfferError> {
        self.offer_on(PLATFORM, profile, toolsets)
    }

    /// Like [`offer`](Self::offer), with the tools configured for another entry point.
    ///
    /// # Errors
    /// Those of [`offer`](Self::offer).
    pub fn offer_on(
        &self,
        platform: &str,
        profile: Option<&str>,
        toolsets: &[String],
    ) -> Result<ToolServer, OfferError> {
        let profile = self.control.profile(profile)?.name().to_owned();
        let opened = self.open()?;
        let toolbox = &opened.toolbox;
        // Reads the settings again: tools can be enabled and disabled while the server runs. An invalid file is ignored.
        let enabled = match Config::of(self.control.home()) {
            Ok(config) => enabled(&config, toolbox.toolsets(), platform, toolsets),
            Err(_) => toolbox.enabled(platform, toolsets),
        };
        let (registry, known) = (Arc::clone(toolbox.registry()), toolbox.toolsets().clone());
        let scope = toolbox.scope().with_profile(Some(&profile));
        let offer = ToolServer::new(registry, known, enabled, scope);
        // Errors in the settings are not reported to the caller.
        match offer.problems().pop_first() {
            Some(problem) if !toolsets.is_empty() => Err(problem.into()),
            _ => Ok(offer),
        }
    }

    /// The toolbox, opened on first request.
    ///
    /// # Errors
    /// [`OfferError`].
    pub(super) fn toolbox(&self) -> Result<Toolbox, OfferError> {
        Ok(self.open()?.toolbox.clone())
    }

    /// Drops the tools and the processes of MCP servers. No tools are offered afterwards.
    pub(super) fn close(&self) {
        let state = std::mem::replace(&mut *self.state.lock(), State::Closed);
        drop(state); // outside of the lock: processes end with it
    }

    /// Problems with the names of tools and toolsets in these settings.
    pub(super) fn setting_problems(&self, config: &Config) -> Vec<String> {
        let opened = self.open();
        opened.map(|opened| setting_problems(config, opened.toolbox.registry())).unwrap_or_default()
    }

    /// The tools with the current settings of the models.
    fn open(&self) -> Result<Arc<Opened>, OfferError> {
        let opened = self.opened()?;
        // The file may have been edited.
        log_failure(opened.toolbox.refresh_models());
        Ok(opened)
    }

    fn opened(&self) -> Result<Arc<Opened>, OfferError> {
        match &*self.state.lock() {
            State::Closed => return Err(OfferError::Ending),
            State::Open(opened) => return Ok(Arc::clone(opened)),
            State::Unused => {}
        }
        let toolbox = Toolbox::open_with(&self.control, &ToolboxOptions::default(), &self.of_models)?;
        if let Some(store) = self.store.get() {
            toolbox.set_store(store.clone());
        }
        // First, because the settings may name their toolsets.
        let servers = Servers::attach(&toolbox);
        if let Err(problem) = Models::of(self.control.home()) {
            tracing::warn!("tools that need a model are off: {problem}");
        }
        for problem in toolbox.enabled(PLATFORM, &[]).names(toolbox.toolsets()).1 {
            tracing::warn!(%problem, "config.yaml names a wrong toolset for MCP");
        }
        for problem in toolbox.enabled(PLATFORM, &[]).wrong_off(toolbox.toolsets()) {
            tracing::warn!(%problem, "config.yaml disables a tool that does not exist");
        }
        let made = Arc::new(Opened { toolbox, _servers: servers });
        let mut state = self.state.lock();
        // Another caller may have been faster; then this toolbox is dropped outside of the lock.
        let current = match &*state {
            State::Closed => return Err(OfferError::Ending),
            State::Open(opened) => Arc::clone(opened),
            State::Unused => {
                *state = State::Open(Arc::clone(&made));
                Arc::clone(&made)
            }
        };
        drop(state);
        Ok(current)
    }
}

fn log_failure(applied: Result<(), ToolboxError>) {
    if let Err(problem) = applied {
        tracing::warn!(%problem, "the settings of the models were not applied to the tools");
    }
}
