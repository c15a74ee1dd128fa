//! Navigation without waiting for the document.

use std::borrow::Cow;

use super::super::call_watchdog::CallWatchdog;
use super::super::error::Error;
use super::super::handle::Supervisor;
use super::super::route::FrameRef;
use super::super::snapshot::{DialogType, View};
use super::{ABORTED, DIALOG_POLL_INTERVAL, NavigationRequested, blocked};
use crate::cdp::CallOptions;
use crate::cdp::protocol::page::{Navigate, NavigateReturns};
use crate::cdp::rt::Command as _;
use crate::sync::Deadline;

impl Supervisor {
    /// Starts a navigation. Returns when it has started, when the page shows a `beforeunload` dialog, or at the
    /// deadline; does not wait for the document.
    ///
    /// # Errors
    /// As [`navigate`](Self::navigate), for errors that the browser reports immediately.
    pub fn start_navigation(&self, page: &FrameRef, url: &str, deadline: Deadline<'_>) -> Result<(), Error> {
        let route = self.route_at_once(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(Navigate::METHOD, frame));
        }
        self.check_navigation(url, deadline)?;
        self.opens(&route.target, url, deadline)?;
        let blocked_before = self.last_blocked(&route);
        CallWatchdog::new(self, &route, Navigate::METHOD.into(), deadline).free_page(deadline)?;
        let target = route.target.as_str();
        let before = self.view();
        if let Some(beforeunload) = before.dialogs_of(target).find(|dialog| dialog.kind == DialogType::BeforeUnload) {
            return Err(blocked::<Navigate>(&beforeunload.id));
        }
        self.dismiss_bridged_dialogs(&route.target, deadline)?;
        self.dismiss_dialogs(&route.target, deadline)?;
        let send = || {
            let options = CallOptions { session: Some(&route.session), deadline, interruptible: false };
            route.connection.send_with(Cow::Borrowed(Navigate::METHOD), &Navigate::new(url), options)
        };
        let (mut reply, mut was_sent_again) = (send()?, false);
        let top = |s: &View| {
            let id = s.page(target).and_then(|page| page.top_frame.as_ref());
            id.and_then(|id| s.frame(id.as_str())).map(|frame| (frame.navigating, frame.loader.clone()))
        };
        let (was_on_its_way, shown) = top(&before).unzip();
        let traffic = self.traffic();
        // The navigation is reported before the `beforeunload` dialog; its request follows the dialog.
        let requested = || {
            let since = self.network_requests(&route.target);
            let finished = since.iter().any(|r| r.number > traffic.last && &*r.resource_type == "document");
            finished || self.traffic().since(&route.target, traffic.last).any(|l| &*l.resource_type == "document")
        };
        loop {
            match reply.poll_raw(deadline.within(DIALOG_POLL_INTERVAL)) {
                Ok(outcome) => {
                    let returned: NavigateReturns = outcome?.decode()?;
                    let was_aborted = returned.error_text.as_deref() == Some(ABORTED)
                        && returned.is_download != Some(true)
                        && !was_sent_again;
                    let document = shown.clone().unwrap_or_default();
                    let request = NavigationRequested { at: std::sync::Arc::clone(&before), request: traffic.last };
                    if was_aborted && self.was_superseded(&route, &request, &document, blocked_before, deadline) {
                        (reply, was_sent_again) = (send()?, true);
                        continue;
                    }
                    return match returned.error_text {
                        None => Ok(()),
                        Some(message) => {
                            // Afterwards the view has the reason of a blocked navigation.
                            let _ = self.caught_up(deadline);
                            self.blocked_since(&route, blocked_before)?;
                            Err(Error::not_loaded(url, &message))
                        }
                    };
                }
                Err(back) => reply = back,
            }
            let now = self.view();
            let (on_its_way, shows) = top(&now).unzip();
            let beforeunload = now.dialogs_of(target).any(|dialog| dialog.kind == DialogType::BeforeUnload);
            let set_out = match traffic.watched {
                true => requested(),
                false => on_its_way == Some(true) && was_on_its_way != Some(true),
            };
            if beforeunload || set_out || shows != shown || deadline.passed() {
                return Ok(());
            }
        }
    }
}
