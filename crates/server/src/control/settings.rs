//! The effective settings of one profile: overrides, then its own settings, then those of all profiles.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::profile_file::Stored;
use super::{Error, Overrides};
use crate::config::{self, AutoSwitch, Config, Home, Transport};
use cdpilot::browser::{self, Decision, Surroundings, Switch};

/// How a profile is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The built-in default profile.
    BuiltIn,
    /// In `config.yaml`.
    Config,
    /// Created on request.
    Stored,
    /// A browser at an endpoint that a client registered: not listed, not stored.
    Passing,
}

/// The settings of one profile.
#[derive(Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) name: String,
    pub(super) origin: Origin,
    pub(super) is_default: bool,
    pub(super) color: String,
    /// Configured CDP port; `None`: the next free one.
    pub(super) cdp_port: Option<u16>,
    /// Whether no other port may be used instead.
    pub(super) port_is_asked: bool,
    /// Whether the port is set for this profile, or by a flag.
    port_is_written: bool,
    /// Secret: gives control of the browser.
    pub(super) cdp_url: Option<String>,
    /// The setting with the URL, for messages.
    pub(super) cdp_url_from: String,
    pub(super) capabilities: Map<String, Value>,
    pub(super) headless: Switch,
    /// The setting of `headless`, for messages.
    headless_from: String,
    pub(super) no_sandbox: Switch,
    pub(super) executable: Option<PathBuf>,
    /// The setting with the executable, for messages.
    executable_from: &'static str,
    pub(super) user_data_dir: PathBuf,
    /// Whether the folder lies below the home and may be removed.
    pub(super) owns_data: bool,
    pub(super) transport: Transport,
}

impl Settings {
    pub(super) fn new(
        name: &str,
        origin: Origin,
        home: &Home,
        config: &Config,
        overrides: &Overrides,
        stored: Option<&Stored>,
    ) -> Self {
        let all = &config.browser;
        let is_default = name == overrides.profile.as_deref().unwrap_or(&all.default_profile);
        let own = all.profiles.get(name).cloned().unwrap_or_default();
        let own = stored.map_or(own, Stored::settings);
        let folder = own.user_data_dir.clone().map(|dir| home.root().join(dir));
        let port_is_flag = is_default && overrides.cdp_port.is_some();
        let port_is_written = own.cdp_port.is_some() || port_is_flag;
        let cdp_port = match (is_default, overrides.cdp_port) {
            (true, Some(port)) => Some(port),
            (true, None) => Some(own.cdp_port.unwrap_or(all.cdp_port)),
            (false, _) => own.cdp_port,
        };
        let key = |key: &str| match origin {
            Origin::Stored => format!("the {key} of profile {name}"),
            Origin::Passing => "the registered endpoint".to_owned(),
            _ => format!("browser.profiles.{name}.{key} in config.yaml"),
        };
        let (env_url, own_url) = (overrides.cdp_url.clone().filter(|_| is_default), own.cdp_url);
        let cdp_url_from = match (&env_url, &own_url) {
            (Some(_), _) => "CDPILOT_CDP_URL".to_owned(),
            (None, Some(_)) => key("cdp_url"),
            (None, None) => "browser.cdp_url in config.yaml".to_owned(),
        };
        let executable_from = match (&overrides.executable, &own.executable_path) {
            (Some(_), _) => "from CDPILOT_BROWSER",
            (None, Some(_)) => "executable_path of the profile",
            (None, None) => "browser.executable_path in config.yaml",
        };
        let headless_from = match (overrides.headless, own.headless) {
            (Some(_), _) => "--headless or CDPILOT_HEADLESS".to_owned(),
            (None, Some(_)) => key("headless"),
            (None, None) => "browser.headless in config.yaml".to_owned(),
        };
        let own_url = own_url.or_else(|| all.cdp_url.clone().filter(|_| is_default));
        Self {
            name: name.to_owned(),
            origin,
            is_default,
            color: own.color.unwrap_or_else(|| all.color.clone()),
            cdp_port,
            port_is_written,
            port_is_asked: is_default && overrides.cdp_port.is_some_and(|port| port != 0),
            cdp_url: env_url.or(own_url),
            cdp_url_from,
            capabilities: own.capabilities,
            headless: headless(overrides.headless, own.headless.unwrap_or(all.headless)),
            headless_from,
            no_sandbox: switch(all.no_sandbox),
            executable_from,
            executable: overrides.executable.clone().or(own.executable_path).or_else(|| all.executable_path.clone()),
            owns_data: folder.is_none(),
            user_data_dir: folder.unwrap_or_else(|| home.profiles().join(name)),
            // A flag overrides the settings.
            transport: if port_is_flag { Transport::Port } else { all.transport },
        }
    }

    /// Whether its browser opens a port that other programs can attach to.
    pub(super) fn opens_port(&self) -> bool {
        match self.transport {
            Transport::Auto => self.port_is_written,
            Transport::Port => true,
            Transport::Pipe => false,
        }
    }

    /// Whether its browser has no window, and the reason.
    pub(super) fn headless(&self, around: &Surroundings, extra_args: &[String]) -> Decision {
        let mut decision = around.headless(self.headless, extra_args);
        if self.headless != Switch::Auto {
            decision.because = format!("set by {}", self.headless_from);
        }
        decision
    }

    /// Whether its browser has no sandbox, and the reason.
    pub(super) fn no_sandbox(&self, around: &Surroundings, extra_args: &[String]) -> Decision {
        let mut decision = around.no_sandbox(self.no_sandbox, extra_args);
        if self.no_sandbox != Switch::Auto {
            decision.because = format!("browser.no_sandbox is {} in config.yaml", decision.on);
        }
        decision
    }

    /// Names the setting with the executable in an error about it.
    pub(super) fn explain(&self, error: browser::Error) -> browser::Error {
        match error {
            browser::Error::Executable { path, origin: browser::find::GIVEN, problem } => {
                browser::Error::Executable { path, origin: self.executable_from, problem }
            }
            error => error,
        }
    }

    /// Whether it attaches to a browser instead of launching one.
    pub(super) fn is_remote(&self, attach_only: bool) -> bool {
        attach_only || self.cdp_url.is_some()
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("name", &self.name)
            .field("cdp_port", &self.cdp_port)
            .field("user_data_dir", &self.user_data_dir)
            .finish_non_exhaustive()
    }
}

/// Precedence: flags, environment, settings.
fn headless(flag: Option<AutoSwitch>, set: AutoSwitch) -> Switch {
    match flag {
        Some(flag) => switch(flag),
        // `Auto` makes the `browser` module read the environment.
        None if Surroundings::read().headless_env.is_some() => Switch::Auto,
        None => switch(set),
    }
}

pub(super) fn switch(set: AutoSwitch) -> Switch {
    match set {
        AutoSwitch::Auto => Switch::Auto,
        AutoSwitch::On => Switch::On,
        AutoSwitch::Off => Switch::Off,
    }
}

/// Rejects the profile folder of a user's own browser, its ancestors and descendants.
pub(super) fn check_folder(folder: &Path) -> Result<(), Error> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let wanted = real(folder);
    let people = browser::default_profiles();
    let taken = people.iter().find(|own| {
        let own = real(own);
        wanted.starts_with(&own) || own.starts_with(&wanted)
    });
    match taken {
        None => Ok(()),
        Some(own) => Err(Error::Conflict {
            problem: format!(
                "user_data_dir {} is not allowed: {} is the profile of a browser that you use yourself; omit user_data_dir, or choose a separate folder",
                folder.display(),
                own.display()
            ),
        }),
    }
}

/// An error for an invalid profile name in `config.yaml`.
pub(super) fn wrong_name(home: &Home, at: &str, name: &str) -> Error {
    let problem = format!("{name:?} is not a profile name; use at most 40 lower-case letters, digits and hyphens");
    Error::Config(config::Error::Wrong { path: home.config(), at: at.to_owned(), problem })
}
