//! What went wrong, the same over all error types.

/// The kind of a failure. Every error type of the crate has a `kind()`, so that one match arm serves them all.
///
/// ```no_run
/// use cdpilot::ErrorKind;
/// # let page = cdpilot::Browser::launch(cdpilot::LaunchOptions::new())?.page()?;
/// match page.click("text=Delete").map_err(|error| (error.kind(), error)) {
///     Ok(_) => {}
///     Err((ErrorKind::BlockedByDialog, _)) => { page.accept_dialog()?; }
///     Err((ErrorKind::NotFound | ErrorKind::StaleRef, _)) => { page.view()?; }
///     Err((_, error)) => return Err(error),
/// }
/// # Ok::<(), cdpilot::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An open dialog stands in the way; answer it.
    BlockedByDialog,
    /// No dialog is open.
    NoDialog,
    /// Several dialogs are open and none was named.
    SeveralDialogs,
    /// The dialog is not open, or can no longer be answered.
    DialogNotFound,
    /// It took longer than its deadline.
    Timeout,
    /// The caller does not want the result any more, see [`Cancel`](crate::sync::Cancel).
    Cancelled,
    /// There is no browser, it has ended, or the connection to it is lost.
    BrowserNotRunning,
    /// The browser or a site did something unexpected.
    BrowserError,
    /// The page is closed or unknown.
    PageNotFound,
    /// The frame is gone or unknown.
    FrameNotFound,
    /// No element matches, or no such request or route.
    NotFound,
    /// The element of the ref is gone; take a new snapshot.
    StaleRef,
    /// Role or name of the element changed since its ref was shown.
    RefChanged,
    /// Several elements match.
    AmbiguousLocator,
    /// The element cannot be acted on.
    NotActionable,
    /// Another action or a script has the page.
    PageBusy,
    /// The navigation policy forbids the address.
    NavigationBlocked,
    /// The script threw, or its value is of another type.
    ScriptError,
    /// What was requested makes no sense.
    BadRequest,
    /// There is no such kind of action.
    UnknownKind,
    /// There is no such field.
    UnknownField,
    /// The file or folder may not or cannot be used.
    PathRefused,
    /// It does not go with the present state: too many of something, in use already.
    Conflict,
    /// A defect of this crate, or the system refused something.
    Internal,
}

impl ErrorKind {
    /// Its code in answers of the HTTP API and of tools: `BLOCKED_BY_DIALOG`, `TIMEOUT`, …
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::BlockedByDialog => "BLOCKED_BY_DIALOG",
            Self::NoDialog => "NO_DIALOG",
            Self::SeveralDialogs => "SEVERAL_DIALOGS",
            Self::DialogNotFound => "DIALOG_NOT_FOUND",
            Self::Timeout => "TIMEOUT",
            Self::Cancelled => "CANCELLED",
            Self::BrowserNotRunning => "BROWSER_NOT_RUNNING",
            Self::BrowserError => "BROWSER_ERROR",
            Self::PageNotFound => "TAB_NOT_FOUND",
            Self::FrameNotFound => "FRAME_NOT_FOUND",
            Self::NotFound => "NOT_FOUND",
            Self::StaleRef => "STALE_REF",
            Self::RefChanged => "REF_CHANGED",
            Self::AmbiguousLocator => "AMBIGUOUS_LOCATOR",
            Self::NotActionable => "NOT_ACTIONABLE",
            Self::PageBusy => "PAGE_BUSY",
            Self::NavigationBlocked => "NAVIGATION_BLOCKED",
            Self::ScriptError => "SCRIPT_ERROR",
            Self::BadRequest => "BAD_REQUEST",
            Self::UnknownKind => "UNKNOWN_KIND",
            Self::UnknownField => "UNKNOWN_FIELD",
            Self::PathRefused => "PATH_REFUSED",
            Self::Conflict => "CONFLICT",
            Self::Internal => "INTERNAL",
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorKind;
    use crate::{browser, cdp, supervisor};

    #[test]
    fn a_dialog_is_one_kind_over_all_error_types() {
        let blocked = || cdp::Error::BlockedByDialog { method: "A.b".into(), dialogs: vec!["d-1".to_owned()] };
        let by_supervisor = supervisor::Error::from(blocked());
        let kinds = [
            blocked().kind(),
            browser::Error::from(blocked()).kind(),
            by_supervisor.kind(),
            supervisor::Error::from(browser::Error::from(blocked())).kind(),
            #[cfg(feature = "page")]
            crate::page::Error::from(by_supervisor).kind(),
        ];
        assert!(kinds.iter().all(|kind| *kind == ErrorKind::BlockedByDialog), "{kinds:?}");
        assert_eq!(ErrorKind::BlockedByDialog.to_string(), "BLOCKED_BY_DIALOG");
    }
}
