//! Calls into frames by frame id.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::Error;
use super::guard::Watch;
use super::handle::Supervisor;
use super::put_away::in_the_way;
use super::route::{FrameRef, Route};
use super::snapshot::{ClosedBy, ClosedDialog, Dialog, DialogType, View};
use super::state::Request;
use super::traffic::NetworkRequest;
use super::value::{Done, ScriptError, Value, described, plain};
use crate::cdp::protocol::page::{
    CaptureScreenshot, CaptureScreenshotFormat, FrameId, Navigate, NavigateReturns, Reload,
};
use crate::cdp::protocol::runtime::{
    self, CallFunctionOn, CallFunctionOnReturns, Evaluate, EvaluateReturns, ExceptionDetails, RemoteObject,
};
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt::Command;
use crate::cdp::{self, CallOptions, RawReply};
use crate::sync::Deadline;

/// What it may take to find the context of a script that is started.
const STARTING: Duration = Duration::from_secs(2);
/// How often a navigation looks for dialogs.
pub(super) const LOOK: Duration = Duration::from_millis(20);
/// How long it may take to see whether a page goes on loading after a navigation was aborted.
const OVERTAKING: Duration = Duration::from_secs(1);
/// How long a document may take to replace one that was committed while it was on its way.
const REPLACING: Duration = Duration::from_millis(300);
/// What Chromium says of a navigation that was given up before it had a document.
pub(super) const ABORTED: &str = "net::ERR_ABORTED";
/// Dialogs of the old document that are put away while the new one is on its way.
const MEANWHILE: usize = 20;

impl Supervisor {
    /// Evaluates a script in a frame and waits for its value; promises are awaited.
    ///
    /// # Errors
    /// [`Error::Script`] when it throws; [`Error::Cdp`] with `BlockedByDialog` when a dialog is open
    /// or opens meanwhile (the script goes on behind it); [`Error::FrameNotFound`],
    /// [`Error::FrameDetached`], [`Error::NoContext`], [`Error::NoPage`], [`Error::NotActive`].
    pub fn evaluate(&self, frame: &FrameRef, script: &str, deadline: Deadline) -> Result<Done<Value>, Error> {
        let mut evaluate = Evaluate::new(script);
        evaluate.await_promise = Some(true);
        evaluate.user_gesture = Some(true);
        let (route, returned) = loop {
            let route = self.route(frame, deadline)?;
            evaluate.context_id = self.context(&route, deadline)?;
            match (self.run(&route, &evaluate, deadline), evaluate.context_id) {
                // The document went before the script came to it, so it did not run. What has followed?
                (Err(error), Some(used)) if no_such_context(&error) => {
                    let id = route.frame.as_ref().map(FrameId::as_str).unwrap_or_default();
                    let another = |s: &View| s.frame(id).is_none_or(|frame| frame.context != Some(used));
                    if self.wait_until(deadline.within(STARTING), another).is_none() {
                        return Err(error);
                    }
                }
                (returned, _) => break (route, returned?),
            }
        };
        let rescued = returned.rescued;
        let EvaluateReturns { result, exception_details } = returned.result;
        let mut value = self.value(&route, result, exception_details, deadline)?;
        value.rescued |= rescued;
        Ok(value)
    }

    /// Calls a function on an object that the call names, in the process of a frame, and waits for its
    /// value; promises are awaited. Objects are fetched by value afterwards, so that the function runs once.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn call_function(
        &self,
        frame: &FrameRef,
        call: &CallFunctionOn,
        deadline: Deadline,
    ) -> Result<Done<Value>, Error> {
        let route = self.route(frame, deadline)?;
        let returned = self.run(&route, call, deadline)?;
        let rescued = returned.rescued;
        let CallFunctionOnReturns { result, exception_details } = returned.result;
        let mut value = self.value(&route, result, exception_details, deadline)?;
        value.rescued |= rescued;
        Ok(value)
    }

    /// Starts a script in a frame without waiting for it: for one that opens a dialog.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), without what comes of running it.
    pub fn start_script(&self, frame: &FrameRef, script: &str) -> Result<(), Error> {
        let deadline = Deadline::after(STARTING);
        let route = self.route(frame, deadline)?;
        let mut evaluate = Evaluate::new(script);
        evaluate.user_gesture = Some(true);
        evaluate.context_id = self.context(&route, deadline)?;
        let session = route.connection.session(Arc::clone(&route.session));
        drop(session.send(&evaluate)?);
        Ok(())
    }

    /// Sends any command to the process that runs a frame. A cross-process frame gets it on its own
    /// session. A frame that shares a session with another takes `Runtime.evaluate` and
    /// `Runtime.callFunctionOn` in its own execution context; anything else would act on the other
    /// frame and is refused.
    ///
    /// # Errors
    /// [`Error::NotAFrameCommand`] and those of [`evaluate`](Self::evaluate).
    pub fn call_raw(
        &self,
        frame: &FrameRef,
        method: &str,
        params: &serde_json::Value,
        deadline: Deadline,
    ) -> Result<Done<RawReply>, Error> {
        let route = self.route(frame, deadline)?;
        let mut params = if params.is_null() { serde_json::json!({}) } else { params.clone() };
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            let key = match method {
                Evaluate::METHOD => "contextId",
                CallFunctionOn::METHOD => "executionContextId",
                _ => return Err(self.not_a_frame_command(method, frame)),
            };
            let aimed = ["contextId", "executionContextId", "uniqueContextId", "objectId"];
            if let Some(map) = params.as_object_mut()
                && !aimed.iter().any(|key| map.contains_key(*key))
            {
                map.insert(key.to_owned(), self.context(&route, deadline)?.into());
            }
        }
        self.guarded(&route, method.to_owned().into(), &params, deadline)
    }

    /// Sends a typed command to the session of a page or of a cross-process frame. A frame that shares
    /// its session with another is refused: the command would act on that one.
    ///
    /// # Errors
    /// [`Error::NotAFrameCommand`] and those of [`evaluate`](Self::evaluate).
    pub fn call<C: Command>(
        &self,
        page: &FrameRef,
        command: &C,
        deadline: Deadline,
    ) -> Result<Done<C::Returns>, Error> {
        let route = self.route(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(C::METHOD, frame));
        }
        self.run(&route, command, deadline)
    }

    /// Navigates a page. Returns when the page shows the new document; loading goes on. An open dialog
    /// does not stand in the way, it is dismissed; one that opens meanwhile (`beforeunload`) ends the
    /// wait. A script that keeps the old document from leaving is ended.
    ///
    /// # Errors
    /// [`Error::NavigationBlocked`] when the page may not go there, or is redirected to where it may not: it then
    /// stays where it is; [`Error::NotLoaded`] when the address cannot be reached; [`Error::Cdp`] with `BlockedByDialog`
    /// when a dialog opened; [`Error::Timeout`] when the document did not come, and those of
    /// [`evaluate`](Self::evaluate).
    pub fn navigate(&self, page: &FrameRef, url: &str, deadline: Deadline) -> Result<Done<NavigateReturns>, Error> {
        let began = Instant::now();
        let route = self.route_at_once(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(Navigate::METHOD, frame));
        }
        self.check_navigation(url, deadline)?;
        let mut before = self.loader(&route);
        let blocked = self.last_blocked(&route);
        let mut watch = Watch::new(self, &route, Navigate::METHOD.into(), deadline);
        watch.free_first(deadline)?;
        let asked = Asked { at: self.view(), request: self.traffic().last };
        let mut returned: NavigateReturns = self.leave(&route, &mut watch, &Navigate::new(url), deadline)?;
        if returned.error_text.as_deref() == Some(ABORTED)
            && returned.is_download != Some(true)
            && self.was_overtaken(&route, &asked, &before, blocked, deadline)
        {
            before = self.loader(&route);
            returned = self.leave(&route, &mut watch, &Navigate::new(url), deadline)?;
        }
        if returned.is_download == Some(true) {
            return Ok(watch.answered(returned));
        }
        if let Some(text) = &returned.error_text {
            // What kept it from going there is in the snapshot by then.
            let _ = self.caught_up(deadline);
            self.blocked_since(&route, blocked)?;
            return Err(Error::not_loaded(url, text));
        }
        // Without a loader it stays in the same document.
        let Some(loader) = &returned.loader_id else { return Ok(watch.answered(returned)) };
        let frame = returned.frame_id.as_str();
        let shows = self.loader(&route);
        if shows != before && *shows != *loader.as_str() {
            // Either a document that ours replaces in a moment, or one that has replaced ours already.
            let changed = |s: &View| s.frame(frame).is_none_or(|f| f.loader != shows);
            self.wait_until(deadline.within(REPLACING), changed);
        }
        // Another one than before will do: the page may have gone on by itself already.
        let shown = |s: &View| s.frame(frame).is_none_or(|f| *f.loader == *loader.as_str() || f.loader != before);
        self.until_shown(&route, &mut watch, began, deadline, |s| shown(s) || number_of(s, &route) > blocked)?;
        self.blocked_since(&route, blocked)?;
        Ok(watch.answered(returned))
    }

    /// Loads a page again. Returns when the page shows the new document; loading goes on. It revives a
    /// crashed page, and one that shows a dialog nobody can answer.
    ///
    /// # Errors
    /// As [`navigate`](Self::navigate).
    pub fn reload(&self, page: &FrameRef, deadline: Deadline) -> Result<Done<()>, Error> {
        let began = Instant::now();
        let route = self.route_at_once(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(Reload::METHOD, frame));
        }
        let before = self.loader(&route);
        let (blocked, asked) = (self.last_blocked(&route), self.view());
        let mut watch = Watch::new(self, &route, Reload::METHOD.into(), deadline);
        watch.free_first(deadline)?;
        self.leave(&route, &mut watch, &Reload::new(), deadline)?;
        let target = route.target.as_str();
        // Chromium answers the command before the page asks whether it may be left.
        let stays = |s: &View| stays_since(&asked, s, target);
        let shown = |s: &View| {
            let top = s.page(target).and_then(|page| page.top_frame.as_ref());
            top.and_then(|top| s.frame(top.as_str())).is_some_and(|f| f.loader != before)
        };
        let over = |s: &View| shown(s) || number_of(s, &route) > blocked || stays(s).is_some();
        self.until_shown(&route, &mut watch, began, deadline, over)?;
        self.blocked_since(&route, blocked)?;
        let now = self.view();
        match stays(&now).filter(|_| !shown(&now)) {
            Some(dialog) => Err(self::blocked::<Reload>(&dialog)),
            None => Ok(watch.answered(())),
        }
    }

    /// Whether a navigation was aborted by what the page did by itself: it goes on loading, or shows another document; or it
    /// was leaving its document or under a dialog before, and no server has answered. A refusal by the policy or by the page
    /// (`beforeunload`) is neither, nor is an answer without a document (204, a download).
    pub(super) fn was_overtaken(
        &self,
        route: &Route,
        asked: &Asked,
        document: &Arc<str>,
        blocked: u64,
        deadline: Deadline,
    ) -> bool {
        if self.caught_up(deadline).is_err() {
            return false;
        }
        let target = route.target.as_str();
        let goes_on = |s: &View| {
            let top = s.page(target).and_then(|page| page.top_frame.as_ref()).and_then(|top| s.frame(top.as_str()));
            top.map(|top| (top.navigating, top.loader != *document))
        };
        // That it loads nothing any more is reported a moment after the end of the navigation.
        let is_clear = |s: &View| goes_on(s).is_none_or(|(navigates, is_elsewhere)| !navigates || is_elsewhere);
        self.wait_until(deadline.within(OVERTAKING), is_clear);
        let now = self.view();
        let is_old = |id: &str| asked.at.recent.iter().any(|closed| *closed.dialog.id == *id);
        let was_asked = now.recent.iter().any(|closed| {
            let dialog = &closed.dialog;
            dialog.target_id == route.target && dialog.kind == DialogType::BeforeUnload && !is_old(&dialog.id)
        });
        let had_dialog = asked.at.dialogs_of(target).next().is_some();
        let was_leaving = had_dialog || goes_on(&asked.at).is_some_and(|(navigates, _)| navigates);
        let is_answer = |request: &NetworkRequest| {
            request.number > asked.request && &*request.resource_type == "document" && request.status.is_some()
        };
        let was_answered = || self.network_requests(&route.target).iter().any(|request| is_answer(request));
        let goes_on = goes_on(&now).is_some_and(|(navigates, is_elsewhere)| navigates || is_elsewhere);
        let was_overtaken = goes_on || (was_leaving && self.traffic().watched && !was_answered());
        tracing::debug!(goes_on, was_leaving, was_asked, was_overtaken, "a navigation was aborted");
        was_overtaken && !was_asked && number_of(&now, route) == blocked
    }

    /// The number of the last navigation that a page was kept from, 0 when there was none.
    pub(super) fn last_blocked(&self, route: &Route) -> u64 {
        number_of(&self.view(), route)
    }

    /// Fails when the page was kept from going somewhere since.
    pub(super) fn blocked_since(&self, route: &Route, before: u64) -> Result<(), Error> {
        let now = self.view();
        let blocked = now.page(route.target.as_str()).and_then(|page| page.blocked.as_ref());
        match blocked.filter(|blocked| blocked.number > before) {
            Some(blocked) => {
                Err(Error::NavigationBlocked { url: blocked.url.to_string(), reason: blocked.reason.to_string() })
            }
            None => Ok(()),
        }
    }

    pub(super) fn dismiss_calls(&self, target: &TargetId, deadline: Deadline) -> Result<(), Error> {
        if self.view().dialogs_of(target.as_str()).all(|dialog| !dialog.bridged) {
            return Ok(());
        }
        self.ask("dismissing", deadline, |reply| Request::DismissCalls { target: target.clone(), reply })
    }

    fn loader(&self, route: &Route) -> Arc<str> {
        let now = self.view();
        let shows = route.frame.as_ref().and_then(|frame| now.frame(frame.as_str()));
        shows.map(|frame| Arc::clone(&frame.loader)).unwrap_or_default()
    }

    /// Sends what makes a page leave its document. Dialogs that are open do not matter, one that opens
    /// meanwhile ends the wait.
    pub(super) fn leave<C: Command>(
        &self,
        route: &Route,
        watch: &mut Watch<'_>,
        command: &C,
        deadline: Deadline,
    ) -> Result<C::Returns, Error> {
        let before = self.view();
        let asks = before.dialogs_of(route.target.as_str()).find(|dialog| dialog.kind == DialogType::BeforeUnload);
        if let Some(dialog) = asks {
            // It is being left already, and asks whether it may: Chromium takes no other navigation meanwhile.
            return Err(blocked::<C>(&dialog.id));
        }
        self.dismiss_calls(&route.target, deadline)?;
        self.put_dialogs_away(&route.target, deadline)?;
        let before = self.view();
        // Not interrupted by dialogs, since those that are open still end with the document.
        let options = CallOptions { session: Some(&route.session), deadline, interruptible: false };
        let mut reply = route.connection.send_with(Cow::Borrowed(C::METHOD), command, options)?;
        let shown = self.loader(route);
        let mut put_away = 0;
        loop {
            match reply.poll_raw(deadline.within(watch.patience().min(LOOK))) {
                Ok(outcome) => {
                    // It asked whether it may be left, and was answered already.
                    if let Some(dialog) = asked_since(&before, &self.view(), route.target.as_str()) {
                        return Err(blocked::<C>(&dialog));
                    }
                    return Ok(outcome?.decode()?);
                }
                Err(back) => reply = back,
            }
            let now = self.view();
            let known = |dialog: &Dialog| before.dialogs.iter().any(|old| old.id == dialog.id);
            if let Some(dialog) = now.dialogs_of(route.target.as_str()).find(|dialog| !known(dialog)) {
                put_away += 1;
                let old = put_away <= MEANWHILE && self.loader(route) == shown;
                if !old || !self.put_one_away(&route.target, deadline) {
                    return Err(blocked::<C>(&dialog.id));
                }
            }
            if deadline.passed() {
                return Err(watch.too_late(reply, deadline));
            }
            self.look_past_dialogs(watch, route, deadline)?;
        }
    }

    /// Fails when a page asks whether it may be left, or was kept by the answer to that since.
    pub(super) fn asks_to_leave<C: Command>(&self, before: &View, target: &str) -> Result<(), Error> {
        match stays_since(before, &self.view(), target) {
            Some(dialog) => Err(blocked::<C>(&dialog)),
            None => Ok(()),
        }
    }

    /// A navigation takes open dialogs along, so the page is not looked after while there is one.
    pub(super) fn look_past_dialogs(
        &self,
        watch: &mut Watch<'_>,
        route: &Route,
        deadline: Deadline,
    ) -> Result<(), Error> {
        if self.view().dialogs_of(route.target.as_str()).next().is_some() {
            return Ok(());
        }
        watch.look(deadline)
    }

    fn until_shown(
        &self,
        route: &Route,
        watch: &mut Watch<'_>,
        began: Instant,
        deadline: Deadline,
        shown: impl Fn(&View) -> bool,
    ) -> Result<(), Error> {
        let mut put_away = 0;
        loop {
            if self.wait_until(deadline.within(watch.patience()), &shown).is_some() {
                return Ok(());
            }
            let now = self.view();
            if !now.is_active() {
                return Err(self.not_active());
            }
            if deadline.passed() {
                return Err(Error::NoDocument { after: began.elapsed() }.or_cancelled());
            }
            if now.dialogs.is_empty() {
                watch.look(deadline)?;
            } else if let Some(dialog) = in_the_way(&now, &route.target) {
                put_away += 1;
                if put_away > MEANWHILE || !self.put_one_away(&route.target, deadline) {
                    return Err(blocked::<Navigate>(&dialog));
                }
            }
        }
    }

    /// A picture of what a page shows, as PNG. It is kept as the page's last picture.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn screenshot(&self, page: &FrameRef, deadline: Deadline) -> Result<Done<Vec<u8>>, Error> {
        self.capture(page, &CaptureScreenshot::new(), deadline)
    }

    /// A picture as it is asked for. A PNG of the whole viewport is kept as the page's last picture.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn capture(
        &self,
        page: &FrameRef,
        command: &CaptureScreenshot,
        deadline: Deadline,
    ) -> Result<Done<Vec<u8>>, Error> {
        let route = self.route(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(CaptureScreenshot::METHOD, frame));
        }
        let taken = self.run(&route, command, deadline)?;
        let taken = taken.try_map(|taken| {
            taken.data.decode().map_err(|error| {
                Error::Cdp(cdp::Error::Decode {
                    method: CaptureScreenshot::METHOD.into(),
                    path: "data".to_owned(),
                    problem: error.to_string(),
                })
            })
        })?;
        if command.clip.is_none() && matches!(command.format, None | Some(CaptureScreenshotFormat::Png)) {
            self.keep_picture(&route.target, &taken);
        }
        Ok(taken)
    }

    pub(super) fn run<C: Command>(
        &self,
        route: &Route,
        command: &C,
        deadline: Deadline,
    ) -> Result<Done<C::Returns>, Error> {
        let raw = self.guarded(route, Cow::Borrowed(C::METHOD), command, deadline)?;
        Ok(raw.try_map(|raw| raw.decode())?)
    }

    /// Turns a result into a value. Objects are fetched by value in a second step, so that one that
    /// cannot be does not make the script run twice.
    fn value(
        &self,
        route: &Route,
        object: RemoteObject,
        thrown: Option<ExceptionDetails>,
        deadline: Deadline,
    ) -> Result<Done<Value>, Error> {
        let done = |value| Done { result: value, rescued: false };
        if let Some(details) = thrown {
            return Err(Error::Script(ScriptError::from(details)));
        }
        let Some(id) = object.object_id.clone() else { return Ok(done(plain(&object))) };
        if matches!(object.r#type, runtime::RemoteObjectType::Function | runtime::RemoteObjectType::Symbol) {
            self.release(route, id);
            return Ok(done(described(&object)));
        }
        let mut fetch = CallFunctionOn::new("function() { return this; }");
        fetch.object_id = Some(id.clone());
        fetch.return_by_value = Some(true);
        let fetched = self.run(route, &fetch, deadline);
        self.release(route, id);
        match fetched {
            Ok(fetched) if fetched.exception_details.is_none() && fetched.result.result.value.is_some() => {
                Ok(fetched.map(|fetched| plain(&fetched.result)))
            }
            Ok(_) | Err(Error::Cdp(cdp::Error::Protocol { .. })) => Ok(done(described(&object))),
            Err(error) => Err(error),
        }
    }

    fn release(&self, route: &Route, id: runtime::RemoteObjectId) {
        let session = route.connection.session(Arc::clone(&route.session));
        drop(session.send(&runtime::ReleaseObject::new(id)));
    }
}

/// How things stood when a navigation was asked for.
pub(super) struct Asked {
    pub(super) at: Arc<View>,
    /// The newest request.
    pub(super) request: u64,
}

/// The question whether a page may be left, when it came since and waited for somebody, answered by now
/// or not.
fn asked_since(before: &View, now: &View, target: &str) -> Option<Arc<str>> {
    let asks = |dialog: &Dialog| dialog.target_id.as_str() == target && dialog.kind == DialogType::BeforeUnload;
    let old = |id: &str| {
        before.dialogs.iter().any(|dialog| *dialog.id == *id) || before.recent.iter().any(|c| *c.dialog.id == *id)
    };
    let waited = |closed: &&ClosedDialog| !matches!(closed.closed_by, ClosedBy::AutoPolicy | ClosedBy::Armed);
    let all = now.dialogs.iter().chain(now.recent.iter().filter(waited).map(|closed| &closed.dialog));
    all.filter(|dialog| asks(dialog)).find(|dialog| !old(&dialog.id)).map(|dialog| Arc::clone(&dialog.id))
}

/// The question whether a page may be left, when it came since: open, or answered with no, by whoever it was.
fn stays_since(before: &View, now: &View, target: &str) -> Option<Arc<str>> {
    let asks = |dialog: &Dialog| dialog.target_id.as_str() == target && dialog.kind == DialogType::BeforeUnload;
    let is_old = |id: &str| before.recent.iter().any(|closed| *closed.dialog.id == *id);
    let refused = now.recent.iter().filter(|closed| !closed.accepted && closed.closed_by != ClosedBy::Lost);
    let mut all = now.dialogs.iter().chain(refused.map(|closed| &closed.dialog));
    all.find(|dialog| asks(dialog) && !is_old(&dialog.id)).map(|dialog| Arc::clone(&dialog.id))
}

/// The number of the last navigation that the page of a route was kept from.
fn number_of(now: &View, route: &Route) -> u64 {
    let page = now.page(route.target.as_str());
    page.and_then(|page| page.blocked.as_ref()).map_or(0, |blocked| blocked.number)
}

/// Whether Chromium does not know the execution context that was named.
fn no_such_context(error: &Error) -> bool {
    matches!(error, Error::Cdp(cdp::Error::Protocol { message, .. }) if message.contains("Cannot find context"))
}

pub(super) fn blocked<C: Command>(dialog: &str) -> Error {
    Error::Cdp(cdp::Error::BlockedByDialog { method: C::METHOD.into(), dialogs: vec![dialog.to_owned()] })
}
