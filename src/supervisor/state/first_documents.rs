//! The first documents of popups that are resumed too early.
//!
//! A popup that can access its opener waits in the renderer process of the opener. Chromium 156 ends that wait when anything in this
//! process is resumed: another page, a frame of any page that is in this process, and by any client. The first request of the popup may
//! then precede `Fetch` of its own session. So the session of the browser intercepts documents too: those of new pages of the task are
//! held until the policy has decided, all others continue at once.

use std::sync::Arc;

use super::arrival::Arrival;
use super::bridging::Caught;
use super::effect::Catch;
use super::navigation_checks::CheckRequester;
use super::routing::{fail, go_on};
use super::{Now, State};
use crate::cdp::protocol::fetch;
use crate::supervisor::network_route::AbortReason;

impl State {
    /// Intercepts the documents of all pages, ahead of the sessions of pages.
    pub(super) fn intercept_first_documents(&mut self) {
        if self.has_navigation_policy() {
            let documents = Catch { documents: true, ..Catch::default() };
            self.send(None, 0, documents.command());
        }
    }

    /// The session of the browser intercepted the request for a document.
    pub(super) fn first_document_caught(&mut self, caught: Caught, now: Now) {
        let caught = Arc::new(caught);
        let frame = caught.frame();
        // The top frame of a new page has the id of its target.
        let arriving = self.pages.iter().find(|page| {
            page.arrival != Arrival::Done && frame.as_ref().is_some_and(|frame| frame.as_str() == page.target.as_str())
        });
        let (Some(session), Some(frame)) = (arriving.map(|page| Arc::clone(&page.session)), frame) else {
            self.send(None, 0, go_on(&caught.request()));
            return;
        };
        if self.is_refused(&session) {
            self.send(None, 0, fail(&caught.request(), AbortReason::Aborted));
            return;
        }
        self.decide(caught.url().to_owned(), CheckRequester::FirstDocument { session, caught, frame }, now);
    }

    /// The session of the browser intercepted a request whose description exceeds the read limit: only its id is known. If it may be
    /// for a new page of the task, it fails.
    pub(super) fn oversized_first_document(&mut self, request: &str) {
        let arrives = self.pages.iter().any(|page| page.arrival != Arrival::Done);
        if arrives {
            self.send(None, 0, fail(request, AbortReason::BlockedByClient));
        } else {
            self.send(None, 0, go_on(request));
        }
    }

    /// Too many requests at once: the ids of some are lost. They continue, unless the page of their session stopped loading.
    pub(super) fn renew_first_documents(&mut self) {
        if self.has_navigation_policy() {
            self.send(None, 0, fetch::Disable::new());
            self.intercept_first_documents();
        }
    }
}
