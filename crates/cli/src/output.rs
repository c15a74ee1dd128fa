//! Output: text, or one JSON object with `--json`. Write errors are ignored.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use serde::Serialize;

use super::failure::Failure;
pub(super) use crate::style::Style;
use cdpilot::sync::{Thread, spawn};
use cdpilot::text::escaped_json;

/// Prints results, notes and errors.
#[derive(Debug)]
pub(super) struct Out {
    pub(super) json: bool,
    pub(super) quiet: bool,
    pub(super) style: Style,
}

impl Out {
    pub(super) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet, style: Style::of(!json && io::stdout().is_terminal()) }
    }

    /// Prints text to stdout and flushes it.
    pub(super) fn text(&self, text: &str) {
        if !self.json {
            let mut stdout = io::stdout().lock();
            let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        }
    }

    /// Prints a line to stdout.
    pub(super) fn line(&self, line: &str) {
        self.text(&format!("{line}\n"));
    }

    /// Prints the JSON object, with `--json` only.
    pub(super) fn object(&self, value: &impl Serialize) {
        if self.json {
            let text = serde_json::to_string(value).unwrap_or_default();
            let _ = writeln!(io::stdout().lock(), "{}", escaped_json(&text));
        }
    }

    /// Prints an object that is JSON text already, with `--json` only.
    pub(super) fn raw(&self, text: &str) {
        if self.json {
            let _ = writeln!(io::stdout().lock(), "{}", escaped_json(text.trim()));
        }
    }

    /// Prints a note to stderr, unless `--quiet`.
    pub(super) fn aside(&self, line: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr().lock(), "{line}");
        }
    }

    /// Prints a warning to stderr, even with `--quiet`.
    pub(super) fn warning(&self, line: &str) {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    pub(super) fn failure(&self, failure: &Failure) {
        #[derive(Serialize)]
        struct Output<'a> {
            ok: bool,
            #[serde(flatten)]
            failure: &'a Failure,
        }
        if self.json {
            self.object(&Output { ok: false, failure });
        } else {
            let style = Style::of(io::stderr().is_terminal());
            let _ = writeln!(io::stderr().lock(), "{} {}", style.red("error:"), failure.error);
        }
    }
}

/// Delay before the reason for a wait is printed.
const REASON_DELAY: Duration = Duration::from_millis(400);

/// Prints once why a command is waiting, after a short delay. Dropping it cancels that.
pub(super) struct WaitReason {
    thread: Option<(Sender<()>, Thread)>,
}

impl WaitReason {
    pub(super) fn start(out: &Out, why: String) -> Self {
        let (end, ended) = bounded(0);
        let print = move || {
            if ended.recv_timeout(REASON_DELAY) == Err(RecvTimeoutError::Timeout) {
                let _ = writeln!(io::stderr().lock(), "{why}");
            }
        };
        let thread = if out.quiet { None } else { spawn("cli-explained", print).ok() };
        Self { thread: thread.map(|thread| (end, thread)) }
    }
}

impl Drop for WaitReason {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            thread.join();
        }
    }
}

/// Delay before the waiting time is shown.
const INDICATOR_DELAY: Duration = Duration::from_secs(2);

/// Shows the waiting time on a terminal. Dropping it removes the line.
pub(super) struct WaitIndicator {
    thread: Option<(Sender<()>, Thread)>,
}

impl WaitIndicator {
    pub(super) fn start(out: &Out) -> Self {
        let watched = !out.quiet && Style::of(io::stderr().is_terminal()) == Style::Rich;
        let start = || {
            let (end, ended) = bounded(0);
            let thread = spawn("cli-waiting", move || {
                let (began, mut wait) = (Instant::now(), INDICATOR_DELAY);
                while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    wait = Duration::from_secs(1);
                    let line = format!("\r\x1b[2Kwaiting, {} s", began.elapsed().as_secs());
                    let _ = io::stderr().lock().write_all(line.as_bytes());
                }
                if began.elapsed() > INDICATOR_DELAY {
                    let _ = io::stderr().lock().write_all(b"\r\x1b[2K");
                }
            });
            thread.ok().map(|thread| (end, thread))
        };
        Self { thread: if watched { start() } else { None } }
    }
}

impl Drop for WaitIndicator {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            thread.join();
        }
    }
}

/// Makes untrusted text safe for a terminal: removes control characters and bidirectional formatting.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    let bad = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if text.contains(bad) { Cow::Owned(text.chars().filter(|c| !bad(*c)).collect()) } else { Cow::Borrowed(text) }
}

/// [`clean`] text on one line.
pub(super) fn one_line(text: &str) -> String {
    clean(text).split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}
