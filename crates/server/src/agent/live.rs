//! A conversation in memory: its run, who follows it, its session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::approvals::Approved;
use super::calls::Prepared;
use super::feed::{Entry, Feed};
use super::held_up::{Activity, HoldUpState};
use super::wire::{Answered, Wire};
use super::{Error, WRITE};
use crate::control::{Handover, Session};
use crate::llm::{Client, Model};
use crate::store::{Batch, Committed, Store};
use cdpilot::sync::{Cancel, Deadline, Thread};

/// How long a paused run waits at once.
const PAUSED: Duration = Duration::from_secs(60);

/// Why a run was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupted {
    /// A user stopped it.
    Stopped,
    /// The server is stopping.
    Ending,
}

/// The run of a conversation.
#[derive(Debug, Default)]
struct Run {
    is_running: bool,
    is_queued: bool,
    is_paused: bool,
    /// Set when it is interrupted.
    cancel: Cancel,
    why: Option<Interrupted>,
    /// When the run before ended.
    ended: Option<Instant>,
    /// Its thread, or that of the run before, which has ended or is about to.
    thread: Option<Thread>,
}

/// A conversation in memory. The lock of its run is held for operations in memory only; the lock of the feed may be taken
/// while it is held.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) id: String,
    pub(super) feed: Feed,
    run: Mutex<Run>,
    changed: Condvar,
    session: Mutex<Option<Session>>,
    /// Whether no run has used the session.
    is_session_new: AtomicBool,
    /// The client of the model, with the settings that it was made from.
    client: Mutex<Option<(Model, Client)>>,
    /// The call that waits for approval, as the model made it.
    call: Mutex<Option<Prepared>>,
    /// A call that was approved, for the run that begins.
    approved: Mutex<Option<Approved>>,
    /// The pages as they were when a person was asked to use them.
    handover: Mutex<Option<Handover>>,
    /// The answer about a request that is held, for the run that begins.
    answered: Mutex<Option<Answered>>,
    /// The requests of its pages, if it has a guard.
    wire: Mutex<Option<Wire>>,
    /// What the run is doing.
    activity: Mutex<Option<Activity>>,
}

/// While it exists, a run does something that may take long.
#[derive(Debug)]
pub(super) struct Busy<'l>(&'l Live);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        *self.0.activity.lock() = None;
    }
}

impl Live {
    pub(super) fn new(id: &str, at_rest: bool) -> Self {
        Self {
            id: id.to_owned(),
            feed: Feed::new(at_rest),
            run: Mutex::default(),
            changed: Condvar::new(),
            session: Mutex::default(),
            is_session_new: AtomicBool::new(false),
            client: Mutex::default(),
            call: Mutex::default(),
            approved: Mutex::default(),
            handover: Mutex::default(),
            answered: Mutex::default(),
            wire: Mutex::default(),
            activity: Mutex::default(),
        }
    }

    /// Says what the run is doing, as long as the result lives.
    pub(super) fn busy(&self, activity: Activity) -> Busy<'_> {
        *self.activity.lock() = Some(activity);
        Busy(self)
    }

    /// What the run is doing, if it may take long.
    pub(super) fn activity(&self) -> Option<Activity> {
        self.activity.lock().clone()
    }

    /// The request to the model has failed, and is repeated.
    pub(super) fn model_fails(&self) {
        if let Some(activity) = self.activity.lock().as_mut() {
            activity.fails();
        }
    }

    /// Marks the activity that began at a time as reported. False if it has ended.
    pub(super) fn set_reported(&self, began: Instant, state: HoldUpState) -> bool {
        self.activity.lock().as_mut().is_some_and(|activity| activity.mark(began, state))
    }

    /// Keeps the call that waits for approval.
    pub(super) fn keep_call(&self, call: Prepared) {
        *self.call.lock() = Some(call);
    }

    /// The call that waited for approval, unless the server was restarted since.
    pub(super) fn take_call(&self) -> Option<Prepared> {
        self.call.lock().take()
    }

    /// Keeps the pages as they are, for a person who is asked to use them.
    pub(super) fn set_handover(&self, handover: Handover) {
        *self.handover.lock() = Some(handover);
    }

    /// The pages as they were when a person was asked to use them, unless the server was restarted since.
    pub(super) fn take_handover(&self) -> Option<Handover> {
        self.handover.lock().take()
    }

    /// Sets what the run that begins has to do first.
    pub(super) fn set_approved(&self, approved: Option<Approved>) {
        *self.approved.lock() = approved;
    }

    /// What the run has to do first.
    pub(super) fn take_approved(&self) -> Option<Approved> {
        self.approved.lock().take()
    }

    /// Sets the answer about a request that is held.
    pub(super) fn set_answered(&self, answered: Option<Answered>) {
        *self.answered.lock() = answered;
    }

    /// The answer about a request that is held.
    pub(super) fn take_answered(&self) -> Option<Answered> {
        self.answered.lock().take()
    }

    /// The requests of its pages, which are held from now on.
    pub(super) fn wire(&self, permitted: &[String]) -> Wire {
        self.wire.lock().get_or_insert_with(|| Wire::new(permitted)).clone()
    }

    /// A person uses its pages, or no longer does.
    pub(super) fn open_wire(&self, is_open: bool) {
        if let Some(wire) = &*self.wire.lock() {
            wire.set_open(is_open);
        }
    }

    /// Begins a run. Returns whether the conversation was at rest before.
    ///
    /// # Errors
    /// [`Error::Conflict`] while one is in progress.
    pub(super) fn begin(&self) -> Result<bool, Error> {
        let mut run = self.run.lock();
        if run.is_running {
            return Err(Error::conflict("the conversation is running; wait for its end, or stop it first"));
        }
        let before = std::mem::replace(&mut *run, Run { is_running: true, ..Run::default() }).thread;
        let was_at_rest = self.feed.is_at_rest();
        self.feed.set_at_rest(false);
        drop(run);
        drop(before);
        // An approval is for the run that it begins.
        self.set_approved(None);
        self.set_answered(None);
        Ok(was_at_rest)
    }

    /// Ends the run. `at_rest`: nothing more happens without a request.
    pub(super) fn end(&self, at_rest: bool) {
        let mut run = self.run.lock();
        run.is_running = false;
        (run.is_queued, run.is_paused) = (false, false);
        run.ended = Some(Instant::now());
        self.feed.set_at_rest(at_rest);
        drop(run);
        // A conversation that waits for an answer keeps its pages.
        self.keep_tabs(!at_rest);
        let wire = self.wire.lock().clone();
        if let Some(wire) = wire {
            wire.end_run(!at_rest);
        }
        self.changed.notify_all();
    }

    /// Keeps the thread of the run that `cancel` ends. A thread of an older run is waited for: it has ended or is about to.
    pub(super) fn set_thread(&self, cancel: &Cancel, thread: Thread) {
        let mut run = self.run.lock();
        let other = match run.cancel.is_same(cancel) {
            true => run.thread.replace(thread),
            false => Some(thread),
        };
        // Outside the lock: this waits.
        drop(run);
        drop(other);
    }

    /// The flag that ends the run.
    pub(super) fn cancel(&self) -> Cancel {
        self.run.lock().cancel.clone()
    }

    pub(super) fn is_running(&self) -> bool {
        self.run.lock().is_running
    }

    /// Whether it is paused, and whether it is queued.
    pub(super) fn paused_and_queued(&self) -> (bool, bool) {
        let run = self.run.lock();
        (run.is_paused, run.is_queued)
    }

    pub(super) fn set_queued(&self, is_queued: bool) {
        self.run.lock().is_queued = is_queued;
    }

    /// Pauses a run, or continues a paused one. False when none is in progress, or when it is in that state already.
    pub(super) fn set_paused(&self, is_paused: bool) -> bool {
        let mut run = self.run.lock();
        let changes = run.is_running && run.is_paused != is_paused;
        if changes {
            run.is_paused = is_paused;
        }
        drop(run);
        self.changed.notify_all();
        changes
    }

    /// Interrupts a run. False when none is in progress.
    pub(super) fn interrupt(&self, why: Interrupted) -> bool {
        let mut run = self.run.lock();
        let is_running = run.is_running;
        if is_running {
            run.why.get_or_insert(why);
            run.cancel.set();
        }
        drop(run);
        self.changed.notify_all();
        is_running
    }

    /// Why the run is to end.
    pub(super) fn interrupted(&self) -> Option<Interrupted> {
        self.run.lock().why
    }

    /// Whether the run is paused or to end.
    pub(super) fn is_held(&self) -> bool {
        let run = self.run.lock();
        run.is_paused || run.why.is_some()
    }

    /// Waits while the run is paused. Returns why it was interrupted, if it was.
    pub(super) fn wait_while_paused(&self) -> Option<Interrupted> {
        let mut run = self.run.lock();
        while run.is_paused && run.why.is_none() {
            self.changed.wait_for(&mut run, PAUSED);
        }
        run.why
    }

    /// Waits until no run is in progress, and for the end of its thread. False when the deadline has passed before.
    pub(super) fn wait_for_end(&self, deadline: Deadline<'_>) -> bool {
        let mut run = self.run.lock();
        while run.is_running {
            if deadline.passed() {
                return false;
            }
            self.changed.wait_until(&mut run, deadline.next_check());
        }
        let thread = run.thread.take();
        drop(run);
        drop(thread);
        true
    }

    /// Stores changes and shows their events to those who follow.
    pub(super) fn commit(&self, store: &Store, batch: Batch) -> Result<Committed, Error> {
        let committed = store.commit(&self.id, batch, Deadline::after(WRITE))?;
        let count = committed.last_event + 1 - committed.first_event;
        if count > 0 {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            // As they were stored: with the paths of images.
            let events = store.events(&self.id, committed.first_event - 1, count, Deadline::after(WRITE));
            match events {
                Ok(events) => self.feed.publish(events.into_iter().map(|event| Entry::Event(Arc::new(event)))),
                // They are stored; followers read them before the next ones, or at the end.
                Err(problem) => tracing::warn!(conversation = %self.id, %problem, "events are reported late"),
            }
        }
        Ok(committed)
    }

    /// The session of the conversation, which is created by `make` at first.
    pub(super) fn session(&self, make: impl FnOnce() -> Session) -> Session {
        let mut session = self.session.lock();
        let make = || {
            self.is_session_new.store(true, Ordering::Relaxed);
            make()
        };
        session.get_or_insert_with(make).clone()
    }

    /// Whether its session was created since the last call.
    pub(super) fn take_session_is_new(&self) -> bool {
        self.is_session_new.swap(false, Ordering::Relaxed)
    }

    /// Whether it has a session that a run has used.
    pub(super) fn has_used_session(&self) -> bool {
        self.has_session() && !self.is_session_new.load(Ordering::Relaxed)
    }

    /// The session of the conversation, if it has one.
    pub(super) fn known_session(&self) -> Option<Session> {
        self.session.lock().clone()
    }

    pub(super) fn has_session(&self) -> bool {
        self.session.lock().is_some()
    }

    /// Since when nothing has happened, if it has a session and no run is in progress and no question is open.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        self.session.lock().as_ref()?;
        let run = self.run.lock();
        run.ended.filter(|_| !run.is_running && self.feed.is_at_rest())
    }

    /// Whether idle tabs of its session stay open.
    fn keep_tabs(&self, is_kept: bool) {
        if let Some(session) = &*self.session.lock() {
            session.keep_tabs(is_kept);
        }
    }

    pub(super) fn take_session(&self) -> Option<Session> {
        self.session.lock().take()
    }

    /// The client for a model: the one that was used before if its settings are the same, since it has learned what the
    /// endpoint accepts.
    pub(super) fn client(&self, alias: &str, model: &Model) -> Result<Client, Error> {
        let mut known = self.client.lock();
        if let Some((_, client)) = known.as_ref().filter(|(before, _)| before == model) {
            return Ok(client.clone());
        }
        let client = Client::new(alias, model)?;
        *known = Some((model.clone(), client.clone()));
        Ok(client)
    }
}
