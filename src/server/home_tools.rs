//! The tools that the server offers over MCP: one toolbox for all profiles and sessions of the home.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::config::Config;
use crate::control::{self, Control};
use crate::mcp::client::Servers;
use crate::mcp::server::{INSTRUCTIONS, ToolServer};
use crate::tools::toolsets::Problem;
use crate::tools::{Toolbox, ToolboxError, ToolboxOptions, enabled};

/// The entry point that MCP is, by its name in the settings.
const PLATFORM: &str = "mcp";

/// Why no tools are offered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// There is no such profile.
    #[error(transparent)]
    Control(#[from] control::Error),
    /// The tools cannot be put together.
    #[error(transparent)]
    Toolbox(#[from] ToolboxError),
    /// What was asked for is no toolset.
    #[error(transparent)]
    Toolset(#[from] Problem),
    /// The server is about to end.
    #[error("the server is ending; ask again when it runs again")]
    Ending,
}

/// The toolbox, and the MCP servers that some of its tools come from.
#[derive(Debug)]
struct Opened {
    toolbox: Toolbox,
    _servers: Servers,
}

#[derive(Debug, Default)]
enum State {
    /// Nobody asked for tools yet.
    #[default]
    Unused,
    Open(Arc<Opened>),
    Closed,
}

/// The tools of a home for all profiles and sessions, put together when they are first requested.
#[derive(Debug)]
pub struct HomeTools {
    control: Arc<Control>,
    /// The lock is held for copying a handle.
    state: Mutex<State>,
}

impl HomeTools {
    /// Tools that work with these browsers. Nothing is started yet.
    pub(super) fn new(control: &Arc<Control>) -> Self {
        Self { control: Arc::clone(control), state: Mutex::default() }
    }

    /// The tools offered over MCP: for the browser of a profile (the default one without); of these toolsets and tools, or
    /// without any of those that the settings name.
    ///
    /// # Errors
    /// [`OfferError`]. Faults in the toolsets of the settings are only logged.
    pub fn offer(&self, profile: Option<&str>, toolsets: &[String]) -> Result<ToolServer, OfferError> {
        self.offer_on(PLATFORM, profile, toolsets)
    }

    /// The same for another entry point, whose tools the settings name.
    ///
    /// # Errors
    /// As [`offer`](Self::offer).
    pub fn offer_on(
        &self,
        platform: &str,
        profile: Option<&str>,
        toolsets: &[String],
    ) -> Result<ToolServer, OfferError> {
        let profile = self.control.profile(profile)?.name().to_owned();
        let opened = self.open()?;
        let toolbox = &opened.toolbox;
        // The settings of this moment: tools are enabled and disabled while the server runs. A file that cannot be read
        // changes nothing.
        let enabled = match Config::of(self.control.home()) {
            Ok(config) => enabled(&config, toolbox.toolsets(), platform, toolsets),
            Err(_) => toolbox.enabled(platform, toolsets),
        };
        let (registry, known) = (Arc::clone(toolbox.registry()), toolbox.toolsets().clone());
        let scope = toolbox.scope().with_profile(Some(&profile));
        let offer = ToolServer::new(registry, known, enabled, scope, INSTRUCTIONS);
        // The caller is not to blame for what the settings name.
        match offer.problems().pop_first() {
            Some(problem) if !toolsets.is_empty() => Err(problem.into()),
            _ => Ok(offer),
        }
    }

    /// Drops the tools, and the processes of MCP servers with them. No tools are offered from then on.
    pub(super) fn close(&self) {
        let state = std::mem::replace(&mut *self.state.lock(), State::Closed);
        drop(state); // outside of the lock: processes end with it
    }

    fn open(&self) -> Result<Arc<Opened>, OfferError> {
        match &*self.state.lock() {
            State::Closed => return Err(OfferError::Ending),
            State::Open(opened) => return Ok(Arc::clone(opened)),
            State::Unused => {}
        }
        let toolbox = Toolbox::open(&self.control, &ToolboxOptions::default())?;
        // First, since the settings may name their toolsets.
        let servers = Servers::attach(&toolbox);
        for problem in toolbox.enabled(PLATFORM, &[]).names(toolbox.toolsets()).1 {
            tracing::warn!(%problem, "config.yaml names a wrong toolset for MCP");
        }
        for problem in toolbox.enabled(PLATFORM, &[]).wrong_off(toolbox.toolsets()) {
            tracing::warn!(%problem, "config.yaml disables a tool that does not exist");
        }
        let made = Arc::new(Opened { toolbox, _servers: servers });
        let mut state = self.state.lock();
        // Another caller may have been faster; ours is dropped outside of the lock then.
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
