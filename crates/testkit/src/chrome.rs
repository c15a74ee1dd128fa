//! Browsers for tests, and a task that watches one.
//!
//! Most tests lease one (see [`Lease`]). A test of launching, ending, profiles, pipes or leaks launches its own.

use std::io::Write as _;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use cdpilot::browser::{BrowserProcess, LaunchOptions, TransportKind};
use cdpilot::cdp::ConnectOptions;
use cdpilot::cdp::protocol::page::FrameId;
use cdpilot::cdp::protocol::target::TargetId;
use cdpilot::supervisor::{
    ClosedDialog, Dialog, DialogAnswer, Error, Frame, FrameRef, Pages, Supervisor, SupervisorOptions, View,
};
use serde_json::Value;

use super::browser_path;
use super::lease::Lease;
use super::site::Site;

pub use super::soon;

/// Options for a browser without a window. `None` when there is none on this machine and none is
/// required.
pub fn options(transport: TransportKind) -> Option<LaunchOptions> {
    let executable = browser_path();
    if executable.is_none() {
        // Written past the test harness, which shows the output of failed tests only.
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        let _ = writeln!(std::io::stderr(), "SKIPPED, no browser here: {name}");
    }
    Some(LaunchOptions::new().executable(executable?).headless(true).transport(transport))
}

/// A browser for one test.
pub fn launch(transport: TransportKind) -> Option<BrowserProcess> {
    Some(BrowserProcess::launch(&options(transport)?).unwrap())
}

/// A site and a supervisor for its pages. Stopped when dropped.
pub struct Task {
    pub site: Site,
    supervisor: Supervisor,
    /// Returned last.
    _lease: Option<Lease>,
}

impl Deref for Task {
    type Target = Supervisor;

    fn deref(&self) -> &Supervisor {
        &self.supervisor
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.supervisor.stop(soon());
    }
}

/// Ends stuck scripts after a second, also of a page that has just loaded. Shorter would take a busy machine for a stuck page.
pub fn soon_rescued(options: SupervisorOptions) -> SupervisorOptions {
    options.rescue_after(Duration::from_secs(1)).rescue_after_load(Duration::ZERO)
}

impl Task {
    /// A task with a page in a leased browser.
    pub fn leased(name: &str) -> Option<Self> {
        Self::leased_with(SupervisorOptions::task(name))
    }

    pub fn leased_with(options: SupervisorOptions) -> Option<Self> {
        let lease = Lease::take()?;
        let mut task = Self::attach(lease.url(), options);
        task._lease = Some(lease);
        Some(task)
    }

    pub fn attach(url: &str, mut options: SupervisorOptions) -> Self {
        options.start_timeout = soon().left();
        Self::over(Supervisor::attach(url, &ConnectOptions::default(), options).unwrap())
    }

    pub fn over(supervisor: Supervisor) -> Self {
        Self { site: Site::start(), supervisor, _lease: None }
    }

    /// Another supervisor of the same browser, which must listen on a port.
    pub fn second(url: &str, name: &str, pages: Pages) -> Supervisor {
        let options = SupervisorOptions::task(name).pages(pages).start_timeout(soon().left());
        Supervisor::attach(url, &ConnectOptions::default(), options).unwrap()
    }

    /// The oldest page.
    pub fn target(&self) -> TargetId {
        self.view().pages.first().expect("no page").target_id.clone()
    }

    /// The top frame of the oldest page.
    pub fn top(&self) -> FrameId {
        let now = self.until("a top frame", |now| now.pages.first().is_some_and(|page| page.top_frame.is_some()));
        now.pages.first().and_then(|page| page.top_frame.clone()).unwrap()
    }

    /// Shows a page and waits until it is loaded.
    pub fn go(&self, url: &str) {
        self.navigate(&FrameRef::Top, url, soon()).unwrap();
        self.until(url, |now| top_of(now).is_some_and(|top| &*top.url == url));
        self.loaded(&FrameRef::Top);
    }

    /// Waits until the document of a frame is loaded.
    pub fn loaded(&self, frame: &FrameRef) {
        let script =
            "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(true)))";
        self.evaluate(frame, script, soon()).unwrap();
    }

    /// Evaluates a script in the top frame of the oldest page.
    pub fn eval(&self, script: &str) -> Value {
        self.evaluate(&FrameRef::Top, script, soon()).unwrap_or_else(|error| panic!("{script}: {error}")).result.value
    }

    pub fn eval_in(&self, frame: &FrameId, script: &str) -> Value {
        let frame = FrameRef::Id(frame.clone());
        self.evaluate(&frame, script, soon()).unwrap_or_else(|error| panic!("{script}: {error}")).result.value
    }

    /// Starts a script in the top frame of the oldest page.
    pub fn run(&self, script: &str) {
        self.start_script(&FrameRef::Top, script).unwrap();
    }

    pub fn run_in(&self, frame: &FrameId, script: &str) {
        self.start_script(&FrameRef::Id(frame.clone()), script).unwrap();
    }

    /// Waits for a view that satisfies the condition.
    pub fn until(&self, what: &str, accept: impl FnMut(&View) -> bool) -> Arc<View> {
        until(self, what, accept)
    }

    /// Waits for a dialog.
    pub fn dialog(&self) -> Dialog {
        self.until("a dialog", |now| !now.dialogs.is_empty()).dialogs[0].clone()
    }

    /// Waits for a dialog with this text.
    pub fn dialog_saying(&self, text: &str) -> Dialog {
        let now = self.until(text, |now| now.dialogs.iter().any(|dialog| &*dialog.message == text));
        now.dialogs.iter().find(|dialog| &*dialog.message == text).unwrap().clone()
    }

    /// Answers the one dialog that is open.
    pub fn answer(&self, answer: DialogAnswer) -> ClosedDialog {
        self.respond(None, answer, soon()).unwrap()
    }

    /// Waits for the frame whose URL ends with this text, and until it has loaded.
    pub fn frame(&self, url: &str) -> Frame {
        self.frame_where(url, |frame| frame.url.ends_with(url))
    }

    /// Waits for the frame of this name, and until it has loaded.
    pub fn frame_named(&self, name: &str) -> Frame {
        self.frame_where(name, |frame| &*frame.name == name && !frame.url.is_empty())
    }

    fn frame_where(&self, what: &str, accept: impl Fn(&Frame) -> bool) -> Frame {
        let here = |frame: &&Frame| accept(frame) && frame.session_id.is_some() && !frame.origin.is_empty();
        let now = self.until(what, |now| now.frames.iter().any(|frame| here(&frame)));
        let id = now.frames.iter().find(here).unwrap().frame_id.clone();
        self.loaded(&FrameRef::Id(id.clone()));
        self.view().frame(id.as_str()).expect("it is still there").clone()
    }
}

/// Waits for a view that satisfies the condition; panics with the last one.
pub fn until(supervisor: &Supervisor, what: &str, accept: impl FnMut(&View) -> bool) -> Arc<View> {
    supervisor
        .wait_until(soon(), accept)
        .unwrap_or_else(|| panic!("waited in vain for {what}; now: {:#?}", supervisor.view()))
}

/// The top frame of the oldest page.
pub fn top_of(now: &View) -> Option<&Frame> {
    now.pages.first().and_then(|page| page.top_frame.as_ref()).and_then(|top| now.frame(top.as_str()))
}

/// An accepting answer with a text.
pub fn text(text: &str) -> DialogAnswer {
    DialogAnswer::Accept(Some(text.to_owned()))
}

pub const ACCEPT: DialogAnswer = DialogAnswer::Accept(None);

/// The dialog ids of a `BlockedByDialog` error.
pub fn blocking<T: std::fmt::Debug>(outcome: Result<T, Error>) -> Vec<String> {
    match outcome {
        Err(Error::BlockedByDialog { dialogs, .. }) => dialogs,
        other => panic!("not blocked: {other:?}"),
    }
}
