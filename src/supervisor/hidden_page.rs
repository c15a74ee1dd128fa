//! Hidden pages without network access: they show an empty document of any origin, to access the origin's storage.
//!
//! Chromium excludes hidden targets from the tab strip and from auto-attach, so a hidden page is not a page of the
//! task: it is not in the view and has no events. It has its own session and `Fetch` interception.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::Error;
use super::handle::Supervisor;
use super::state::Request;
use super::value::ScriptError;
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::target::{AttachToTarget, CloseTarget, CreateTarget, GetTargetInfo, TargetId};
use crate::cdp::protocol::{fetch, network, page, runtime};
use crate::cdp::rt::{self, Event as _};
use crate::cdp::{Capacity, Item, RecvError, Session, Subscription};
use crate::sync::Deadline;

/// `Fetch.requestPaused`.
const PAUSED: &str = super::state::CALL;
/// Time limit for showing a document, which is served locally.
const SHOW_LIMIT: Duration = Duration::from_secs(5);
/// Time limit for sending the close command.
const CLOSE_LIMIT: Duration = Duration::from_millis(500);
/// Headers of each document. The content policy prevents it from loading anything.
const HEADERS: [(&str, &str); 3] = [
    ("Content-Type", "text/html; charset=utf-8"),
    ("Content-Security-Policy", "default-src 'none'"),
    ("Cache-Control", "no-store"),
];

/// A hidden page whose requests are all answered locally. Dropping it closes it.
pub struct HiddenPage<'a> {
    supervisor: &'a Supervisor,
    target: TargetId,
    session: Session,
    events: Subscription,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    request_id: String,
    request: PausedRequest,
}

impl rt::Event<'_> for Paused {
    const METHOD: &'static str = PAUSED;
}

#[derive(Deserialize)]
struct PausedRequest {
    url: String,
}

impl Supervisor {
    /// Opens a hidden page in a browser context. It is empty until [`show`](HiddenPage::show).
    ///
    /// # Errors
    /// [`Error::NoHiddenPage`] when the browser has no hidden pages, [`Error::Cdp`], [`Error::Timeout`],
    /// [`Error::NotActive`].
    pub fn open_hidden(
        &self,
        context: Option<BrowserContextId>,
        deadline: Deadline<'_>,
    ) -> Result<HiddenPage<'_>, Error> {
        if !self.connected(deadline)?.is_active() {
            return Err(self.not_active());
        }
        let connection = self.connection();
        let mut create = CreateTarget::new("about:blank");
        create.browser_context_id = context;
        (create.hidden, create.background) = (Some(true), Some(true));
        let target = connection.call(&create, deadline)?.target_id;
        let closed = Closing { connection: &connection, target: &target, armed: std::cell::Cell::new(true) };
        let mut info = GetTargetInfo::new();
        info.target_id = Some(target.clone());
        // Older browsers ignore the parameter and open a tab.
        if connection.call(&info, deadline)?.target_info.r#type == "page" {
            return Err(Error::NoHiddenPage);
        }
        let reserved = target.clone();
        self.ask("opening a hidden page", deadline, |reply| Request::Reserve { target: reserved, reply: Some(reply) })?;
        let mut attach = AttachToTarget::new(target.clone());
        attach.flatten = Some(true);
        let session = connection.session(connection.call(&attach, deadline)?.session_id.as_str());
        let methods = [PAUSED, page::LoadEventFiredEvent::METHOD];
        let events = session.subscribe(&methods, Capacity::of(256));
        session.call(&page::Enable::new(), deadline)?;
        session.call(&network::Enable::new(), deadline)?;
        // A service worker would answer requests instead, and access the network.
        session.call(&network::SetBypassServiceWorker::new(true), deadline)?;
        // A second safeguard: requests that are not answered here fail.
        #[expect(deprecated, reason = "its successor has rules by address, which are not needed here")]
        let offline = network::EmulateNetworkConditions::new(true, 0.0, -1.0, -1.0);
        session.call(&offline, deadline)?;
        let mut catch = fetch::Enable::new();
        catch.patterns = Some(vec![fetch::RequestPattern { url_pattern: Some("*".to_owned()), ..Default::default() }]);
        session.call(&catch, deadline)?;
        closed.armed.set(false);
        drop(closed);
        Ok(HiddenPage { supervisor: self, target, session, events })
    }

    /// Checks form and host of a URL against the navigation policy. Names are not resolved, since a hidden page never
    /// connects to them.
    ///
    /// # Errors
    /// [`Error::NavigationBlocked`].
    pub fn check_origin(&self, url: &str) -> Result<(), Error> {
        let Some(policy) = &self.navigation else { return Ok(()) };
        policy.check(url).map(drop).map_err(|refused| refused.error(url))
    }
}

/// Closes the page if setting it up fails.
struct Closing<'a> {
    connection: &'a crate::cdp::Connection,
    target: &'a TargetId,
    armed: std::cell::Cell<bool>,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        if self.armed.get() {
            let _ = self.connection.call(&CloseTarget::new(self.target.clone()), Deadline::after(CLOSE_LIMIT));
        }
    }
}

impl HiddenPage<'_> {
    /// Shows an empty document of an origin (`https://example.com`, with a non-default port if any). Nothing is sent to
    /// the origin, its service worker does not run, and its name is not resolved.
    ///
    /// # Errors
    /// [`Error::NavigationBlocked`]; [`Error::NotShown`] when the browser navigates elsewhere, for example from `http`
    /// to `https` for a site with HSTS; [`Error::Cdp`], [`Error::NotActive`].
    pub fn show(&self, origin: &str, deadline: Deadline<'_>) -> Result<(), Error> {
        let deadline = deadline.within(SHOW_LIMIT);
        let url = format!("{origin}/");
        self.supervisor.check_origin(&url)?;
        self.show_once(origin, &url, deadline)
    }

    fn show_once(&self, origin: &str, url: &str, deadline: Deadline<'_>) -> Result<(), Error> {
        while let Ok(Item::Event(_)) = self.events.try_next() {}
        let not_shown = |problem: &str| Error::NotShown { origin: origin.to_owned(), problem: problem.to_owned() };
        let mut navigating = Some(self.session.send_by(&page::Navigate::new(url), deadline)?);
        let mut elsewhere = None;
        loop {
            match self.events.next(deadline) {
                Ok(Item::Event(event)) if event.method() == PAUSED => {
                    let paused: Paused = event.decode()?;
                    if paused.request.url == *url {
                        self.fulfil(paused.request_id, deadline)?;
                    } else {
                        self.refuse(paused.request_id, deadline)?;
                        elsewhere.get_or_insert(paused.request.url);
                        if let Some(navigating) = navigating.take() {
                            let _ = navigating.wait(deadline);
                        }
                        return Err(not_shown(match elsewhere {
                            Some(url) if url.starts_with("https:") => {
                                "the browser loads this origin over https only; use the https origin"
                            }
                            _ => "the browser navigated to another URL",
                        }));
                    }
                }
                Ok(Item::Event(_)) => break,
                Ok(Item::Lagged(_)) => {}
                Err(RecvError::Timeout) if deadline.passed() => {
                    return Err(not_shown("the document did not load within 5 s").or_cancelled(deadline));
                }
                Err(RecvError::Timeout) => {}
                Err(RecvError::Closed) => return Err(self.supervisor.not_active()),
            }
        }
        if let Some(navigating) = navigating {
            let done = navigating.wait(deadline)?;
            if let Some(problem) = done.error_text.filter(|text| !text.is_empty()) {
                return Err(not_shown(&problem));
            }
        }
        Ok(())
    }

    fn fulfil(&self, request: String, deadline: Deadline<'_>) -> Result<(), Error> {
        let mut fulfil = fetch::FulfillRequest::new(fetch::RequestId::from(&*request), 200);
        let header = |(name, value): &(&str, &str)| fetch::HeaderEntry::new(*name, *value);
        fulfil.response_headers = Some(HEADERS.iter().map(header).collect());
        drop(self.session.send_by(&fulfil, deadline)?);
        Ok(())
    }

    fn refuse(&self, request: String, deadline: Deadline<'_>) -> Result<(), Error> {
        let request = fetch::RequestId::from(&*request);
        let fail = fetch::FailRequest::new(request, network::ErrorReason::BlockedByClient);
        drop(self.session.send_by(&fail, deadline)?);
        Ok(())
    }

    /// Calls a function in the document with one argument, and awaits its promise. Returns the result as JSON.
    ///
    /// # Errors
    /// [`Error::Script`] when it throws, [`Error::Cdp`].
    pub fn call(
        &self,
        function: &str,
        argument: Box<RawValue>,
        deadline: Deadline<'_>,
    ) -> Result<Box<RawValue>, Error> {
        let globals = self.session.call(&runtime::Evaluate::new("globalThis"), deadline)?;
        let mut call = runtime::CallFunctionOn::new(function);
        call.object_id = globals.result.object_id;
        call.arguments = Some(vec![runtime::CallArgument { value: Some(argument), ..Default::default() }]);
        call.await_promise = Some(true);
        call.return_by_value = Some(true);
        call.silent = Some(true);
        let reply = self.session.send_by(&call, deadline)?;
        let returned = reply.wait(deadline)?;
        if let Some(details) = returned.exception_details {
            return Err(Error::Script(ScriptError::from(details)));
        }
        returned.result.value.ok_or_else(|| Error::NotShown {
            origin: "a hidden page".to_owned(),
            problem: "the script returned no result".to_owned(),
        })
    }
}

impl Drop for HiddenPage<'_> {
    fn drop(&mut self) {
        let connection = self.session.connection();
        let _ = connection.call(&CloseTarget::new(self.target.clone()), Deadline::after(CLOSE_LIMIT));
        let _ = self.supervisor.requests.try_send(Request::Reserve { target: self.target.clone(), reply: None });
    }
}

impl std::fmt::Debug for HiddenPage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HiddenPage").field(&self.target).finish()
    }
}
