//! What can go wrong with a page, each with the way out.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::find::Match;
use crate::{ErrorKind, supervisor};

/// What a ref was shown as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Its role.
    pub role: String,
    /// Its accessible name: untrusted.
    pub name: String,
}

/// A failed request to a page.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The supervisor could not do it.
    #[error(transparent)]
    Supervisor(#[from] supervisor::Error),
    /// The text is no ref.
    #[error("{text:?} is no ref; refs look like e12 and stand in a snapshot as [ref=e12]")]
    BadRef {
        /// What was given.
        text: String,
    },
    /// The element that the ref was shown for is gone.
    #[error("ref {reference} is stale: {why}; take a new snapshot and use a ref from it")]
    StaleRef {
        /// The ref.
        reference: String,
        /// What became of it.
        why: &'static str,
    },
    /// The element is another one to a reader than when it was shown.
    #[error(
        "ref {reference} has changed since it was shown: it was {} {:?} and is now {} {:?}; \
         take a new snapshot, or use force if this is meant",
        .was.role, .was.name, .now.role, .now.name
    )]
    RefChanged {
        /// The ref.
        reference: String,
        /// What was shown.
        was: Shown,
        /// What it is.
        now: Shown,
    },
    /// Nothing matches the selector.
    #[error("nothing matches the selector {selector:?} in {place}; take a snapshot to see what is there")]
    NoMatch {
        /// The selector.
        selector: String,
        /// Where was looked.
        place: String,
    },
    /// Nothing matches the locator.
    #[error(
        "no element matches the locator '{locator}' in any frame{}; take a snapshot to see roles, names and texts",
        waited_for(*waited)
    )]
    NoneLocated {
        /// The locator.
        locator: String,
        /// How long the call waited for a match.
        waited: Duration,
    },
    /// Several elements match the locator.
    #[error("{total} elements match the locator '{locator}': {}; name one of them by its ref, or add `>> nth=0` for the first{}", listed(.matches, *.total), or_whole(whole.as_deref()))]
    AmbiguousLocator {
        /// The locator.
        locator: String,
        /// The first of them.
        matches: Vec<Match>,
        /// How many there are.
        total: usize,
        /// The locator that matches whole texts only, when this one matches parts of texts.
        whole: Option<String>,
    },
    /// The request makes no sense.
    #[error("{problem}")]
    BadRequest {
        /// What is wrong and how it should be.
        problem: String,
    },
    /// There is no such kind of action.
    #[error("unknown kind {kind:?}; one of: {known}")]
    UnknownKind {
        /// What was given.
        kind: String,
        /// What there is.
        known: String,
    },
    /// The kind of action has no such field.
    #[error("unknown field {field:?} of {of}; it has: {known}")]
    UnknownField {
        /// What was given, and where.
        field: String,
        /// The kind.
        of: String,
        /// What there is.
        known: String,
    },
    /// The element cannot be acted on.
    #[error("{what} cannot be acted on: {reason}")]
    NotActionable {
        /// The element, as it was addressed.
        what: String,
        /// Why.
        reason: String,
        /// What lies over it, if something does.
        covered_by: Option<String>,
    },
    /// Another action has the tab.
    #[error(
        "the tab is busy: {running} of another client has run for {since_ms} ms{}; try again when it is done, or give \
         this action more time (timeoutMs)", queued(*.ahead)
    )]
    Busy {
        /// What runs.
        running: &'static str,
        /// For how long, in milliseconds.
        since_ms: u64,
        /// Actions that were ahead of this one in the queue.
        ahead: usize,
    },
    /// The document that was meant is gone.
    #[error("frame {frame} shows another document by now; take a new snapshot")]
    DocumentGone {
        /// The frame.
        frame: String,
    },
    /// Our own script failed in the page.
    #[error("reading the page failed in frame {frame}: {problem}; take a new snapshot")]
    Internal {
        /// The frame.
        frame: String,
        /// What it said.
        problem: String,
    },
    /// What was waited for did not come.
    #[error("{what} did not come {}", within(*.after_ms))]
    Timeout {
        /// What was waited for.
        what: String,
        /// How long, in milliseconds; 0 when nobody counted.
        after_ms: u64,
    },
    /// A file could not be read or written.
    #[error("cannot {doing} {name}: {problem}")]
    File {
        /// `read`, `write`, …
        doing: &'static str,
        /// Its name, without the folders above it.
        name: String,
        /// The system's sentence.
        problem: String,
    },
    /// A cookie that cannot be set.
    #[error("cookie {index} cannot be set: {problem}")]
    BadCookie {
        /// Which one, counted from 0.
        index: usize,
        /// What is wrong with it. Its value is not in here.
        problem: String,
    },
    /// The document has no storage.
    #[error("the page has no {kind}: its origin is {origin} ({why}); navigate to an http or https page first")]
    NoStorage {
        /// Which storage.
        kind: &'static str,
        /// The origin.
        origin: String,
        /// What Chromium says.
        why: String,
    },
    /// A path that may not be used.
    #[error("{name:?} is refused: {why}")]
    PathRefused {
        /// The path or name as it was given.
        name: String,
        /// Why, and what may be used.
        why: String,
    },
    /// The tab has made no such request, or it is forgotten.
    #[error("no request {id:?} among the last ones of this tab; list its requests for their ids")]
    NoRequest {
        /// What was asked for.
        id: String,
    },
    /// What a request brought is not there.
    #[error("there is no body of request {id}: {why}")]
    NoBody {
        /// The request.
        id: String,
        /// Why.
        why: String,
    },
    /// The pixels of a picture could not be dealt with.
    #[error("cannot {doing} the picture: {problem}; try again, or ask for a smaller part of the page")]
    Screenshot {
        /// `read`, `write`, …
        doing: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The browser did not capture a screenshot. The page is as it was.
    #[error(
        "the screenshot could not be captured: {problem}; the page itself is not affected: capture the viewport or one element, \
         or allow more time"
    )]
    NotCaptured {
        /// What happened.
        problem: String,
        /// Whether its time was up.
        is_late: bool,
    },
    /// The value of a script is not of the type that the caller wants.
    #[error("the script's value does not fit: {problem} at {path}; change the script, or read it as another type")]
    UnexpectedValue {
        /// JSON path of what does not fit, `.` for the whole.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// What the browser writes meanwhile does not fit on the disk.
    #[error("the disk is full: there is no space left in {folder}; make room and try again")]
    DiskFull {
        /// The folder.
        folder: String,
    },
    /// The browser makes no PDF.
    #[error(
        "the browser makes no PDF of this page: {problem}; try a browser without a window (headless), or take a screenshot"
    )]
    NoPdf {
        /// Its sentence.
        problem: String,
    },
}

impl Error {
    /// What went wrong, the same over all error types.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Supervisor(error) => error.kind(),
            Self::BadCookie { .. } | Self::BadRef { .. } | Self::BadRequest { .. } => ErrorKind::BadRequest,
            Self::UnknownKind { .. } => ErrorKind::UnknownKind,
            Self::UnknownField { .. } => ErrorKind::UnknownField,
            Self::StaleRef { .. } | Self::DocumentGone { .. } => ErrorKind::StaleRef,
            Self::RefChanged { .. } => ErrorKind::RefChanged,
            Self::AmbiguousLocator { .. } => ErrorKind::AmbiguousLocator,
            Self::NoMatch { .. } | Self::NoneLocated { .. } | Self::NoRequest { .. } | Self::NoBody { .. } => {
                ErrorKind::NotFound
            }
            Self::NoStorage { .. } => ErrorKind::Conflict,
            Self::NotActionable { .. } => ErrorKind::NotActionable,
            Self::Busy { .. } => ErrorKind::PageBusy,
            Self::Timeout { .. } | Self::NotCaptured { is_late: true, .. } => ErrorKind::Timeout,
            Self::File { .. } | Self::PathRefused { .. } => ErrorKind::PathRefused,
            Self::UnexpectedValue { .. } => ErrorKind::ScriptError,
            Self::Internal { .. } | Self::Screenshot { .. } | Self::DiskFull { .. } => ErrorKind::Internal,
            Self::NoPdf { .. } | Self::NotCaptured { is_late: false, .. } => ErrorKind::BrowserError,
        }
    }

    /// The code of its [kind](Self::kind) in answers of the HTTP API and of tools.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// What an answer carries beside the sentence and the code.
    #[must_use]
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::RefChanged { reference, was, now } => Some(json!({ "ref": reference, "was": was, "now": now })),
            Self::StaleRef { reference, .. } => Some(json!({ "ref": reference })),
            Self::AmbiguousLocator { matches, total, .. } => Some(json!({ "matches": matches, "total": total })),
            Self::Busy { running, since_ms, ahead } => {
                Some(json!({ "running": running, "runningForMs": since_ms, "ahead": ahead }))
            }
            Self::NotActionable { reason, covered_by, .. } => {
                Some(json!({ "reason": reason, "coveredBy": covered_by }))
            }
            _ => None,
        }
    }

    /// Whether an open dialog stands in the way.
    #[must_use]
    pub fn is_blocked_by_dialog(&self) -> bool {
        matches!(self, Self::Supervisor(error) if error.is_blocked_by_dialog())
    }
}

/// ` (waited 7.9 s)`, or nothing for less than half a second.
fn waited_for(time: Duration) -> String {
    if time < Duration::from_millis(500) { String::new() } else { format!(" (waited {:.1} s)", time.as_secs_f64()) }
}

/// Proposes the locator that matches whole texts only.
fn or_whole(locator: Option<&str>) -> String {
    locator.map(|locator| format!("; `{locator}` matches the whole text only")).unwrap_or_default()
}

fn listed(matches: &[Match], total: usize) -> String {
    let one = |found: &Match| {
        let name: String = found.name.chars().take(40).collect();
        format!("{} ({} {name:?})", found.reference, found.role)
    };
    let mut all: Vec<String> = matches.iter().take(5).map(one).collect();
    if total > all.len() {
        all.push("…".to_owned());
    }
    all.join(", ")
}

fn queued(ahead: usize) -> String {
    match ahead {
        0 => String::new(),
        1 => ", and 1 action was ahead in the queue".to_owned(),
        _ => format!(", and {ahead} actions were ahead in the queue"),
    }
}

fn within(after_ms: u64) -> String {
    if after_ms == 0 { "in time".to_owned() } else { format!("within {after_ms} ms") }
}
