//! A browser that a test has for itself while it runs.
//!
//! The test runner (`crates/testkit`) keeps a browser for each of its workers and passes its URL in `CDPILOT_TEST_LEASE`. After the
//! test it checks that nothing was left behind. Without a runner, and if a test needs a second browser at the same time, one is
//! launched.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cdpilot::browser::{BrowserProcess, TransportKind};
use cdpilot::cdp::{ConnectOptions, Connection};
use cdpilot::sync::{Deadline, pause};
use serde_json::json;

use super::chrome::{options, soon};

/// Whether a test of this process has the browser of the runner.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// A leased browser. It has no page or one empty page at first.
pub(crate) struct Lease {
    url: String,
    /// Whether all pages are closed at the end.
    closes_pages: bool,
    /// `None` for the browser of the runner.
    own: Option<BrowserProcess>,
}

impl Lease {
    /// A browser for a test that closes its pages itself, as a supervisor does. `None` if there is no browser on this machine and
    /// none is required.
    pub(crate) fn take() -> Option<Self> {
        static GIVEN: OnceLock<Option<String>> = OnceLock::new();
        let mut launch = options(TransportKind::PipeAndPort(0))?;
        let given = GIVEN.get_or_init(|| std::env::var("CDPILOT_TEST_LEASE").ok());
        if let Some(url) = given.as_ref().filter(|_| !TAKEN.swap(true, Ordering::SeqCst)) {
            return Some(Self { url: url.clone(), closes_pages: false, own: None });
        }
        launch.viewport = Some((1280, 720));
        let browser = BrowserProcess::launch(&launch).unwrap();
        let url = browser.endpoint().unwrap().url();
        Some(Self { url, closes_pages: false, own: Some(browser) })
    }

    /// A browser without a page, for a server: the tabs of a browser that it attaches to are none of its own, so they stay when it
    /// ends, and are closed here.
    pub(crate) fn take_empty() -> Option<Self> {
        let mut lease = Self::take()?;
        lease.closes_pages = true;
        lease.close_pages();
        Some(lease)
    }

    /// The URL of its CDP endpoint.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Another connection to it.
    pub(crate) fn connect(&self) -> BrowserProcess {
        BrowserProcess::attach(&self.url, &ConnectOptions::default()).unwrap()
    }

    fn close_pages(&self) {
        let browser = self.connect();
        let connection = browser.connection();
        let (deadline, mut stubborn) = (soon(), Deadline::after_secs(1));
        loop {
            let pages = pages(connection);
            for page in &pages {
                let _ = connection.send_raw("Target.closeTarget", &json!({ "targetId": page }));
            }
            if pages.is_empty() {
                return;
            }
            assert!(!deadline.passed(), "pages that cannot be closed: {pages:?}");
            if stubborn.passed() {
                pages.iter().for_each(|page| answer_dialog(connection, page));
                stubborn = Deadline::after_secs(1);
            }
            pause(Duration::from_millis(5));
        }
    }
}

/// Lets a page go that shows a dialog.
fn answer_dialog(connection: &Connection, page: &str) {
    let attach = json!({ "targetId": page, "flatten": true });
    let Ok(attached) = connection.call_raw("Target.attachToTarget", &attach, soon()) else { return };
    let attached = attached.value().unwrap();
    let session = connection.session(attached["sessionId"].as_str().unwrap());
    let _ = session.send_raw("Page.enable", &json!({}));
    let _ = session.send_raw("Page.handleJavaScriptDialog", &json!({ "accept": true }));
}

/// The target ids of all pages.
fn pages(connection: &Connection) -> Vec<String> {
    let targets = connection.call_raw("Target.getTargets", &json!({}), soon()).unwrap().value().unwrap();
    let targets = targets["targetInfos"].as_array().unwrap();
    let pages = targets.iter().filter(|target| target["type"] == "page");
    pages.map(|page| page["targetId"].as_str().unwrap().to_owned()).collect()
}

impl Drop for Lease {
    fn drop(&mut self) {
        let is_of_runner = self.own.is_none();
        if is_of_runner && self.closes_pages && !std::thread::panicking() {
            self.close_pages();
        }
        if is_of_runner {
            TAKEN.store(false, Ordering::SeqCst);
        }
    }
}
