//! The tools for models, over the Model Context Protocol. `mcp::server` knows what is answered; here it meets HTTP.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use http::header::{ACCEPT, CACHE_CONTROL, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::super::failure::Failure;
use super::super::home_tools::OfferError;
use super::super::types::{McpQuery, Nothing};
use super::{Call, Reply};
use crate::control::Session;
use crate::http::{Answer, Body, Event, EventSource, Next};
use crate::mcp::server::http::{Headers, METHOD, NAME, Posted, Refused, SESSION, VERSION, read, status};
use crate::mcp::server::{Backend as _, Peer, Subscription, ToolServer, answer, list_changed};
use crate::mcp::{Fault, Id, Request};
use crate::sync::{Cancel, Deadline, Thread, pause, spawn};

/// Messages of a call that wait to be sent.
const UNSENT: usize = 64;
/// How often somebody who listens is told that a call is still being done.
const TICK: Duration = Duration::from_secs(5);
/// Tells proxies to hand on each event as it comes.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

// Handlers have one shape, also where nothing can fail.
#[allow(clippy::unnecessary_wraps)]
pub(super) fn post(call: &Call<'_>, query: McpQuery) -> Result<Reply, Failure> {
    let request = call.request;
    let headers =
        Headers { version: request.header(VERSION), method: request.header(METHOD), name: request.header(NAME) };
    let answer = match read(&headers, &request.body) {
        Ok(Posted::Notification) => {
            Answer { status: StatusCode::ACCEPTED, headers: Vec::new(), body: Body::Bytes(Vec::new()) }
        }
        Ok(Posted::Request(asked, id, is_modern)) => answered(call, &query, asked, id, is_modern),
        Err(refused) => written(refused),
    };
    Ok(Reply::Other(answer.with(CACHE_CONTROL, HeaderValue::from_static("no-store"))))
}

fn answered(call: &Call<'_>, query: &McpQuery, asked: Request, id: Id, is_modern: bool) -> Answer {
    let toolsets: Vec<String> = query.toolsets.as_deref().map(names).unwrap_or_default();
    let (tools, profile) = (&call.front.tools, call.profile.as_deref());
    let offered = match query.platform.as_deref() {
        Some(platform) => tools.offer_on(platform, profile, &toolsets),
        None => tools.offer(profile, &toolsets),
    };
    let offer = match offered {
        Ok(offer) => offer,
        Err(problem) => return written(refused(&problem, &id)),
    };
    // A session that the user chose goes before that of the connection.
    let session = match call.request.header(SESSION).filter(|_| call.session.is_default()) {
        None => Some(call.session.clone()),
        Some(id) => call.front.control.sessions().of_connection(id),
    };
    let Some(session) = session else {
        let problem = "Mcp-Session-Id has to be 1 to 128 visible ASCII characters";
        return written(Refused::bad(&Fault::new(Fault::INVALID_REQUEST, problem), Some(&id)));
    };
    let streams = takes_events(&call.request.headers);
    if is_modern && asked.method == "subscriptions/listen" {
        return match Subscription::of(&id, &asked) {
            Ok(_) if !streams => {
                let fault = Fault::new(Fault::INVALID_REQUEST, "its answer is a stream; accept text/event-stream");
                written(Refused { status: 406, body: fault.to_value(Some(&id)) })
            }
            Ok(subscription) => stream(Listening::new(offer, subscription)),
            Err(fault) => written(Refused::bad(&fault, Some(&id))),
        };
    }
    let wants_progress = asked.params.get("_meta").is_some_and(|meta| meta.get("progressToken").is_some());
    // Who listens nowhere else hears of other tools with the answer of the call that brought them.
    let hears = streams && !is_modern && asked.method == "tools/call";
    if streams && wants_progress && asked.method == "tools/call" {
        return match Calling::start(offer, asked, id.clone(), session, hears) {
            Ok(calling) => stream(calling),
            Err(problem) => {
                let fault = Fault::new(Fault::INTERNAL, format!("the system refuses a thread: {problem}; try again"));
                written(Refused { status: 503, body: fault.to_value(Some(&id)) })
            }
        };
    }
    let peer = Peer { notify: &|_| {}, cancel: &call.request.cancel, session: &session };
    let before = hears.then(|| offer.names());
    let told = answer(&offer, &asked, &peer).unwrap_or_default();
    if before.is_some_and(|before| before != offer.names()) {
        return Answer::bytes(StatusCode::OK, "text/event-stream", events(&[list_changed(), told]));
    }
    let answer = written(Refused { status: status(is_modern, &told), body: told });
    // A client of this era sends the id with all that follows, and has a current tab of its own then.
    match HeaderValue::from_str(Session::new().id()) {
        Ok(new) if asked.method == "initialize" && !is_modern => answer.with(HeaderName::from_static(SESSION), new),
        _ => answer,
    }
}

/// Ends the session of a connection: its current tab, its to-do list and its background commands. Its tabs stay open.
pub(super) fn end(call: &Call<'_>, _: Nothing) -> Result<Nothing, Failure> {
    let Some(id) = call.request.header(SESSION) else {
        return Err(Failure::bad("Mcp-Session-Id is missing; send the id of the session to end"));
    };
    match call.front.control.sessions().end_connection(id) {
        true => Ok(Nothing {}),
        false => Err(Failure::new("NOT_FOUND", "no MCP session has this Mcp-Session-Id; it may have ended already")),
    }
}

/// The names in a list with commas.
fn names(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn refused(problem: &OfferError, id: &Id) -> Refused {
    let (status, code) = match problem {
        OfferError::Toolset(_) => (400, Fault::INVALID_PARAMS),
        OfferError::Control(error) => (super::super::status::of(error.code()), Fault::INVALID_PARAMS),
        OfferError::Ending => (503, Fault::INTERNAL),
        OfferError::Toolbox(_) => (500, Fault::INTERNAL),
    };
    let mut fault = Fault::new(code, problem.to_string());
    // Whoever stands between a model and us tells a wrong toolset from other wrong parameters by it.
    if matches!(problem, OfferError::Toolset(_)) {
        fault.data = Some(json!({ "code": "UNKNOWN_TOOLSET" }));
    }
    Refused { status, body: fault.to_value(Some(id)) }
}

fn written(told: Refused) -> Answer {
    let status = StatusCode::from_u16(told.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Answer::json(status, &told.body)
}

fn stream(source: impl EventSource + 'static) -> Answer {
    Answer::events(source).with(UNBUFFERED, HeaderValue::from_static("no"))
}

/// Whether a client says that it takes streams of events.
fn takes_events(headers: &HeaderMap) -> bool {
    let all = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = all.flat_map(|value| value.split(',')).filter_map(|kind| kind.split(';').next());
    kinds.any(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

fn message(told: &Value) -> Event {
    Event { name: Some("message".to_owned()), id: None, data: told.to_string() }
}

/// Messages that are all there, as a stream.
fn events(all: &[Value]) -> Vec<u8> {
    all.iter().map(|told| format!("event: message\ndata: {told}\n\n")).collect::<String>().into_bytes()
}

/// A call whose progress is told. It is done on a thread of its own, and cancelled when nobody follows any more.
struct Calling {
    told: Receiver<Value>,
    cancel: Cancel,
    what: String,
    token: Value,
    began: Instant,
    tick: Deadline,
    /// Whether the tool itself tells of its progress.
    goes_on: bool,
    /// The last progress that was told of.
    progress: f64,
    over: bool,
    _thread: Thread,
}

impl Calling {
    fn start(offer: ToolServer, asked: Request, id: Id, session: Session, hears: bool) -> std::io::Result<Self> {
        let (send, told) = bounded(UNSENT);
        let cancel = Cancel::new();
        let token = asked.params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned().unwrap_or_default();
        let what = asked.params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let known = cancel.clone();
        let thread = spawn("mcp-call-http", move || {
            // Whoever follows takes what there is four times a second; nothing is told to nobody.
            let notify = |value| drop(send.send_timeout(value, Duration::from_secs(30)));
            let peer = Peer { notify: &notify, cancel: &known, session: &session };
            let before = hears.then(|| offer.names());
            let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(&offer, &asked, &peer)));
            let failed = || Fault::new(Fault::INTERNAL, "the call failed; the log says where").to_value(Some(&id));
            if before.is_some_and(|before| before != offer.names()) {
                notify(list_changed());
            }
            let _ = send.send_timeout(answered.unwrap_or(None).unwrap_or_else(failed), Duration::from_secs(30));
        })?;
        let (began, tick) = (Instant::now(), Deadline::after(TICK));
        Ok(Self {
            told,
            cancel,
            what,
            token,
            began,
            tick,
            goes_on: false,
            progress: -1.0,
            over: false,
            _thread: thread,
        })
    }
}

impl EventSource for Calling {
    fn next(&mut self, deadline: Deadline) -> Next {
        if self.over {
            return Next::End;
        }
        match self.told.recv_deadline(deadline.min(self.tick).instant()) {
            Ok(told) => {
                self.over = told.get("method").is_none();
                if let Some(progress) = told.pointer("/params/progress").and_then(Value::as_f64) {
                    // It has to grow with each notification, those included that were told of here.
                    if progress <= self.progress {
                        return Next::Nothing;
                    }
                    (self.progress, self.goes_on) = (progress, true);
                }
                Next::Event(message(&told))
            }
            Err(RecvTimeoutError::Disconnected) => Next::End,
            Err(RecvTimeoutError::Timeout) if self.goes_on || !self.tick.passed() => Next::Nothing,
            Err(RecvTimeoutError::Timeout) => {
                self.tick = Deadline::after(TICK);
                let seconds = self.began.elapsed().as_secs_f64();
                self.progress = seconds;
                let text = format!("{} has been at work for {seconds:.0} s", self.what);
                let params = json!({ "progressToken": self.token, "progress": seconds, "message": text });
                Next::Event(message(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })))
            }
        }
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        // Behind this the thread is waited for.
        self.cancel.set();
    }
}

/// Somebody who is told when the offered tools change.
struct Listening {
    offer: Arc<ToolServer>,
    subscription: Subscription,
    known: Option<BTreeSet<String>>,
    begun: bool,
}

impl Listening {
    fn new(offer: ToolServer, subscription: Subscription) -> Self {
        let known = offer.names();
        Self { offer: Arc::new(offer), subscription, known, begun: false }
    }
}

impl EventSource for Listening {
    fn next(&mut self, deadline: Deadline) -> Next {
        if !std::mem::replace(&mut self.begun, true) {
            return Next::Event(message(&self.subscription.acknowledged()));
        }
        let now = self.offer.names();
        if self.subscription.wants_tools() && now != self.known {
            self.known = now;
            return Next::Event(message(&self.subscription.changed()));
        }
        // Nothing tells of a browser that starts or ends but looking.
        pause(deadline.left());
        Next::Nothing
    }
}
