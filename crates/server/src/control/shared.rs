//! State shared by all profiles of a home.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::ports::Ports;
use super::{Error, Files, Overrides};
use crate::config::{self, Config, Home, Subresources, Token};
use crate::secrets::SecretStore;
use cdpilot::browser::{self, Backend, Endpoint};
use cdpilot::supervisor::{NavigationPolicy, ProtectedPort, ProtectedPorts, Secrets, Supervisor};
use cdpilot::sync::Deadline;

/// State shared by all profiles of a home.
pub(super) struct Shared {
    pub(super) home: Home,
    pub(super) config: Config,
    pub(super) overrides: Overrides,
    pub(super) files: Files,
    pub(super) ports: Ports,
    /// The navigation policy.
    pub(super) navigation: NavigationPolicy,
    /// Ports blocked for pages; also part of `navigation`.
    pub(super) protected: ProtectedPorts,
    /// Ports that stay protected.
    always: Mutex<Vec<ProtectedPort>>,
    /// Supervisors to notify of further ports.
    supervisors: Mutex<Vec<Weak<Supervisor>>>,
    /// Values to mask in output: the token, URLs of browsers, stored secrets.
    pub(super) secrets: Secrets,
    pub(super) secret_store: SecretStore,
    /// No browser may be started.
    closing: AtomicBool,
}

impl Shared {
    pub(super) fn new(home: Home, config: Config, overrides: Overrides) -> Result<Self, Error> {
        let token = Token::read(&home)?.map(|token| token.reveal().to_owned());
        let files = Files::new(&home, &config.browser.upload_roots);
        let secret_store = SecretStore::of(&home, config.secrets.store);
        Self::with(home, config, overrides, files, token, secret_store)
    }

    /// The same with these files, this token and these secrets, without reading the home.
    pub(super) fn with(
        home: Home,
        config: Config,
        overrides: Overrides,
        files: Files,
        token: Option<String>,
        secret_store: SecretStore,
    ) -> Result<Self, Error> {
        let urls = [overrides.cdp_url.clone(), config.browser.cdp_url.clone()].into_iter().flatten();
        let urls = urls.chain(config.browser.profiles.values().filter_map(|profile| profile.cdp_url.clone()));
        let secrets = Secrets::new(token.into_iter().chain(urls)).including(secret_store.covers());
        let rules = &config.browser.navigation;
        let protected = ProtectedPorts::default();
        let navigation = navigation_policy(&home, &config)?;
        let navigation =
            navigation.protecting(protected.clone()).with_requests(rules.subresources == Subresources::Same);
        let always = known_ports(&config, &overrides).map(|port| protected.protect(port, BROWSER)).collect();
        let ports = Ports::new(&config);
        Ok(Self {
            home,
            config,
            overrides,
            files,
            ports,
            navigation,
            protected,
            always: Mutex::new(always),
            supervisors: Mutex::default(),
            secrets,
            secret_store,
            closing: AtomicBool::new(false),
        })
    }

    /// Protects a port as long as this lives.
    pub(super) fn protect_always(&self, port: u16, owner: &str) {
        self.always.lock().push(self.protected.protect(port, owner));
        self.ports_changed();
    }

    /// Notifies a supervisor of further protected ports, and applies those it may have missed.
    pub(super) fn keep_protected(&self, supervisor: &Arc<Supervisor>) {
        self.supervisors.lock().push(Arc::downgrade(supervisor));
        self.ports_changed();
    }

    fn ports_changed(&self) {
        let known: Vec<Arc<Supervisor>> = {
            let mut known = self.supervisors.lock();
            known.retain(|supervisor| supervisor.strong_count() > 0);
            known.iter().filter_map(Weak::upgrade).collect()
        };
        for supervisor in known {
            // Fails only for a supervisor that has ended.
            let _ = supervisor.ports_changed(Deadline::after(PORTS));
        }
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }
}

/// The navigation policy of the settings.
fn navigation_policy(home: &Home, config: &Config) -> Result<NavigationPolicy, Error> {
    let rules = &config.browser.navigation;
    let policy = NavigationPolicy::new(&rules.allow, &rules.block, rules.private_addresses, rules.file_urls);
    policy.map_err(|bad| wrong(home, "browser.navigation", bad.to_string()))
}

/// Checks settings that `config` cannot check, because it does not know browsers: all that keep the server or a browser from
/// starting.
pub(super) fn check(home: &Home, config: &Config) -> Result<(), Error> {
    navigation_policy(home, config)?;
    check_urls(home, config)?;
    for arg in &config.browser.extra_args {
        browser::check_argument(arg).map_err(|problem| wrong(home, "browser.extra_args", problem.to_string()))?;
    }
    Ok(())
}

/// Checks the URLs of browsers.
pub(super) fn check_urls(home: &Home, config: &Config) -> Result<(), Error> {
    let browser = &config.browser;
    let urls = [("browser.cdp_url".to_owned(), &browser.cdp_url)].into_iter();
    let own = browser.profiles.iter().map(|(name, own)| (format!("browser.profiles.{name}.cdp_url"), &own.cdp_url));
    for (at, url) in urls.chain(own) {
        if let Some(Err(problem)) = url.as_deref().map(Backend::parse) {
            return Err(wrong(home, &at, problem.to_string()));
        }
    }
    Ok(())
}

fn wrong(home: &Home, at: &str, problem: String) -> Error {
    Error::Config(config::Error::Wrong { path: home.config(), at: at.to_owned(), problem })
}

/// Owner of protected CDP ports in error messages.
pub(super) const BROWSER: &str = "the debugging interface of a browser of this program";
/// Time limit for notifying a supervisor of a port.
const PORTS: std::time::Duration = std::time::Duration::from_secs(2);

/// CDP ports in the settings.
fn known_ports(config: &Config, overrides: &Overrides) -> impl Iterator<Item = u16> {
    let browser = &config.browser;
    let urls =
        [&overrides.cdp_url, &browser.cdp_url].into_iter().chain(browser.profiles.values().map(|own| &own.cdp_url));
    let urls: Vec<u16> =
        urls.flatten().filter_map(|url| Endpoint::parse(url).ok()).map(|endpoint| endpoint.port()).collect();
    let own = browser.profiles.values().filter_map(|own| own.cdp_port);
    let attached = browser.attach_only.then_some(browser.cdp_port);
    let ports: Vec<u16> = own.chain(attached).chain(overrides.cdp_port).filter(|port| *port != 0).collect();
    urls.into_iter().chain(ports)
}

impl std::fmt::Debug for Shared {
    /// Shows only the home: settings contain secret URLs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("home", &self.home.root()).finish_non_exhaustive()
    }
}
