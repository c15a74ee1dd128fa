//! Bounded queues of events.
//!
//! The reader offers each event to every matching queue and never waits: a full queue drops its oldest event; the loss
//! is counted and reported to the consumer in band, and the connection continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError};
use parking_lot::RwLock;

use super::event::Event;
use crate::sync::Deadline;

/// Capacity of a queue; both limits apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capacity {
    /// Maximum number of queued events.
    pub events: usize,
    /// Maximum total size of queued events in bytes.
    pub bytes: usize,
}

impl Default for Capacity {
    /// 1,024 events, 32 MiB.
    fn default() -> Self {
        Self { events: 1024, bytes: 32 * 1024 * 1024 }
    }
}

impl Capacity {
    /// At most `events` events, 32 MiB.
    #[must_use]
    pub fn of(events: usize) -> Self {
        Self { events, ..Self::default() }
    }

    /// With this maximum total size, in bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Only the newest event: for example for screencast frames.
    #[must_use]
    pub fn latest() -> Self {
        Self::of(1)
    }
}

/// Selects the events of a subscription.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    session: Scope,
    methods: Option<Vec<&'static str>>,
}

#[derive(Debug, Clone, Default)]
enum Scope {
    #[default]
    Everything,
    Browser,
    Sessions,
    Session(Arc<str>),
}

impl Watch {
    /// Every event of the connection.
    #[must_use]
    pub fn everything() -> Self {
        Self::default()
    }

    /// Events of the browser itself (no session).
    #[must_use]
    pub fn browser() -> Self {
        Self { session: Scope::Browser, methods: None }
    }

    /// Events of all sessions, without those of the browser itself.
    #[must_use]
    pub fn sessions() -> Self {
        Self { session: Scope::Sessions, methods: None }
    }

    /// Events of one session.
    #[must_use]
    pub fn session(id: impl Into<Arc<str>>) -> Self {
        Self { session: Scope::Session(id.into()), methods: None }
    }

    /// Only these methods (`Domain.event`).
    #[must_use]
    pub fn only(mut self, methods: &[&'static str]) -> Self {
        self.methods = Some(methods.to_vec());
        self
    }

    fn wants(&self, method: &str, session: Option<&str>) -> bool {
        let scope = match &self.session {
            Scope::Everything => true,
            Scope::Browser => session.is_none(),
            Scope::Sessions => session.is_some(),
            Scope::Session(id) => session == Some(id),
        };
        scope && self.methods.as_ref().is_none_or(|methods| methods.contains(&method))
    }
}

/// What a subscription yields.
#[derive(Debug, Clone)]
pub enum Item {
    /// An event that the subscription selects.
    Event(Event),
    /// This many events were dropped here because the queue was full.
    Lagged(u64),
}

/// Why nothing was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecvError {
    /// Nothing arrived before the deadline.
    #[error("no event before the deadline")]
    Timeout,
    /// The connection has ended and all its events were received.
    #[error("the connection is closed; no further events")]
    Closed,
}

/// A queue of events. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
    events: Receiver<Event>,
    home: Arc<Subscribers>,
}

impl Subscription {
    /// Waits for the next event until the deadline.
    ///
    /// # Errors
    /// [`RecvError`].
    pub fn next(&self, deadline: Deadline<'_>) -> Result<Item, RecvError> {
        if let Some(lagged) = self.queue.take_lag() {
            return Ok(lagged);
        }
        loop {
            match self.events.recv_deadline(deadline.next_check()) {
                Ok(event) => return Ok(self.queue.taken(event)),
                Err(RecvTimeoutError::Timeout) if deadline.passed() => return Err(RecvError::Timeout),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(RecvError::Closed),
            }
        }
    }

    /// The next queued event, without waiting.
    ///
    /// # Errors
    /// [`RecvError`]; an empty queue is [`RecvError::Timeout`].
    pub fn try_next(&self) -> Result<Item, RecvError> {
        if let Some(lagged) = self.queue.take_lag() {
            return Ok(lagged);
        }
        match self.events.try_recv() {
            Ok(event) => Ok(self.queue.taken(event)),
            Err(TryRecvError::Empty) => Err(RecvError::Timeout),
            Err(TryRecvError::Disconnected) => Err(RecvError::Closed),
        }
    }

    /// Events dropped so far, including those already reported.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.queue.dropped.load(Ordering::Relaxed)
    }

    /// The underlying channel, for a `select!`. Pass received events to [`taken`](Self::taken).
    pub(crate) fn channel(&self) -> &Receiver<Event> {
        &self.events
    }

    /// Accounts for an event received from [`channel`](Self::channel).
    pub(crate) fn taken(&self, event: &Event) {
        self.queue.release(event);
    }

    /// Number of events lost since the last call.
    pub(crate) fn lag(&self) -> u64 {
        self.queue.lag.swap(0, Ordering::AcqRel)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.home.remove(&self.queue);
    }
}

/// Shared by both ends of a queue.
#[derive(Debug, Default)]
struct Queue {
    bytes: AtomicUsize,
    lag: AtomicU64,
    dropped: AtomicU64,
}

impl Queue {
    fn release(&self, event: &Event) {
        self.bytes.fetch_sub(event.weight(), Ordering::Relaxed);
    }

    fn taken(&self, event: Event) -> Item {
        self.release(&event);
        Item::Event(event)
    }

    fn take_lag(&self) -> Option<Item> {
        // The load is the common case and cheaper than the swap.
        if self.lag.load(Ordering::Acquire) == 0 {
            return None;
        }
        let lagged = self.lag.swap(0, Ordering::AcqRel);
        (lagged > 0).then_some(Item::Lagged(lagged))
    }
}

/// The reader's end. Only the list of subscribers holds it, so that removing it from the list closes the channel.
#[derive(Debug)]
struct Producer {
    watch: Watch,
    queue: Arc<Queue>,
    sender: Sender<Event>,
    /// Another receiver of the queue, to drop the oldest event when it is full.
    oldest: Receiver<Event>,
    limit: usize,
}

impl Producer {
    /// Called by the holder of the reading role, so by one thread at a time.
    fn offer(&self, event: &Event) {
        let weight = event.weight();
        while self.queue.bytes.load(Ordering::Relaxed) + weight > self.limit && self.drop_oldest() {}
        self.queue.bytes.fetch_add(weight, Ordering::Relaxed);
        let mut event = event.clone();
        loop {
            match self.sender.try_send(event) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => return,
                Err(TrySendError::Full(back)) => {
                    self.drop_oldest();
                    event = back;
                }
            }
        }
    }

    fn drop_oldest(&self) -> bool {
        let Ok(event) = self.oldest.try_recv() else { return false };
        self.queue.release(&event);
        self.queue.lag.fetch_add(1, Ordering::AcqRel);
        self.queue.dropped.fetch_add(1, Ordering::Relaxed);
        true
    }
}

/// All queues of a connection. The list is copied on change, so that the reader never waits for a subscriber.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    list: RwLock<List>,
}

impl Subscribers {
    pub(super) fn add(self: &Arc<Self>, watch: Watch, capacity: Capacity) -> Subscription {
        let (sender, events) = crossbeam_channel::bounded(capacity.events.max(1));
        let queue = Arc::new(Queue::default());
        let producer = Arc::new(Producer {
            watch,
            queue: Arc::clone(&queue),
            sender,
            oldest: events.clone(),
            limit: capacity.bytes.max(1),
        });
        let mut list = self.list.write();
        if let List::Open(old) = &*list {
            *list = List::Open(old.iter().cloned().chain([producer]).collect());
        }
        drop(list);
        Subscription { queue, events, home: Arc::clone(self) }
    }

    fn remove(&self, queue: &Arc<Queue>) {
        let mut list = self.list.write();
        if let List::Open(old) = &*list {
            *list = List::Open(old.iter().filter(|p| !Arc::ptr_eq(&p.queue, queue)).cloned().collect());
        }
    }

    /// Ends all subscriptions; queued events may still be received.
    pub(super) fn close(&self) {
        *self.list.write() = List::Closed;
    }

    /// Dispatches an event to matching subscriptions. `make` is called only if there is one.
    pub(super) fn offer(&self, method: &str, session: Option<&str>, make: impl FnOnce() -> Event) {
        let list = match &*self.list.read() {
            List::Open(list) => Arc::clone(list),
            List::Closed => return,
        };
        let mut wanting = list.iter().filter(|p| p.watch.wants(method, session)).peekable();
        if wanting.peek().is_some() {
            let event = make();
            for producer in wanting {
                producer.offer(&event);
            }
        }
    }
}

#[derive(Debug)]
enum List {
    Open(Arc<[Arc<Producer>]>),
    Closed,
}

impl Default for List {
    fn default() -> Self {
        Self::Open(Arc::default())
    }
}
