//! Navigation of tabs.

use std::time::Duration;

use super::{Error, Navigate, Navigated, Profile, Running, TabInfo, Travel, WaitUntil};
use crate::code::Code;
use crate::page::{Act, Kind, WaitFor};
use crate::supervisor::{self, ClosedBy, ClosedDialog, Dialog, DialogAnswer, DialogType, FrameRef, TargetId};
use crate::sync::Deadline;

/// Time limit for reading the title at the end.
const TITLE: Duration = Duration::from_millis(500);
/// Characters of a dialog's message in an error.
const MESSAGE: usize = 80;
/// How long `waitUntil: none` waits until the request has been sent.
const UNDER_WAY: Duration = Duration::from_secs(2);

/// How a page that is still loading at the deadline is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnLoadTimeout {
    /// As a timeout error.
    Fail,
    /// As a success with `loading`.
    ReportLoading,
}

/// Result of a navigation, before titles and dialogs are read.
#[derive(Debug, Default)]
pub(super) struct Arrival {
    /// Whether it still shows the previous document.
    stayed: bool,
    blocked: bool,
    rescued: bool,
    pub(super) status: Option<u16>,
    loading: bool,
}

impl Profile {
    /// Navigates a tab to a URL. Starts the browser if it is not running; opens a tab if there is none. If a dialog opens
    /// during the navigation, the result says so: `beforeunload` with `navigated: false`. A pending dialog is an error
    /// unless it may be [dismissed](Navigate::dismiss_dialogs). Queues behind other actions of the tab.
    ///
    /// # Errors
    /// [`Error::DialogOpen`], those of [`start`](Self::start) and [`tab`](Self::tab), [`Error::NavigationBlocked`], [`Error::BadRequest`] for
    /// an invalid URL, [`Error::Page`].
    pub fn navigate(&self, to: Navigate, deadline: Deadline) -> Result<Navigated, Error> {
        self.send(to, OnLoadTimeout::Fail, deadline)
    }

    /// Like [`navigate`](Self::navigate), but a page that is still loading at the deadline is a success with
    /// [`loading`](Navigated::loading).
    ///
    /// # Errors
    /// As [`navigate`](Self::navigate).
    pub fn visit(&self, to: Navigate, deadline: Deadline) -> Result<Navigated, Error> {
        self.send(to, OnLoadTimeout::ReportLoading, deadline)
    }

    fn send(&self, to: Navigate, late: OnLoadTimeout, deadline: Deadline) -> Result<Navigated, Error> {
        let url = self.address(&to.url)?;
        let running = self.ensure(deadline)?;
        let found = self.find(&running, to.target.as_deref(), true);
        if let (Ok(target), false) = (&found, to.dismiss_dialogs) {
            require_no_dialog(&running, target)?;
        }
        self.may_go(&running, &url, deadline)?;
        let target = match found {
            Err(Error::NoTabOpen | Error::NoCurrentTab) => self.page_for(&running, false, deadline)?.0,
            found => found?,
        };
        let handle = self.handle(&running, &target)?;
        let _turn = handle.tab.turn("navigation", to.dismiss_dialogs, deadline)?;
        let before = PageBefore::of(&running, &target);
        prepare_dialogs(&running, &target, to.dismiss_dialogs, deadline)?;
        let went = self.go(&running, &target, &url, to.wait_until, late, deadline)?;
        Ok(self.arrived(&running, &before, handle.info, &went, deadline))
    }

    /// Goes back or forward in the history of a tab, or reloads it. Dialogs, and pages that are still loading at the
    /// deadline, are treated as in [`visit`](Self::visit).
    ///
    /// # Errors
    /// [`Error::DialogOpen`], [`Error::Conflict`] if the history has no such entry, those of [`tab`](Self::tab), [`Error::Page`].
    pub fn travel(
        &self,
        target: Option<&str>,
        way: Travel,
        wait_until: WaitUntil,
        dismiss_dialogs: bool,
        deadline: Deadline,
    ) -> Result<Navigated, Error> {
        let running = self.running()?;
        let target = self.find(&running, target, true)?;
        if !dismiss_dialogs {
            require_no_dialog(&running, &target)?;
        }
        let handle = self.handle(&running, &target)?;
        let (page, supervisor) = (FrameRef::TopOf(target.clone()), running.supervisor());
        let _turn = handle.tab.turn("navigation", dismiss_dialogs, deadline)?;
        let before = PageBefore::of(&running, &target);
        prepare_dialogs(&running, &target, dismiss_dialogs, deadline)?;
        let left = match way {
            Travel::Reload => supervisor.reload(&page, deadline).map(Some),
            Travel::Back => supervisor.navigate_history(&page, -1, deadline),
            Travel::Forward => supervisor.navigate_history(&page, 1, deadline),
        };
        let left = match left {
            Ok(Some(done)) => Ok(Arrival { rescued: done.rescued, ..Arrival::default() }),
            Ok(None) => {
                let way = if way == Travel::Back { "back" } else { "forward" };
                let problem = format!(
                    "cannot go {way}: the tab has no {} page in its history",
                    if way == "back" { "previous" } else { "next" }
                );
                return Err(Error::Conflict { problem });
            }
            Err(error) => Err(error),
        };
        let went =
            self.wait_until_arrived(&running, &before, left, wait_until, OnLoadTimeout::ReportLoading, deadline)?;
        Ok(self.arrived(&running, &before, handle.info, &went, deadline))
    }

    /// Completes the result of a navigation with URL, title and dialogs.
    fn arrived(
        &self,
        running: &Running,
        before: &PageBefore,
        info: TabInfo,
        went: &Arrival,
        deadline: Deadline,
    ) -> Navigated {
        let target = &before.target;
        let target_info = running.supervisor().target_info(&FrameRef::TopOf(target.clone()), deadline.within(TITLE));
        let now = running.snapshot();
        let page = now.page(target.as_str());
        // The browser reports a URL that is still loading; the result has the one that is shown.
        let url = page.map_or(info.url, |page| page.url.to_string());
        let title = match (target_info, page) {
            (Ok(target_info), _) => target_info.title,
            (Err(_), Some(page)) => page.title.to_string(),
            (Err(_), None) => info.title,
        };
        Navigated {
            target_id: info.target_id,
            url,
            title,
            status: went.status,
            navigated: went.stayed.then_some(false),
            blocked_by_dialog: went.blocked,
            pending_dialogs: now.dialogs_of(target.as_str()).cloned().collect(),
            dismissed_dialogs: before.dismissed(&now),
            rescued: went.rescued,
            loading: went.loading,
        }
    }

    /// Checks that a text is a complete URL.
    pub(super) fn address(&self, text: &str) -> Result<String, Error> {
        let text = text.trim();
        let problem = match url::Url::parse(text) {
            Ok(_) if is_host_and_port(text) => "the scheme is missing; start it with https:// or http://".to_owned(),
            Ok(_) => return Ok(text.to_owned()),
            Err(url::ParseError::RelativeUrlWithoutBase) => {
                "the scheme is missing; start it with https:// or http://".to_owned()
            }
            Err(error) => format!("{error}; give a URL such as https://example.com/page"),
        };
        // The error does not quote the URL, which may contain a password.
        Err(Error::BadRequest { problem: format!("url is not a valid URL: {problem}") })
    }

    /// Checks a URL against the navigation policy.
    pub(super) fn may_go(&self, running: &Running, url: &str, deadline: Deadline) -> Result<(), Error> {
        Ok(running.supervisor().check_navigation(url, deadline)?)
    }

    /// Navigates a page to a URL and waits until `until`.
    pub(super) fn go(
        &self,
        running: &Running,
        target: &TargetId,
        url: &str,
        until: WaitUntil,
        late: OnLoadTimeout,
        deadline: Deadline,
    ) -> Result<Arrival, Error> {
        let supervisor = running.supervisor();
        let page = FrameRef::TopOf(target.clone());
        let before = PageBefore::of(running, target);
        if until == WaitUntil::None {
            supervisor.start_navigation(&page, url, deadline.within(UNDER_WAY))?;
            let blocked = before.new_dialog(running).is_some();
            return Ok(Arrival { blocked, stayed: blocked && !before.has_left(running), ..Arrival::default() });
        }
        let left = supervisor.navigate(&page, url, deadline);
        let left = left.map(|done| Arrival {
            rescued: done.rescued,
            stayed: done.is_download == Some(true),
            ..Arrival::default()
        });
        self.wait_until_arrived(running, &before, left, until, late, deadline)
    }

    /// Waits for a document that is loading until `until`.
    fn wait_until_arrived(
        &self,
        running: &Running,
        before: &PageBefore,
        left: Result<Arrival, supervisor::Error>,
        until: WaitUntil,
        late: OnLoadTimeout,
        deadline: Deadline,
    ) -> Result<Arrival, Error> {
        let mut went = match left {
            Ok(went) => went,
            Err(error) if error.is_blocked_by_dialog() => {
                let asks = before.new_dialog(running).is_none_or(|dialog| dialog.kind == DialogType::BeforeUnload);
                let stayed = asks || !before.has_left(running);
                return Ok(Arrival {
                    blocked: true,
                    stayed,
                    status: before.status(running, deadline),
                    ..Arrival::default()
                });
            }
            Err(error) => return Err(error.into()),
        };
        if !went.stayed && until != WaitUntil::None {
            let state = if until == WaitUntil::Load { "load" } else { "domcontentloaded" };
            let wait = WaitFor { load_state: Some(state.to_owned()), ..WaitFor::default() };
            match running.tabs.tab(&before.target)?.act(&Act::new(Kind::Wait(wait)), deadline) {
                Ok(outcome) => {
                    went.rescued |= outcome.rescued;
                    went.blocked = outcome.blocked_by_dialog;
                }
                Err(error) if error.is_blocked_by_dialog() => went.blocked = true,
                Err(error) if late == OnLoadTimeout::ReportLoading && error.kind() == Code::Timeout => {
                    went.loading = true
                }
                Err(error) => return Err(error.into()),
            }
        }
        went.status = before.status(running, deadline);
        let is_new = !went.stayed && before.has_left(running);
        if let Some(failed) = running.supervisor().failed_document(&before.target).filter(|_| is_new) {
            let error = failed.error.as_deref().unwrap_or("the browser shows an error page");
            return Err(supervisor::Error::not_loaded(&failed.url, error).into());
        }
        Ok(went)
    }
}

/// Fails if a tab shows a dialog.
fn require_no_dialog(running: &Running, target: &TargetId) -> Result<(), Error> {
    let now = running.snapshot();
    let Some(dialog) = now.dialogs_of(target.as_str()).next() else { return Ok(()) };
    let message = dialog.message.chars().take(MESSAGE).collect();
    Err(Error::DialogOpen { kind: dialog.kind.as_str(), message })
}

/// Prepares a tab that shows dialogs for a navigation, or fails. The navigation itself dismisses all dialogs except
/// `beforeunload`.
fn prepare_dialogs(running: &Running, target: &TargetId, dismiss: bool, deadline: Deadline) -> Result<(), Error> {
    if !dismiss {
        return require_no_dialog(running, target);
    }
    let now = running.snapshot();
    let asks = now.dialogs_of(target.as_str()).find(|dialog| dialog.kind == DialogType::BeforeUnload);
    let Some(asks) = asks else { return Ok(()) };
    match running.supervisor().respond(Some(&asks.id), DialogAnswer::Dismiss, deadline) {
        // Another client has answered it.
        Ok(_) | Err(supervisor::Error::DialogGone { .. } | supervisor::Error::DialogNotFound { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a URL parser would take the host for a scheme, as in `localhost:3000/page`.
fn is_host_and_port(text: &str) -> bool {
    let Some((before, rest)) = text.split_once(':') else { return false };
    let port = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_port && (before.contains('.') || before.eq_ignore_ascii_case("localhost"))
}

/// State of a page before a navigation.
struct PageBefore {
    target: TargetId,
    /// Number of the newest request.
    request: u64,
    dialogs: Vec<std::sync::Arc<str>>,
    /// Dialogs that were already closed.
    closed: Vec<std::sync::Arc<str>>,
    document: std::sync::Arc<str>,
}

impl PageBefore {
    fn of(running: &Running, target: &TargetId) -> Self {
        let now = running.snapshot();
        Self {
            target: target.clone(),
            request: running.supervisor().traffic().last,
            dialogs: now.dialogs.iter().map(|dialog| dialog.id.clone()).collect(),
            closed: now.recent.iter().map(|closed| closed.dialog.id.clone()).collect(),
            document: document(&now, target),
        }
    }

    /// Dialogs of the previous document that were dismissed since.
    fn dismissed(&self, now: &supervisor::Snapshot) -> Vec<ClosedDialog> {
        let closed = now.recent.iter().filter(|closed| {
            let id = &closed.dialog.id;
            let was_put_away = self.dialogs.contains(id) || closed.closed_by == ClosedBy::Agent;
            closed.dialog.target_id == self.target && !self.closed.contains(id) && was_put_away && !closed.accepted
        });
        closed.cloned().collect()
    }

    /// A dialog that opened since.
    fn new_dialog(&self, running: &Running) -> Option<Dialog> {
        let now = running.snapshot();
        now.dialogs_of(self.target.as_str()).find(|dialog| !self.dialogs.contains(&dialog.id)).cloned()
    }

    /// Whether the page shows another document.
    fn has_left(&self, running: &Running) -> bool {
        document(&running.snapshot(), &self.target) != self.document
    }

    /// HTTP status of the document that was loaded since.
    fn status(&self, running: &Running, deadline: Deadline) -> Option<u16> {
        let now = running.supervisor().caught_up(deadline.within(TITLE)).unwrap_or_else(|_| running.snapshot());
        let top = now.page(self.target.as_str())?.top_frame.clone()?;
        running.supervisor().document_status(&self.target, &top, self.request)
    }
}

fn document(now: &supervisor::Snapshot, target: &TargetId) -> std::sync::Arc<str> {
    let top = now.page(target.as_str()).and_then(|page| page.top_frame.as_ref());
    top.and_then(|top| now.document_of(top)).unwrap_or_default()
}
