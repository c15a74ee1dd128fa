//! Navigation: to a URL, back, forward, and reload.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::act::{Act, ActKind, LoadState, WaitFor};
use super::{Download, DownloadState, Error, Tab};
use crate::supervisor::{self, ClosedBy, ClosedDialog, Dialog, DialogType, FrameRef, Supervisor, TargetId};
use crate::sync::{Deadline, pause};

/// How long a navigation that is not waited for may take to start its request.
const UNDER_WAY: Duration = Duration::from_secs(2);
/// How long to wait for the HTTP status after the document is shown.
const STATUS: Duration = Duration::from_millis(500);

/// How long a download may take to end before it is reported as it is then, and how often its state is read.
const DOWNLOAD: Duration = Duration::from_millis(500);
const DOWNLOAD_POLL: Duration = Duration::from_millis(20);

/// When a navigation counts as complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WaitUntil {
    /// The document and its resources are loaded.
    #[default]
    Load,
    /// The document is parsed.
    DomContentLoaded,
    /// The request has been sent.
    None,
}

/// Whether a page that is still loading at the deadline is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// It is an error.
    Fails,
    /// It is a success with [`Navigation::loading`].
    IsReported,
}

/// The result of a navigation.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Navigation {
    /// Whether the tab still shows the previous document: the URL started a download, or a `beforeunload` dialog is
    /// open.
    pub stayed: bool,
    /// Whether a dialog opened and blocks the page.
    pub blocked_by_dialog: bool,
    /// Whether a script of the page was terminated because it blocked the navigation.
    pub rescued: bool,
    /// The HTTP status of the document, if there was one.
    pub status: Option<u16>,
    /// Whether the document was still loading at the deadline.
    pub loading: bool,
}

impl Navigation {
    /// A navigation after which the previous document is gone.
    pub fn left(rescued: bool) -> Self {
        Self { rescued, ..Self::default() }
    }
}

/// The state of a tab before a navigation.
pub struct BeforeNavigation {
    target: TargetId,
    /// Number of the newest request.
    request: u64,
    dialogs: Vec<Arc<str>>,
    /// Ids of the dialogs that had already closed.
    closed: Vec<Arc<str>>,
    document: Arc<str>,
    /// The newest download.
    download: u64,
}

impl BeforeNavigation {
    /// The dialogs of the previous document that were dismissed during the navigation.
    pub fn dismissed(&self, now: &supervisor::View) -> Vec<ClosedDialog> {
        let closed = now.recent.iter().filter(|closed| {
            let id = &closed.dialog.id;
            let was_put_away = self.dialogs.contains(id) || closed.closed_by == ClosedBy::Agent;
            closed.dialog.target_id == self.target && !self.closed.contains(id) && was_put_away && !closed.accepted
        });
        closed.cloned().collect()
    }

    /// A dialog that opened during the navigation.
    fn new_dialog(&self, supervisor: &Supervisor) -> Option<Dialog> {
        let now = supervisor.view();
        now.dialogs_of(self.target.as_str()).find(|dialog| !self.dialogs.contains(&dialog.id)).cloned()
    }

    /// Whether the page shows another document.
    fn has_left(&self, supervisor: &Supervisor) -> bool {
        document(&supervisor.view(), &self.target) != self.document
    }

    /// The HTTP status of the new document.
    fn status(&self, supervisor: &Supervisor, deadline: Deadline<'_>) -> Option<u16> {
        let now = supervisor.caught_up(deadline.within(STATUS)).unwrap_or_else(|_| supervisor.view());
        let top = now.page(self.target.as_str())?.top_frame.clone()?;
        supervisor.document_status(&self.target, &top, self.request)
    }
}

fn document(now: &supervisor::View, target: &TargetId) -> Arc<str> {
    let top = now.page(target.as_str()).and_then(|page| page.top_frame.as_ref());
    top.and_then(|top| now.document_of(top)).unwrap_or_default()
}

impl Tab {
    /// Navigates to a URL and waits as `until` says. Takes a turn like an action. Open dialogs are dismissed; one that
    /// opens during the navigation is a success with [`blocked_by_dialog`](Navigation::blocked_by_dialog).
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::Timeout`] if the page is still loading at the deadline, and those of
    /// [`Supervisor::navigate`].
    pub fn goto(&self, url: &str, until: WaitUntil, deadline: Deadline<'_>) -> Result<Navigation, Error> {
        let _turn = self.turn("navigation", true, deadline)?;
        self.go(url, until, Late::Fails, deadline)
    }

    /// Reloads the page, like [`goto`](Self::goto).
    ///
    /// # Errors
    /// Those of [`goto`](Self::goto).
    pub fn reload(&self, until: WaitUntil, deadline: Deadline<'_>) -> Result<Navigation, Error> {
        let _turn = self.turn("navigation", true, deadline)?;
        let before = self.before_navigation();
        let left = self.supervisor.reload(&self.page(), deadline).map(|done| Navigation::left(done.rescued));
        self.until_there(&before, left, until, Late::Fails, deadline)
    }

    /// Moves by `by` entries in the tab's history: -1 is back, 1 is forward. `None` without a navigation if the history
    /// has no such entry.
    ///
    /// # Errors
    /// Those of [`goto`](Self::goto).
    pub fn go_in_history(
        &self,
        by: i64,
        until: WaitUntil,
        deadline: Deadline<'_>,
    ) -> Result<Option<Navigation>, Error> {
        let _turn = self.turn("navigation", true, deadline)?;
        let before = self.before_navigation();
        let left = match self.supervisor.navigate_history(&self.page(), by, deadline) {
            Ok(None) => return Ok(None),
            Ok(Some(done)) => Ok(Navigation::left(done.rescued)),
            Err(error) => Err(error),
        };
        self.until_there(&before, left, until, Late::Fails, deadline).map(Some)
    }

    /// Captures the state of the tab before a navigation.
    pub fn before_navigation(&self) -> BeforeNavigation {
        let now = self.supervisor.view();
        BeforeNavigation {
            target: self.target.clone(),
            request: self.supervisor.traffic().last,
            dialogs: now.dialogs.iter().map(|dialog| dialog.id.clone()).collect(),
            closed: now.recent.iter().map(|closed| closed.dialog.id.clone()).collect(),
            document: document(&now, &self.target),
            download: self.downloads().last().map_or(0, |download| download.number),
        }
    }

    /// Like [`goto`](Self::goto), for a caller that already has its turn.
    pub fn go(&self, url: &str, until: WaitUntil, late: Late, deadline: Deadline<'_>) -> Result<Navigation, Error> {
        let before = self.before_navigation();
        if until == WaitUntil::None {
            self.supervisor.start_navigation(&self.page(), url, deadline.within(UNDER_WAY))?;
            let blocked_by_dialog = before.new_dialog(&self.supervisor).is_some();
            let stayed = blocked_by_dialog && !before.has_left(&self.supervisor);
            return Ok(Navigation { blocked_by_dialog, stayed, ..Navigation::default() });
        }
        let left = self.supervisor.navigate(&self.page(), url, deadline);
        let left =
            left.map(|done| Navigation { stayed: done.is_download == Some(true), ..Navigation::left(done.rescued) });
        self.until_there(&before, left, until, late, deadline)
    }

    /// Downloads that a navigation started, after a moment in which small ones end.
    pub fn downloads_of(&self, before: &BeforeNavigation, deadline: Deadline<'_>) -> Vec<Download> {
        let new = || self.downloads().into_iter().filter(|download| download.number > before.download);
        let time = deadline.within(DOWNLOAD);
        while !time.passed()
            && new().all(|download| download.state == DownloadState::InProgress || download.path.is_none())
        {
            pause(DOWNLOAD_POLL.min(time.left()));
        }
        new().collect()
    }

    /// Waits for the document of a started navigation; `left` is the outcome of leaving the previous one.
    pub fn until_there(
        &self,
        before: &BeforeNavigation,
        left: Result<Navigation, supervisor::Error>,
        until: WaitUntil,
        late: Late,
        deadline: Deadline<'_>,
    ) -> Result<Navigation, Error> {
        let supervisor = &self.supervisor;
        let mut navigation = match left {
            Ok(navigation) => navigation,
            Err(error) if error.is_blocked_by_dialog() => {
                let opened_beforeunload =
                    before.new_dialog(supervisor).is_none_or(|dialog| dialog.kind == DialogType::BeforeUnload);
                let stayed = opened_beforeunload || !before.has_left(supervisor);
                let status = before.status(supervisor, deadline);
                return Ok(Navigation { blocked_by_dialog: true, stayed, status, ..Navigation::default() });
            }
            Err(error) => return Err(error.into()),
        };
        if !navigation.stayed && until != WaitUntil::None {
            let state = if until == WaitUntil::Load { LoadState::Load } else { LoadState::DomContentLoaded };
            let wait = WaitFor { load_state: Some(state), ..WaitFor::default() };
            match self.act(&Act::new(ActKind::Wait(wait)), deadline) {
                Ok(outcome) => {
                    navigation.rescued |= outcome.rescued;
                    navigation.blocked_by_dialog = outcome.blocked_by_dialog;
                }
                Err(error) if error.is_blocked_by_dialog() => navigation.blocked_by_dialog = true,
                Err(error) if late == Late::IsReported && error.is_late() => navigation.loading = true,
                Err(error) => return Err(error),
            }
        }
        navigation.status = before.status(supervisor, deadline);
        let is_new = !navigation.stayed && before.has_left(supervisor);
        if let Some(failed) = supervisor.failed_document(&self.target).filter(|_| is_new) {
            let error = failed.error.as_deref().unwrap_or("the browser shows an error page");
            return Err(supervisor::Error::not_loaded(&failed.url, error).into());
        }
        Ok(navigation)
    }

    /// The destination of commands to the whole tab.
    pub(super) fn page(&self) -> FrameRef {
        FrameRef::TopOf(self.target.clone())
    }
}
