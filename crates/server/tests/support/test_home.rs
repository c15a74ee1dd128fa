//! A home for one test, and operations on it.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cdpilot::supervisor::{EventKind, View};
use cdpilot::sync::Deadline;
use cdpilot_server::config::{Config, Confirm, Home};
use cdpilot_server::control::{Control, NewTab, Overrides, Profile, TabInfo};
use tempfile::TempDir;

use super::browser_path;
use super::chrome::{options, soon, until};
use super::lease::Lease;
use super::site::Site;

/// A home in a temporary folder. Its browsers are stopped before the folder goes.
pub(crate) struct TestHome {
    // Field order: the browsers end before their folder goes.
    pub(crate) control: Arc<Control>,
    pub(crate) site: Site,
    folder: TempDir,
    lease: Option<Lease>,
}

impl Deref for TestHome {
    type Target = Control;

    fn deref(&self) -> &Control {
        &self.control
    }
}

/// Everything after `browser:` in `config.yaml`, with any free ports.
fn config(browser: &str) -> Config {
    let mut config = Config::parse(&format!("browser: {{{browser}}}"), Path::new("config.yaml")).unwrap();
    if !browser.contains("cdp_port:") {
        config.browser.cdp_port = 0;
    }
    config.server.port = 0;
    config.agent.confirm = Confirm::Always;
    config
}

pub(crate) fn overrides(executable: Option<PathBuf>) -> Overrides {
    {
        let mut options = Overrides::new().headless(true);
        options.executable = executable;
        options
    }
}

impl TestHome {
    /// One whose default profile attaches to a leased browser. `None` if there is no browser here and none is required.
    pub(crate) fn new(browser: &str) -> Option<Self> {
        let lease = Lease::take_empty()?;
        let mut overrides = overrides(None);
        overrides.headless = None;
        overrides.cdp_url = Some(lease.url().to_owned());
        let mut home = Self::without_browser(browser, overrides);
        home.lease = Some(lease);
        Some(home)
    }

    /// One whose browsers are launched: for what depends on how a browser is started and ended. `None` as with
    /// [`new`](Self::new).
    pub(crate) fn launching(browser: &str) -> Option<Self> {
        options(cdpilot::browser::TransportKind::Pipe)?;
        Some(Self::without_browser(browser, overrides(browser_path())))
    }

    /// One that starts none.
    pub(crate) fn without_browser(browser: &str, overrides: Overrides) -> Self {
        Self::with_config(config(browser), overrides)
    }

    /// As [`new`](Self::new), with another setting of confirmations than `always`.
    pub(crate) fn confirming(browser: &str, confirm: Confirm) -> Option<Self> {
        let lease = Lease::take_empty()?;
        let mut overrides = overrides(None);
        overrides.headless = None;
        overrides.cdp_url = Some(lease.url().to_owned());
        let mut config = config(browser);
        config.agent.confirm = confirm;
        let mut home = Self::with_config(config, overrides);
        home.lease = Some(lease);
        Some(home)
    }

    fn with_config(config: Config, overrides: Overrides) -> Self {
        let folder = tempfile::Builder::new().prefix("cdpilot-home-").tempdir().unwrap();
        let control = Control::open(Home::at(folder.path()), config, overrides).unwrap();
        Self { control: Arc::new(control), site: Site::start(), folder, lease: None }
    }

    /// The same home again, as after a new start of the server.
    pub(crate) fn again(self, browser: &str, overrides: Overrides) -> Self {
        let Self { control, site, folder, lease } = self;
        drop(control);
        let control = Control::open(Home::at(folder.path()), config(browser), overrides).unwrap();
        Self { control: Arc::new(control), site, folder, lease }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The default profile.
    pub(crate) fn main(&self) -> Profile {
        self.control.profile(None).unwrap()
    }

    /// The default profile, its browser running.
    pub(crate) fn started(&self) -> Profile {
        let profile = self.main();
        profile.start(None, soon()).unwrap();
        profile
    }

    /// A tab that shows a page of the site.
    pub(crate) fn open(&self, path: &str) -> TabInfo {
        let url = self.site.url("a", path);
        self.main().open_tab(NewTab::new(url), soon()).unwrap()
    }
}

/// Runs a script in a tab; the last used one without a name.
pub(crate) fn eval_value(profile: &Profile, tab: Option<&str>, script: &str) -> serde_json::Value {
    let tab = profile.tab(tab).unwrap().tab;
    let top = cdpilot::supervisor::FrameRef::TopOf(tab.target().clone());
    tab.supervisor().evaluate(&top, script, soon()).unwrap().result.value
}

/// Starts a script in a tab without waiting for it.
pub(crate) fn run(profile: &Profile, tab: &str, script: &str) {
    let tab = profile.tab(Some(tab)).unwrap().tab;
    tab.supervisor().start_script(&cdpilot::supervisor::FrameRef::TopOf(tab.target().clone()), script).unwrap();
}

/// Waits for a snapshot of the running browser.
pub(crate) fn seen(profile: &Profile, what: &str, accept: impl FnMut(&View) -> bool) -> Arc<View> {
    until(profile.running().unwrap().supervisor(), what, accept)
}

/// Waits for an event of a profile after a number. Its number.
pub(crate) fn event(profile: &Profile, after: u64, kind: EventKind, target: &str) -> u64 {
    let (mut seen, deadline) = (after, soon());
    while !deadline.passed() {
        for entry in profile.events().wait_since(seen, 100, Deadline::after_millis(200)).entries {
            seen = entry.seq;
            if entry.kind() == kind && entry.target_id.as_ref().is_some_and(|id| id.as_str() == target) {
                return seen;
            }
        }
    }
    panic!("no {kind:?} of {target}: {:#?}", profile.events().since(after, 1000).entries)
}
