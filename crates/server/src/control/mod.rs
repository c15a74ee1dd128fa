//! The browsers of a home: profiles, their life cycle, tabs, sessions, navigation and files.
//!
//! Shared by all entry points, which only parse and print. A running [`Profile`] has one
//! supervisor, through which every operation goes. All methods may be called from any thread; methods that wait take a
//! deadline.
//!
//! | file | content |
//! |---|---|
//! | `types` | types of requests and results |
//! | `error` | errors and their codes |
//! | `shared` | state shared by all profiles of a home |
//! | `names`, `settings`, `profile_file` | validation of names; settings of a profile; the file of created profiles |
//! | `profiles` | creating, listing, resetting and deleting profiles |
//! | `lifecycle`, `breaker` | starting and stopping a browser; pausing after failed starts |
//! | `launch`, `decorate`, `ports` | launch options; name and colour of the window; CDP port |
//! | `port_holder` | which process listens on a port |
//! | `adopt` | a browser that is running already, without a home |
//! | `status` | status of a profile |
//! | `tab_index`, `tabs`, `open` | tab ids, labels and owners; finding, opening, closing tabs |
//! | `session`, `sessions` | a session: a client with its own current tab, tabs and state; all sessions by name |
//! | `egress` | hosts that a session may reach, and the proxy that holds it to them |
//! | `navigate`, `address` | navigation; URLs without a scheme |
//! | `raw` | raw CDP commands |
//! | `dialogs` | dialogs and armed answers |
//! | `events` | name of an event log; cleanup after the end of a browser |
//! | `files` | screenshots, downloads, uploads, traces |
//! | `sweep` | closing idle tabs and deleting old files |
//! | `doctor`, `checks`, `trial` | checks of the machine and the home |

mod actions;
mod address;
mod adopt;
mod breaker;
mod checks;
mod decorate;
mod dialogs;
mod doctor;
mod egress;
mod error;
mod events;
mod files;
mod handover;
mod health;
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

pub use actions::{ActionDone, ActionElement};
pub use address::with_scheme;
pub use doctor::doctor_of;
pub use egress::{HostAccess, Hosts, RefusedHost};
pub use error::Error;
pub use files::{FileKind, Files, media_type};
pub use handover::Handover;
pub use health::TabHealth;
pub use lifecycle::{Profile, Running};
pub use port_holder::{PortHolder, port_holder, port_in_use};
pub use raw_methods::{RawLevel, Refusal, raw_methods};
pub use session::{PerSession, Session, WatchRequests};
pub use sessions::{SessionInfo, Sessions};
pub use types::{
    ArmedDialog, Check, CheckStatus, ClosedTab, DialogOutcome, DialogReply, Fixed, LabelledTab, Navigate, Navigated,
    NewProfile, NewTab, Overrides, ProfileInfo, RawCall, StartWith, Status, TabHandle, TabInfo, Travel,
};

pub use cdpilot::page::WaitUntil;

use crate::config::{Config, Home};
use crate::secrets::SecretStore;
use cdpilot::redact::Secrets;
use cdpilot::sync::Deadline;
use profiles::Profiles;
use shared::Shared;
use sweep::Sweeper;

/// Age from which copies of files to upload are deleted when the server starts.
const LEFT: Duration = Duration::from_secs(60);

/// The browsers of a home. Dropping it stops them.
#[derive(Debug)]
pub struct Control {
    shared: Arc<Shared>,
    profiles: Arc<Profiles>,
    sessions: Sessions,
    /// None without a home.
    _sweeper: Option<Sweeper>,
}

impl Control {
    /// The browsers of a home. Nothing is started yet.
    ///
    /// # Errors
    /// [`Error::Config`] if folders cannot be created or the settings contain invalid names, [`Error::NoProfile`] if
    /// the default profile does not exist.
    pub fn open(home: Home, config: Config, overrides: Overrides) -> Result<Self, Error> {
        home.prepare()?;
        let shared = Arc::new(Shared::new(home, config, overrides)?);
        let profiles = Arc::new(Profiles::open(&shared)?);
        // Newer copies may belong to the command that starts this server.
        shared.files.sweep_uploads(LEFT);
        let sweeper = Sweeper::start(Arc::clone(&shared), &profiles)?;
        let sessions = Sessions::of_home(&shared.home);
        Ok(Self { shared, profiles, sessions, _sweeper: Some(sweeper) })
    }

    /// The home folder whose browsers these are.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.shared.home
    }

    /// The settings that were read at the start; changes of `config.yaml` need a restart.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// Values to mask in output: the token, URLs of browsers, stored secrets.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.shared.secrets
    }

    /// The secrets that conversations may type.
    #[must_use]
    pub fn secret_store(&self) -> &SecretStore {
        &self.shared.secret_store
    }

    /// Whether `browser.navigation` admits an address.
    ///
    /// # Errors
    /// [`Error::BadRequest`] with the reason why it does not, as part of a sentence.
    pub fn admits(&self, address: &str) -> Result<(), Error> {
        let checked = self.shared.navigation.check(address);
        checked.map(drop).map_err(|refused| Error::BadRequest { problem: refused.to_string() })
    }

    /// The hosts of a session ([`Session::with_hosts`]), by patterns as in `browser.navigation`.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for an invalid pattern.
    pub fn hosts(&self, patterns: &[String]) -> Result<Hosts, Error> {
        Hosts::new(patterns, &self.shared.navigation)
    }

    /// The files of the home.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.shared.files
    }

    /// Blocks all access of pages to a local port: navigations, requests and WebSockets, by any name or address of the
    /// host, in all profiles. Error messages name `owner` as the owner of the port. Debugging ports of the profiles'
    /// browsers are always blocked.
    pub fn protect_port(&self, port: u16, owner: &str) {
        self.shared.protect_always(port, owner);
    }

    /// A profile by its name. Default: the default profile.
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

    /// The profile of a browser at an endpoint, made on first use. It is in no list, and is not stored; nothing is attached
    /// yet.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for an invalid URL. The message does not contain it.
    pub fn endpoint_profile(&self, url: &str) -> Result<Profile, Error> {
        self.profiles.passing(url)
    }

    /// Detaches from the browser of an [endpoint](Self::endpoint_profile), and forgets its profile. Other profiles are left
    /// alone.
    pub fn forget_endpoint(&self, profile: &str, deadline: Deadline<'_>) {
        self.profiles.forget_passing(profile, deadline);
    }

    /// Creates a profile and stores it in the home's `profiles.json`.
    ///
    /// # Errors
    /// [`Error::BadRequest`] if name, colour, port or URL is invalid, [`Error::Conflict`] if the name is in use,
    /// [`Error::Config`] if it cannot be stored.
    pub fn create_profile(&self, new: NewProfile) -> Result<ProfileInfo, Error> {
        self.profiles.create(new)
    }

    /// Stops a profile's browser and deletes the profile with its data.
    ///
    /// # Errors
    /// [`Error::NoProfile`]; [`Error::Conflict`] for the default profile, for profiles in `config.yaml`, and if the
    /// data cannot be deleted.
    pub fn delete_profile(&self, name: &str, deadline: Deadline<'_>) -> Result<ProfileInfo, Error> {
        self.profiles.delete(name, deadline)
    }

    /// Stops a profile's browser and deletes its data.
    ///
    /// # Errors
    /// [`Error::NoProfile`]; [`Error::Conflict`] if the data lies outside of the home, or cannot be deleted.
    pub fn reset_profile(&self, name: &str, deadline: Deadline<'_>) -> Result<ProfileInfo, Error> {
        self.profiles.reset(name, deadline)
    }

    /// Checks home, settings, token, disk, browser, profile, ports, display, sandbox and server. If no browser is
    /// running, one is started with a temporary profile, at most once a minute, and closed again. [`doctor_of`] makes
    /// the same checks without a server.
    #[must_use]
    pub fn doctor(&self, deadline: Deadline<'_>) -> Vec<Check> {
        doctor::doctor(&self.shared, &self.profiles, deadline)
    }

    /// Makes repairs that are safe: restricts permissions of files, and cleans up after killed processes (hanging
    /// browsers, stale locks, incomplete downloads).
    pub fn fix(&self) -> Vec<Fixed> {
        doctor::fix(&self.shared, &self.profiles)
    }

    /// Runs the cleanup that also runs every minute, as if `ahead` had passed: closes tabs that clients opened and did
    /// not use for `browser.tabs.idle_minutes`, and deletes screenshots older than 24 hours. Returns how many of each.
    pub fn sweep(&self, ahead: Duration, deadline: Deadline<'_>) -> (usize, usize) {
        (self.profiles.sweep(ahead, deadline), self.shared.files.sweep(ahead))
    }

    /// Stops all browsers and prevents further starts.
    pub fn stop(&self, deadline: Deadline<'_>) {
        self.profiles.stop(deadline);
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop(Deadline::after_secs(5));
    }
}
