//! A tab of the page layer with given options, and a site to show in it.

use std::ops::Deref;
use std::sync::Arc;

use cdpilot::cdp::ConnectOptions;
use cdpilot::cdp::protocol::page::FrameId;
use cdpilot::page::{PageOptions, Tab, Tabs};
use cdpilot::supervisor::{Frame, FrameRef, Supervisor, SupervisorOptions, View};
use serde_json::Value;

use super::chrome::{soon, top_of, until};
use super::lease::Lease;
use super::site::Site;

/// A tab, in a leased browser unless stated otherwise. Cleans up when dropped.
pub struct SettleTab {
    pub site: Site,
    pub pages: Tabs,
    pub tab: Arc<Tab>,
    /// Returned last.
    _lease: Option<Lease>,
}

impl Deref for SettleTab {
    type Target = Tab;

    fn deref(&self) -> &Tab {
        &self.tab
    }
}

impl Drop for SettleTab {
    fn drop(&mut self) {
        self.pages.supervisor().stop(soon());
    }
}

impl SettleTab {
    pub fn new(name: &str) -> Option<Self> {
        Self::with(SupervisorOptions::task(name), PageOptions::default())
    }

    pub fn with(mut options: SupervisorOptions, page: PageOptions) -> Option<Self> {
        options.start_timeout = soon().left();
        let lease = Lease::take()?;
        let supervisor = Supervisor::attach(lease.url(), &ConnectOptions::default(), options).unwrap();
        let settled = Self::over(supervisor, page);
        Some(settled.holding(lease))
    }

    /// Keeps the lease of its browser.
    pub fn holding(mut self, lease: Lease) -> Self {
        self._lease = Some(lease);
        self
    }

    pub fn over(supervisor: Supervisor, options: PageOptions) -> Self {
        let pages = Tabs::with_options(Arc::new(supervisor), options).unwrap();
        let target = pages.supervisor().view().pages[0].target_id.clone();
        let tab = pages.tab(&target).unwrap();
        Self { site: Site::start(), pages, tab, _lease: None }
    }

    pub fn top(&self) -> FrameRef {
        FrameRef::TopOf(self.tab.target().clone())
    }

    /// Shows a page of host `a` and waits until it is loaded.
    pub fn go(&self, path: &str) {
        self.go_to(&self.site.url("a", path));
    }

    pub fn go_to(&self, url: &str) {
        let supervisor = self.supervisor();
        supervisor.navigate(&self.top(), url, soon()).unwrap();
        self.until(url, |now| top_of(now).is_some_and(|top| &*top.url == url));
        self.loaded(&self.top());
    }

    fn loaded(&self, frame: &FrameRef) {
        let script =
            "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(true)))";
        self.supervisor().evaluate(frame, script, soon()).unwrap();
    }

    /// Evaluates a script in the page.
    pub fn eval(&self, script: &str) -> Value {
        self.eval_at(&self.top(), script)
    }

    pub fn eval_in(&self, frame: &FrameId, script: &str) -> Value {
        self.eval_at(&FrameRef::Id(frame.clone()), script)
    }

    fn eval_at(&self, frame: &FrameRef, script: &str) -> Value {
        let done = self.supervisor().evaluate(frame, script, soon());
        done.unwrap_or_else(|error| panic!("{script}: {error}")).result.value
    }

    pub fn until(&self, what: &str, accept: impl FnMut(&View) -> bool) -> Arc<View> {
        until(self.supervisor(), what, accept)
    }

    /// Waits for the frame whose URL ends with this text, and until it has loaded.
    pub fn frame(&self, url: &str) -> Frame {
        let here = |f: &&Frame| f.url.ends_with(url) && f.session_id.is_some() && !f.origin.is_empty();
        let now = self.until(url, |now| now.frames.iter().any(|frame| here(&frame)));
        let id = now.frames.iter().find(here).unwrap().frame_id.clone();
        self.loaded(&FrameRef::Id(id.clone()));
        self.supervisor().view().frame(id.as_str()).expect("it is still there").clone()
    }
}
