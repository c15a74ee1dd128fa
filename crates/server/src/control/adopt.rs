//! A browser that is running already, for programs without a home.

use std::path::Path;
use std::sync::Arc;

use super::files::Files;
use super::launch::{self, Facts};
use super::profiles::Profiles;
use super::shared::Shared;
use super::{Control, Error, Overrides, Sessions};
use crate::config::{self, Config, Home, RawCdp};
use crate::secrets::SecretStore;
use cdpilot::page::{PageOptions, TabNames};
use cdpilot::supervisor::Supervisor;

impl Control {
    /// The browser of a supervisor as the default profile, and no other one. No home is read or written: settings have their
    /// defaults, except that all raw commands are allowed; screenshots and PDFs are saved in `media`, which is created if
    /// missing; files are uploaded from any folder, relative to the current one; idle tabs and old files stay. When the
    /// browser has ended, no other one is started.
    ///
    /// # Errors
    /// [`Error::Config`] if the folder cannot be created, [`Error::Page`] if the folder of downloads cannot be.
    pub fn of_supervisor(supervisor: Arc<Supervisor>, options: PageOptions, media: &Path) -> Result<Self, Error> {
        let made = std::fs::create_dir_all(media).and_then(|()| std::path::absolute(media));
        let media = made.map_err(|problem| config::Error::File {
            doing: "make",
            path: media.to_owned(),
            problem: problem.to_string(),
        })?;
        let mut config = Config::default();
        config.browser.attach_only = true;
        config.browser.raw_cdp_enabled = RawCdp::All;
        let files = Files::without_home(&media);
        let shared =
            Arc::new(Shared::with(Home::at(media), config, Overrides::default(), files, None, SecretStore::default())?);
        let profiles = Arc::new(Profiles::built_in(&shared));
        let facts = supervisor.with_browser(|browser| {
            let facts = launch::facts(browser);
            if browser.is_ours() { facts } else { Facts { transport: "remote", ..facts } }
        });
        profiles.get(None)?.adopt(supervisor, options, facts.unwrap_or_default())?;
        Ok(Self { shared, profiles, sessions: Sessions::default(), _sweeper: None })
    }
}

impl super::Profile {
    fn adopt(&self, supervisor: Arc<Supervisor>, options: PageOptions, facts: Facts) -> Result<(), Error> {
        let index = Arc::clone(&self.core.tab_index);
        let names = TabNames::new(move |target, now| index.lock().tab_id(target, &now.pages));
        let mut options = options;
        options.tab_names = Some(names);
        self.run(super::Running::adopted(supervisor, options, facts)?);
        Ok(())
    }
}
