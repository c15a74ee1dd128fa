//! A browser that a test has for itself while it runs.
//!
//! The test runner (`crates/testkit`) keeps browsers for each of its workers and passes their URLs in `CDPILOT_TEST_LEASES`, such as
//! `shell=ws://… full=ws://…`, in the order in which a test takes them. After the test it checks that nothing was left behind. Without
//! a runner, and if a test needs more browsers at the same time, one is launched.

use std::sync::Mutex;
use std::time::Duration;

use cdpilot::browser::{BrowserProcess, TransportKind};
use cdpilot::cdp::{ConnectOptions, Connection};
use cdpilot::sync::{Deadline, pause};
use serde_json::json;

use super::chrome::{options, soon};

/// The URLs of the runner's browsers that the test of this process has.
static TAKEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A leased browser. It has no page or one empty page at first.
pub struct Lease {
    url: String,
    /// Whether all pages are closed at the end.
    closes_pages: bool,
    /// `None` for the browser of the runner.
    own: Option<BrowserProcess>,
}

impl Lease {
    /// A browser for a test that closes its pages itself, as a supervisor does. `None` if there is no browser on this machine and
    /// none is required.
    pub fn take() -> Option<Self> {
        let mut launch = options(TransportKind::PipeAndPort(0))?;
        let leases = std::env::var("CDPILOT_TEST_LEASES").unwrap_or_default();
        let mut taken = TAKEN.lock().unwrap();
        let urls = leases.split(' ').filter_map(|lease| lease.split_once('='));
        if let Some((_, url)) = urls.into_iter().find(|(_, url)| !taken.iter().any(|other| other == url)) {
            taken.push(url.to_owned());
            return Some(Self { url: url.to_owned(), closes_pages: false, own: None });
        }
        drop(taken);
        launch.viewport = Some((1280, 720));
        let browser = BrowserProcess::launch(&launch).unwrap();
        let url = browser.endpoint().unwrap().url();
        Some(Self { url, closes_pages: false, own: Some(browser) })
    }

    /// A browser without a page, for a server: the tabs of a browser that it attaches to are none of its own, so they stay when it
    /// ends, and are closed here.
    pub fn take_empty() -> Option<Self> {
        let mut lease = Self::take()?;
        lease.closes_pages = true;
        lease.close_pages();
        Some(lease)
    }

    /// The URL of its CDP endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Another connection to it.
    pub fn connect(&self) -> BrowserProcess {
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
            TAKEN.lock().unwrap().retain(|taken| *taken != self.url);
        }
    }
}
