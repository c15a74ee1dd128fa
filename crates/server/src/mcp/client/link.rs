//! The connection to a running server: requests, responses, notifications.
//!
//! Lock order: no lock is held while another one is taken or during I/O.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded, select};
use parking_lot::{Condvar, Mutex};
use serde_json::{Map, Value, json};

use super::super::message::{answer, notification};
use super::super::{Fault, Id, MODERN, Message, Request};
use super::salvage::{answer_id, is_message};
use crate::tools::Progress;
use cdpilot::sync::Deadline;
use cdpilot::text::replace_lone_surrogates;

/// Maximum number of messages waiting to be written.
const OUTBOX: usize = 64;
/// Maximum number of unread progress notifications; further ones are dropped.
const PROGRESS: usize = 32;
/// Maximum length of a progress message, in characters.
const SAID: usize = 500;
/// Maximum length of ids and method names of the server that a response repeats, in characters.
const ECHOED: usize = 200;

/// Key in `_meta`: the protocol revision of a request.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Key in `_meta`: capabilities of the client.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Key in `_meta`: name and version of the client.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// Messages for the writer thread.
pub(super) struct Outbox(pub(super) Receiver<String>);

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Failed {
    /// The server returned an error.
    Fault(Fault),
    /// No response in time.
    Late,
    /// The request was cancelled.
    Cancelled,
    /// The server has ended.
    Gone,
}

/// What the supervising thread of a server has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    /// The server has ended: restart it.
    Gone,
    /// A call timed out: check whether the server hangs.
    Suspect,
    /// Its tools have changed: list them again.
    List,
}

#[derive(Debug, Default)]
struct Signals {
    has_ended: bool,
    suspect: bool,
    list: bool,
}

#[derive(Debug)]
struct Waiter {
    answer: Sender<Result<Value, Fault>>,
    progress: Option<Sender<Progress>>,
}

#[derive(Debug)]
struct Pending {
    waiting: HashMap<i64, Waiter>,
    has_ended: bool,
}

/// The connection. Ends with the server's output, or when it is [abandoned](Self::abandon).
#[derive(Debug)]
pub(super) struct Link {
    name: String,
    out: Mutex<Option<Sender<String>>>,
    pending: Mutex<Pending>,
    next: AtomicI64,
    modern: Mutex<bool>,
    signals: Mutex<Signals>,
    signalled: Condvar,
    garbage: AtomicU64,
}

impl Link {
    pub(super) fn new(name: &str) -> (Arc<Self>, Outbox) {
        let (out, outbox) = bounded(OUTBOX);
        let link = Self {
            name: name.to_owned(),
            out: Mutex::new(Some(out)),
            pending: Mutex::new(Pending { waiting: HashMap::new(), has_ended: false }),
            next: AtomicI64::new(1),
            modern: Mutex::new(false),
            signals: Mutex::default(),
            signalled: Condvar::new(),
            garbage: AtomicU64::new(0),
        };
        (Arc::new(link), Outbox(outbox))
    }

    /// Switches to the newer protocol revision: each request carries its metadata.
    pub(super) fn speak_modern(&self) {
        *self.modern.lock() = true;
    }

    pub(super) fn is_modern(&self) -> bool {
        *self.modern.lock()
    }

    pub(super) fn is_gone(&self) -> bool {
        self.pending.lock().has_ended
    }

    /// Sends a request and waits for its result.
    pub(super) fn ask(
        &self,
        method: &str,
        params: Map<String, Value>,
        deadline: Deadline<'_>,
    ) -> Result<Value, Failed> {
        self.begin(method, params, deadline, false)?.wait(deadline, &|_| {})
    }

    /// Sends a request. The returned value waits for the result.
    pub(super) fn begin<'a>(
        &'a self,
        method: &str,
        mut params: Map<String, Value>,
        deadline: Deadline<'_>,
        wants_progress: bool,
    ) -> Result<PendingRequest<'a>, Failed> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (send, answer) = bounded(1);
        let (tell, progress) = bounded(PROGRESS);
        let mut meta = if self.is_modern() || method == "server/discover" { modern_meta() } else { Map::new() };
        if wants_progress {
            meta.insert("progressToken".to_owned(), json!(id));
        }
        if !meta.is_empty() {
            params.insert("_meta".to_owned(), Value::Object(meta));
        }
        {
            let mut pending = self.pending.lock();
            if pending.has_ended {
                return Err(Failed::Gone);
            }
            pending.waiting.insert(id, Waiter { answer: send, progress: wants_progress.then_some(tell) });
        }
        // From here on, dropping the value removes the request from the table.
        // `initialize` must not be cancelled, and a subscription is meant to stay open.
        let may_be_cancelled = method.starts_with("tools/");
        let mut pending_request = PendingRequest { link: self, id, answer, progress, is_sent: false, may_be_cancelled };
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request, deadline)?;
        pending_request.is_sent = true;
        Ok(pending_request)
    }

    /// Opens a subscription. It is answered only when it ends, so nothing waits for the answer.
    pub(super) fn subscribe(&self, params: Map<String, Value>, deadline: Deadline<'_>) -> Result<(), Failed> {
        self.begin("subscriptions/listen", params, deadline, false).map(drop)
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: Value, deadline: Deadline<'_>) -> Result<(), Failed> {
        self.send(&notification(method, params), deadline)
    }

    fn send(&self, message: &Value, deadline: Deadline<'_>) -> Result<(), Failed> {
        let Some(out) = self.out.lock().clone() else { return Err(Failed::Gone) };
        let mut line = format!("{message}\n");
        loop {
            match out.send_deadline(line, deadline.next_check()) {
                Ok(()) => return Ok(()),
                Err(SendTimeoutError::Disconnected(_)) => return Err(Failed::Gone),
                Err(SendTimeoutError::Timeout(back)) => line = back,
            }
            if self.is_gone() {
                return Err(Failed::Gone);
            }
            if deadline.passed() {
                return Err(late(deadline));
            }
        }
    }

    /// Sends responses and cancellations without waiting; drops them if the server does not read.
    fn send_now(&self, message: &Value) {
        let out = self.out.lock().clone();
        if out.is_none_or(|out| out.try_send(format!("{message}\n")).is_err()) {
            tracing::debug!(server = self.name, "a message to an MCP server that does not read was dropped");
        }
    }

    /// Ends the connection: nothing more is written, and pending requests fail.
    pub(super) fn abandon(&self) {
        let out = self.out.lock().take();
        drop(out);
        let waiting = {
            let mut pending = self.pending.lock();
            pending.has_ended = true;
            std::mem::take(&mut pending.waiting)
        };
        drop(waiting);
        self.signal(|signals| signals.has_ended = true);
    }

    /// Reports a call that timed out.
    pub(super) fn suspect(&self) {
        self.signal(|signals| signals.suspect = true);
    }

    fn signal(&self, set: impl FnOnce(&mut Signals)) {
        set(&mut self.signals.lock());
        self.signalled.notify_all();
    }

    /// Waits for the next duty. Tools are not listed again before `lists_from`, so that a server that reports changes
    /// all the time does not cause constant requests.
    pub(super) fn duty(&self, lists_from: Instant) -> Duty {
        let mut signals = self.signals.lock();
        loop {
            if signals.has_ended {
                return Duty::Gone;
            }
            if std::mem::take(&mut signals.suspect) {
                return Duty::Suspect;
            }
            if signals.list && Instant::now() >= lists_from {
                signals.list = false;
                return Duty::List;
            }
            if signals.list {
                self.signalled.wait_until(&mut signals, lists_from);
            } else {
                self.signalled.wait(&mut signals);
            }
        }
    }

    /// Handles a line of the server's output, or the beginning of one that was too long.
    pub(super) fn read(&self, line: Result<&[u8], &[u8]>) {
        let line = match line {
            Ok(line) => line,
            Err(beginning) => {
                let larger = format!("is larger than {} MiB", super::lines::MAX_LINE_BYTES / 1024 / 1024);
                return self.undecodable(beginning, beginning.trim_ascii_start().starts_with(b"{"), &larger);
            }
        };
        let line = replace_lone_surrogates(line);
        let Ok(text) = std::str::from_utf8(&line) else {
            return self.undecodable(&line, is_message(&line), "cannot be decoded: it is not UTF-8");
        };
        if text.trim().is_empty() {
            return;
        }
        match Message::read(text) {
            Ok(Message::Answer { id, outcome }) => self.answered(&id, outcome),
            Ok(Message::Request(request)) => match &request.id {
                Some(id) => replied(id, &request.method).iter().for_each(|reply| self.send_now(reply)),
                None => self.notified(&request),
            },
            Err((fault, _)) => {
                let may_be_any = fault.code == Fault::PARSE && is_message(&line);
                self.undecodable(&line, may_be_any, &format!("cannot be decoded: {}", fault.message));
            }
        }
    }

    fn answered(&self, id: &Id, outcome: Result<Value, Fault>) {
        let id = match id {
            Id::Number(id) => *id,
            // Some servers return the numeric id as a string.
            Id::Text(text) => match text.parse() {
                Ok(id) => id,
                Err(_) => return self.note_garbage(),
            },
        };
        let waiter = self.pending.lock().waiting.remove(&id);
        // Without a waiter the response is late: the request was cancelled.
        if let Some(waiter) = waiter {
            let _ = waiter.answer.try_send(outcome);
        }
    }

    /// Fails the request of a response that cannot be decoded. A response without a readable id is attributed to the
    /// only pending request, if `may_be_any`.
    fn undecodable(&self, line: &[u8], may_be_any: bool, why: &str) {
        self.note_garbage();
        let waiter = {
            let mut pending = self.pending.lock();
            let only = || match pending.waiting.len() {
                1 if may_be_any => pending.waiting.keys().next().copied(),
                _ => None,
            };
            let id = answer_id(line).or_else(only);
            id.and_then(|id| pending.waiting.remove(&id))
        };
        if let Some(waiter) = waiter {
            let _ = waiter.answer.try_send(Err(Fault::new(Fault::INTERNAL, format!("its answer {why}"))));
        }
    }

    fn notified(&self, request: &Request) {
        match request.method.as_str() {
            "notifications/tools/list_changed" => self.signal(|signals| signals.list = true),
            "notifications/progress" => self.progressed(&request.params),
            _ => {}
        }
    }

    fn progressed(&self, params: &Map<String, Value>) {
        let Some(id) = params.get("progressToken").and_then(Value::as_i64) else { return };
        let pending = self.pending.lock();
        let Some(progress) = pending.waiting.get(&id).and_then(|waiter| waiter.progress.as_ref()) else { return };
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let _ = progress.try_send(Progress {
            done: params.get("progress").and_then(Value::as_f64).unwrap_or_default(),
            total: params.get("total").and_then(Value::as_f64),
            message: message.chars().take(SAID).collect(),
        });
    }

    fn note_garbage(&self) {
        let count = self.garbage.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::debug!(server = self.name, count, "an MCP server writes lines that are not JSON-RPC messages");
        }
    }
}

/// A pending request. Dropping it before the response cancels the request.
#[derive(Debug)]
pub(super) struct PendingRequest<'a> {
    link: &'a Link,
    id: i64,
    answer: Receiver<Result<Value, Fault>>,
    progress: Receiver<Progress>,
    is_sent: bool,
    may_be_cancelled: bool,
}

impl PendingRequest<'_> {
    /// Waits for the response and passes on progress.
    pub(super) fn wait(&self, deadline: Deadline<'_>, on_progress: &dyn Fn(Progress)) -> Result<Value, Failed> {
        // Without a progress token the progress channel is closed; `never` keeps it from being selected.
        let never = crossbeam_channel::never();
        let mut progress = &self.progress;
        loop {
            let until = deadline.next_check().saturating_duration_since(Instant::now());
            select! {
                recv(self.answer) -> answer => {
                    self.progress.try_iter().for_each(on_progress);
                    return match answer {
                        Ok(outcome) => outcome.map_err(Failed::Fault),
                        Err(_) => Err(Failed::Gone),
                    };
                }
                recv(progress) -> report => match report {
                    Ok(report) => on_progress(report),
                    Err(_) => progress = &never,
                },
                default(until) => {}
            }
            if deadline.passed() {
                return Err(late(deadline));
            }
        }
    }

    /// Waits for the response alone; `None` at the deadline.
    pub(super) fn within(&self, deadline: Deadline<'_>) -> Option<Result<Value, Failed>> {
        loop {
            match self.answer.recv_deadline(deadline.next_check()) {
                Ok(outcome) => return Some(outcome.map_err(Failed::Fault)),
                Err(RecvTimeoutError::Timeout) if deadline.passed() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Some(Err(Failed::Gone)),
            }
        }
    }
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        let was_waiting = self.link.pending.lock().waiting.remove(&self.id).is_some();
        if was_waiting && self.is_sent && self.may_be_cancelled {
            let params = json!({ "requestId": self.id, "reason": "the client no longer waits for the result" });
            self.link.send_now(&notification("notifications/cancelled", params));
        }
    }
}

/// The response to a request of the server: no feature is offered to servers. `None` for very long ids: queued
/// responses would hold as much memory as the server sends.
fn replied(id: &Id, method: &str) -> Option<Value> {
    if matches!(id, Id::Text(text) if text.len() > ECHOED) {
        return None;
    }
    Some(match method {
        "ping" => answer(id, json!({})),
        other => {
            let shown: String = other.chars().take(ECHOED).collect();
            Fault::new(Fault::NO_METHOD, format!("{shown:?} is not supported")).to_value(Some(id))
        }
    })
}

fn modern_meta() -> Map<String, Value> {
    Map::from_iter([
        (VERSION.to_owned(), json!(MODERN)),
        (CLIENT_INFO.to_owned(), info()),
        (CAPABILITIES.to_owned(), json!({})),
    ])
}

/// Name and version of this client.
pub(super) fn info() -> Value {
    json!({ "name": "cdpilot", "title": "cdpilot", "version": env!("CARGO_PKG_VERSION") })
}

fn late(deadline: Deadline<'_>) -> Failed {
    if deadline.is_cancelled() { Failed::Cancelled } else { Failed::Late }
}
