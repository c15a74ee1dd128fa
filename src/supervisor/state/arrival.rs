//! New pages until their first document.
//!
//! A page that another page opens starts with an empty document whose URL is empty. Chromium 156 reports the navigation
//! to its first document right after the page is resumed, or before that if the page has no opener; such a page answers
//! no command until the server has responded. A page that is intentionally opened empty commits `about:blank`, or
//! nothing at all (`open('javascript:…')`).
//!
//! Calls to the page wait until it shows its first document, or for `GRACE` if it navigates to none.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::snapshot::PageState;
use super::pages::PageRec;
use super::{Now, SessionKey, State};
use crate::cdp::protocol::page::{FrameId, FrameStartedNavigatingEvent};
use crate::cdp::protocol::target::{TargetId, TargetInfo};

/// Longest wait for a page with an empty document to begin its first navigation.
const GRACE: Duration = Duration::from_millis(250);

/// Progress of a page towards its first document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It shows a document, or will not get one.
    Done,
    /// It is empty and may begin a navigation until this time; `None` until its attach is answered.
    Expected(Option<Instant>),
    /// The navigation to its first document is in progress.
    UnderWay,
}

impl Arrival {
    /// The initial state of an attached page. Pages that existed before the attach count as done.
    pub(super) fn of(info: &TargetInfo, was_there: bool) -> Self {
        if was_there || !info.url.is_empty() { Self::Done } else { Self::Expected(None) }
    }
}

/// Whether a frame is the top frame of a page. Until the frames are known, the top frame is the one with the target's
/// id.
fn is_top(page: &PageRec, frame: &FrameId) -> bool {
    page.top.as_ref().map_or_else(|| page.target.as_str() == frame.as_str(), |top| top == frame)
}

impl State {
    fn arriving(&mut self, session: &SessionKey, frame: &FrameId) -> Option<&mut PageRec> {
        let arriving = |page: &&mut PageRec| page.session == *session && page.arrival != Arrival::Done;
        self.pages.iter_mut().find(arriving).filter(|page| is_top(page, frame))
    }

    fn arrives(&mut self, target: &TargetId, arrival: Arrival) {
        if let Some(page) = self.pages.iter_mut().find(|page| page.target == *target && page.arrival != arrival) {
            page.arrival = arrival;
            self.dirty.pages = true;
        }
    }

    /// A frame starts a navigation.
    pub(super) fn first_document_begins(&mut self, session: &SessionKey, event: &FrameStartedNavigatingEvent<'_>) {
        let Some(page) = self.arriving(session, &event.frame_id) else { return };
        page.arrival = Arrival::UnderWay;
        // The page was opened with `about:blank` or an empty URL; this is the requested one.
        page.url = (*event.url).into();
        page.title = Arc::default();
        self.dirty.pages = true;
    }

    /// A frame shows a document.
    pub(super) fn document_committed(&mut self, session: &SessionKey, frame: &FrameId, url: &str, now: Now) {
        let Some(page) = self.arriving(session, frame) else { return };
        // The opener may navigate the page immediately afterwards.
        let is_blank = url == super::requests::BLANK && page.arrival != Arrival::UnderWay;
        page.arrival = if is_blank { Arrival::Expected(Some(now.instant + GRACE)) } else { Arrival::Done };
        self.dirty.pages = true;
    }

    /// A frame stopped loading: the response contained no document, or the navigation was refused.
    pub(super) fn loading_stopped(&mut self, session: &SessionKey, frame: &FrameId) {
        let first = self.pages.iter_mut().find(|page| page.session == *session && page.is_first);
        if let Some(page) = first.filter(|page| is_top(page, frame)) {
            page.is_first = false;
        }
        let shown = self.frames.url(frame).unwrap_or_default();
        let Some(page) = self.arriving(session, frame).filter(|page| page.arrival == Arrival::UnderWay) else { return };
        page.arrival = Arrival::Done;
        page.url = shown; // the navigation did not take place
        self.dirty.pages = true;
    }

    /// The attach of a page was answered.
    pub(super) fn attach_answered(&mut self, target: &TargetId, now: Now) {
        let Some(page) = self.pages.iter().find(|page| page.target == *target) else { return };
        if page.arrival == Arrival::Expected(None) {
            let is_empty = page.top.as_ref().and_then(|top| self.frames.url(top)).is_none_or(|url| url.is_empty());
            let until = Arrival::Expected(Some(now.instant + GRACE));
            self.arrives(&target.clone(), if is_empty { until } else { Arrival::Done });
        }
    }

    /// A page crashed, lost its connection, or does not respond: stop waiting for its first document.
    pub(super) fn stop_expecting(&mut self, target: &TargetId) {
        self.arrives(target, Arrival::Done);
    }

    /// Ends the wait for pages that began no navigation.
    pub(super) fn check_arrivals(&mut self, now: Now) {
        for page in &mut self.pages {
            let is_over = matches!(page.arrival, Arrival::Expected(Some(until)) if until <= now.instant);
            // The attach of an unresponsive page is answered late or never.
            let hangs = page.arrival == Arrival::Expected(None) && page.state == PageState::Unresponsive;
            if is_over || hangs {
                page.arrival = Arrival::Done;
                self.dirty.pages = true;
            }
        }
    }

    /// Time of the next [`check_arrivals`](Self::check_arrivals).
    pub(super) fn next_arrival_check(&self) -> Option<Instant> {
        let until = |page: &PageRec| match page.arrival {
            Arrival::Expected(until) => until,
            Arrival::Done | Arrival::UnderWay => None,
        };
        self.pages.iter().filter_map(until).min()
    }
}
