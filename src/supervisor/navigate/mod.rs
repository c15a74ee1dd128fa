//! Navigation of a page: to a URL, reload, back and forward.
//!
//! | file | contents |
//! |---|---|
//! | `start` | navigation that does not wait for the document |
//! | `history` | back and forward |
//! | `dismiss_dialogs` | dialogs that are dismissed before a page is navigated |
//! | `lost_command` | commands that the browser lost |
//!
//! A navigation that was aborted (`net::ERR_ABORTED`) by one that the page itself had started is sent again, once.

mod dismiss_dialogs;
mod history;
mod lost_command;
mod start;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::dismiss_dialogs::dismissible_dialog;
use self::lost_command::LostCommand;
use super::call_watchdog::CallWatchdog;
use super::error::Error;
use super::handle::Supervisor;
use super::origin::http_origin;
use super::route::{FrameRef, Route};
use super::snapshot::{ClosedBy, ClosedDialog, Dialog, DialogType, View};
use super::state::Request;
use super::traffic::NetworkRequest;
use super::value::Done;
use crate::cdp::CallOptions;
use crate::cdp::protocol::page::{Navigate, NavigateReturns, Reload};
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt::Command;
use crate::sync::Deadline;

/// Interval at which a navigation checks for dialogs.
pub(super) const DIALOG_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum wait to see whether a page continues to load after a navigation was aborted.
const SUPERSEDED_CHECK_LIMIT: Duration = Duration::from_secs(1);
/// Maximum wait for a document to replace one that was committed during its navigation.
const REPLACEMENT_GRACE: Duration = Duration::from_millis(300);
/// Chromium's error for a navigation that was cancelled before it had a document.
pub(super) const ABORTED: &str = "net::ERR_ABORTED";
/// Dialogs of the old document that are dismissed during a navigation.
const MAX_DISMISSED: usize = 20;

impl Supervisor {
    /// Navigates a page. Returns when the new document is committed; loading continues. Open dialogs are dismissed
    /// first; one that opens meanwhile (`beforeunload`) ends the wait. A script that blocks the old document is
    /// terminated.
    ///
    /// # Errors
    /// [`Error::NavigationBlocked`] when the policy blocks the URL or a redirect: the page then stays on its document;
    /// [`Error::NotLoaded`] when the URL cannot be loaded; [`Error::BlockedByDialog`] when a dialog opened;
    /// [`Error::Timeout`] when no document was committed in time, and those of [`evaluate`](Self::evaluate).
    pub fn navigate(&self, page: &FrameRef, url: &str, deadline: Deadline<'_>) -> Result<Done<NavigateReturns>, Error> {
        let began = Instant::now();
        let route = self.route_at_once(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(Navigate::METHOD, frame));
        }
        self.check_navigation(url, deadline)?;
        self.opens(&route.target, url, deadline)?;
        let mut before = self.loader(&route);
        let blocked = self.last_blocked(&route);
        let mut watch = CallWatchdog::new(self, &route, Navigate::METHOD.into(), deadline);
        watch.free_page(deadline)?;
        let requested = NavigationRequested { at: self.view(), request: self.traffic().last };
        let mut returned: NavigateReturns = self.leave(&route, &mut watch, &Navigate::new(url), deadline)?;
        if returned.error_text.as_deref() == Some(ABORTED)
            && returned.is_download != Some(true)
            && self.was_superseded(&route, &requested, &before, blocked, deadline)
        {
            before = self.loader(&route);
            returned = self.leave(&route, &mut watch, &Navigate::new(url), deadline)?;
        }
        if returned.is_download == Some(true) {
            return Ok(watch.answered(returned));
        }
        if let Some(text) = &returned.error_text {
            // Afterwards the view has the reason of a blocked navigation.
            let _ = self.caught_up(deadline);
            self.blocked_since(&route, blocked)?;
            return Err(Error::not_loaded(url, text));
        }
        // Without a loader id the navigation stays in the same document.
        let Some(loader) = &returned.loader_id else { return Ok(watch.answered(returned)) };
        let frame = returned.frame_id.as_str();
        let shows = self.loader(&route);
        if shows != before && *shows != *loader.as_str() {
            // Either a document that ours replaces in a moment, or one that has already replaced ours.
            let changed = |s: &View| s.frame(frame).is_none_or(|f| f.loader != shows);
            self.wait_until(deadline.within(REPLACEMENT_GRACE), changed);
        }
        // Any new document counts: the page may have navigated on its own. A frame that was known and is not any more is gone.
        let was_known = route.frame.is_some();
        let is_gone = |s: &View| was_known || s.page(route.target.as_str()).is_none();
        let shown = |s: &View| {
            s.frame(frame).map_or_else(|| is_gone(s), |f| *f.loader == *loader.as_str() || f.loader != before)
        };
        self.wait_for_document(&route, &mut watch, began, deadline, |s| {
            shown(s) || last_blocked_number(s, &route) > blocked
        })?;
        self.blocked_since(&route, blocked)?;
        Ok(watch.answered(returned))
    }

    /// A client opens an address: a login of the page is for its origin.
    fn opens(&self, page: &TargetId, url: &str, deadline: Deadline<'_>) -> Result<(), Error> {
        let Some(origin) = http_origin(url) else { return Ok(()) };
        let page = page.clone();
        self.ask("navigating", deadline, |reply| Request::Opens { page, origin, reply })
    }

    /// Reloads a page. Returns when the new document is committed; loading continues. This recovers a
    /// crashed page, and one with a dialog that can no longer be answered.
    ///
    /// # Errors
    /// As [`navigate`](Self::navigate).
    pub fn reload(&self, page: &FrameRef, deadline: Deadline<'_>) -> Result<Done<()>, Error> {
        let began = Instant::now();
        let route = self.route_at_once(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(Reload::METHOD, frame));
        }
        let before = self.loader(&route);
        let (blocked, requested) = (self.last_blocked(&route), self.view());
        let mut watch = CallWatchdog::new(self, &route, Reload::METHOD.into(), deadline);
        watch.free_page(deadline)?;
        self.leave(&route, &mut watch, &Reload::new(), deadline)?;
        let target = route.target.as_str();
        // Chromium answers the command before it shows a `beforeunload` dialog.
        let stays = |s: &View| kept_by_beforeunload(&requested, s, target);
        let shown = |s: &View| {
            let top = s.page(target).and_then(|page| page.top_frame.as_ref());
            top.and_then(|top| s.frame(top.as_str())).is_some_and(|f| f.loader != before)
        };
        let over = |s: &View| shown(s) || last_blocked_number(s, &route) > blocked || stays(s).is_some();
        self.wait_for_document(&route, &mut watch, began, deadline, over)?;
        self.blocked_since(&route, blocked)?;
        let now = self.view();
        match stays(&now).filter(|_| !shown(&now)) {
            Some(dialog) => Err(self::blocked::<Reload>(&dialog)),
            None => Ok(watch.answered(())),
        }
    }

    /// Whether a navigation was aborted by the page's own activity: the page continues to load, or shows another
    /// document; or it was already being left or had a dialog, and no server has responded. False if the policy or the
    /// page (`beforeunload`) refused the navigation, and for responses without a document (204, a download).
    pub(super) fn was_superseded(
        &self,
        route: &Route,
        requested: &NavigationRequested,
        document: &Arc<str>,
        blocked: u64,
        deadline: Deadline<'_>,
    ) -> bool {
        if self.caught_up(deadline).is_err() {
            return false;
        }
        let target = route.target.as_str();
        let goes_on = |s: &View| {
            let top = s.page(target).and_then(|page| page.top_frame.as_ref()).and_then(|top| s.frame(top.as_str()));
            top.map(|top| (top.navigating, top.loader != *document))
        };
        // The end of loading is reported shortly after the end of the navigation.
        let is_clear = |s: &View| goes_on(s).is_none_or(|(navigates, is_elsewhere)| !navigates || is_elsewhere);
        self.wait_until(deadline.within(SUPERSEDED_CHECK_LIMIT), is_clear);
        let now = self.view();
        let is_old = |id: &str| requested.at.recent.iter().any(|closed| *closed.dialog.id == *id);
        let was_asked = now.recent.iter().any(|closed| {
            let dialog = &closed.dialog;
            dialog.target_id == route.target && dialog.kind == DialogType::BeforeUnload && !is_old(&dialog.id)
        });
        let had_dialog = requested.at.dialogs_of(target).next().is_some();
        let was_leaving = had_dialog || goes_on(&requested.at).is_some_and(|(navigates, _)| navigates);
        // A request with the id of the document that is shown is that of another navigation.
        let shown = self.loader(route);
        let is_answer = |request: &NetworkRequest| {
            let is_new = request.number > requested.request && request.raw_id != shown;
            is_new && &*request.resource_type == "document" && request.status.is_some()
        };
        let was_answered = || self.network_requests(&route.target).iter().any(|request| is_answer(request));
        let goes_on = goes_on(&now).is_some_and(|(navigates, is_elsewhere)| navigates || is_elsewhere);
        let was_superseded = goes_on || (was_leaving && self.traffic().watched && !was_answered());
        tracing::debug!(goes_on, was_leaving, was_asked, was_superseded, "a navigation was aborted");
        was_superseded && !was_asked && last_blocked_number(&now, route) == blocked
    }

    /// The number of the page's last blocked navigation, 0 for none.
    pub(super) fn last_blocked(&self, route: &Route) -> u64 {
        last_blocked_number(&self.view(), route)
    }

    /// Fails if a navigation of the page was blocked in the meantime.
    pub(super) fn blocked_since(&self, route: &Route, before: u64) -> Result<(), Error> {
        let now = self.view();
        let blocked = now.page(route.target.as_str()).and_then(|page| page.blocked.as_ref());
        match blocked.filter(|blocked| blocked.number > before) {
            Some(blocked) => {
                Err(Error::NavigationBlocked { url: blocked.url.to_string(), reason: blocked.reason.to_string() })
            }
            None => Ok(()),
        }
    }

    pub(super) fn dismiss_bridged_dialogs(&self, target: &TargetId, deadline: Deadline<'_>) -> Result<(), Error> {
        if self.view().dialogs_of(target.as_str()).all(|dialog| !dialog.bridged) {
            return Ok(());
        }
        self.ask("dismissing dialogs", deadline, |reply| Request::DismissBridgedDialogs {
            target: target.clone(),
            reply,
        })
    }

    fn loader(&self, route: &Route) -> Arc<str> {
        let now = self.view();
        let shows = route.frame.as_ref().and_then(|frame| now.frame(frame.as_str()));
        shows.map(|frame| Arc::clone(&frame.loader)).unwrap_or_default()
    }

    /// Sends a command that navigates a page. Open dialogs are dismissed first; one that opens meanwhile ends the wait.
    pub(super) fn leave<C: Command>(
        &self,
        route: &Route,
        watch: &mut CallWatchdog<'_>,
        command: &C,
        deadline: Deadline<'_>,
    ) -> Result<C::Returns, Error> {
        let before = self.view();
        let beforeunload =
            before.dialogs_of(route.target.as_str()).find(|dialog| dialog.kind == DialogType::BeforeUnload);
        if let Some(dialog) = beforeunload {
            // A `beforeunload` dialog is open: Chromium accepts no other navigation.
            return Err(blocked::<C>(&dialog.id));
        }
        self.dismiss_bridged_dialogs(&route.target, deadline)?;
        self.dismiss_dialogs(&route.target, deadline)?;
        let before = self.view();
        // Not interruptible by dialogs: open ones are closed with the document.
        let send = || {
            let options = CallOptions { session: Some(&route.session), deadline, interruptible: false };
            route.connection.send_with(Cow::Borrowed(C::METHOD), command, options)
        };
        let mut lost = LostCommand::new(self, route);
        let mut reply = send()?;
        let shown = self.loader(route);
        let mut dismissed = 0;
        loop {
            match reply.poll_raw(deadline.within(watch.poll_interval().min(DIALOG_POLL_INTERVAL))) {
                Ok(outcome) => {
                    // A `beforeunload` dialog opened and was already answered.
                    if let Some(dialog) = beforeunload_since(&before, &self.view(), route.target.as_str()) {
                        return Err(blocked::<C>(&dialog));
                    }
                    return Ok(outcome?.decode()?);
                }
                Err(back) => reply = back,
            }
            let now = self.view();
            let known = |dialog: &Dialog| before.dialogs.iter().any(|old| old.id == dialog.id);
            if let Some(dialog) = now.dialogs_of(route.target.as_str()).find(|dialog| !known(dialog)) {
                dismissed += 1;
                let old = dismissed <= MAX_DISMISSED && self.loader(route) == shown;
                if !old || !self.dismiss_one_dialog(&route.target, deadline) {
                    return Err(blocked::<C>(&dialog.id));
                }
            }
            if deadline.passed() {
                return Ok(watch.timed_out(reply, deadline)?.result.decode()?);
            }
            if now.dialogs_of(route.target.as_str()).next().is_none() && lost.is_lost(self, route) {
                self.stop_loading(route, deadline)?;
                reply = send()?;
            }
            self.check_unless_dialog(watch, route, deadline)?;
        }
    }

    /// Fails if the page shows a `beforeunload` dialog, or one was dismissed in the meantime.
    pub(super) fn check_beforeunload<C: Command>(&self, before: &View, target: &str) -> Result<(), Error> {
        match kept_by_beforeunload(before, &self.view(), target) {
            Some(dialog) => Err(blocked::<C>(&dialog)),
            None => Ok(()),
        }
    }

    /// Checks the page only without an open dialog, since a navigation closes open dialogs.
    pub(super) fn check_unless_dialog(
        &self,
        watch: &mut CallWatchdog<'_>,
        route: &Route,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        if self.view().dialogs_of(route.target.as_str()).next().is_some() {
            return Ok(());
        }
        watch.check(deadline)
    }

    fn wait_for_document(
        &self,
        route: &Route,
        watch: &mut CallWatchdog<'_>,
        began: Instant,
        deadline: Deadline<'_>,
        shown: impl Fn(&View) -> bool,
    ) -> Result<(), Error> {
        let mut dismissed = 0;
        loop {
            if self.wait_until(deadline.within(watch.poll_interval()), &shown).is_some() {
                return Ok(());
            }
            let now = self.view();
            if !now.is_active() {
                return Err(self.not_active());
            }
            if deadline.passed() {
                return Err(Error::NoDocument { after: began.elapsed() }.or_cancelled(deadline));
            }
            if now.dialogs.is_empty() {
                watch.check(deadline)?;
            } else if let Some(dialog) = dismissible_dialog(&now, &route.target) {
                dismissed += 1;
                if dismissed > MAX_DISMISSED || !self.dismiss_one_dialog(&route.target, deadline) {
                    return Err(blocked::<Navigate>(&dialog));
                }
            }
        }
    }
}

/// The state at the time of a navigation request.
pub(super) struct NavigationRequested {
    pub(super) at: Arc<View>,
    /// Number of the newest network request.
    pub(super) request: u64,
}

/// A `beforeunload` dialog that opened in the meantime and was not answered automatically, open or closed by now.
fn beforeunload_since(before: &View, now: &View, target: &str) -> Option<Arc<str>> {
    let beforeunload = |dialog: &Dialog| dialog.target_id.as_str() == target && dialog.kind == DialogType::BeforeUnload;
    let old = |id: &str| {
        before.dialogs.iter().any(|dialog| *dialog.id == *id) || before.recent.iter().any(|c| *c.dialog.id == *id)
    };
    let waited = |closed: &&ClosedDialog| !matches!(closed.closed_by, ClosedBy::AutoPolicy | ClosedBy::Armed);
    let all = now.dialogs.iter().chain(now.recent.iter().filter(waited).map(|closed| &closed.dialog));
    all.filter(|dialog| beforeunload(dialog)).find(|dialog| !old(&dialog.id)).map(|dialog| Arc::clone(&dialog.id))
}

/// A `beforeunload` dialog that opened in the meantime and is still open or was dismissed.
fn kept_by_beforeunload(before: &View, now: &View, target: &str) -> Option<Arc<str>> {
    let beforeunload = |dialog: &Dialog| dialog.target_id.as_str() == target && dialog.kind == DialogType::BeforeUnload;
    let is_old = |id: &str| before.recent.iter().any(|closed| *closed.dialog.id == *id);
    let refused = now.recent.iter().filter(|closed| !closed.accepted && closed.closed_by != ClosedBy::Lost);
    let mut all = now.dialogs.iter().chain(refused.map(|closed| &closed.dialog));
    all.find(|dialog| beforeunload(dialog) && !is_old(&dialog.id)).map(|dialog| Arc::clone(&dialog.id))
}

/// The number of the last blocked navigation of a page, 0 for none.
fn last_blocked_number(now: &View, route: &Route) -> u64 {
    let page = now.page(route.target.as_str());
    page.and_then(|page| page.blocked.as_ref()).map_or(0, |blocked| blocked.number)
}

pub(super) fn blocked<C: Command>(dialog: &str) -> Error {
    Error::BlockedByDialog { method: C::METHOD.into(), dialogs: vec![dialog.to_owned()] }
}
