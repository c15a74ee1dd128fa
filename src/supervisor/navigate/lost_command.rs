//! Navigation commands that the browser loses.
//!
//! Chromium 156 asks the old document (`beforeunload`) before it sends the request of a navigation. If another
//! navigation replaces that document first, the answer never comes: no request is sent, and the command is never
//! answered, until it is stopped or another navigation ends it with `net::ERR_ABORTED`. A navigation to the same URL
//! does not: Chromium ignores it as a duplicate.
//!
//! The command is sent again, once, if the document was replaced and no request followed within `GRACE`
//! (`UNWATCHED_GRACE` if requests are not recorded). The loading is stopped before that.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::error::Error;
use super::super::handle::Supervisor;
use super::super::route::Route;
use crate::cdp::CallOptions;
use crate::cdp::protocol::page::StopLoading;
use crate::cdp::rt::Command as _;
use crate::sync::Deadline;

/// How long a request may take to be reported after another document was committed.
const GRACE: Duration = Duration::from_millis(500);
/// The same if requests are not watched: the server may be responding slowly.
const UNWATCHED_GRACE: Duration = Duration::from_secs(3);

/// Watches for the loss of a navigation command that was sent and not answered.
pub(super) struct LostCommand {
    /// The document at the time it was sent.
    sent_from: Arc<str>,
    /// Number of the newest request at that time.
    last: u64,
    /// When another document was seen, and which.
    replaced: Option<(Instant, Arc<str>)>,
    is_sent_again: bool,
}

impl LostCommand {
    pub(super) fn new(supervisor: &Supervisor, route: &Route) -> Self {
        Self {
            sent_from: supervisor.loader(route),
            last: supervisor.traffic().last,
            replaced: None,
            is_sent_again: false,
        }
    }

    /// Whether the command was lost and has to be sent again; true at most once.
    pub(super) fn is_lost(&mut self, supervisor: &Supervisor, route: &Route) -> bool {
        let shown = supervisor.loader(route);
        if self.is_sent_again || shown == self.sent_from {
            return false;
        }
        let since = match &self.replaced {
            Some((since, document)) if *document == shown => *since,
            _ => {
                self.replaced = Some((Instant::now(), shown));
                return false;
            }
        };
        let is_watched = supervisor.traffic().watched;
        if since.elapsed() < if is_watched { GRACE } else { UNWATCHED_GRACE } {
            return false;
        }
        // The request of a document has the id of its loader.
        let is_other = |request: &super::NetworkRequest| {
            request.number > self.last && &*request.resource_type == "document" && request.raw_id != shown
        };
        if is_watched && supervisor.network_requests(&route.target).iter().any(|request| is_other(request)) {
            return false;
        }
        tracing::debug!("a navigation was lost when another one replaced the document; sending it again");
        self.is_sent_again = true;
        true
    }
}

impl Supervisor {
    /// Ends the navigation that is under way. Does not wait: commands are executed in their order.
    pub(super) fn stop_loading(&self, route: &Route, deadline: Deadline<'_>) -> Result<(), Error> {
        let options = CallOptions { session: Some(&route.session), deadline, interruptible: false };
        route.connection.send_with(Cow::Borrowed(StopLoading::METHOD), &StopLoading::new(), options)?;
        Ok(())
    }
}
