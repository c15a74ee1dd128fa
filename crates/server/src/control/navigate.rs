//! Navigation of tabs.

use std::time::Duration;

use super::{Error, Navigate, Navigated, Profile, Running, TabInfo, Travel, WaitUntil};
use cdpilot::page::{BeforeNavigation, Late, Navigation};
use cdpilot::supervisor::{self, DialogAnswer, DialogType, FrameRef, TargetId};
use cdpilot::sync::Deadline;

/// Time limit for reading the title at the end.
const TITLE: Duration = Duration::from_millis(500);
/// Characters of a dialog's message in an error.
const MESSAGE: usize = 80;
impl Profile {
    /// Navigates a tab to a URL. Starts the browser if it is not running; opens a tab if there is none. If a dialog
    /// opens during the navigation, the result says so: `beforeunload` with `navigated: false`. A pending dialog is an
    /// error unless it may be [dismissed](Navigate::dismiss_dialogs). Queues behind other actions of the tab.
    ///
    /// # Errors
    /// [`Error::DialogOpen`], those of [`start`](Self::start) and [`tab`](Self::tab), [`Error::NavigationBlocked`],
    /// [`Error::BadRequest`] for an invalid URL, [`Error::Page`].
    pub fn navigate(&self, to: Navigate, deadline: Deadline<'_>) -> Result<Navigated, Error> {
        self.send(to, Late::Fails, deadline)
    }

    /// Like [`navigate`](Self::navigate), but a page that is still loading at the deadline is a success with
    /// [`loading`](Navigated::loading).
    ///
    /// # Errors
    /// As [`navigate`](Self::navigate).
    pub fn visit(&self, to: Navigate, deadline: Deadline<'_>) -> Result<Navigated, Error> {
        self.send(to, Late::IsReported, deadline)
    }

    fn send(&self, to: Navigate, late: Late, deadline: Deadline<'_>) -> Result<Navigated, Error> {
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
        let before = handle.tab.before_navigation();
        prepare_dialogs(&running, &target, to.dismiss_dialogs, deadline)?;
        let navigation = handle.tab.go(&url, to.wait_until, late, deadline)?;
        let downloads = match navigation.stayed && !navigation.blocked_by_dialog {
            true => handle.tab.downloads_of(&before, deadline),
            false => Vec::new(),
        };
        Ok(Navigated { downloads, ..self.arrived(&running, &target, &before, handle.info, &navigation, deadline) })
    }

    /// Goes back or forward in the history of a tab, or reloads it. Dialogs, and pages that are still loading at the
    /// deadline, are treated as in [`visit`](Self::visit).
    ///
    /// # Errors
    /// [`Error::DialogOpen`], [`Error::Conflict`] if the history has no such entry, those of [`tab`](Self::tab),
    /// [`Error::Page`].
    pub fn travel(
        &self,
        target: Option<&str>,
        way: Travel,
        wait_until: WaitUntil,
        dismiss_dialogs: bool,
        deadline: Deadline<'_>,
    ) -> Result<Navigated, Error> {
        let running = self.running()?;
        let target = self.find(&running, target, true)?;
        if !dismiss_dialogs {
            require_no_dialog(&running, &target)?;
        }
        let handle = self.handle(&running, &target)?;
        let (page, supervisor) = (FrameRef::TopOf(target.clone()), running.supervisor());
        let _turn = handle.tab.turn("navigation", dismiss_dialogs, deadline)?;
        let before = handle.tab.before_navigation();
        prepare_dialogs(&running, &target, dismiss_dialogs, deadline)?;
        let left = match way {
            Travel::Reload => supervisor.reload(&page, deadline).map(Some),
            Travel::Back => supervisor.navigate_history(&page, -1, deadline),
            Travel::Forward => supervisor.navigate_history(&page, 1, deadline),
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
        let navigation = handle.tab.until_there(&before, left, wait_until, Late::IsReported, deadline)?;
        Ok(self.arrived(&running, &target, &before, handle.info, &navigation, deadline))
    }

    /// The result of a navigation.
    fn arrived(
        &self,
        running: &Running,
        target: &TargetId,
        before: &BeforeNavigation,
        info: TabInfo,
        navigation: &Navigation,
        deadline: Deadline<'_>,
    ) -> Navigated {
        let described = running.supervisor().target_info(&FrameRef::TopOf(target.clone()), deadline.within(TITLE));
        let now = running.view();
        let page = now.page(target.as_str());
        // The browser reports a URL that is still loading; the result has the one that is shown.
        let url = page.map_or(info.url, |page| page.url.to_string());
        let title = match (described, page) {
            (Ok(info), _) => info.title,
            (Err(_), Some(page)) => page.title.to_string(),
            (Err(_), None) => info.title,
        };
        Navigated {
            target_id: info.target_id,
            url,
            title,
            status: navigation.status,
            navigated: navigation.stayed.then_some(false),
            blocked_by_dialog: navigation.blocked_by_dialog,
            pending_dialogs: now.dialogs_of(target.as_str()).cloned().collect(),
            dismissed_dialogs: before.dismissed(&now),
            downloads: Vec::new(),
            rescued: navigation.rescued,
            loading: navigation.loading,
        }
    }

    /// Checks that a text is a complete URL.
    pub(crate) fn address(&self, text: &str) -> Result<String, Error> {
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
    pub(crate) fn may_go(&self, running: &Running, url: &str, deadline: Deadline<'_>) -> Result<(), Error> {
        if let Some(hosts) = self.session.hosts() {
            hosts.check(url)?;
        }
        Ok(running.supervisor().check_navigation(url, deadline)?)
    }
}

/// Fails if a tab shows a dialog.
fn require_no_dialog(running: &Running, target: &TargetId) -> Result<(), Error> {
    let now = running.view();
    let Some(dialog) = now.dialogs_of(target.as_str()).next() else { return Ok(()) };
    let message = dialog.message.chars().take(MESSAGE).collect();
    Err(Error::DialogOpen { kind: dialog.kind.as_str(), message })
}

/// Prepares a tab that shows dialogs for a navigation, or fails. The navigation itself dismisses all dialogs except
/// `beforeunload`.
fn prepare_dialogs(running: &Running, target: &TargetId, dismiss: bool, deadline: Deadline<'_>) -> Result<(), Error> {
    if !dismiss {
        return require_no_dialog(running, target);
    }
    let now = running.view();
    let dialog = now.dialogs_of(target.as_str()).find(|dialog| dialog.kind == DialogType::BeforeUnload);
    let Some(dialog) = dialog else { return Ok(()) };
    match running.supervisor().respond(Some(&dialog.id), DialogAnswer::Dismiss, deadline) {
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
