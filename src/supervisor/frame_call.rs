//! Calls into frames by frame id, and what an open dialog does to them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::value::RawValue;

use super::error::Error;
use super::handle::Supervisor;
use super::snapshot::{Dialog, Frame, Phase, Snapshot};
use crate::cdp::protocol::page::{CaptureScreenshot, FrameId, Navigate, NavigateReturns};
use crate::cdp::protocol::runtime::{self, CallFunctionOn, Evaluate, EvaluateReturns, RemoteObject};
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt::Command;
use crate::cdp::{self, CallOptions, RawReply, answered_by_browser};
use crate::sync::Deadline;

/// A call on a page whose dialog another process shows usually goes through; when it has not by now,
/// it is blocked after all.
const DIALOG_GRACE: Duration = Duration::from_secs(1);

/// Which frame a call goes to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FrameRef {
    /// The top frame of the task's first page, popups aside.
    Top,
    /// The top frame of a page.
    TopOf(TargetId),
    /// A frame by its id.
    Id(FrameId),
}

impl FromStr for FrameRef {
    type Err = std::convert::Infallible;

    /// `top` or a frame id.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if text == "top" { Self::Top } else { Self::Id(FrameId::from(text)) })
    }
}

impl From<FrameId> for FrameRef {
    fn from(id: FrameId) -> Self {
        Self::Id(id)
    }
}

/// What a script evaluated to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value {
    /// The value as JSON; `null` for `undefined`. What JSON cannot hold (`Infinity`, a symbol, an
    /// object with cycles) is its description as a string.
    pub value: serde_json::Value,
    /// Its JavaScript type: `undefined`, `number`, `string`, `object`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether `value` is only a description.
    pub described: bool,
}

/// An exception thrown by a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the script threw: {message}")]
pub struct ScriptError {
    /// What was thrown, with its stack when it was an error: untrusted.
    pub message: String,
    /// Line, counted from 0.
    pub line: i64,
    /// Column, counted from 0.
    pub column: i64,
}

/// Where a call goes.
#[derive(Debug, Clone)]
struct Route {
    target: TargetId,
    session: Arc<str>,
    frame: Option<FrameId>,
    /// The execution context to aim at, when the frame shares its session with others.
    context: Option<i64>,
}

impl Supervisor {
    /// Evaluates a script in a frame and waits for its value; promises are awaited.
    ///
    /// # Errors
    /// [`Error::Script`] when it throws; [`Error::Cdp`] with `BlockedByDialog` when a dialog is open
    /// or opens meanwhile (the script goes on behind it); [`Error::FrameNotFound`],
    /// [`Error::FrameDetached`], [`Error::NoContext`], [`Error::NoPage`], [`Error::NotActive`].
    pub fn evaluate(&self, frame: &FrameRef, script: &str, deadline: Deadline) -> Result<Value, Error> {
        let route = self.route(frame)?;
        let mut evaluate = Evaluate::new(script);
        evaluate.await_promise = Some(true);
        evaluate.user_gesture = Some(true);
        evaluate.context_id = self.context(&route)?;
        let returned: EvaluateReturns = self.run(&route, &evaluate, deadline)?;
        self.value(&route, returned, deadline)
    }

    /// Starts a script in a frame without waiting for it: for one that opens a dialog.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), without what comes of running it.
    pub fn start_script(&self, frame: &FrameRef, script: &str) -> Result<(), Error> {
        let route = self.route(frame)?;
        let mut evaluate = Evaluate::new(script);
        evaluate.user_gesture = Some(true);
        evaluate.context_id = self.context(&route)?;
        let session = self.connection.session(Arc::clone(&route.session));
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
    ) -> Result<RawReply, Error> {
        let route = self.route(frame)?;
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
                map.insert(key.to_owned(), self.context(&route)?.into());
            }
        }
        self.guarded(&route, method.to_owned().into(), &params, deadline)
    }

    /// Sends a typed command to the session of a page or of a cross-process frame. A frame that shares
    /// its session with another is refused: the command would act on that one.
    ///
    /// # Errors
    /// [`Error::NotAFrameCommand`] and those of [`evaluate`](Self::evaluate).
    pub fn call<C: Command>(&self, page: &FrameRef, command: &C, deadline: Deadline) -> Result<C::Returns, Error> {
        let route = self.route(page)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(C::METHOD, frame));
        }
        self.run(&route, command, deadline)
    }

    /// Navigates a page. Returns when the page shows the new document; loading goes on. An open dialog
    /// does not stand in the way, Chromium closes it; one that opens meanwhile (`beforeunload`) ends the
    /// wait.
    ///
    /// # Errors
    /// [`Error::Cdp`] with the browser's text when the address cannot be reached, with `BlockedByDialog`
    /// when a dialog opened; [`Error::Timeout`] when the document did not come, and those of
    /// [`evaluate`](Self::evaluate).
    pub fn navigate(&self, page: &FrameRef, url: &str, deadline: Deadline) -> Result<NavigateReturns, Error> {
        let began = Instant::now();
        let route = self.route(page)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(Navigate::METHOD, frame));
        }
        let now = self.snapshot();
        let shows = route.frame.as_ref().and_then(|frame| now.frame(frame.as_str()));
        let before = shows.map(|frame| Arc::clone(&frame.loader)).unwrap_or_default();
        let options = CallOptions { session: Some(&route.session), deadline, interruptible: true };
        let sent = self.connection.send_with(Navigate::METHOD.into(), &Navigate::new(url), options)?;
        let returned: NavigateReturns = sent.wait_raw(deadline)?.decode()?;
        if returned.is_download == Some(true) {
            return Ok(returned);
        }
        if let Some(text) = &returned.error_text {
            return Err(Error::Cdp(cdp::Error::Protocol {
                method: Navigate::METHOD.into(),
                code: -32000,
                message: text.clone(),
                data: None,
            }));
        }
        // Without a loader it stays in the same document.
        let Some(loader) = &returned.loader_id else { return Ok(returned) };
        let frame = returned.frame_id.as_str();
        // Another one than before will do: the page may have gone on by itself already.
        let shown = |s: &Snapshot| s.frame(frame).is_none_or(|f| *f.loader == *loader.as_str() || f.loader != before);
        match self.wait_until(deadline, shown) {
            Some(_) => Ok(returned),
            None if self.is_active() => Err(Error::Timeout { what: "navigating", after: began.elapsed() }),
            None => Err(self.not_active()),
        }
    }

    /// A picture of what a page shows, as PNG.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn screenshot(&self, page: &FrameRef, deadline: Deadline) -> Result<Vec<u8>, Error> {
        let taken = self.call(page, &CaptureScreenshot::new(), deadline)?;
        taken.data.decode().map_err(|error| {
            Error::Cdp(cdp::Error::Decode {
                method: CaptureScreenshot::METHOD.into(),
                path: "data".to_owned(),
                problem: error.to_string(),
            })
        })
    }

    fn run<C: Command>(&self, route: &Route, command: &C, deadline: Deadline) -> Result<C::Returns, Error> {
        Ok(self.guarded(route, Cow::Borrowed(C::METHOD), command, deadline)?.decode()?)
    }

    /// Sends a call and waits for its answer, the end of its session, a dialog that blocks it, or the
    /// deadline, whichever is first.
    fn guarded(
        &self,
        route: &Route,
        method: Cow<'static, str>,
        params: &impl Serialize,
        deadline: Deadline,
    ) -> Result<RawReply, Error> {
        let minds_dialogs = !answered_by_browser(&method);
        if minds_dialogs {
            self.check_dialogs(route, &method, Patience::None)?;
        }
        let options = CallOptions { session: Some(&route.session), deadline, interruptible: minds_dialogs };
        let mut reply = self.connection.send_with(method.clone(), params, options)?;
        if !minds_dialogs {
            return Ok(reply.wait_raw(deadline)?);
        }
        // Again, now that the call can be interrupted: a dialog between the two would be missed.
        self.check_dialogs(route, &method, Patience::None)?;
        loop {
            let slice = deadline.within(DIALOG_GRACE);
            match reply.poll_raw(slice) {
                Ok(outcome) => return Ok(outcome?),
                Err(back) => reply = back,
            }
            self.check_dialogs(route, &method, Patience::Grace)?;
            if deadline.passed() {
                return Ok(reply.wait_raw(deadline)?); // its error tells how long was waited
            }
        }
    }

    /// Fails when a dialog blocks calls on this route. One shown by the same session does so at once,
    /// one shown by another process after the grace time only.
    fn check_dialogs(&self, route: &Route, method: &str, patience: Patience) -> Result<(), Error> {
        let snapshot = self.snapshot();
        let blocks = |dialog: &&Dialog| {
            let shown_by = dialog.frame_id.as_ref().and_then(|f| snapshot.frame(f.as_str()));
            let same = shown_by.is_none_or(|f| f.session_id.as_ref() == Some(&route.session));
            same || (patience == Patience::Grace && open_for(dialog) > DIALOG_GRACE)
        };
        let dialogs: Vec<String> =
            snapshot.dialogs_of(route.target.as_str()).filter(blocks).map(|d| d.id.to_string()).collect();
        if dialogs.is_empty() {
            return Ok(());
        }
        Err(Error::Cdp(cdp::Error::BlockedByDialog { method: method.to_owned().into(), dialogs }))
    }

    fn route(&self, frame: &FrameRef) -> Result<Route, Error> {
        let snapshot = self.snapshot();
        if let Phase::Ended(_) = snapshot.phase {
            return Err(self.not_active());
        }
        let top = |target: &TargetId| {
            let page =
                snapshot.page(target.as_str()).ok_or_else(|| Error::PageNotFound { target: target.to_string() })?;
            Ok(Route {
                target: page.target_id.clone(),
                session: Arc::clone(&page.session),
                frame: page.top_frame.clone(),
                context: None,
            })
        };
        match frame {
            FrameRef::Top => top(&snapshot.pages.first().ok_or(Error::NoPage)?.target_id),
            FrameRef::TopOf(target) => top(target),
            FrameRef::Id(id) => {
                let frame = snapshot.frame(id.as_str()).ok_or_else(|| unknown(id, &snapshot))?;
                route_to(frame)
            }
        }
    }

    /// The execution context to aim at, waiting a moment for one that is being made. `None` when the
    /// session's own is meant.
    fn context(&self, route: &Route) -> Result<Option<i64>, Error> {
        let (Some(known), Some(id)) = (route.context, &route.frame) else { return Ok(None) };
        if known != NO_CONTEXT {
            return Ok(Some(known));
        }
        let found = self.wait_until(Deadline::after(DIALOG_GRACE), |s| {
            s.frame(id.as_str()).is_none_or(|frame| frame.context.is_some())
        });
        let context = found.and_then(|s| s.frame(id.as_str()).and_then(|frame| frame.context));
        context.map(Some).ok_or_else(|| Error::NoContext { frame: id.to_string() })
    }

    fn not_a_frame_command(&self, method: &str, frame: &FrameId) -> Error {
        let snapshot = self.snapshot();
        let owner = snapshot.frame(frame.as_str()).and_then(|f| f.session_frame.as_ref());
        Error::NotAFrameCommand {
            method: method.to_owned(),
            frame: frame.to_string(),
            owner: owner.map_or_else(|| "top".to_owned(), ToString::to_string),
        }
    }

    /// Turns a result into a value. Objects are fetched by value in a second step, so that one that
    /// cannot be does not make the script run twice.
    fn value(&self, route: &Route, returned: EvaluateReturns, deadline: Deadline) -> Result<Value, Error> {
        if let Some(details) = returned.exception_details {
            let thrown = details.exception.as_ref().map(thrown);
            return Err(Error::Script(ScriptError {
                message: thrown.unwrap_or(details.text),
                line: details.line_number,
                column: details.column_number,
            }));
        }
        let object = returned.result;
        let Some(id) = object.object_id.clone() else { return Ok(plain(&object)) };
        if matches!(object.r#type, runtime::RemoteObjectType::Function | runtime::RemoteObjectType::Symbol) {
            self.release(route, id);
            return Ok(described(&object));
        }
        let mut fetch = CallFunctionOn::new("function() { return this; }");
        fetch.object_id = Some(id.clone());
        fetch.return_by_value = Some(true);
        let fetched = self.run(route, &fetch, deadline);
        self.release(route, id);
        match fetched {
            Ok(fetched) if fetched.exception_details.is_none() && fetched.result.value.is_some() => {
                Ok(plain(&fetched.result))
            }
            Ok(_) | Err(Error::Cdp(cdp::Error::Protocol { .. })) => Ok(described(&object)),
            Err(error) => Err(error),
        }
    }

    fn release(&self, route: &Route, id: runtime::RemoteObjectId) {
        let session = self.connection.session(Arc::clone(&route.session));
        drop(session.send(&runtime::ReleaseObject::new(id)));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    None,
    Grace,
}

/// Stands for "aim at a context of its own, which is not known yet".
const NO_CONTEXT: i64 = i64::MIN;

fn route_to(frame: &Frame) -> Result<Route, Error> {
    let detached = || Error::FrameDetached { frame: frame.frame_id.to_string() };
    let session = frame.session_id.clone().ok_or_else(detached)?;
    let own = frame.session_frame.as_ref() == Some(&frame.frame_id) || frame.parent_frame_id.is_none();
    Ok(Route {
        target: frame.target_id.clone(),
        session,
        frame: Some(frame.frame_id.clone()),
        context: (!own).then(|| frame.context.unwrap_or(NO_CONTEXT)),
    })
}

fn unknown(id: &FrameId, snapshot: &Snapshot) -> Error {
    let known = snapshot.frames.iter().take(10).map(|f| f.frame_id.to_string()).collect();
    Error::FrameNotFound { frame: id.to_string(), known }
}

fn open_for(dialog: &Dialog) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    Duration::try_from_secs_f64(now - dialog.opened_at).unwrap_or_default()
}

fn thrown(object: &RemoteObject) -> String {
    let json = || object.value.as_deref().map(RawValue::get).map(str::to_owned);
    let plain = || if object.r#type.as_str() == "undefined" { "undefined" } else { "null" }.to_owned();
    object.description.clone().or_else(json).unwrap_or_else(plain)
}

fn plain(object: &RemoteObject) -> Value {
    let kind = object.r#type.as_str().to_owned();
    match object.value.as_deref().map(|raw| serde_json::from_str(raw.get())) {
        Some(Ok(value)) => Value { value, kind, described: false },
        _ if object.unserializable_value.is_some() => described(object),
        // `null` and `undefined`
        _ => Value { value: serde_json::Value::Null, kind, described: false },
    }
}

fn described(object: &RemoteObject) -> Value {
    let text = object.unserializable_value.as_ref().map(ToString::to_string);
    let text = text.or_else(|| object.description.clone()).unwrap_or_default();
    Value { value: text.into(), kind: object.r#type.as_str().to_owned(), described: true }
}

impl fmt::Display for Value {
    /// A string as it is, anything else as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            serde_json::Value::String(text) => f.write_str(text),
            other => write!(f, "{other}"),
        }
    }
}
