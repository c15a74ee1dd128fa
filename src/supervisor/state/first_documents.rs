//! Documents that the session of the browser intercepts: for popups that are resumed too early.
//!
//! A popup that can access its opener waits in the renderer process of the opener. Chromium 156 ends that wait when any client resumes
//! anything in this process: the opener, or a frame of another page. The first request of the popup, with its redirects, may then
//! precede `Fetch` of its own session. So the session of the browser intercepts documents too. Those of top frames of the task are held
//! until the policy has decided, usually for the second time; all others continue at once.
//!
//! Redirects of an early request are reported to the session of the browser alone, so a page that shows its first
//! document is no exception. The requests have a queue of their own: what other tabs load displaces no call of the
//! task. What the queue loses is paused, with an id that nobody knows, so `Fetch` is disabled and enabled again, which
//! continues everything; documents of the task's popups that have shown no document yet are stopped before.

use std::sync::Arc;

use super::arrival::Arrival;
use super::bridging::Caught;
use super::effect::Catch;
use super::navigation_checks::{CheckRequester, refuse};
use super::routing::{fail, go_on};
use super::{Now, SessionKey, State, Waiting};
use crate::cdp;
use crate::cdp::protocol::fetch;
use crate::cdp::protocol::page::StopLoading;
use crate::supervisor::network_route::AbortReason;

impl State {
    /// Intercepts the documents of all pages of the browser. Sent before the browser attaches to them.
    pub(super) fn intercept_first_documents(&mut self) {
        if self.has_navigation_policy() {
            let documents = Catch { documents: true, ..Catch::default() };
            let tag = self.expect(Waiting::FirstDocuments);
            self.send(None, tag, documents.command());
        }
    }

    /// Documents are intercepted, or the browser has no `Fetch` outside of pages.
    pub(super) fn first_documents_intercepted(&self, error: Option<cdp::Error>) {
        if let Some(error) = error.filter(|error| !error.is_closed()) {
            tracing::warn!(%error, "popups may send their first request before it is checked: the browser does not intercept it");
        }
    }

    /// The session of the browser intercepted the request for a document.
    pub(super) fn first_document_caught(&mut self, mut caught: Caught, now: Now) {
        if !self.has_navigation_policy() {
            return; // intercepted by whoever shares the connection
        }
        caught.drop_body();
        let caught = Arc::new(caught);
        // The top frame of a new page has the id of its target.
        let page = caught.frame().and_then(|frame| {
            let page = self.pages.iter().find(|page| page.target.as_str() == frame.as_str())?;
            Some((Arc::clone(&page.session), page.refused.is_some(), frame))
        });
        match page {
            None => self.send(None, 0, go_on(&caught.request())),
            Some((_, true, _)) => self.send(None, 0, refuse(&caught, true)),
            Some((session, false, frame)) => {
                let asker = CheckRequester::FirstDocument { session, caught: Arc::clone(&caught), frame };
                self.decide(caught.url().to_owned(), asker, now);
            }
        }
    }

    /// The session of the browser intercepted a request whose description exceeds the read limit: only its id is known. If it may be
    /// for a new page of the task, it fails.
    pub(super) fn oversized_first_document(&mut self, request: &str) {
        if !self.has_navigation_policy() {
            return;
        }
        match self.new_pages().is_empty() {
            true => self.send(None, 0, go_on(request)),
            false => self.send(None, 0, fail(request, AbortReason::BlockedByClient)),
        }
    }

    /// Too many documents at once: the ids of some are lost. They continue; those of new pages of the task are cancelled before. Those of
    /// its other pages have passed the policy at the sessions of these pages.
    pub(in crate::supervisor) fn first_documents_lost(&mut self) {
        if !self.has_navigation_policy() {
            return;
        }
        self.refuse_first_documents(|_| true);
        for session in self.new_pages() {
            self.send(Some(&session), 0, StopLoading::new());
        }
        self.send(None, 0, fetch::Disable::new());
        self.intercept_first_documents();
    }

    /// The pages of the task whose first request may not have passed the policy at their own sessions.
    fn new_pages(&self) -> Vec<SessionKey> {
        let new = self.pages.iter().filter(|page| page.is_first || page.arrival != Arrival::Done);
        new.map(|page| Arc::clone(&page.session)).collect()
    }
}
