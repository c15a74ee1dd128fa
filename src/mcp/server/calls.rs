//! Requests under way on a connection, and what is told while they are.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::super::message::notification;
use super::super::{Fault, Id, Request};
use super::subscription::{Subscription, list_changed};
use crate::sync::Cancel;

/// Everything that is open on a connection. The lock is held for map operations only.
#[derive(Debug)]
pub(super) struct Calls {
    open: Mutex<Open>,
    /// Subscriptions at most.
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
    /// What is being done, for a person.
    what: String,
    token: Option<Value>,
    since: Instant,
    /// How often it was said that it is still being done.
    ticks: u32,
    /// The last progress that the tool itself told of.
    told: Option<f64>,
}

impl Calls {
    /// None, and so many subscriptions at most.
    pub(super) fn new(most: usize) -> Self {
        Self { open: Mutex::default(), most }
    }

    /// A request begins. The flag that is set when nobody wants its answer any more.
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
            told: None,
        };
        open.running.insert(id.clone(), running);
        Ok(cancel)
    }

    /// A request is done. Whether somebody waits for its answer.
    pub(super) fn end(&self, id: &Id, cancel: &Cancel) -> bool {
        let mut open = self.open.lock();
        // Where it was cancelled, another one may have its id by now.
        !cancel.is_set() && open.running.remove(id).is_some()
    }

    /// Somebody listens.
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

    /// Nobody wants the answer of a request any more, or a subscription.
    pub(super) fn cancel(&self, id: &Id) {
        let mut open = self.open.lock();
        open.listening.retain(|one| one.id() != id);
        if let Some(running) = open.running.remove(id) {
            running.cancel.set();
        }
    }

    /// The end of all. What those who wait and those who listen are told at last.
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

    /// Whether nothing is being done.
    pub(super) fn is_idle(&self) -> bool {
        self.open.lock().running.is_empty()
    }

    /// Whether a progress that a tool tells of may be passed on: somebody waits, and it is more than before.
    pub(super) fn goes_on(&self, id: &Id, told: &Value) -> bool {
        let mut open = self.open.lock();
        let Some(running) = open.running.get_mut(id) else { return false };
        let now = told.pointer("/params/progress").and_then(Value::as_f64);
        let before = running.told.or((running.ticks > 0).then(|| running.since.elapsed().as_secs_f64()));
        match (now, before) {
            (Some(now), Some(before)) if now <= before => false,
            (Some(now), _) => {
                running.told = Some(now);
                true
            }
            (None, _) => true,
        }
    }

    /// Tells whoever asked for it that their calls are still being done, unless the tools do so themselves. `send` must
    /// not wait: it is called under the lock, so that nothing is told behind an answer.
    pub(super) fn tick(&self, every: Duration, send: impl Fn(Value)) {
        for running in self.open.lock().running.values_mut() {
            let Some(token) = &running.token else { continue };
            let elapsed = running.since.elapsed();
            if running.told.is_some() || elapsed < every * (running.ticks + 1) {
                continue;
            }
            running.ticks += 1;
            let seconds = elapsed.as_secs_f64();
            let message = format!("{} has been running for {seconds:.0} s", running.what);
            let params = json!({ "progressToken": token, "progress": seconds, "message": message });
            send(notification("notifications/progress", params));
        }
    }

    /// Whether anybody wants to hear of changes.
    pub(super) fn is_listened(&self) -> bool {
        let open = self.open.lock();
        open.initialized || open.listening.iter().any(Subscription::wants_tools)
    }

    /// What is to be sent when the tools have changed.
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
