//! What all profiles of a home have in common.

use std::sync::atomic::{AtomicBool, Ordering};

use super::ports::Ports;
use super::{Error, Files, Overrides};
use crate::config::{self, Config, Home, Token};
use crate::supervisor::{NavigationPolicy, Secrets};

/// What all profiles of a home have in common.
pub(super) struct Shared {
    pub(super) home: Home,
    pub(super) config: Config,
    pub(super) overrides: Overrides,
    pub(super) files: Files,
    pub(super) ports: Ports,
    /// Where pages may go.
    pub(super) navigation: NavigationPolicy,
    /// What must not be shown: the token, addresses of browsers.
    pub(super) secrets: Secrets,
    /// Nothing is started any more.
    closing: AtomicBool,
}

impl Shared {
    pub(super) fn new(home: Home, config: Config, overrides: Overrides) -> Result<Self, Error> {
        let token = Token::read(&home)?.map(|token| token.reveal().to_owned());
        let urls = [overrides.cdp_url.clone(), config.browser.cdp_url.clone()].into_iter().flatten();
        let urls = urls.chain(config.browser.profiles.values().filter_map(|profile| profile.cdp_url.clone()));
        let secrets = Secrets::new(token.into_iter().chain(urls));
        let rules = &config.browser.navigation;
        let navigation = NavigationPolicy::new(&rules.allow, &rules.block, rules.private_addresses, rules.file_urls);
        let navigation = navigation.map_err(|bad| config::Error::Wrong {
            path: home.config(),
            at: "browser.navigation".to_owned(),
            problem: bad.to_string(),
        })?;
        let ports = Ports::new(&config);
        let files = Files::new(&home, &config.browser.upload_roots);
        Ok(Self { home, config, overrides, files, ports, navigation, secrets, closing: AtomicBool::new(false) })
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }
}

impl std::fmt::Debug for Shared {
    /// The home alone: settings hold addresses that are secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("home", &self.home.root()).finish_non_exhaustive()
    }
}
