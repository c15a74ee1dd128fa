//! Calls into frames by frame id.
//!
//! The value of a script is requested as JSON in the same call. JSON cannot hold a cycle, a symbol, a BigInt in an
//! object or the text of a function; such a value is described. The script must not run twice, so its value is taken
//! from `$_`, where Chromium keeps the latest awaited value of the object group `console`, for this CDP session and
//! execution context only: pages cannot read it. It stays referenced until the next script there.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::error::Error;
use super::handle::Supervisor;
use super::route::{FrameRef, Route};
use super::snapshot::View;
use super::value::{Done, ScriptError, Value, described, plain};
use crate::cdp::protocol::page::{CaptureScreenshot, CaptureScreenshotFormat, FrameId};
use crate::cdp::protocol::runtime::{
    self, CallFunctionOn, CallFunctionOnReturns, Evaluate, EvaluateReturns, ExceptionDetails, RemoteObject,
};
use crate::cdp::rt::Command;
use crate::cdp::{self, RawReply};
use crate::sync::Deadline;

/// The object group whose latest value Chromium keeps as [`LATEST_VALUE`], for the CDP session and context alone: pages cannot
/// read it. A value that JSON cannot hold is described from there, so that no script runs twice.
const VALUE_GROUP: &str = "console";
/// The latest value of [`VALUE_GROUP`], in a script with the command line API.
const LATEST_VALUE: &str = "$_";

/// Makes values readable that JSON would hold as empty objects: dates, maps, sets, nodes, errors, …
const READABLE: &str = include_str!("readable.js");

/// What it may take to find the context of a script that is started.
const START_LIMIT: Duration = Duration::from_secs(2);

impl Supervisor {
    /// Evaluates a script in a frame and waits for its value; promises are awaited.
    ///
    /// # Errors
    /// [`Error::Script`] when it throws; [`Error::BlockedByDialog`] when a dialog is open
    /// or opens meanwhile (the script goes on behind it); [`Error::FrameNotFound`],
    /// [`Error::FrameDetached`], [`Error::NoContext`], [`Error::NoPage`], [`Error::NotActive`].
    pub fn evaluate(&self, frame: &FrameRef, script: &str, deadline: Deadline<'_>) -> Result<Done<Value>, Error> {
        self.evaluate_as(frame, Evaluate::new(script), deadline)
    }

    /// Evaluates a script that only reads: V8 ends it before its first effect. Nothing is awaited, because what runs later is not
    /// checked: a script that may leave something to run later counts as one with an effect, as does a value that is a promise or
    /// that cannot be read without an effect.
    ///
    /// # Errors
    /// Those of [`evaluate`](Self::evaluate); for an effect, [`Error::Script`] with [`ScriptError::is_side_effect`].
    pub fn evaluate_read_only(
        &self,
        frame: &FrameRef,
        script: &str,
        deadline: Deadline<'_>,
    ) -> Result<Done<Value>, Error> {
        leaves_nothing(script)?;
        let route = self.route(frame, deadline)?;
        let mut evaluate = Evaluate::new(script);
        evaluate.throw_on_side_effect = Some(true);
        evaluate.user_gesture = Some(false);
        evaluate.context_id = self.context(&route, deadline)?;
        let returned = self.run(&route, &evaluate, deadline)?;
        let rescued = returned.rescued;
        let EvaluateReturns { result, exception_details } = returned.result;
        self.value_read_only(&route, result, exception_details, deadline).map(|value| Done { result: value, rescued })
    }

    /// Calls a function that only reads, as [`evaluate_read_only`](Self::evaluate_read_only) does.
    ///
    /// # Errors
    /// Those of [`evaluate_read_only`](Self::evaluate_read_only).
    pub fn call_function_read_only(
        &self,
        frame: &FrameRef,
        call: &CallFunctionOn,
        deadline: Deadline<'_>,
    ) -> Result<Done<Value>, Error> {
        leaves_nothing(&call.function_declaration)?;
        let route = self.route(frame, deadline)?;
        let mut call = call.clone();
        (call.throw_on_side_effect, call.user_gesture, call.await_promise) = (Some(true), Some(false), None);
        let returned = self.run(&route, &call, deadline)?;
        let rescued = returned.rescued;
        let CallFunctionOnReturns { result, exception_details } = returned.result;
        self.value_read_only(&route, result, exception_details, deadline).map(|value| Done { result: value, rescued })
    }

    /// Turns a result into a value. Reading an object may run code of the page, so that is done without effects, too.
    fn value_read_only(
        &self,
        route: &Route,
        object: RemoteObject,
        thrown: Option<ExceptionDetails>,
        deadline: Deadline<'_>,
    ) -> Result<Value, Error> {
        if let Some(details) = thrown {
            return Err(Error::Script(ScriptError::from(details)));
        }
        let Some(id) = object.object_id.clone() else { return Ok(plain(&object)) };
        let is_promise = object.subtype.as_ref().is_some_and(|kind| kind.as_str() == "promise");
        let read = match object.r#type {
            _ if is_promise => Err(Error::Script(ScriptError::side_effect("the value is a promise"))),
            runtime::RemoteObjectType::Function | runtime::RemoteObjectType::Symbol => Ok(described(&object)),
            _ => {
                let mut read =
                    CallFunctionOn::new(format!("function() {{ return JSON.stringify(({READABLE}).call(this)); }}"));
                read.object_id = Some(id.clone());
                read.throw_on_side_effect = Some(true);
                self.run(route, &read, deadline).and_then(|read| match read.result.exception_details {
                    None => {
                        let text = plain(&read.result.result).value;
                        let value = text.as_str().and_then(|text| serde_json::from_str(text).ok());
                        let kind = object.r#type.as_str().to_owned();
                        Ok(value.map_or_else(|| described(&object), |value| Value { value, kind, described: false }))
                    }
                    Some(details) => match ScriptError::from(details) {
                        error if error.is_side_effect() => Err(Error::Script(error)),
                        // Cycles, numbers that JSON cannot hold.
                        _ => Ok(described(&object)),
                    },
                })
            }
        };
        self.release(route, id);
        read
    }

    fn evaluate_as(
        &self,
        frame: &FrameRef,
        mut evaluate: Evaluate,
        deadline: Deadline<'_>,
    ) -> Result<Done<Value>, Error> {
        // Chromium stores the latest value before it converts it, if the value is awaited.
        evaluate.await_promise = Some(true);
        evaluate.user_gesture = Some(true);
        evaluate.return_by_value = Some(true);
        evaluate.object_group = Some(VALUE_GROUP.to_owned());
        let (route, number, returned) = loop {
            let route = self.route(frame, deadline)?;
            evaluate.context_id = self.context(&route, deadline)?;
            let number = self.liveness.begin_by_value(&route.session);
            match (self.run(&route, &evaluate, deadline), evaluate.context_id) {
                (Err(error), context) if is_not_convertible(&error) => {
                    return self.describe_latest(&route, context, number, "object", deadline);
                }
                // The document went before the script came to it, so it did not run. What has followed?
                (Err(error), Some(used)) if is_unknown_context(&error) => {
                    let id = route.frame.as_ref().map(FrameId::as_str).unwrap_or_default();
                    let another = |s: &View| s.frame(id).is_none_or(|frame| frame.context != Some(used));
                    if self.wait_until(deadline.within(START_LIMIT), another).is_none() {
                        return Err(error);
                    }
                }
                (returned, _) => break (route, number, returned?),
            }
        };
        let EvaluateReturns { result, exception_details } = returned.result;
        if let Some(details) = exception_details {
            if let Some(id) = details.exception.as_ref().and_then(|thrown| thrown.object_id.clone()) {
                self.release(&route, id);
            }
            return Err(Error::Script(ScriptError::from(details)));
        }
        let mut value = match result.r#type {
            runtime::RemoteObjectType::Function => {
                self.describe_latest(&route, evaluate.context_id, number, "function", deadline)?
            }
            _ => Done { result: plain(&result), rescued: false },
        };
        if has_empty_object(&value.result.value) {
            evaluate.expression = format!("({READABLE})({LATEST_VALUE})");
            evaluate.include_command_line_api = Some(true);
            evaluate.await_promise = None;
            if let Some(readable) = self.readable(&route, &evaluate, number, deadline)? {
                value = readable;
            }
        }
        value.rescued |= returned.rescued;
        Ok(value)
    }

    /// The value of the script with this number, made readable; `None` if another script may have replaced it.
    fn readable(
        &self,
        route: &Route,
        evaluate: &Evaluate,
        number: u64,
        deadline: Deadline<'_>,
    ) -> Result<Option<Done<Value>>, Error> {
        if !self.liveness.is_last_by_value(&route.session, number) {
            return Ok(None);
        }
        match self.run(route, evaluate, deadline) {
            Ok(read) if read.exception_details.is_none() && self.liveness.is_last_by_value(&route.session, number) => {
                Ok(Some(read.map(|read| plain(&read.result))))
            }
            Ok(_) | Err(Error::Cdp(cdp::Error::Protocol { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Describes the value of the script with this number, which JSON cannot hold. If another script may have
    /// replaced it, it is described as its `kind` alone.
    fn describe_latest(
        &self,
        route: &Route,
        context: Option<i64>,
        number: u64,
        kind: &str,
        deadline: Deadline<'_>,
    ) -> Result<Done<Value>, Error> {
        let unknown = || Value { value: kind.into(), kind: kind.to_owned(), described: true };
        if !self.liveness.is_last_by_value(&route.session, number) {
            return Ok(Done { result: unknown(), rescued: false });
        }
        let mut latest = Evaluate::new(LATEST_VALUE);
        latest.include_command_line_api = Some(true);
        latest.context_id = context;
        let fetched = self.run(route, &latest, deadline)?;
        if let Some(id) = fetched.result.result.object_id.clone() {
            self.release(route, id);
        }
        let is_ours = fetched.exception_details.is_none() && self.liveness.is_last_by_value(&route.session, number);
        Ok(fetched.map(|fetched| if is_ours { described(&fetched.result) } else { unknown() }))
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
        deadline: Deadline<'_>,
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
        let deadline = Deadline::after(START_LIMIT);
        let route = self.route(frame, deadline)?;
        let mut evaluate = Evaluate::new(script);
        evaluate.user_gesture = Some(true);
        evaluate.context_id = self.context(&route, deadline)?;
        self.liveness.started(&route.session);
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
        deadline: Deadline<'_>,
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
        self.call_watched(&route, method.to_owned().into(), &params, deadline)
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
        deadline: Deadline<'_>,
    ) -> Result<Done<C::Returns>, Error> {
        let route = self.route(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(C::METHOD, frame));
        }
        self.run(&route, command, deadline)
    }

    /// Captures the viewport of a page as PNG. It is kept as the page's last screenshot.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn screenshot(&self, page: &FrameRef, deadline: Deadline<'_>) -> Result<Done<Vec<u8>>, Error> {
        self.capture(page, &CaptureScreenshot::new(), deadline)
    }

    /// Captures a screenshot with the given options. A PNG of the whole viewport is kept as the page's last screenshot.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn capture(
        &self,
        page: &FrameRef,
        command: &CaptureScreenshot,
        deadline: Deadline<'_>,
    ) -> Result<Done<Vec<u8>>, Error> {
        let taken = self.capture_unkept(page, command, deadline)?;
        if command.clip.is_none() && matches!(command.format, None | Some(CaptureScreenshotFormat::Png)) {
            self.keep_picture(&self.route(page, deadline)?.target, &taken);
        }
        Ok(taken)
    }

    /// As [`capture`](Self::capture), but the screenshot is not kept.
    pub(crate) fn capture_unkept(
        &self,
        page: &FrameRef,
        command: &CaptureScreenshot,
        deadline: Deadline<'_>,
    ) -> Result<Done<Vec<u8>>, Error> {
        let route = self.route(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(CaptureScreenshot::METHOD, frame));
        }
        let taken = self.run(&route, command, deadline)?;
        taken.try_map(|taken| {
            taken.data.decode().map_err(|error| {
                Error::Cdp(cdp::Error::Decode {
                    method: CaptureScreenshot::METHOD.into(),
                    path: "data".to_owned(),
                    problem: error.to_string(),
                })
            })
        })
    }

    pub(super) fn run<C: Command>(
        &self,
        route: &Route,
        command: &C,
        deadline: Deadline<'_>,
    ) -> Result<Done<C::Returns>, Error> {
        let raw = self.call_watched(route, Cow::Borrowed(C::METHOD), command, deadline)?;
        Ok(raw.try_map(|raw| raw.decode())?)
    }

    /// Turns a result into a value. Objects are fetched by value in a second step, so that one that
    /// cannot be does not make the script run twice.
    fn value(
        &self,
        route: &Route,
        object: RemoteObject,
        thrown: Option<ExceptionDetails>,
        deadline: Deadline<'_>,
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
        let fetch = |function: &'static str| {
            let mut fetch = CallFunctionOn::new(function);
            fetch.object_id = Some(id.clone());
            fetch.return_by_value = Some(true);
            self.run(route, &fetch, deadline)
        };
        let mut fetched = fetch("function() { return this; }");
        if let Ok(value) = &fetched
            && has_empty_object(&plain(&value.result.result).value)
            && let Ok(readable) = fetch(READABLE)
            && readable.exception_details.is_none()
        {
            fetched = Ok(readable);
        }
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

/// Refuses a script that may leave something to run after it, when V8 no longer ends what has an effect: measured with Chromium
/// 156, that is the `then` of an object which an async function returns. All other ways to run something later are effects.
fn leaves_nothing(script: &str) -> Result<(), Error> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    if script.contains("\\u") {
        return Err(Error::Script(ScriptError::side_effect("an escape may hide a word")));
    }
    let mut words = script.split(|c: char| !is_word(c));
    match words.find(|word| matches!(*word, "async" | "await" | "then")) {
        Some(word) => Err(Error::Script(ScriptError::side_effect(&format!("{word} may run something later")))),
        None => Ok(()),
    }
}

/// Whether a value has an empty object: most values that JSON cannot hold become one.
fn has_empty_object(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Object(map) => map.is_empty() || map.values().any(has_empty_object),
        serde_json::Value::Array(all) => all.iter().any(has_empty_object),
        _ => false,
    }
}

/// Whether Chromium does not know the execution context that was named.
fn is_unknown_context(error: &Error) -> bool {
    matches!(error, Error::Cdp(cdp::Error::Protocol { message, .. }) if message.contains("Cannot find context"))
}

/// Whether a script ran, but JSON cannot hold its value: cycles, too many levels, symbols, getters that throw.
fn is_not_convertible(error: &Error) -> bool {
    const INTERNAL_ERROR: i64 = -32603;
    const REFUSALS: [&str; 2] = ["Object reference chain is too long", "Object couldn't be returned by value"];
    matches!(error, Error::Cdp(cdp::Error::Protocol { code, message, .. })
        if *code == INTERNAL_ERROR || REFUSALS.iter().any(|refusal| message.starts_with(refusal)))
}
