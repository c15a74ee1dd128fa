//! Errors of pages. Each message says what to do next.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::act::Locator;
use super::find::Match;
use crate::code::Code;
use crate::supervisor;

/// Role and name under which a snapshot showed an element.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Shown {
    /// The ARIA role, such as `button`.
    pub role: String,
    /// The accessible name. Untrusted.
    pub name: String,
    /// Where several elements have this role and name: a text of its row, card or dialog that the others do not have. Empty unless
    /// it has changed. Untrusted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
}

impl From<cdpilot_picture::Error> for Error {
    fn from(error: cdpilot_picture::Error) -> Self {
        Self::Picture { doing: error.doing, problem: error.problem }
    }
}

impl Shown {
    /// An element with this role and name.
    #[must_use]
    pub fn new(role: impl Into<String>, name: impl Into<String>) -> Self {
        Self { role: role.into(), name: name.into(), context: String::new() }
    }

    /// The same in another context.
    pub(super) fn in_context(self, context: impl Into<String>) -> Self {
        Self { context: context.into(), ..self }
    }

    /// Whether a reader would take it for the same: white space is folded, and numbers in brackets are counters.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.role == other.role && without_counters(&self.name) == without_counters(&other.name)
    }

    /// Role and name in an error, with the context if there is one.
    fn in_words(&self) -> String {
        let name = format!("{} {:?}", self.role, self.name);
        if self.context.is_empty() { name } else { format!("{name} beside {:?}", self.context) }
    }
}

/// What an element is now, as an answer of the page script.
#[derive(Debug, Deserialize)]
pub(super) struct ShownNow {
    role: String,
    name: String,
    /// The context, and that in which it was shown, if only this has changed.
    #[serde(default)]
    context: String,
    #[serde(default)]
    before: String,
}

impl ShownNow {
    /// The error for a ref that was shown in another way.
    pub(super) fn of(self, reference: &str, shown: &Shown) -> Error {
        let was = shown.clone().in_context(self.before);
        let now = Shown::new(self.role, self.name).in_context(self.context);
        Error::RefChanged { reference: reference.to_owned(), was: Box::new(was), now: Box::new(now) }
    }
}

/// A name without the numbers in brackets, such as `Likes (12)`. Other numbers tell things from each other. As in the page script.
fn without_counters(name: &str) -> String {
    let mut kept = String::new();
    let mut rest = name;
    while let Some(open) = rest.find(['(', '[']) {
        let (before, after) = rest.split_at(open);
        let count = after.chars().skip(1).take_while(|letter| letter.is_numeric()).map(char::len_utf8).sum::<usize>();
        let is_counter = count > 0 && after[1 + count..].starts_with([')', ']']);
        kept.push_str(before);
        let end = if is_counter { 2 + count } else { 1 };
        kept.push_str(if is_counter { " " } else { &after[..1] });
        rest = &after[end..];
    }
    kept.push_str(rest);
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A failed request to a page.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the supervisor: a dialog blocks the page, the tab is gone, the page does not respond, …
    #[error(transparent)]
    Supervisor(#[from] supervisor::Error),
    /// The text is not a ref.
    #[error("{text:?} is not a ref; refs look like e12 and come from a snapshot")]
    BadRef {
        /// The text as given.
        text: String,
    },
    /// The element of the ref no longer exists.
    #[error("{}", stale(reference, why))]
    StaleRef {
        /// The ref as given, such as `e12`.
        reference: String,
        /// The reason, as part of a sentence.
        why: &'static str,
    },
    /// The element's role or name differs from those that the snapshot showed.
    #[error(
        "ref {reference} has changed since the snapshot: it was {} and is now {}; \
         take a new snapshot, or set force to act on it anyway",
        .was.in_words(), .now.in_words()
    )]
    RefChanged {
        /// The ref as given, such as `e12`.
        reference: String,
        /// Role and name in the snapshot.
        was: Box<Shown>,
        /// Role and name at present.
        now: Box<Shown>,
    },
    /// No element matches the selector.
    #[error("no element matches the selector {selector:?} in {place}; take a snapshot to see the elements of the page")]
    NoMatch {
        /// The CSS selector as given.
        selector: String,
        /// The frame that was searched, in words.
        place: String,
    },
    /// No element matches the locator.
    #[error(
        "no element matches the locator '{locator}' in any frame{}; {}",
        waited_for(*waited), or_near(near)
    )]
    NoneLocated {
        /// The locator as given.
        locator: String,
        /// How long the call waited for a match.
        waited: Duration,
        /// Elements of another role, or with more or less text, that the caller may mean.
        near: Vec<Match>,
    },
    /// Several elements match the locator.
    #[error("{total} elements match the locator '{locator}': {}; name one of them by its ref, or add `>> nth=0` for the first{}", listed(.matches, *.total), or_whole(whole.as_deref()))]
    AmbiguousLocator {
        /// The locator as given.
        locator: String,
        /// The first matches, in document order.
        matches: Vec<Match>,
        /// The number of all matches.
        total: usize,
        /// The same locator matching whole texts only, when this one matches parts of texts.
        whole: Option<String>,
    },
    /// The request is invalid.
    #[error("{problem}")]
    BadRequest {
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// The kind of action does not exist.
    #[error("unknown kind {kind:?}; known kinds: {known}")]
    UnknownKind {
        /// The kind as given.
        kind: String,
        /// All kinds, separated by commas.
        known: String,
    },
    /// The kind of action has no such field.
    #[error("unknown field {field:?} of {of}; known fields: {known}")]
    UnknownField {
        /// The field, with its path in the request.
        field: String,
        /// The kind of action.
        of: String,
        /// All fields, separated by commas.
        known: String,
    },
    /// The element cannot be acted on.
    #[error("{}: {reason}{}", not_possible(.what, *.waited, covered_by.is_some()), or_do(*.waited, covered_by.is_some()))]
    NotActionable {
        /// The element, as the caller addressed it.
        what: String,
        /// The reason, as part of a sentence.
        reason: String,
        /// The element that covers it, if that is the reason.
        covered_by: Option<String>,
        /// How long the call waited for it; `None` for a reason that no waiting changes.
        waited: Option<Duration>,
    },
    /// A field of a form could not be filled.
    #[error("field {number} ({name}): {error}{filled}")]
    InField {
        /// The number of the field, from 1.
        number: usize,
        /// The field, as the caller addressed it.
        name: String,
        /// Why it could not be filled.
        error: Box<Error>,
        /// The fields that are filled already, as a clause; empty for none.
        filled: String,
    },
    /// A locator has matches, but not the requested one.
    #[error("'{locator}' has {total} {}; nth {nth} does not exist{}", matches_of(*.total), or_use(*.total))]
    NoNthMatch {
        /// The locator without its nth.
        locator: String,
        /// The requested index, from 0; negative values count from the end.
        nth: i32,
        /// The number of matches.
        total: usize,
    },
    /// Another action is running on the tab.
    #[error(
        "the tab is busy: another client's action ({running}) has been running for {since_ms} ms{}; try again when it is \
         done", queued(*.ahead)
    )]
    Busy {
        /// The kind of the running action.
        running: &'static str,
        /// How long it has been running, in milliseconds.
        since_ms: u64,
        /// Actions that were ahead of this one in the queue.
        ahead: usize,
    },
    /// The frame shows another document than the one addressed.
    #[error("frame {frame} now shows another document; take a new snapshot")]
    DocumentGone {
        /// Id of the frame.
        frame: String,
    },
    /// The script that reads the page failed.
    #[error("reading the page failed in frame {frame}: {problem}; take a new snapshot")]
    Internal {
        /// Id of the frame.
        frame: String,
        /// The script's error message.
        problem: String,
    },
    /// A wait ended without its condition.
    #[error("timed out{} waiting for {what}; take a snapshot to see the page as it is, or allow more time", after(*.after_ms))]
    Timeout {
        /// The condition, as a noun phrase.
        what: String,
        /// How long the call waited, in milliseconds; 0: not measured.
        after_ms: u64,
    },
    /// A file could not be read or written.
    #[error("cannot {doing} {name}: {problem}")]
    File {
        /// The failed operation, as a verb: `read`, `write`, …
        doing: &'static str,
        /// The name of the file, without folders.
        name: String,
        /// The message of the operating system.
        problem: String,
    },
    /// A cookie cannot be set.
    #[error("cookie number {} cannot be set: {problem}", .index + 1)]
    BadCookie {
        /// The index of the cookie in the request, from 0.
        index: usize,
        /// The reason, as part of a sentence. It does not contain the value.
        problem: String,
    },
    /// The document has no storage.
    #[error("the page has no {kind}: its origin is {origin} ({why}); navigate to an http or https page first")]
    NoStorage {
        /// The requested storage: `localStorage` or `sessionStorage`.
        kind: &'static str,
        /// The origin of the document.
        origin: String,
        /// The reason that the browser gives.
        why: String,
    },
    /// A path that must not be used.
    #[error("{name:?} is refused: {why}")]
    PathRefused {
        /// The path or name as it was given.
        name: String,
        /// The reason, and the paths that may be used.
        why: String,
    },
    /// No request of the tab has this id, or it is no longer kept.
    #[error("no request {id:?} among the last requests of this tab; list the requests to see their ids")]
    NoRequest {
        /// The id as given.
        id: String,
    },
    /// The body of a response is not available.
    #[error("no body is available for request {id}: {why}")]
    NoBody {
        /// The id of the request.
        id: String,
        /// The reason, as part of a sentence.
        why: String,
    },
    /// A screenshot could not be decoded, resized or encoded.
    #[error("cannot {doing} the screenshot: {problem}; try again, or capture a smaller part of the page")]
    Picture {
        /// The failed operation, as a verb: `decode`, `encode`, …
        doing: &'static str,
        /// The message of the image library.
        problem: String,
    },
    /// The browser did not capture a screenshot. The page is not affected.
    #[error(
        "the screenshot could not be captured: {problem}; the page itself is not affected: capture the viewport or one element, \
         or allow more time"
    )]
    NotCaptured {
        /// The reason, as part of a sentence.
        problem: String,
        /// Whether the capture ran out of time.
        is_late: bool,
    },
    /// The value of a script is not of the type that the caller expects.
    #[error(
        "the script returned an unexpected value: {problem} at {path}; change the script, or read it as another type"
    )]
    UnexpectedValue {
        /// JSON path of the value that does not fit, `.` for the whole.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The disk has no space left for the temporary file of the browser.
    #[error("the disk is full: there is no space left in {folder}; free some space and try again")]
    DiskFull {
        /// The folder whose disk is full.
        folder: String,
    },
    /// The browser did not print the page to PDF.
    #[error("the browser cannot print this page to PDF: {problem}; try a headless browser, or take a screenshot")]
    NoPdf {
        /// The message of the browser.
        problem: String,
    },
}

impl Error {
    /// An element that cannot be acted on, for a reason that no waiting changes.
    pub(super) fn not_actionable(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::NotActionable { what: what.into(), reason: reason.into(), covered_by: None, waited: None }
    }

    /// The same with the locator before the ref of the element: no snapshot showed the ref to the caller.
    pub(super) fn named_by(self, at: Option<&Locator>) -> Self {
        match (self, at.and_then(|at| at.locator.as_deref())) {
            (Self::NotActionable { what, reason, covered_by, waited }, Some(locator)) => {
                let what = match what.strip_suffix(')').and_then(|what| what.split_once(" (")) {
                    Some((reference, shown)) if is_ref(reference) => format!("{locator} ({shown}, {reference})"),
                    _ if is_ref(&what) => format!("{locator} ({what})"),
                    _ => what,
                };
                Self::NotActionable { what, reason, covered_by, waited }
            }
            (error, _) => error,
        }
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Code {
        match self {
            Self::Supervisor(error) => error.kind(),
            Self::InField { error, .. } => error.kind(),
            Self::BadCookie { .. } | Self::BadRef { .. } | Self::BadRequest { .. } => Code::BadRequest,
            Self::UnknownKind { .. } => Code::UnknownKind,
            Self::UnknownField { .. } => Code::UnknownField,
            Self::StaleRef { .. } | Self::DocumentGone { .. } => Code::StaleRef,
            Self::RefChanged { .. } => Code::RefChanged,
            Self::AmbiguousLocator { .. } => Code::AmbiguousLocator,
            Self::NoMatch { .. }
            | Self::NoneLocated { .. }
            | Self::NoNthMatch { .. }
            | Self::NoRequest { .. }
            | Self::NoBody { .. } => Code::NotFound,
            Self::NoStorage { .. } => Code::Conflict,
            Self::NotActionable { .. } => Code::NotActionable,
            Self::Busy { .. } => Code::PageBusy,
            Self::Timeout { .. } | Self::NotCaptured { is_late: true, .. } => Code::Timeout,
            Self::File { .. } | Self::PathRefused { .. } => Code::PathRefused,
            Self::UnexpectedValue { .. } => Code::ScriptError,
            Self::Internal { .. } | Self::Picture { .. } | Self::DiskFull { .. } => Code::Internal,
            Self::NoPdf { .. } | Self::NotCaptured { is_late: false, .. } => Code::BrowserError,
        }
    }

    /// The text of its [`kind`](Self::kind), as answers carry it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }

    /// The `details` of answers, for codes that have some.
    #[must_use]
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::InField { error, .. } => error.details(),
            Self::RefChanged { reference, was, now } => Some(json!({ "ref": reference, "was": was, "now": now })),
            Self::StaleRef { reference, .. } => Some(json!({ "ref": reference })),
            Self::AmbiguousLocator { matches, total, .. } => Some(json!({ "matches": matches, "total": total })),
            Self::Supervisor(supervisor::Error::PageBusy { busy, .. }) => {
                Some(json!({ "busyMs": u64::try_from(busy.as_millis()).unwrap_or(u64::MAX) }))
            }
            Self::Busy { running, since_ms, ahead } => {
                Some(json!({ "running": running, "runningForMs": since_ms, "ahead": ahead }))
            }
            Self::NotActionable { reason, covered_by, .. } => {
                Some(json!({ "reason": reason, "coveredBy": covered_by }))
            }
            _ => None,
        }
    }

    /// Whether a script that may only read was ended because of an effect.
    #[must_use]
    pub fn is_side_effect(&self) -> bool {
        matches!(self, Self::Supervisor(supervisor::Error::Script(thrown)) if thrown.is_side_effect())
    }

    /// Whether more time would help: the message ends with that advice, to which an entry point adds its own name for the time.
    pub fn advises_more_time(&self) -> bool {
        match self {
            Self::Supervisor(error) => error.advises_more_time(),
            Self::InField { error, filled, .. } => filled.is_empty() && error.advises_more_time(),
            Self::NotActionable { covered_by, waited, .. } => waited.is_some() && covered_by.is_none(),
            Self::Timeout { .. } | Self::NotCaptured { .. } => true,
            _ => false,
        }
    }

    /// Whether the time was up: an operation took longer, or a script kept the page busy.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.kind() == Code::Timeout || self.advises_rescue()
    }

    /// Whether a script of the page holds it, which a rescue would end: the message ends so that an entry point can add how.
    pub fn advises_rescue(&self) -> bool {
        match self {
            Self::Supervisor(error) => matches!(error, supervisor::Error::PageBusy { left: None, .. }),
            Self::InField { error, filled, .. } => filled.is_empty() && error.advises_rescue(),
            _ => false,
        }
    }

    /// Whether an open dialog blocked the operation.
    #[must_use]
    pub fn is_blocked_by_dialog(&self) -> bool {
        matches!(self, Self::Supervisor(error) if error.is_blocked_by_dialog())
    }
}

fn is_ref(text: &str) -> bool {
    text.strip_prefix('e').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn matches_of(total: usize) -> &'static str {
    if total == 1 { "match" } else { "matches" }
}

/// The values of nth that exist.
fn or_use(total: usize) -> String {
    match total {
        0 => String::new(),
        1 => " (use 0)".to_owned(),
        2 => " (use 0 or 1)".to_owned(),
        _ => format!(" (use 0 to {})", total - 1),
    }
}

/// ` (waited 7.9 s)`; empty below half a second.
/// What to do without a match: elements that come near, or a snapshot.
fn or_near(near: &[Match]) -> String {
    match near {
        [] => "take a snapshot to see roles, names and texts".to_owned(),
        [one] => format!("what comes near: {}; use its ref, or take a snapshot", listed(std::slice::from_ref(one), 1)),
        all => format!("what comes near: {}; use a ref of these, or take a snapshot", listed(all, all.len())),
    }
}

fn waited_for(time: Duration) -> String {
    if time < Duration::from_millis(500) { String::new() } else { format!(" (waited {:.1} s)", time.as_secs_f64()) }
}

/// An element that is not ready cannot be acted on; one that is ready may still be of the wrong kind for the action.
fn not_possible(what: &str, waited: Option<Duration>, is_covered: bool) -> String {
    if waited.is_some() || is_covered {
        format!("{what} cannot be acted on")
    } else {
        format!("the action on {what} failed")
    }
}

/// How long a call waited for an element, and what to do next; empty where the reason says so.
fn or_do(waited: Option<Duration>, is_covered: bool) -> String {
    let Some(waited) = waited else { return String::new() };
    let advice = match is_covered {
        true => "close or move what covers it, then try again",
        false => "take a snapshot to see what must be done first, or allow more time",
    };
    format!(" (waited {:.1} s); {advice}", waited.as_secs_f64())
}

/// Suggests the locator that matches whole texts only.
fn or_whole(locator: Option<&str>) -> String {
    locator.map(|locator| format!("; `{locator}` matches the whole text only")).unwrap_or_default()
}

/// Why a ref in a [snapshot](super::Tab::snapshot) was never given out.
pub(super) const UNKNOWN_REF: &str = "no snapshot of this tab contains it";

fn stale(reference: &str, why: &str) -> String {
    if why == UNKNOWN_REF {
        format!("unknown ref {reference}: {why}; take a new snapshot and use a ref from it, or name another tab")
    } else {
        format!("ref {reference} is stale: {why}; take a new snapshot and use a ref from it")
    }
}

fn listed(matches: &[Match], total: usize) -> String {
    let one = |found: &Match| {
        let text = if found.name.is_empty() { &found.text } else { &found.name };
        let name: String = text.chars().take(40).collect();
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
        1 => ", and 1 action is queued before this one".to_owned(),
        _ => format!(", and {ahead} actions are queued before this one"),
    }
}

fn after(after_ms: u64) -> String {
    match after_ms {
        0 => String::new(),
        1..=999 => format!(" after {after_ms} ms"),
        _ => format!(" after {}.{} s", after_ms / 1_000, after_ms % 1_000 / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_named_by_its_locator() {
        let at = Locator { locator: Some("css=#hid".to_owned()), ..Locator::default() };
        let named = |what: &str| Error::not_actionable(what, "it is hidden").named_by(Some(&at)).to_string();
        assert_eq!(
            named("e31 (button \"Save (all)\")"),
            "the action on css=#hid (button \"Save (all)\", e31) failed: it is hidden"
        );
        assert_eq!(named("e31"), "the action on css=#hid (e31) failed: it is hidden");
        assert_eq!(named("the focused element"), "the action on the focused element failed: it is hidden");
        assert_eq!(
            Error::not_actionable("e3", "it is hidden").named_by(None).to_string(),
            "the action on e3 failed: it is hidden"
        );
    }
    #[test]
    fn only_counters_in_brackets_may_change() {
        let like = |one: &str, other: &str| Shown::new("button", one).is_like(&Shown::new("button", other));
        assert!(
            like("Likes (12)", "Likes  (13)") && like("(5)", "(6)") && like("Inbox [3] of Ada", "Inbox [14] of Ada")
        );
        for (one, other) in [
            ("Delete invoice 1001", "Delete invoice 1002"),
            ("Pay 10 \u{20ac}", "Pay 1000 \u{20ac}"),
            ("Pay (10 \u{20ac})", "Pay (99 \u{20ac})"),
            ("Open (a)", "Open (b)"),
        ] {
            assert!(!like(one, other), "{one}");
        }
        assert!(!Shown::new("button", "A").is_like(&Shown::new("link", "A")));
    }
}
