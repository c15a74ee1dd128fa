//! The task's pages: ownership, opening and closing.
//!
//! With `max_pages`, a page that another page opens beyond the limit is attached like any other page, but never listed.
//! It is resumed, its documents are refused, and then it is closed and reported: if it were closed before it is
//! resumed, the script that opened it might wait forever, and if it were closed while the policy holds a request of it,
//! that request might be sent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::log::LogEvent as Noted;
use super::super::navigation_policy::BlockedNavigation;
use super::super::options::Pages;
use super::super::snapshot::{PageState, PageView};
use super::arrival::Arrival;
use super::sessions::SessionKind;
use super::{Now, SessionKey, State};
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::page::{FrameId, GetNavigationHistory, GetNavigationHistoryReturns};
use crate::cdp::protocol::runtime::TerminateExecution;
use crate::cdp::protocol::target::{CloseTarget, GetTargetInfo, TargetId, TargetInfo};

/// A page of the task.
#[derive(Debug)]
pub(super) struct PageRec {
    pub(super) target: TargetId,
    pub(super) session: SessionKey,
    pub(super) url: Arc<str>,
    pub(super) title: Arc<str>,
    pub(super) state: PageState,
    pub(super) opener: Option<TargetId>,
    /// Whether it was created in the process of its opener.
    shares_process: bool,
    pub(super) top: Option<FrameId>,
    pub(super) context: Option<BrowserContextId>,
    /// The client that it is assigned to.
    pub(super) client: Option<Arc<str>>,
    /// The client that acts on it at the moment; the default client has no name. Known only while answers are armed.
    pub(super) acting: Option<Option<Arc<str>>>,
    pub(super) own: bool,
    /// It ends with the task: opened through this supervisor, or by such a page.
    pub(super) ends_with_task: bool,
    /// A dialog that was open when the connection was lost.
    pub(super) lost_dialog: Option<Arc<str>>,
    /// It still shows the document from before the attach.
    pub(super) was_there: bool,
    /// Its last blocked navigation.
    pub(super) blocked: Option<Arc<BlockedNavigation>>,
    /// It is being closed: dialogs are dismissed regardless of the policy.
    pub(super) closing: bool,
    /// Progress towards its first document.
    pub(super) arrival: Arrival,
    /// It was opened by another page and has shown no document since: its first request may precede `Fetch` of its session.
    pub(super) is_first: bool,
    /// When it was opened beyond the page limit. It is closed and never published.
    pub(super) refused: Option<Instant>,
}

/// A refused page is closed after this time in any case.
const REFUSING: Duration = Duration::from_secs(2);

impl PageRec {
    pub(super) fn view(&self) -> PageView {
        PageView {
            target_id: self.target.clone(),
            url: Arc::clone(&self.url),
            title: Arc::clone(&self.title),
            state: self.state,
            opener: self.opener.clone(),
            top_frame: self.top.clone(),
            own: self.own,
            context: self.context.clone(),
            blocked: self.blocked.clone(),
            lost_dialog: self.lost_dialog.clone().filter(|_| self.state == PageState::Wedged),
            is_arriving: self.arrival != Arrival::Done,
            is_under_way: self.arrival == Arrival::UnderWay,
            shares_process: self.shares_process,
            session: Arc::clone(&self.session),
        }
    }
}

/// Whether a page belongs to the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    Yes,
    No,
    /// A page is being opened by this supervisor, and this may be it.
    NotYetKnown,
}

impl State {
    pub(super) fn belongs(&self, info: &TargetInfo) -> Ownership {
        let ours = match &self.options.pages {
            Pages::All => true,
            Pages::Existing(target) => *target == info.target_id,
            Pages::New { .. } | Pages::None => false,
        };
        let known = self.page_index(&info.target_id).is_some();
        let opened_by_ours = info.opener_id.as_ref().is_some_and(|opener| self.page_index(opener).is_some())
            || info.opener_frame_id.as_ref().is_some_and(|frame| self.frames.get(frame).is_some());
        if ours || known || opened_by_ours || self.requests.is_created(&info.target_id) {
            Ownership::Yes
        } else if self.requests.creating() > 0 {
            Ownership::NotYetKnown
        } else {
            Ownership::No
        }
    }

    pub(super) fn page_index(&self, target: &TargetId) -> Option<usize> {
        self.pages.iter().position(|page| page.target == *target)
    }

    pub(super) fn page_of(&self, session: &str) -> Option<TargetId> {
        self.sessions.get(session).map(|s| s.page.clone())
    }

    pub(super) fn page_mut(&mut self, target: &TargetId) -> Option<&mut PageRec> {
        self.dirty.pages = true;
        self.pages.iter_mut().find(|page| page.target == *target)
    }

    /// A page of the task was attached on this session.
    pub(super) fn page_in(&mut self, session: &SessionKey, info: &TargetInfo, now: Now) {
        let own = self.requests.is_created(&info.target_id);
        let was_there = !own && !self.requests.listed;
        let refused = self.is_beyond_limit(info).then_some(now.instant);
        let opened_by = info.opener_id.as_ref().and_then(|opener| self.page_index(opener)).map(|at| &self.pages[at]);
        let page = PageRec {
            target: info.target_id.clone(),
            session: Arc::clone(session),
            url: info.url.as_str().into(),
            title: info.title.as_str().into(),
            state: PageState::Attaching,
            opener: info.opener_id.clone(),
            shares_process: info.can_access_opener == Some(true),
            top: None,
            context: info.browser_context_id.clone(),
            client: opened_by.and_then(|opener| opener.client.clone()),
            acting: None,
            own,
            ends_with_task: own || opened_by.is_some_and(|opener| opener.ends_with_task),
            lost_dialog: None,
            was_there,
            blocked: None,
            closing: refused.is_some(),
            refused,
            arrival: Arrival::of(info, was_there),
            is_first: !was_there && info.opener_id.is_some(),
        };
        self.pages.push(page);
        self.dirty.pages = true;
        if refused.is_some() {
            self.popup_refused(info, now);
            return;
        }
        let opened = Noted::TabOpened { url: info.url.as_str().into(), opener: info.opener_id.clone() };
        self.note(Some(&info.target_id), now, opened);
    }

    /// Whether a new page exceeds the page limit. Pages opened through the supervisor never do.
    fn is_beyond_limit(&self, info: &TargetInfo) -> bool {
        let Some(max) = self.options.max_pages else { return false };
        // A page that a person or another program opens has a URL from the start and no opener. One that the supervisor opens has none
        // either, and may be attached before the browser has answered with its id.
        let is_maybe_own = self.requests.creating() > 0;
        let is_popup =
            info.opener_id.is_some() || info.opener_frame_id.is_some() || (info.url.is_empty() && !is_maybe_own);
        let open = self.pages.iter().filter(|page| page.refused.is_none()).count() + self.requests.creating();
        is_popup && self.requests.listed && !self.requests.is_created(&info.target_id) && open >= max
    }

    /// Reports a page that is closed because of the page limit.
    fn popup_refused(&mut self, info: &TargetInfo, now: Now) {
        let of_frame = info.opener_frame_id.as_ref().and_then(|frame| self.frames.page(frame));
        let opener = info.opener_id.clone().filter(|opener| self.page_index(opener).is_some()).or(of_frame);
        self.note(opener.as_ref(), now, Noted::PopupBlocked { limit: self.options.max_pages });
    }

    /// Whether the page of a session is refused: none of its documents may load.
    pub(super) fn is_refused(&self, session: &str) -> bool {
        let page = self.page_of(session).and_then(|page| self.page_index(&page));
        page.is_some_and(|index| self.pages[index].refused.is_some())
    }

    /// Closes refused pages that hold no more requests: Chromium 156 continues a held request when its page is closed,
    /// and never resumes the opener of a page that is closed before it was resumed.
    pub(super) fn close_refused(&mut self, now: Now) {
        if !self.is_active() {
            return; // those that are attached again are closed then
        }
        let guards = self.has_navigation_policy();
        let is_ready = |page: &&PageRec| {
            let is_over = page.refused.is_some_and(|since| since + REFUSING <= now.instant);
            page.refused.is_some() && (is_over || !guards || page.arrival == Arrival::Done)
        };
        let ready: Vec<TargetId> = self.pages.iter().filter(is_ready).map(|page| page.target.clone()).collect();
        for target in ready {
            if !self.requests.is_closing(&target) {
                self.begin_close(target, None, now);
            }
        }
    }

    /// Time of the next [`close_refused`](Self::close_refused).
    pub(super) fn next_refused_check(&self) -> Option<Instant> {
        if !self.is_active() {
            return None;
        }
        let waiting = self.pages.iter().filter(|page| !self.requests.is_closing(&page.target));
        waiting.filter_map(|page| page.refused).map(|since| since + REFUSING).min()
    }

    /// A page of the task is gone, with everything on it.
    pub(super) fn page_out(&mut self, target: &TargetId, now: Now) {
        let Some(index) = self.page_index(target) else { return };
        let was_refused = self.pages.remove(index).refused.is_some();
        self.dirty.pages = true;
        self.lose_dialogs(|dialog| dialog.target_id == *target, now);
        self.dirty.frames |= self.frames.remove_page(target);
        self.sessions.retain(|_, session| session.page != *target);
        if !was_refused {
            self.note(Some(target), now, Noted::TabClosed { reason: None });
        }
        self.forget_chooser(target);
        self.forget_persistent_of(target);
        self.forget_routes_of(target);
        self.forget_followers_of(target);
        self.forget_console_of(target);
        self.forget_network_of(target);
        self.requests.page_gone(target);
    }

    /// Requests a page's title, which no event reports. Later changes by scripts are noticed at the next load or URL
    /// change.
    pub(super) fn ask_info(&mut self, session: &SessionKey) {
        let Some(rec) = self.sessions.get(session).filter(|rec| rec.kind == SessionKind::Page) else { return };
        let target = rec.target.clone();
        let tag = self.expect(super::Waiting::Info);
        let mut info = GetTargetInfo::new();
        info.target_id = Some(target);
        self.send(None, tag, info);
    }

    /// Requests the title of a page that was attached while it showed a document, whose load events may have preceded the attach.
    pub(super) fn ask_title(&mut self, session: &SessionKey) {
        let Some(target) = self.page_of(session) else { return };
        let page = self.page_index(&target).map(|index| &self.pages[index]);
        if page.is_some_and(|page| !page.url.is_empty() && *page.url != *super::requests::BLANK) {
            let tag = self.expect(super::Waiting::History { target });
            self.send(Some(session), tag, GetNavigationHistory::new());
        }
    }

    /// The history of a page that was just attached. Unlike the description of the page it has no title, not the URL, while
    /// the document has none.
    pub(super) fn titled_at_attach(&mut self, target: &TargetId, history: &GetNavigationHistoryReturns) {
        let current = usize::try_from(history.current_index).ok().and_then(|at| history.entries.get(at));
        if let Some(entry) = current.filter(|entry| !entry.title.is_empty()) {
            self.titled(target, &entry.title);
        }
    }

    /// The title of a page.
    pub(super) fn titled(&mut self, target: &TargetId, title: &str) {
        let Some(index) = self.page_index(target) else { return };
        // Until a page shows its first document, the title is that of the empty document.
        if *self.pages[index].title != *title && self.pages[index].arrival != Arrival::UnderWay {
            self.pages[index].title = title.into();
            self.dirty.pages = true;
        }
    }

    pub(super) fn info(&mut self, info: &TargetInfo) {
        let Some(index) = self.page_index(&info.target_id) else { return };
        let page = &mut self.pages[index];
        if *page.url != *info.url || *page.title != *info.title {
            page.url = info.url.as_str().into();
            page.title = info.title.as_str().into();
            self.dirty.pages = true;
        }
    }

    pub(super) fn set_page_state(&mut self, target: &TargetId, state: PageState, now: Now) {
        let Some(index) = self.page_index(target) else { return };
        let old = std::mem::replace(&mut self.pages[index].state, state);
        if old == state {
            return;
        }
        self.dirty.pages = true;
        if old == PageState::Unresponsive || state == PageState::Unresponsive {
            self.note(Some(target), now, Noted::Responsiveness { state });
        }
    }

    /// Closes a page safely: Chromium 156 crashes as a whole when a tab is closed under a dialog of one of its
    /// subframes. So open dialogs are dismissed first, and a page with subframes is navigated to a blank document, so
    /// that none of them can open another dialog. A script that prevents this, by dialogs or otherwise, is terminated.
    pub(super) fn close_page(&mut self, target: &TargetId, now: Now) {
        let Some(page) = self.page_mut(target) else { return };
        page.closing = true;
        let session = Arc::clone(&page.session);
        let crashed = page.state == PageState::Crashed;
        self.dismiss_all(target, now);
        if self.dialogs.open_on(target) > 0 {
            return; // continues when they are closed
        }
        if self.frames.count_on(target) > 1 && !crashed {
            let tag = self.expect(super::Waiting::Blanked { target: target.clone() });
            self.send(Some(&session), tag, super::navigation_checks::blank(None));
            self.requests.blanking(target, now);
        } else {
            self.close_now(target.clone(), now);
        }
    }

    /// Terminates the scripts that run on a page, and those of other pages in the same processes.
    pub(super) fn end_scripts(&mut self, target: &TargetId) {
        let here = self.sessions.iter().filter(|(_, s)| s.page == *target && s.kind.has_frames());
        let sessions: Vec<SessionKey> = here.map(|(key, _)| Arc::clone(key)).collect();
        for session in sessions {
            self.send(Some(&session), 0, TerminateExecution::new());
        }
    }

    pub(super) fn close_now(&mut self, target: TargetId, now: Now) {
        if self.requests.take_close(&target, now) {
            let tag = self.expect(super::Waiting::Closed { target: target.clone() });
            self.send(None, tag, CloseTarget::new(target));
        }
    }
}
