//! The thread of a supervisor: passes inputs to the state machine, carries out its effects, and publishes the view.
//!
//! It never waits for an answer: answers arrive as messages. It publishes once per batch of events, so that a flood
//! does not burden readers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::TryRecvError;

use super::current_connection::CurrentConnection;
use super::inputs::{FOLLOWED, Inputs, NextInput, WakeReason};
use super::log::EventLog;
use super::navigation_policy::Lookups;
use super::outgoing::Outgoing;
use super::owned_pages::Claim;
use super::page_ring::PageRing;
use super::redial::{RedialAttempt, RedialOutcome};
use super::snapshot::{ConsoleEntry, View};
use super::state::{Effect, Now, Request, SessionKey, State, detach, resume};
use super::traffic::{NetworkRequest, Traffic};
use crate::browser::BrowserProcess;
use crate::cdp::{CloseReason, Connection, Error};
use crate::sync::{Deadline, Published, fault_point};

/// Maximum number of events processed at once.
const BATCH: usize = 256;
/// Maximum number of intercepted requests processed before they are answered, beside other events.
const INTERCEPTED: usize = 16;
/// Maximum number of batches of intercepted requests processed at the end: more than the queues hold.
const MOST_AT_END: usize = 8;
/// Maximum sleep when nothing is due.
const IDLE: Duration = Duration::from_secs(60);

/// State of the thread.
pub(super) struct Worker {
    pub(super) connection: Connection,
    pub(super) current_connection: Arc<CurrentConnection>,
    pub(super) task: String,
    /// A reconnect in progress.
    pub(super) dialing: Option<RedialAttempt>,
    /// Failed attempts since the supervisor was last active.
    pub(super) tried: u32,
    pub(super) inputs: Inputs,
    pub(super) lookups: Lookups,
    pub(super) state: State,
    pub(super) published: Arc<Published<View>>,
    pub(super) log: Arc<EventLog>,
    /// Set when the thread ends.
    pub(super) done: Arc<AtomicBool>,
    pub(super) traffic: Arc<Published<Traffic>>,
    pub(super) request_ring: Arc<PageRing<NetworkRequest>>,
    pub(super) console_ring: Arc<PageRing<ConsoleEntry>>,
    /// The pages of this supervisor, which others of this process leave to it.
    pub(super) claim: Claim,
}

pub(super) fn now() -> Now {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    Now { instant: Instant::now(), unix }
}

impl Worker {
    pub(super) fn run(mut self) {
        // First the request for the result of the start: a fast browser would complete the start before it is read.
        if let Ok(request) = self.inputs.requests.try_recv() {
            self.state.on_request(request, now());
        }
        self.state.begin(now());
        loop {
            self.carry_out();
            self.publish();
            if self.state.has_ended() {
                break;
            }
            let woken = self.wait();
            fault_point(format_args!("sup-{}", self.task));
            match woken {
                WakeReason::BrowserMessage => {
                    self.fold_messages();
                    // A page with a flood of events delays no other tab.
                    self.fold_documents(INTERCEPTED);
                    self.fold_calls(INTERCEPTED);
                }
                WakeReason::Console => self.fold_console(),
                WakeReason::Document => {
                    self.fold_documents(INTERCEPTED);
                }
                WakeReason::Call => {
                    self.fold_calls(BATCH);
                }
                WakeReason::Network => self.fold_network(),
                WakeReason::Followed => self.fold_followed(),
                WakeReason::Request => {
                    if let Ok(request) = self.inputs.requests.try_recv() {
                        self.catch_up(&request);
                        self.state.on_request(request, now());
                    }
                }
                WakeReason::NameResolved => self.found(),
                WakeReason::Redialed => self.dialed(),
                WakeReason::Close => {
                    // The browser sends requests that are still held when the connection ends.
                    for _ in 0..MOST_AT_END {
                        if !(self.fold_documents(BATCH) | self.fold_calls(BATCH)) {
                            break;
                        }
                    }
                    self.state.end("stopped", now());
                }
                WakeReason::Time => {}
            }
            self.state.on_tick(now());
            if self.state.is_active() {
                self.tried = 0;
            }
        }
        drop(self.dialing.take());
        // Late requests are answered with an error instead of being left unanswered.
        while let Ok(request) = self.inputs.requests.try_recv() {
            self.state.on_request(request, now());
        }
        self.done.store(true, Ordering::Release);
        if !self.state.shares_log() {
            self.log.end();
        }
    }

    fn wait(&self) -> WakeReason {
        let now = now();
        let idle = now.instant + IDLE;
        let until = self.state.next_tick(now).map_or(idle, |next| next.min(idle));
        self.inputs.wait(Deadline::at(until))
    }

    /// Processes the messages of the browser, in order.
    fn fold_messages(&mut self) {
        let lost = self.inputs.lost();
        if lost > 0 {
            self.state.on_lag(lost, now());
        }
        for _ in 0..BATCH {
            match self.inputs.next() {
                NextInput::Event(event) => self.state.on_event(&event, now()),
                NextInput::Answer(answer) => self.state.on_answer(answer.tag, answer.into_result(), now()),
                NextInput::Nothing => return,
                NextInput::Ended => {
                    self.disconnected();
                    return;
                }
            }
        }
    }

    /// Processes everything that has come so far.
    fn fold_pending(&mut self) {
        for _ in 0..=self.inputs.pending() / BATCH {
            self.fold_messages();
        }
    }

    /// The connection was lost: reconnects if possible.
    fn disconnected(&mut self) {
        self.hand_on_followed(FOLLOWED);
        let reason = self.connection.close_reason().map(|r| r.to_string());
        let reason = reason.unwrap_or_else(|| "the connection ended".to_owned());
        // The URL of an ended WebDriver session cannot be used again.
        let local = matches!(self.connection.close_reason(), Some(CloseReason::Local | CloseReason::SessionEnded));
        let redial = self.current_connection.browser.lock().as_ref().and_then(BrowserProcess::redial).cloned();
        let Some(redial) = redial.filter(|_| self.state.may_reconnect() && !local) else {
            self.state.end(&reason, now());
            return;
        };
        tracing::warn!(task = %self.task, %reason, "connection lost, reconnecting");
        self.inputs.part();
        self.state.disconnected(&reason, now());
        let how = self.state.options().reconnect;
        match RedialAttempt::start(&self.task, redial, how, self.tried, self.state.targets()) {
            Ok(dialing) => {
                self.inputs.dialed = dialing.outcome.clone();
                self.dialing = Some(dialing);
            }
            Err(problem) => self.state.end(&format!("{reason}; cannot reconnect: {problem}"), now()),
        }
        self.tried += 1;
    }

    fn dialed(&mut self) {
        let dialed = match self.inputs.dialed.try_recv() {
            Ok(dialed) => dialed,
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => {
                RedialOutcome::GaveUp("internal error: the reconnecting thread panicked".to_owned())
            }
        };
        self.inputs.dialed = crossbeam_channel::never();
        drop(self.dialing.take());
        match dialed {
            RedialOutcome::GaveUp(problem) => self.state.end(&format!("the connection was lost: {problem}"), now()),
            RedialOutcome::Connected(connection) => {
                // Subscribe before anything is sent, and replace the connection before it is published.
                self.inputs.join(&connection);
                self.current_connection.replace(&connection);
                self.connection = connection;
                self.state.reconnected();
            }
        }
    }

    /// Processes intercepted requests, each after the events before it, so that its page and frame are known; at most so many.
    /// Ends after a loss, so that there is one reset at a time. Whether there may be more.
    fn fold_calls(&mut self, most: usize) -> bool {
        for _ in 0..most {
            let (lost, event) = self.inputs.next_call();
            let is_last = event.is_none();
            if lost > 0 {
                self.state.calls_lost(now());
            }
            if let Some(event) = event {
                self.fold_pending();
                self.state.on_event(&event, now());
            }
            if lost > 0 || is_last {
                return !is_last;
            }
        }
        true
    }

    /// Processes documents that the session of the browser intercepted, like [`fold_calls`](Self::fold_calls).
    fn fold_documents(&mut self, most: usize) -> bool {
        for _ in 0..most {
            let (lost, event) = self.inputs.next_document();
            let is_last = event.is_none();
            if lost > 0 || !is_last {
                self.fold_pending();
            }
            if lost > 0 {
                self.state.first_documents_lost();
            }
            if let Some(event) = event {
                self.state.on_event(&event, now());
            }
            if lost > 0 || is_last {
                return !is_last;
            }
        }
        true
    }

    fn found(&mut self) {
        let Ok(found) = self.inputs.found.try_recv() else { return };
        let state = &self.state;
        self.lookups.keep_waiting(|host| state.awaits_name(host));
        self.lookups.took(&found);
        self.state.found(found, now());
    }

    fn fold_console(&mut self) {
        for _ in 0..BATCH {
            let Some(event) = self.inputs.next_console() else { return };
            self.fold_messages(); // the execution context that it refers to may have been created just before
            self.state.on_event(&event, now());
        }
    }

    /// Delivers events to followers, after the events that assign sessions to pages.
    fn fold_followed(&mut self) {
        self.fold_messages();
        self.hand_on_followed(BATCH);
    }

    fn hand_on_followed(&mut self, most: usize) {
        for number in self.inputs.followers() {
            for _ in 0..most {
                let Some((lost, event)) = self.inputs.next_followed(number) else { break };
                if lost > 0 {
                    self.state.follower_lost(number, lost);
                }
                self.state.followed(number, &event);
            }
        }
    }

    fn fold_network(&mut self) {
        let lost = self.inputs.lost_network();
        if lost > 0 {
            self.state.network_lost(lost);
        }
        self.fold_messages(); // the documents that they belong to
        for _ in 0..BATCH {
            let Some(event) = self.inputs.next_network() else { return };
            self.state.on_event(&event, now());
        }
    }

    /// Processes all pending events before a request that asks for it.
    fn catch_up(&mut self, request: &Request) {
        if !matches!(request, Request::CaughtUp { .. }) {
            return;
        }
        let waiting = self.inputs.waiting();
        for _ in 0..=waiting / BATCH {
            self.fold_messages();
            self.fold_network();
            self.fold_console();
        }
        self.hand_on_followed(FOLLOWED);
    }

    /// Publishes the events and the view at once: whoever reads an event finds its effect in the view, and the other way round.
    /// Publishes before interrupting: a call sent afterwards sees the dialog in the view, and a call sent before is
    /// interrupted. Responses are sent last, so that their receivers find the effect in the view.
    fn publish(&mut self) {
        let lines = self.state.take_log();
        self.console_ring.change(self.state.take_console());
        self.request_ring.change(self.state.take_requests());
        if let Some(traffic) = self.state.take_traffic() {
            self.traffic.publish(Arc::new(traffic));
        }
        let view = self.state.view(&self.published.get()).map(Arc::new);
        let publish = || {
            if let Some(view) = view {
                self.published.publish(view);
            }
        };
        match lines.is_empty() {
            true => publish(),
            false => self.log.append_with(lines, publish),
        }
        for response in self.state.take_responses() {
            response.send();
        }
    }

    fn carry_out(&mut self) {
        // Before a page is resumed, which may open another one at once.
        if self.state.pages_changed() {
            self.claim.set(self.state.page_ids());
        }
        loop {
            let effects = self.state.take_effects();
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                match effect {
                    Effect::Send { session, tag, command } => {
                        if let Err(error) = self.send(session.as_ref(), tag, &command) {
                            self.state.on_answer(tag, Err(error), now());
                        }
                    }
                    Effect::Release { session, opener, waits } => {
                        let is_of_another = opener.is_some_and(|opener| self.claim.is_of_another(&opener));
                        if waits && !is_of_another {
                            let _ = self.send(Some(&session), 0, &resume().into());
                        }
                        let _ = self.send(None, 0, &detach(&session).into());
                    }
                    Effect::HearNetwork => self.inputs.hear_network(&self.connection),
                    Effect::LookUp { host } => self.lookups.start(host),
                    Effect::Follow { number, methods } => self.inputs.follow(&self.connection, number, &methods),
                    Effect::Unfollow { number } => {
                        self.hand_on_followed(FOLLOWED);
                        self.inputs.unfollow(number);
                        self.state.unfollowed(number);
                    }
                    Effect::Interrupt { session, dialog } => {
                        self.publish();
                        self.connection.interrupt(&[session], &[dialog.to_string()]);
                    }
                }
            }
        }
    }

    fn send(&self, session: Option<&SessionKey>, tag: u64, command: &Outgoing) -> Result<(), Error> {
        match self.inputs.answers_in() {
            Some(answers) => command.start(&self.connection, session, answers, tag),
            None => Err(Error::Closed {
                method: command.method().into(),
                reason: self.connection.close_reason().unwrap_or(CloseReason::Local),
            }),
        }
    }
}
