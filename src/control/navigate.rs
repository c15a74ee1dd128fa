//! Sending tabs to addresses.

use std::time::Duration;

use super::{Error, Navigate, Navigated, Profile, Running, TabInfo, Travel, WaitUntil};
use crate::page::{BeforeNavigation, Late, Navigation};
use crate::supervisor::{self, DialogAnswer, DialogType, FrameRef, TargetId};
use crate::sync::Deadline;

/// What asking for the title at the end may take.
const TITLE: Duration = Duration::from_millis(500);
/// Characters of a dialog's message in an error.
const MESSAGE: usize = 80;
impl Profile {
    /// Sends a tab to an address. Starts the browser when it does not run; opens a tab when there is none. A dialog that
    /// opens meanwhile is a success that says so: `beforeunload` with `navigated: false`. One that is pending is an error
    /// unless it may be [dismissed](Navigate::dismiss_dialogs). Waits for its turn as actions do.
    ///
    /// # Errors
    /// [`Error::DialogOpen`], those of [`start`](Self::start) and [`tab`](Self::tab), [`Error::NavigationBlocked`], [`Error::BadRequest`] for
    /// what is no address, [`Error::Page`].
    pub fn navigate(&self, to: Navigate, deadline: Deadline) -> Result<Navigated, Error> {
        self.send(to, Late::Fails, deadline)
    }

    /// The same for whoever can use a page that is not complete: where its document is there, but not all that belongs to
    /// it by the deadline, that is a success with [`loading`](Navigated::loading).
    ///
    /// # Errors
    /// As [`navigate`](Self::navigate).
    pub fn visit(&self, to: Navigate, deadline: Deadline) -> Result<Navigated, Error> {
        self.send(to, Late::IsReported, deadline)
    }

    fn send(&self, to: Navigate, late: Late, deadline: Deadline) -> Result<Navigated, Error> {
        let url = self.address(&to.url)?;
        let running = self.ensure(deadline)?;
        let found = self.find(&running, to.target.as_deref(), true);
        if let (Ok(target), false) = (&found, to.dismiss_dialogs) {
            no_dialog(&running, target)?;
        }
        self.may_go(&running, &url, deadline)?;
        let target = match found {
            Err(Error::NoTabOpen | Error::NoCurrentTab) => self.page_for(&running, false, deadline)?.0,
            found => found?,
        };
        let handle = self.handle(&running, &target)?;
        let _turn = handle.tab.turn("navigation", to.dismiss_dialogs, deadline)?;
        let before = handle.tab.before_navigation();
        leave_dialogs(&running, &target, to.dismiss_dialogs, deadline)?;
        let went = handle.tab.go(&url, to.wait_until, late, deadline)?;
        Ok(self.arrived(&running, &target, &before, handle.info, &went, deadline))
    }

    /// Sends a tab back or forward through where it has been, or loads it again, and waits as long as is wished. Dialogs, and
    /// pages that are not complete by the deadline, are as with [`visit`](Self::visit).
    ///
    /// # Errors
    /// [`Error::DialogOpen`], [`Error::Conflict`] when there is no page to go back or forward to, those of [`tab`](Self::tab), [`Error::Page`].
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
            no_dialog(&running, &target)?;
        }
        let handle = self.handle(&running, &target)?;
        let (page, supervisor) = (FrameRef::TopOf(target.clone()), running.supervisor());
        let _turn = handle.tab.turn("navigation", dismiss_dialogs, deadline)?;
        let before = handle.tab.before_navigation();
        leave_dialogs(&running, &target, dismiss_dialogs, deadline)?;
        let left = match way {
            Travel::Reload => supervisor.reload(&page, deadline).map(Some),
            Travel::Back => supervisor.travel(&page, -1, deadline),
            Travel::Forward => supervisor.travel(&page, 1, deadline),
        };
        let left = match left {
            Ok(Some(done)) => Ok(Navigation::left(done.rescued)),
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
        let went = handle.tab.until_there(&before, left, wait_until, Late::IsReported, deadline)?;
        Ok(self.arrived(&running, &target, &before, handle.info, &went, deadline))
    }

    /// What is told of a navigation.
    fn arrived(
        &self,
        running: &Running,
        target: &TargetId,
        before: &BeforeNavigation,
        info: TabInfo,
        went: &Navigation,
        deadline: Deadline,
    ) -> Navigated {
        let told = running.supervisor().target_info(&FrameRef::TopOf(target.clone()), deadline.within(TITLE));
        let now = running.view();
        let page = now.page(target.as_str());
        // The browser tells the address that is on its way, when there is one; here it is the one that is shown.
        let url = page.map_or(info.url, |page| page.url.to_string());
        let title = match (told, page) {
            (Ok(told), _) => told.title,
            (Err(_), Some(page)) => page.title.to_string(),
            (Err(_), None) => info.title,
        };
        Navigated {
            target_id: info.target_id,
            url,
            title,
            status: went.status,
            navigated: went.stayed.then_some(false),
            blocked_by_dialog: went.blocked_by_dialog,
            pending_dialogs: now.dialogs_of(target.as_str()).cloned().collect(),
            dismissed_dialogs: before.dismissed(&now),
            rescued: went.rescued,
            loading: went.loading,
        }
    }

    /// An address as the browser takes it.
    pub(super) fn address(&self, text: &str) -> Result<String, Error> {
        let text = text.trim();
        let problem = match url::Url::parse(text) {
            Ok(_) if is_host_and_port(text) => {
                "it has no scheme, only a host and a port; give https://… or http://…".to_owned()
            }
            Ok(_) => return Ok(text.to_owned()),
            Err(url::ParseError::RelativeUrlWithoutBase) => "it has no scheme; give https://… or http://…".to_owned(),
            Err(error) => format!("{error}; give https://… or http://…"),
        };
        // The text itself may hold a password.
        Err(Error::BadRequest { problem: format!("url is no address: {problem}") })
    }

    /// Whether a page may go there.
    pub(super) fn may_go(&self, running: &Running, url: &str, deadline: Deadline) -> Result<(), Error> {
        Ok(running.supervisor().check_navigation(url, deadline)?)
    }
}

/// Fails when a tab shows a dialog.
fn no_dialog(running: &Running, target: &TargetId) -> Result<(), Error> {
    let now = running.view();
    let Some(dialog) = now.dialogs_of(target.as_str()).next() else { return Ok(()) };
    let message = dialog.message.chars().take(MESSAGE).collect();
    Err(Error::DialogOpen { kind: dialog.kind.as_str(), message })
}

/// Readies a tab that shows dialogs for being sent elsewhere, or fails. All but the question whether the page may be
/// left are dismissed by the navigation itself.
fn leave_dialogs(running: &Running, target: &TargetId, dismiss: bool, deadline: Deadline) -> Result<(), Error> {
    if !dismiss {
        return no_dialog(running, target);
    }
    let now = running.view();
    let asks = now.dialogs_of(target.as_str()).find(|dialog| dialog.kind == DialogType::BeforeUnload);
    let Some(asks) = asks else { return Ok(()) };
    match running.supervisor().respond(Some(&asks.id), DialogAnswer::Dismiss, deadline) {
        // Somebody else has answered it.
        Ok(_) | Err(supervisor::Error::DialogGone { .. } | supervisor::Error::DialogNotFound { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether what stands before the colon is no scheme: `localhost:3000/page`.
fn is_host_and_port(text: &str) -> bool {
    let Some((before, rest)) = text.split_once(':') else { return false };
    let port = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_port && (before.contains('.') || before.eq_ignore_ascii_case("localhost"))
}
