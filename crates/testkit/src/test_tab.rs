//! A tab of the page layer and a site to show in it.

use std::sync::Arc;

use cdpilot::browser::BrowserProcess;
use cdpilot::cdp::ConnectOptions;
use cdpilot::page::{Look, LookOptions, Snapshot, SnapshotOptions, Tab, Tabs};
use cdpilot::supervisor::{FrameRef, Supervisor, SupervisorOptions};
use serde_json::json;

use super::chrome::{soon, soon_rescued};
use super::lease::Lease;
use super::site::Site;

/// A tab in a leased browser. Its page is closed at the end.
pub struct TestTab {
    pub site: Site,
    pub pages: Tabs,
    pub tab: Arc<Tab>,
    /// Returned last.
    _lease: Option<Lease>,
}

impl TestTab {
    pub fn new(name: &str) -> Option<Self> {
        Self::with(name, &ConnectOptions::default())
    }

    /// The same with a supervisor that ends stuck scripts after a second, also of a page that has just loaded.
    pub fn soon_rescued(name: &str) -> Option<Self> {
        let options = soon_rescued(SupervisorOptions::task(name)).start_timeout(soon().left());
        let lease = Lease::take()?;
        let paged = Self::over(Supervisor::attach(lease.url(), &ConnectOptions::default(), options).unwrap());
        Some(Self { _lease: Some(lease), ..paged })
    }

    /// The same with given connection options.
    pub fn with(name: &str, connect: &ConnectOptions) -> Option<Self> {
        let mut options = SupervisorOptions::task(name);
        options.start_timeout = soon().left();
        let lease = Lease::take()?;
        let paged = Self::over(Supervisor::attach(lease.url(), connect, options).unwrap());
        Some(Self { _lease: Some(lease), ..paged })
    }

    /// A tab of a browser that listens at an address.
    pub fn attached(name: &str, url: &str) -> Self {
        let mut options = SupervisorOptions::task(name);
        options.start_timeout = soon().left();
        Self::over(Supervisor::attach(url, &ConnectOptions::default(), options).unwrap())
    }

    /// A tab of a browser of its own.
    pub fn of(name: &str, browser: BrowserProcess) -> Self {
        let mut options = SupervisorOptions::task(name);
        options.start_timeout = soon().left();
        Self::over(Supervisor::start(browser, options).unwrap())
    }

    fn over(supervisor: Supervisor) -> Self {
        let pages = Tabs::new(Arc::new(supervisor));
        let target = pages.supervisor().view().pages[0].target_id.clone();
        let tab = pages.tab(&target).unwrap();
        Self { site: Site::start(), pages, tab, _lease: None }
    }

    /// The same, showing a page.
    pub fn showing(name: &str, html: &str) -> Option<Self> {
        let paged = Self::new(name)?;
        paged.site.page("/", html);
        paged.go("/");
        Some(paged)
    }

    pub fn supervisor(&self) -> &Supervisor {
        self.pages.supervisor()
    }

    pub fn top(&self) -> FrameRef {
        FrameRef::TopOf(self.tab.target().clone())
    }

    /// Shows a page of the site and waits until it and its frames have loaded.
    pub fn go(&self, path: &str) {
        self.supervisor().navigate(&self.top(), &self.site.url("a", path), soon()).unwrap();
        self.loaded();
    }

    /// Waits until the document has loaded.
    pub fn loaded(&self) {
        let loaded =
            "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(1)))";
        self.eval(loaded);
    }

    /// Evaluates a script in the top frame; returns the result as text.
    pub fn eval(&self, script: &str) -> String {
        self.supervisor().evaluate(&self.top(), script, soon()).unwrap().to_string()
    }

    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_with(SnapshotOptions::default())
    }

    pub fn snapshot_with(&self, options: SnapshotOptions) -> Snapshot {
        self.tab.snapshot(&options, soon()).unwrap()
    }
}

/// The lines of a snapshot.
pub fn text(seen: &Snapshot) -> &str {
    seen.snapshot.as_deref().unwrap()
}

/// The ref in the line that contains `part`.
pub fn ref_of(seen: &Snapshot, part: &str) -> String {
    let line = text(seen).lines().find(|line| line.contains(part));
    let line = line.unwrap_or_else(|| panic!("no {part:?} in:\n{}", text(seen)));
    let (_, rest) = line.split_once("[ref=").unwrap_or_else(|| panic!("no ref in {line}"));
    rest.split_once(']').unwrap().0.to_owned()
}

impl TestTab {
    pub fn resize(&self, width: u32, height: u32) {
        self.tab
            .emulate(
                &serde_json::from_value(json!({ "viewport": { "width": width, "height": height } })).unwrap(),
                soon(),
            )
            .unwrap();
    }

    pub fn look(&self) -> Look {
        self.look_for(LookOptions::new())
    }

    pub fn look_for(&self, options: LookOptions) -> Look {
        self.tab.look_at(&options, soon()).unwrap()
    }

    /// All pages of the picture.
    pub fn look_at_all(&self) -> Vec<Look> {
        let first = self.look();
        let rest: Vec<Look> = (2..=first.pages).map(|page| self.look_for(LookOptions::new().page(page))).collect();
        std::iter::once(first).chain(rest).collect()
    }
}
