//! The browsers of a home: profiles, their life, their tabs, where they may go, and the files around them.
//!
//! What the front doors share: they parse and print, this room decides. A [`Profile`] that runs has one
//! supervisor, and everything goes through that. All methods may be called from any thread; what waits has a
//! deadline.
//!
//! | file | what it holds |
//! |---|---|
//! | `types` | what is asked and answered |
//! | `error` | what can go wrong, with the codes of answers |
//! | `shared` | what all profiles of a home have in common |
//! | `names`, `settings`, `profile_file` | names of profiles, the settings of one, profiles created on request |
//! | `profiles` | making, listing, resetting and removing them |
//! | `lifecycle`, `breaker` | starting and stopping a profile's browser, and pausing when it does not start |
//! | `launch`, `decorate`, `ports` | what a browser is started with, its name and colour, its port |
//! | `port_holder` | which process listens on a port |
//! | `status` | what is told of a profile |
//! | `tab_index`, `tabs`, `open` | tab ids, labels and owners; finding, opening, closing tabs |
//! | `session`, `sessions` | a session: a client with its own current tab, tabs and state; all sessions by name |
//! | `navigate`, `address` | navigations; addresses without a scheme |
//! | `raw` | raw CDP commands |
//! | `dialogs` | dialogs, and answers to those to come |
//! | `events` | the name of a profile's event log; the end of its browsers |
//! | `files` | pictures, downloads, uploads, traces |
//! | `sweep` | idle tabs and old files |
//! | `doctor`, `checks`, `trial` | whether it all works on this machine |

mod address;
mod breaker;
mod checks;
mod decorate;
mod dialogs;
mod doctor;
mod error;
mod events;
mod files;
mod launch;
mod lifecycle;
mod names;
mod navigate;
mod open;
mod port_holder;
mod ports;
mod profile_file;
mod profiles;
mod raw;
mod raw_methods;
mod session;
mod sessions;
mod settings;
mod shared;
mod status;
mod sweep;
mod tab_index;
mod tabs;
mod trial;
mod types;

use std::sync::Arc;
use std::time::Duration;

pub use address::with_scheme;
pub use doctor::doctor_of;
pub use error::Error;
pub use files::{FileKind, Files, media_type};
pub use lifecycle::{Profile, Running};
pub use port_holder::{PortHolder, port_holder, port_in_use};
pub use raw_methods::{RawLevel, raw_methods};
pub use session::{PerSession, Session};
pub use sessions::{SessionInfo, Sessions};
pub use types::{
    ArmedDialog, Check, CheckStatus, DialogOutcome, DialogReply, Fixed, Navigate, Navigated, NewProfile, NewTab,
    Overrides, ProfileInfo, RawCall, StartWith, Status, TabHandle, TabInfo, Travel,
};

pub use crate::page::WaitUntil;

use crate::config::{Config, Home};
use crate::redact::Secrets;
use crate::sync::Deadline;
use profiles::Profiles;
use shared::Shared;
use sweep::Sweeper;

/// Copies of files to upload that are older when the server starts were left by one before.
const LEFT: Duration = Duration::from_secs(60);

/// The browsers of a home. Dropping it stops them.
#[derive(Debug)]
pub struct Control {
    shared: Arc<Shared>,
    profiles: Arc<Profiles>,
    sessions: Sessions,
    _sweeper: Sweeper,
}

impl Control {
    /// The browsers of a home. Nothing is started yet.
    ///
    /// # Errors
    /// [`Error::Config`] when folders cannot be made or names in the settings are wrong, [`Error::NoProfile`]
    /// when the default profile was named and there is none of that name.
    pub fn open(home: Home, config: Config, overrides: Overrides) -> Result<Self, Error> {
        home.prepare()?;
        let shared = Arc::new(Shared::new(home, config, overrides)?);
        let profiles = Arc::new(Profiles::open(&shared)?);
        // Younger ones may be for the command that starts this server.
        shared.files.sweep_uploads(LEFT);
        let sweeper = Sweeper::start(Arc::clone(&shared), &profiles)?;
        Ok(Self { shared, profiles, sessions: Sessions::default(), _sweeper: sweeper })
    }

    /// The home.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.shared.home
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// What must not be shown: the token, addresses of browsers.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.shared.secrets
    }

    /// The files around the browsers.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.shared.files
    }

    /// Keeps pages of all profiles, now and in future, from reaching a port: as documents, requests and WebSockets, by any
    /// name or address of its host. `owner` says in refusals what the port belongs to. Debugging ports of the profiles'
    /// browsers are protected without being named.
    pub fn protect_port(&self, port: u16, owner: &str) {
        self.shared.protect_always(port, owner);
    }

    /// A profile by its name, the default one without.
    ///
    /// # Errors
    /// [`Error::NoProfile`].
    pub fn profile(&self, name: Option<&str>) -> Result<Profile, Error> {
        self.profiles.get(name)
    }

    /// All profiles, the default one first.
    #[must_use]
    pub fn profiles(&self) -> Vec<ProfileInfo> {
        self.profiles.infos()
    }

    /// Makes a profile; it is kept in the home's `profiles.json`.
    ///
    /// # Errors
    /// [`Error::BadRequest`] when name, colour, port or address are wrong, [`Error::Conflict`] when there is one of
    /// that name, [`Error::Config`] when it cannot be written down.
    pub fn create_profile(&self, new: NewProfile) -> Result<ProfileInfo, Error> {
        self.profiles.create(new)
    }

    /// Stops a profile's browser and removes the profile with its data.
    ///
    /// # Errors
    /// [`Error::NoProfile`]; [`Error::Conflict`] for the default profile and those of `config.yaml`, and when its data
    /// cannot be removed.
    pub fn delete_profile(&self, name: &str, deadline: Deadline) -> Result<ProfileInfo, Error> {
        self.profiles.delete(name, deadline)
    }

    /// Stops a profile's browser and removes its data: the next start is its first.
    ///
    /// # Errors
    /// [`Error::NoProfile`]; [`Error::Conflict`] when its data is not ours to remove, or cannot be removed.
    pub fn reset_profile(&self, name: &str, deadline: Deadline) -> Result<ProfileInfo, Error> {
        self.profiles.reset(name, deadline)
    }

    /// Checks whether it all works on this machine: home, settings, token, disk, browser, profile, ports, display, sandbox,
    /// server. Where no browser runs, one is started with a temporary profile, at most once a minute, and closed again.
    /// [`doctor_of`] makes the same checks without a server.
    #[must_use]
    pub fn doctor(&self, deadline: Deadline) -> Vec<Check> {
        doctor::doctor(&self.shared, &self.profiles, deadline)
    }

    /// Puts right what can be put right without a risk: permissions of files, and what processes that were killed have
    /// left (browsers that hang, locks, incomplete downloads).
    pub fn fix(&self) -> Vec<Fixed> {
        doctor::fix(&self.shared, &self.profiles)
    }

    /// Tidies up as it is done of itself every minute, as if `ahead` had passed since now: closes tabs that were opened on
    /// request and not used for `browser.tabs.idle_minutes`, removes pictures older than 24 hours. Returns how many of
    /// each.
    pub fn sweep(&self, ahead: Duration, deadline: Deadline) -> (usize, usize) {
        (self.profiles.sweep(ahead, deadline), self.shared.files.sweep(ahead))
    }

    /// Stops all browsers; none starts any more.
    pub fn stop(&self, deadline: Deadline) {
        self.profiles.stop(deadline);
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop(Deadline::after_secs(5));
    }
}
