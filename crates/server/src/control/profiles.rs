//! The profiles of a home: creating, listing, resetting and deleting them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::profile_file::{self, Stored};
use super::settings::{Origin, Settings, check_folder, wrong_name};
use super::shared::Shared;
use super::{Error, NewProfile, Profile, ProfileInfo, names};
use crate::config::{self, RESERVED_PORT};
use cdpilot::browser::Endpoint;
use cdpilot::sync::{Deadline, pause};

/// All profiles.
#[derive(Debug)]
pub(super) struct Profiles {
    shared: Arc<Shared>,
    default: String,
    known: Mutex<BTreeMap<String, Profile>>,
    /// Held while `profiles.json` is read, changed and written.
    writing: Mutex<()>,
}

impl Profiles {
    pub(super) fn open(shared: &Arc<Shared>) -> Result<Self, Error> {
        let browser = &shared.config.browser;
        if !names::is_profile(&browser.default_profile) {
            return Err(wrong_name(&shared.home, "browser.default_profile", &browser.default_profile));
        }
        if let Some(name) = browser.profiles.keys().find(|name| !names::is_profile(name)) {
            return Err(wrong_name(&shared.home, "browser.profiles", name));
        }
        super::shared::check_urls(&shared.home, &shared.config)?;
        let stored = profile_file::read(&shared.home)?;
        let mut known = BTreeMap::new();
        for (name, profile) in stored.iter().filter(|(name, _)| names::is_profile(name)) {
            known.insert(name.clone(), make(shared, name, Origin::Stored, Some(profile)));
        }
        let built_in = (browser.default_profile.as_str(), Origin::BuiltIn);
        let configured = browser.profiles.keys().map(|name| (name.as_str(), Origin::Config));
        for (name, origin) in std::iter::once(built_in).chain(configured) {
            known.insert(name.to_owned(), make(shared, name, origin, None));
        }
        let default = shared.overrides.profile.clone().unwrap_or_else(|| browser.default_profile.clone());
        let profiles = Self {
            shared: Arc::clone(shared),
            default: default.clone(),
            known: Mutex::new(known),
            writing: Mutex::new(()),
        };
        profiles.get(Some(&default))?;
        Ok(profiles)
    }

    /// The built-in profile alone, without reading the home.
    pub(super) fn built_in(shared: &Arc<Shared>) -> Self {
        let default = shared.config.browser.default_profile.clone();
        let profile = make(shared, &default, Origin::BuiltIn, None);
        let known = Mutex::new(BTreeMap::from([(default.clone(), profile)]));
        Self { shared: Arc::clone(shared), default, known, writing: Mutex::new(()) }
    }

    pub(super) fn get(&self, name: Option<&str>) -> Result<Profile, Error> {
        let name = name.unwrap_or(&self.default);
        let known = self.known.lock();
        if let Some(profile) = known.get(name) {
            return Ok(profile.clone());
        }
        let shown = known.iter().filter(|(_, profile)| profile.settings().origin != Origin::Passing);
        let known: Vec<&str> = shown.map(|(name, _)| name.as_str()).collect();
        let nearest = config::nearest(name, known.iter().copied()).map(str::to_owned);
        Err(Error::NoProfile { name: name.chars().take(80).collect(), nearest, known: known.join(", ") })
    }

    pub(super) fn all(&self) -> Vec<Profile> {
        self.known.lock().values().cloned().collect()
    }

    /// The profile of an endpoint, made on first use. No list shows it, nothing stores it.
    pub(super) fn passing(&self, url: &str) -> Result<Profile, Error> {
        let plain = url.strip_prefix("webdriver+").unwrap_or(url);
        Endpoint::parse(plain).map_err(|error| Error::BadRequest { problem: format!("endpoint: {error}") })?;
        // The same after a restart: conversations refer to it.
        let name = format!("endpoint-{:016x}", fnv(url));
        let mut known = self.known.lock();
        if let Some(profile) = known.get(&name) {
            return Ok(profile.clone());
        }
        let stored = Stored { cdp_url: Some(url.to_owned()), ..Stored::default() };
        let profile = make(&self.shared, &name, Origin::Passing, Some(&stored));
        known.insert(name, profile.clone());
        Ok(profile)
    }

    /// Detaches from the browser of an endpoint, and forgets its profile.
    pub(super) fn forget_passing(&self, name: &str, deadline: Deadline<'_>) {
        let found = self.known.lock().get(name).filter(|one| one.settings().origin == Origin::Passing).cloned();
        let Some(profile) = found else { return };
        if let Err(problem) = profile.stop(deadline) {
            tracing::warn!(%problem, "cannot detach from a registered browser");
        }
        self.known.lock().remove(name);
        profile.end_events();
    }

    pub(super) fn infos(&self) -> Vec<ProfileInfo> {
        let shown = |profile: &Profile| profile.settings().origin != Origin::Passing;
        let mut infos: Vec<ProfileInfo> =
            self.all().iter().filter(|profile| shown(profile)).map(|profile| profile.info()).collect();
        infos.sort_by_key(|info| !info.is_default);
        infos
    }

    pub(super) fn create(&self, new: NewProfile) -> Result<ProfileInfo, Error> {
        names::profile(&new.name)?;
        if let Some(color) = &new.color {
            names::color(color)?;
        }
        if new.cdp_port == Some(RESERVED_PORT) {
            let problem = format!("port {RESERVED_PORT} is reserved for manual debugging; choose another cdpPort");
            return Err(Error::BadRequest { problem });
        }
        if let Some(url) = &new.cdp_url {
            check_url(url)?;
        }
        let NewProfile { name, color, cdp_port, cdp_url, headless } = new;
        let stored = Stored { color, cdp_port, cdp_url, headless };
        let _turn = self.writing.lock();
        let profile = {
            let mut known = self.known.lock();
            if known.contains_key(&name) {
                let problem = format!("profile {name} exists already; choose another name, or delete it first");
                return Err(Error::Conflict { problem });
            }
            let profile = make(&self.shared, &name, Origin::Stored, Some(&stored));
            known.insert(name.clone(), profile.clone());
            profile
        };
        let written = profile_file::read(&self.shared.home).and_then(|mut all| {
            all.insert(name.clone(), stored);
            profile_file::write(&self.shared.home, &all)
        });
        if let Err(error) = written {
            self.known.lock().remove(&name);
            return Err(error);
        }
        Ok(profile.info())
    }

    pub(super) fn delete(&self, name: &str, deadline: Deadline<'_>) -> Result<ProfileInfo, Error> {
        let profile = self.get(Some(name))?;
        let refuse = |problem: String| Err(Error::Conflict { problem });
        if name == self.default || name == self.shared.config.browser.default_profile {
            return refuse(format!("{name} is the default profile and cannot be deleted; reset it instead"));
        }
        if profile.settings().origin == Origin::Config {
            return refuse(format!("profile {name} is defined in config.yaml; remove it there"));
        }
        profile_file::read(&self.shared.home)?; // fails before any data is removed
        profile.retire(deadline)?;
        let removed = (|| {
            if profile.settings().owns_data {
                remove(&profile.settings().user_data_dir, deadline)?;
            }
            let _turn = self.writing.lock();
            let mut all = profile_file::read(&self.shared.home)?;
            all.remove(name);
            profile_file::write(&self.shared.home, &all)
        })();
        removed.inspect_err(|_| profile.resume())?;
        self.known.lock().remove(name);
        profile.end_events();
        Ok(profile.info())
    }

    pub(super) fn reset(&self, name: &str, deadline: Deadline<'_>) -> Result<ProfileInfo, Error> {
        let profile = self.get(Some(name))?;
        let settings = profile.settings();
        let problem = if settings.is_remote(self.shared.config.browser.attach_only) {
            format!("profile {name} attaches to a remote browser; its data cannot be deleted from here")
        } else if !settings.owns_data {
            let folder = settings.user_data_dir.display();
            format!("the data of profile {name} is in {folder}, outside of the home; delete it manually")
        } else {
            // Prevents starts while the folder is being removed.
            profile.retire(deadline)?;
            let removed = remove(&settings.user_data_dir, deadline);
            profile.resume();
            return removed.map(|()| profile.info());
        };
        Err(Error::Conflict { problem })
    }

    /// Stops all browsers in parallel.
    pub(super) fn stop(&self, deadline: Deadline<'_>) {
        let deadline = deadline.uncancelled();
        self.shared.close();
        let threads: Vec<_> = self
            .all()
            .into_iter()
            .filter(|profile| profile.is_up())
            .filter_map(|profile| {
                let again = profile.clone();
                let stopping = cdpilot::sync::spawn(format!("ctl-stop-{}", profile.name()), move || {
                    drop(again.stop(deadline));
                });
                // If no thread can be started, stop it on this one.
                stopping.map_err(|_| drop(profile.stop(deadline))).ok()
            })
            .collect();
        drop(threads);
        self.shared.files.sweep_uploads(Duration::ZERO);
        self.all().iter().for_each(|profile| profile.end_events());
    }
}

fn make(shared: &Arc<Shared>, name: &str, origin: Origin, stored: Option<&Stored>) -> Profile {
    let settings = Settings::new(name, origin, &shared.home, &shared.config, &shared.overrides, stored);
    Profile::new(Arc::clone(shared), settings)
}

/// FNV-1a, 64 bits.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Checks the URL of a browser. Errors do not contain it, as it may hold a secret.
fn check_url(url: &str) -> Result<(), Error> {
    let plain = url.strip_prefix("webdriver+").unwrap_or(url);
    Endpoint::parse(plain).map(|_| ()).map_err(|error| Error::BadRequest { problem: format!("cdpUrl: {error}") })
}

/// Removes a profile's folder. Retries, since a browser that has just ended may still write to it.
fn remove(folder: &Path, deadline: Deadline<'_>) -> Result<(), Error> {
    check_folder(folder)?;
    loop {
        match std::fs::remove_dir_all(folder) {
            Ok(()) => return Ok(()),
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(problem) if deadline.passed() => {
                let problem = format!("cannot delete {}: {problem}; delete it manually", folder.display());
                return Err(Error::Conflict { problem });
            }
            Err(_) => pause(Duration::from_millis(20)),
        }
    }
}
