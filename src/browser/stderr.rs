//! The standard error of a browser: a bounded tail for error messages, and the few lines with information.
//!
//! One thread per browser (`browser-err-<pid>`) reads it, so that the browser never waits for a full pipe. Lock order:
//! there is one lock, held for copying only.

use std::collections::VecDeque;
use std::process::ChildStderr;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::Error;
use crate::process::stdio::{self, Stop};
use crate::redact::redact_addresses;
use crate::sync::{self, Deadline, Thread};

/// Maximum size of the tail, in bytes.
const MAX_TAIL: usize = 64 * 1024;
/// Maximum length quoted in an error, in characters.
const MAX_QUOTE: usize = 2000;
/// Maximum length of a line that is examined, in bytes.
const MAX_LINE: usize = 4096;

/// The tail, shared by the reading thread and its readers.
#[derive(Debug, Default)]
pub(super) struct Log {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    tail: VecDeque<u8>,
    line: Vec<u8>,
    findings: Findings,
}

/// The information found so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Findings {
    /// The address in `DevTools listening on …`. Secret.
    pub(super) listening: Option<String>,
    /// Whether the debugging port could not be opened.
    pub(super) port_refused: bool,
    /// Whether the other end of the pipe is closed.
    pub(super) ended: bool,
}

impl Log {
    fn push(&self, bytes: &[u8]) {
        let mut state = self.state.lock();
        state.tail.extend(bytes);
        let surplus = state.tail.len().saturating_sub(MAX_TAIL);
        state.tail.drain(..surplus);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE.saturating_sub(state.line.len());
            state.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut state.line);
                notice(&mut state.findings, &String::from_utf8_lossy(&line));
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    fn end(&self) {
        self.state.lock().findings.ended = true;
        self.changed.notify_all();
    }

    /// Waits until `enough` information was found, or until the deadline. Returns the information.
    pub(super) fn wait(&self, deadline: Deadline<'_>, enough: impl Fn(&Findings) -> bool) -> Findings {
        let mut state = self.state.lock();
        while !enough(&state.findings) {
            if self.changed.wait_until(&mut state, deadline.instant()).timed_out() {
                break;
            }
        }
        state.findings.clone()
    }

    /// The whole tail, unredacted, to be searched for known messages.
    pub(super) fn text(&self) -> String {
        let state = self.state.lock();
        let bytes: Vec<u8> = state.tail.iter().copied().collect();
        drop(state);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The end of the tail for an error message: at most 2,000 characters, addresses redacted.
    pub(super) fn quote(&self) -> String {
        let text = redact_addresses(self.text().trim());
        let surplus = text.chars().count().saturating_sub(MAX_QUOTE);
        match text.char_indices().nth(surplus) {
            Some((at, _)) if surplus > 0 => format!("…{}", text.get(at + 1..).unwrap_or_default().trim_start()),
            _ => text,
        }
    }
}

fn notice(findings: &mut Findings, line: &str) {
    if let Some((_, address)) = line.split_once("DevTools listening on ") {
        findings.listening = Some(address.trim().to_owned());
    } else if line.contains("Cannot start http server for devtools") {
        findings.port_refused = true;
    }
    tracing::trace!(target: "cdpilot::browser::stderr", "{}", redact_addresses(line.trim_end()));
}

/// The reading thread. Dropping it ends the thread, even if a stray process keeps the other end of the pipe open.
#[derive(Debug)]
pub(super) struct Reader {
    // The order of the fields matters: the stop signal is dropped before the thread is joined.
    _stop: Stop,
    _thread: Thread,
}

impl Reader {
    /// Starts reading into `log`.
    pub(super) fn start(pid: u32, from: ChildStderr, log: Arc<Log>) -> Result<Self, Error> {
        let (stop, stopped) = stdio::stop().map_err(|e| Error::system("cannot make a pipe", e))?;
        let body = move || {
            stdio::read_until_stopped(from, &stopped, |bytes| log.push(bytes));
            log.end();
        };
        let thread = sync::spawn(format!("browser-err-{pid}"), body)
            .map_err(|e| Error::system("cannot start a thread for the browser's messages", e))?;
        Ok(Self { _stop: stop, _thread: thread })
    }
}
