//! A lost connection: what is kept, what ends, and how the state continues on the next connection.
//!
//! Pages, frames, console and closed dialogs are kept. Sessions are gone. Chromium allows only the session that saw a
//! dialog open to answer it, so every open dialog ends as `lost`; its page is wedged until it is navigated, reloaded or
//! closed. Commands of callers are not sent again.
//!
//! Each new connection has the next generation. Everything is attached again; pages and frames keep their ids; what
//! does not return is dropped. A pipe cannot be re-established: its browser has ended.

use std::sync::Arc;

use super::super::error::Error;
use super::super::log::LogEvent as Noted;
use super::super::snapshot::{PageState, Phase};
use super::{Now, SessionKey, State, Waiting};
use crate::cdp::protocol::target::{TargetId, TargetInfo};

impl State {
    /// The connection was lost; the supervisor reconnects.
    pub(in crate::supervisor) fn disconnected(&mut self, reason: &str, now: Now) {
        self.phase = Phase::Reconnecting(reason.into());
        self.dirty.phase = true;
        self.note(None, now, Noted::Disconnected { reason: reason.into() });
        for (target, dialog) in self.dialogs.open_pages() {
            if let Some(page) = self.page_mut(&target) {
                page.lost_dialog = Some(dialog);
            }
        }
        self.lose_dialogs(|_| true, now);
        self.sessions.clear();
        self.forget_open(|_| true);
        self.forget_extras();
        self.lose_downloads();
        self.unlocate();
        self.forget_scripts();
        self.unguard(|_| true);
        self.forget_cut_off(|_| true);
        self.forget_recording_contexts(|_| true);
        self.forget_recording_scripts(|_| true);
        self.stop_confirming();
        self.frames.detach_all();
        self.waiting.clear();
        self.effects.clear();
        self.requests.listed = false;
        self.requests.listed_at = None;
        self.forget_choosers(&Error::Reconnecting { reason: reason.to_owned() });
        self.requests.disconnect(&Error::Reconnecting { reason: reason.to_owned() });
        for page in &mut self.pages {
            page.closing = false;
            page.arrival = super::arrival::Arrival::Done;
            if page.state != PageState::Crashed {
                page.state = PageState::Detached;
            }
        }
        self.dirty.pages = true;
        self.dirty.frames = true;
    }

    /// Connected again: attaches to everything.
    pub(in crate::supervisor) fn reconnected(&mut self) {
        self.generation += 1;
        self.dirty.phase = true;
        self.follow_again();
        self.intercept_first_documents();
        let tag = self.expect(Waiting::Started);
        self.send(None, tag, self.attach_pages());
    }

    /// Whether to reconnect after a lost connection.
    pub(in crate::supervisor) fn may_reconnect(&self) -> bool {
        matches!(self.phase, Phase::Active | Phase::Reconnecting(_)) && self.options.reconnect.tries > 0
    }

    /// The pages of the task.
    pub(in crate::supervisor) fn targets(&self) -> Vec<TargetId> {
        self.pages.iter().map(|page| page.target.clone()).collect()
    }

    pub(in crate::supervisor) fn is_active(&self) -> bool {
        self.phase == Phase::Active
    }

    pub(in crate::supervisor) fn options(&self) -> &super::super::options::SupervisorOptions {
        &self.options
    }

    /// A page of the task was attached again on a new session.
    pub(super) fn page_back(&mut self, index: usize, session: &SessionKey, info: &TargetInfo) {
        let page = &mut self.pages[index];
        page.session = Arc::clone(session);
        page.was_there &= *page.url == *info.url;
        page.is_first &= info.url.is_empty();
        page.url = info.url.as_str().into();
        page.title = info.title.as_str().into();
        page.state = match page.state {
            PageState::Crashed => PageState::Crashed,
            // Its attach may hang and must not delay other pages.
            _ if page.lost_dialog.is_some() => PageState::Wedged,
            _ => PageState::Attaching,
        };
        self.dirty.pages = true;
    }

    /// All pages are reported: drops those that were not reported again.
    pub(super) fn drop_detached(&mut self, now: Now) {
        let closed_pages = self.pages.iter().filter(|page| !self.sessions.contains_key(&page.session));
        let closed_pages: Vec<TargetId> = closed_pages.map(|page| page.target.clone()).collect();
        for target in closed_pages {
            self.page_out(&target, now);
        }
    }
}
