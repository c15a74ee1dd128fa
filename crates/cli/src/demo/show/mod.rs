//! The demo: dialogs and frames on local pages in a temporary browser, each step verified. Uses the library alone, so that the example
//! `demo` compiles quickly; `cdpilot demo` is the same code.

mod dialogs;
pub(crate) mod processes;
mod run;
mod site;
pub(crate) mod steps;
mod tree;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cdpilot::browser::{self, Switch};
use cdpilot::code::Code;
use cdpilot::supervisor::{self, FrameTree};
use cdpilot::sync::Deadline;
use serde::Serialize;

use crate::style::Style;
pub(crate) use site::{Sites, page};
use steps::{Step, Steps};

/// What to run the demo with.
pub(crate) struct Options<'a> {
    /// Starts a server for [`page`] on a port of the loopback interface.
    pub(crate) serve: &'a dyn Fn() -> io::Result<Sites>,
    pub(crate) executable: PathBuf,
    pub(crate) headless: Switch,
    /// Output file of the screenshot; `None` for a new temporary one.
    pub(crate) screenshot: Option<PathBuf>,
    /// Limit of each step; `None` for the usual ones.
    pub(crate) timeout: Option<Duration>,
}

impl Options<'_> {
    fn deadline(&self, usual: Duration) -> Deadline<'static> {
        Deadline::after(self.timeout.unwrap_or(usual))
    }
}

/// Where progress is shown.
pub(crate) struct Screen<'a> {
    pub(crate) write: &'a dyn Fn(&str),
    pub(crate) style: Style,
    /// Show nothing but a failure.
    pub(crate) quiet: bool,
}

/// Why the demo failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error(transparent)]
    Browser(#[from] browser::Error),
    #[error(transparent)]
    Supervisor(#[from] supervisor::Error),
    #[error("{text}")]
    Other { code: Code, text: String },
}

impl Problem {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        Self::Other { code, text: text.into() }
    }
}

/// The JSON result of the demo.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// Why it failed.
    #[serde(skip)]
    pub(crate) failure: Option<Problem>,
    browser: Option<String>,
    executable: Option<PathBuf>,
    steps: Vec<Step>,
    frame_tree: Option<FrameTree>,
    dialogs: Vec<dialogs::DialogRecord>,
    titles: Vec<Title>,
    screenshot: Option<PathBuf>,
    total_ms: u64,
}

/// Title of a frame, read by a script in that frame.
#[derive(Debug, Serialize)]
struct Title {
    frame_id: String,
    url: String,
    is_oopif: bool,
    title: String,
}

/// Runs all steps and shows them.
pub(crate) fn run(options: &Options<'_>, screen: &Screen<'_>) -> Report {
    let began = Instant::now();
    let line = |text: &str| (screen.write)(&format!("{text}\n"));
    if !screen.quiet {
        line(&screen.style.bold("cdpilot demo: dialogs and nested frames, which routinely hang browser automation"));
    }
    let mut steps = Steps::new(screen, run::STEPS);
    let mut report = Report { executable: Some(options.executable.clone()), ..Report::default() };
    run::all(options, &mut steps, &mut report);
    report.total_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    report.failure = steps.failure;
    report.steps = steps.done;
    let seconds = report.total_ms as f64 / 1000.0;
    match &report.failure {
        None if screen.quiet => {}
        None => {
            let done = screen.style.green(screen.style.pick("✓ all steps passed", "all steps passed"));
            line(&format!("{done} in {seconds:.1} s"));
        }
        Some(failure) => line(&screen.style.red(&format!("the demo failed after {seconds:.1} s: {failure}"))),
    }
    report
}
