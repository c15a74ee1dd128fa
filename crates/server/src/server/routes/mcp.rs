//! Tools over the Model Context Protocol: the HTTP transport of `mcp::server`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use http::header::{ACCEPT, CACHE_CONTROL, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::home_tools::OfferError;
use super::{Call, Reply};
use crate::api::{McpQuery, NoFields};
use crate::control::Session;
use crate::http::{Answer, Body, Event, EventSource, Next};
use crate::mcp::server::http::{Headers, METHOD, NAME, Posted, Refused, SESSION, VERSION, read, status};
use crate::mcp::server::{Backend as _, Peer, Subscription, ToolServer, answer, list_changed};
use crate::mcp::{Fault, Id, Request};
use cdpilot::code::Code;
use cdpilot::sync::{Cancel, Deadline, Thread, pause, spawn};

/// Maximum number of unsent messages of a call.
const UNSENT: usize = 64;
/// How often a running call sends a progress notification.
const TICK: Duration = Duration::from_secs(5);
/// Tells proxies not to buffer events.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

// All handlers have the same signature.
#[allow(clippy::unnecessary_wraps)]
pub(super) fn post(call: &Call<'_>, query: McpQuery) -> Result<Reply, ApiError> {
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
    let (tools, profile) = (&call.context.tools, call.profile.as_deref());
    let offered = match query.platform.as_deref() {
        Some(platform) => tools.offer_on(platform, profile, &toolsets),
        None => tools.offer(profile, &toolsets),
    };
    let offer = match offered {
        Ok(offer) => offer,
        Err(problem) => return written(refused(&problem, &id)),
    };
    // A session named by the client takes precedence over the one of the connection.
    let session = match call.request.header(SESSION).filter(|_| call.session.is_default()) {
        None => Ok(call.session.clone()),
        Some(id) => call.context.control.sessions().of_connection(id),
    };
    let session = match session {
        Ok(session) => session,
        Err(problem) => {
            let problem = format!("Mcp-Session-Id: {problem}");
            return written(Refused::bad(&Fault::new(Fault::INVALID_REQUEST, problem), Some(&id)));
        }
    };
    let streams = takes_events(&call.request.headers);
    if is_modern && asked.method == "subscriptions/listen" {
        return match Subscription::of(&id, &asked) {
            Ok(_) if !streams => {
                let fault =
                    Fault::new(Fault::INVALID_REQUEST, "the response is a stream; send Accept: text/event-stream");
                written(Refused { status: 406, body: fault.to_value(Some(&id)) })
            }
            Ok(subscription) => stream(ToolsSubscription::new(offer, subscription)),
            Err(fault) => written(Refused::bad(&fault, Some(&id))),
        };
    }
    let wants_progress = asked.params.get("_meta").is_some_and(|meta| meta.get("progressToken").is_some());
    // Clients without a subscription are notified of changed tools in the response of the call that changed them.
    let sends_notifications = streams && !is_modern && asked.method == "tools/call";
    if streams && wants_progress && asked.method == "tools/call" {
        return match ToolCallStream::start(offer, asked, id.clone(), session, sends_notifications) {
            Ok(calling) => stream(calling),
            Err(problem) => {
                let fault = Fault::new(Fault::INTERNAL, format!("cannot start a thread: {problem}; try again"));
                written(Refused { status: 503, body: fault.to_value(Some(&id)) })
            }
        };
    }
    let peer = Peer { notify: &|_| {}, cancel: &call.request.cancel, session: &session };
    let before = sends_notifications.then(|| offer.names());
    let outgoing = answer(&offer, &asked, &peer).unwrap_or_default();
    if before.is_some_and(|before| before != offer.names()) {
        return Answer::bytes(StatusCode::OK, "text/event-stream", events(&[list_changed(), outgoing]));
    }
    let answer = written(Refused { status: status(is_modern, &outgoing), body: outgoing });
    // A client of this protocol revision sends the id with all further requests, which gives it its own session.
    if asked.method != "initialize" || is_modern {
        return answer;
    }
    let new = Session::new();
    match (call.context.control.sessions().of_connection(new.id()), HeaderValue::from_str(new.id())) {
        (Ok(_), Ok(id)) => answer.with(HeaderName::from_static(SESSION), id),
        _ => answer,
    }
}

/// Ends the session of a connection: its current tab, its to-do list and its background commands. Its tabs stay open.
pub(super) fn end(call: &Call<'_>, _: NoFields) -> Result<NoFields, ApiError> {
    let Some(id) = call.request.header(SESSION) else {
        return Err(ApiError::bad("Mcp-Session-Id is missing; send the id of the session to end"));
    };
    match call.context.control.sessions().end_connection(id) {
        true => Ok(NoFields {}),
        false => {
            Err(ApiError::new(Code::NotFound, "no MCP session has this Mcp-Session-Id; it may have ended already"))
        }
    }
}

/// Splits a comma-separated list.
fn names(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn refused(problem: &OfferError, id: &Id) -> Refused {
    let (status, code) = match problem {
        OfferError::Toolset(_) => (400, Fault::INVALID_PARAMS),
        OfferError::Control(error) => (super::super::status::of(error.kind()), Fault::INVALID_PARAMS),
        OfferError::Ending => (503, Fault::INTERNAL),
        OfferError::Toolbox(_) => (500, Fault::INTERNAL),
    };
    let mut fault = Fault::new(code, problem.to_string());
    // Lets proxies distinguish an unknown toolset from other invalid parameters.
    if matches!(problem, OfferError::Toolset(_)) {
        fault.data = Some(json!({ "code": Code::UnknownToolset }));
    }
    Refused { status, body: fault.to_value(Some(id)) }
}

fn written(outgoing: Refused) -> Answer {
    let status = StatusCode::from_u16(outgoing.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Answer::json(status, &outgoing.body)
}

fn stream(source: impl EventSource + 'static) -> Answer {
    Answer::events(source).with(UNBUFFERED, HeaderValue::from_static("no"))
}

/// Whether a client accepts event streams.
fn takes_events(headers: &HeaderMap) -> bool {
    let all = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = all.flat_map(|value| value.split(',')).filter_map(|kind| kind.split(';').next());
    kinds.any(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

fn message(outgoing: &Value) -> Event {
    Event { name: Some("message".to_owned()), id: None, data: outgoing.to_string() }
}

/// Complete messages as an event stream.
fn events(all: &[Value]) -> Vec<u8> {
    all.iter().map(|outgoing| format!("event: message\ndata: {outgoing}\n\n")).collect::<String>().into_bytes()
}

/// A tool call that reports progress. It runs on its own thread and is cancelled when the client disconnects.
struct ToolCallStream {
    outgoing: Receiver<Value>,
    cancel: Cancel,
    what: String,
    token: Value,
    began: Instant,
    tick: Deadline<'static>,
    /// Whether the tool reports progress itself.
    goes_on: bool,
    /// The last reported progress.
    progress: f64,
    over: bool,
    _thread: Thread,
}

impl ToolCallStream {
    fn start(offer: ToolServer, asked: Request, id: Id, session: Session, hears: bool) -> std::io::Result<Self> {
        let (send, outgoing) = bounded(UNSENT);
        let cancel = Cancel::new();
        let token = asked.params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned().unwrap_or_default();
        let what = asked.params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let known = cancel.clone();
        let thread = spawn("mcp-call-http", move || {
            // The reader takes messages four times a second; without a reader they are dropped.
            let notify = |value| drop(send.send_timeout(value, Duration::from_secs(30)));
            let peer = Peer { notify: &notify, cancel: &known, session: &session };
            let before = hears.then(|| offer.names());
            let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(&offer, &asked, &peer)));
            let failed = || {
                Fault::new(Fault::INTERNAL, "internal error in the tool call; see the server log").to_value(Some(&id))
            };
            if before.is_some_and(|before| before != offer.names()) {
                notify(list_changed());
            }
            let _ = send.send_timeout(answered.unwrap_or(None).unwrap_or_else(failed), Duration::from_secs(30));
        })?;
        let (began, tick) = (Instant::now(), Deadline::after(TICK));
        Ok(Self {
            outgoing,
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

impl EventSource for ToolCallStream {
    fn next(&mut self, deadline: Deadline<'_>) -> Next {
        if self.over {
            return Next::End;
        }
        match self.outgoing.recv_deadline(deadline.min(self.tick).instant()) {
            Ok(outgoing) => {
                self.over = outgoing.get("method").is_none();
                if let Some(progress) = outgoing.pointer("/params/progress").and_then(Value::as_f64) {
                    // Progress must increase with every notification, including those sent from here.
                    if progress <= self.progress {
                        return Next::Nothing;
                    }
                    (self.progress, self.goes_on) = (progress, true);
                }
                Next::Event(message(&outgoing))
            }
            Err(RecvTimeoutError::Disconnected) => Next::End,
            Err(RecvTimeoutError::Timeout) if self.goes_on || !self.tick.passed() => Next::Nothing,
            Err(RecvTimeoutError::Timeout) => {
                self.tick = Deadline::after(TICK);
                let seconds = self.began.elapsed().as_secs_f64();
                self.progress = seconds;
                let text = format!("{} has been running for {seconds:.0} s", self.what);
                let params = json!({ "progressToken": self.token, "progress": seconds, "message": text });
                Next::Event(message(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })))
            }
        }
    }
}

impl Drop for ToolCallStream {
    fn drop(&mut self) {
        // The field drop after this joins the thread.
        self.cancel.set();
    }
}

/// A subscription to changes of the offered tools.
struct ToolsSubscription {
    offer: Arc<ToolServer>,
    subscription: Subscription,
    known: Option<BTreeSet<String>>,
    begun: bool,
}

impl ToolsSubscription {
    fn new(offer: ToolServer, subscription: Subscription) -> Self {
        let known = offer.names();
        Self { offer: Arc::new(offer), subscription, known, begun: false }
    }
}

impl EventSource for ToolsSubscription {
    fn next(&mut self, deadline: Deadline<'_>) -> Next {
        if !std::mem::replace(&mut self.begun, true) {
            return Next::Event(message(&self.subscription.acknowledged()));
        }
        let now = self.offer.names();
        if self.subscription.wants_tools() && now != self.known {
            self.known = now;
            return Next::Event(message(&self.subscription.changed()));
        }
        // Polls, because starts and ends of browsers are not signalled.
        pause(deadline.left());
        Next::Nothing
    }
}
