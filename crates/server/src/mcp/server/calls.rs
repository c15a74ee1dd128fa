//! Requests in progress on a connection, and their notifications.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::super::message::notification;
use super::super::{Fault, Id, Request};
use super::subscription::{Subscription, list_changed};
use cdpilot::sync::Cancel;

/// Open requests and subscriptions of a connection. The lock is held for map operations only.
#[derive(Debug)]
pub(super) struct Calls {
    open: Mutex<Open>,
    /// Maximum number of subscriptions.
    most: usize,
}

#[derive(Debug, Default)]
struct Open {
    running: HashMap<Id, Running>,
    listening: Vec<Subscription>,
    /// Whether an `initialize` client receives changes.
    initialized: bool,
}

#[derive(Debug)]
struct Running {
    cancel: Cancel,
    /// Name of the running operation, for people.
    what: String,
    token: Option<Value>,
    since: Instant,
    /// Number of keepalive progress notifications sent.
    ticks: u32,
    /// The last progress value reported by the tool.
    reported: Option<f64>,
}

impl Calls {
    /// Creates an empty table for at most `most` subscriptions.
    pub(super) fn new(most: usize) -> Self {
        Self { open: Mutex::default(), most }
    }

    /// Registers a request. Returns the flag that is set when it is cancelled.
    pub(super) fn begin(&self, id: &Id, request: &Request) -> Result<Cancel, Fault> {
        let mut open = self.open.lock();
        if open.is_known(id) {
            return Err(Fault::new(Fault::INVALID_REQUEST, "a request with this id is in progress; use a unique id"));
        }
        let cancel = Cancel::new();
        let named = request.params.get("name").and_then(Value::as_str);
        let running = Running {
            cancel: cancel.clone(),
            what: named.unwrap_or(&request.method).to_owned(),
            token: request.params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned(),
            since: Instant::now(),
            ticks: 0,
            reported: None,
        };
        open.running.insert(id.clone(), running);
        Ok(cancel)
    }

    /// Removes a finished request. Returns whether its answer is to be sent.
    pub(super) fn end(&self, id: &Id, cancel: &Cancel) -> bool {
        let mut open = self.open.lock();
        // After a cancellation, another request may have the same id.
        !cancel.is_set() && open.running.remove(id).is_some()
    }

    /// Adds a subscription.
    pub(super) fn listen(&self, subscription: Subscription) -> Result<(), Fault> {
        let mut open = self.open.lock();
        if open.is_known(subscription.id()) {
            return Err(Fault::new(Fault::INVALID_REQUEST, "a request with this id is in progress; use a unique id"));
        }
        if open.listening.len() >= self.most {
            let problem = format!("{} subscriptions are open, the limit; cancel one", self.most);
            return Err(Fault::new(Fault::INTERNAL, problem));
        }
        open.listening.push(subscription);
        Ok(())
    }

    /// Records that an `initialize` client is ready.
    pub(super) fn initialized(&self) {
        self.open.lock().initialized = true;
    }

    /// Cancels a request or ends a subscription.
    pub(super) fn cancel(&self, id: &Id) {
        let mut open = self.open.lock();
        open.listening.retain(|one| one.id() != id);
        if let Some(running) = open.running.remove(id) {
            running.cancel.set();
        }
    }

    /// Cancels everything. Returns the final messages of requests and subscriptions.
    pub(super) fn cancel_all(&self) -> Vec<Value> {
        let mut open = self.open.lock();
        let fault =
            Fault::new(Fault::INTERNAL, "cancelled: stdin was closed; keep it open until all calls are answered");
        let mut last: Vec<Value> = open.listening.drain(..).map(|one| one.ended()).collect();
        last.extend(open.running.drain().map(|(id, running)| {
            running.cancel.set();
            fault.to_value(Some(&id))
        }));
        last
    }

    /// Whether no request is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.open.lock().running.is_empty()
    }

    /// Whether a tool's progress is passed on: the request is still open and the value has increased.
    pub(super) fn is_new_progress(&self, id: &Id, progress: &Value) -> bool {
        let mut open = self.open.lock();
        let Some(running) = open.running.get_mut(id) else { return false };
        let now = progress.pointer("/params/progress").and_then(Value::as_f64);
        let before = running.reported.or((running.ticks > 0).then(|| running.since.elapsed().as_secs_f64()));
        match (now, before) {
            (Some(now), Some(before)) if now <= before => false,
            (Some(now), _) => {
                running.reported = Some(now);
                true
            }
            (None, _) => true,
        }
    }

    /// Sends keepalive progress for long calls whose tool reports none. `send` must not block: it is called under the
    /// lock, so that no progress follows an answer.
    pub(super) fn tick(&self, every: Duration, send: impl Fn(Value)) {
        for running in self.open.lock().running.values_mut() {
            let Some(token) = &running.token else { continue };
            let elapsed = running.since.elapsed();
            if running.reported.is_some() || elapsed < every * (running.ticks + 1) {
                continue;
            }
            running.ticks += 1;
            let seconds = elapsed.as_secs_f64();
            let message = format!("{} has been running for {seconds:.0} s", running.what);
            let params = json!({ "progressToken": token, "progress": seconds, "message": message });
            send(notification("notifications/progress", params));
        }
    }

    /// Whether any client receives changes.
    pub(super) fn is_listened(&self) -> bool {
        let open = self.open.lock();
        open.initialized || open.listening.iter().any(Subscription::wants_tools)
    }

    /// The notifications to send after the tools have changed.
    pub(super) fn changed(&self) -> Vec<Value> {
        let open = self.open.lock();
        let plain = open.initialized.then(list_changed);
        let each = open.listening.iter().filter(|one| one.wants_tools()).map(Subscription::changed);
        plain.into_iter().chain(each).collect()
    }
}

impl Open {
    fn is_known(&self, id: &Id) -> bool {
        self.running.contains_key(id) || self.listening.iter().any(|one| one.id() == id)
    }
}
