//! The tools of the home, for those who ask over MCP: one toolbox a profile, put together when it is first asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::config::Config;
use crate::control::{self, Control, Session, Sessions};
use crate::mcp::client::Servers;
use crate::mcp::server::{INSTRUCTIONS, Offer};
use crate::tools::sets::Problem;
use crate::tools::{Toolbox, ToolboxError, ToolboxOptions, enabled};

/// The front door that MCP is.
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

/// A toolbox, and the MCP servers that some of its tools come from.
#[derive(Debug)]
struct Kept {
    toolbox: Toolbox,
    _servers: Servers,
}

/// The toolboxes of a home.
#[derive(Debug)]
pub struct Toolboxes {
    control: Arc<Control>,
    /// By profile. The lock is held for a map operation.
    kept: Mutex<Option<BTreeMap<String, Arc<Kept>>>>,
    sessions: Sessions,
}

impl Toolboxes {
    /// Those that work with these browsers; none yet.
    pub(super) fn new(control: &Arc<Control>) -> Self {
        Self { control: Arc::clone(control), kept: Mutex::new(Some(BTreeMap::new())), sessions: Sessions::default() }
    }

    /// What is offered over MCP: with the browser of a profile, the default one without; of these toolsets and tools,
    /// without any of those that the settings say.
    ///
    /// # Errors
    /// [`OfferError`]. What is wrong with the toolsets of the settings is only logged.
    pub fn offer(&self, profile: Option<&str>, toolsets: &[String]) -> Result<Offer, OfferError> {
        self.offer_on(PLATFORM, profile, toolsets)
    }

    /// The same for another front door, whose tools the settings say.
    ///
    /// # Errors
    /// As [`offer`](Self::offer).
    pub fn offer_on(&self, platform: &str, profile: Option<&str>, toolsets: &[String]) -> Result<Offer, OfferError> {
        let kept = self.get(profile)?;
        let toolbox = &kept.toolbox;
        // As the settings are now: tools are turned on and off while the server runs. What cannot be read changes nothing.
        let enabled = match Config::of(self.control.home()) {
            Ok(config) => enabled(&config, toolbox.toolsets(), platform, toolsets),
            Err(_) => toolbox.enabled(platform, toolsets),
        };
        let offer = Offer::new(Arc::clone(toolbox.registry()), toolbox.toolsets().clone(), enabled, INSTRUCTIONS);
        // What the settings name is not to blame on whoever asks.
        match offer.problems().pop_first() {
            Some(problem) if !toolsets.is_empty() => Err(problem.into()),
            _ => Ok(offer),
        }
    }

    /// The session of a client by the id that it sends; the default session without one. `None` for what cannot be an id.
    #[must_use]
    pub fn session(&self, id: Option<&str>) -> Option<Session> {
        id.map_or_else(|| Some(Session::default()), |id| self.sessions.get(id))
    }

    /// Lets all of them go, and the processes of MCP servers with them. There are none any more.
    pub(super) fn close(&self) {
        let kept = self.kept.lock().take();
        drop(kept); // outside the lock: processes end with it
    }

    fn get(&self, profile: Option<&str>) -> Result<Arc<Kept>, OfferError> {
        let name = self.control.profile(profile)?.name().to_owned();
        match self.kept.lock().as_ref() {
            None => return Err(OfferError::Ending),
            Some(kept) => {
                if let Some(kept) = kept.get(&name) {
                    return Ok(Arc::clone(kept));
                }
            }
        }
        let options = ToolboxOptions { profile: Some(name.clone()), ..ToolboxOptions::default() };
        let toolbox = Toolbox::open(&self.control, &options)?;
        // Before what the settings name is looked at: they are toolsets too.
        let servers = Servers::attach(&toolbox);
        for problem in toolbox.enabled(PLATFORM, &[]).names(toolbox.toolsets()).1 {
            tracing::warn!(%problem, "the toolsets that the settings give to MCP are not right");
        }
        for problem in toolbox.enabled(PLATFORM, &[]).wrong_off(toolbox.toolsets()) {
            tracing::warn!(%problem, "what the settings turn off is not all off");
        }
        let made = Arc::new(Kept { toolbox, _servers: servers });
        let mut all = self.kept.lock();
        let Some(kept) = all.as_mut() else { return Err(OfferError::Ending) };
        // Somebody else may have been faster; ours is let go behind the lock then.
        let first = Arc::clone(kept.entry(name).or_insert_with(|| Arc::clone(&made)));
        drop(all);
        Ok(first)
    }
}
