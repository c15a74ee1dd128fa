//! Protocol events of one page, over reconnects and process changes of its frames.
//!
//! The supervisor's thread puts each event into the queues of its page and never waits for them: a full queue drops its
//! oldest event, and the loss is reported at its position.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError};

use super::error::Error;
use super::handle::Supervisor;
use super::state::Request;
use crate::cdp::protocol::target::TargetId;
use crate::cdp::{Capacity, Event, RecvError, rt};
use crate::sync::Deadline;

/// Which events of a page to receive, and how many may wait.
///
/// ```
/// use cdpilot::cdp::Capacity;
/// use cdpilot::supervisor::EventFilter;
/// let filter = EventFilter::methods(&["Page.loadEventFired", "Page.frameNavigated"]).capacity(Capacity::of(100));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EventFilter {
    /// Names of the wanted events, `Domain.event`.
    pub methods: Vec<&'static str>,
    /// Capacity of the queue. Default: 1,024 events, 32 MiB.
    pub capacity: Capacity,
}

impl EventFilter {
    /// Events with these methods, `Domain.event`.
    #[must_use]
    pub fn methods(methods: &[&'static str]) -> Self {
        Self { methods: methods.to_vec(), capacity: Capacity::default() }
    }

    /// Events of one type.
    #[must_use]
    pub fn of<E: for<'a> rt::Event<'a>>() -> Self {
        Self::methods(&[E::METHOD])
    }

    /// Sets the capacity of the queue.
    #[must_use]
    pub fn capacity(mut self, capacity: Capacity) -> Self {
        self.capacity = capacity;
        self
    }
}

/// An item of [`PageEvents`]: an event, or the number of lost ones.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum PageEvent {
    /// An event of the page, of one of its frames or of its workers.
    Event {
        /// Number of the connection, from 1. Sessions, execution contexts and node ids are valid only within a
        /// connection.
        generation: u64,
        /// The event. Its session distinguishes the page, its cross-process frames and its workers.
        event: Event,
    },
    /// Events are missing here, because the queue was full or the supervisor's thread could not keep up.
    Lost {
        /// Number of lost events; may include events of other pages.
        count: u64,
    },
}

/// The protocol events of a page. Dropping it ends the subscription.
pub struct PageEvents {
    events: Receiver<(u64, Event)>,
    shared: Arc<Shared>,
    requests: Sender<Request>,
}

impl PageEvents {
    /// Waits for the next event until the deadline.
    ///
    /// # Errors
    /// [`RecvError::Timeout`]; [`RecvError::Closed`] once the page is closed or the supervisor has ended, and all
    /// earlier events were received.
    pub fn next(&self, deadline: Deadline<'_>) -> Result<PageEvent, RecvError> {
        loop {
            if let Some(lost) = self.shared.take_lost() {
                return Ok(lost);
            }
            match self.events.recv_deadline(deadline.next_check()) {
                Ok(event) => return Ok(self.shared.taken(event)),
                Err(RecvTimeoutError::Timeout) if deadline.passed() => return Err(RecvError::Timeout),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.shared.take_lost().ok_or(RecvError::Closed),
            }
        }
    }

    /// The next event, if one is available.
    ///
    /// # Errors
    /// As [`next`](Self::next); an empty queue is [`RecvError::Timeout`].
    pub fn try_next(&self) -> Result<PageEvent, RecvError> {
        if let Some(lost) = self.shared.take_lost() {
            return Ok(lost);
        }
        match self.events.try_recv() {
            Ok(event) => Ok(self.shared.taken(event)),
            Err(TryRecvError::Empty) => Err(RecvError::Timeout),
            Err(TryRecvError::Disconnected) => Err(RecvError::Closed),
        }
    }
}

impl Drop for PageEvents {
    fn drop(&mut self) {
        self.shared.is_dropped.store(true, Ordering::Release);
        // If there is no room, the next event detects it.
        let _ = self.requests.try_send(Request::Unsubscribe { queue: Arc::clone(&self.shared) });
    }
}

impl fmt::Debug for PageEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageEvents").field("waiting", &self.events.len()).finish_non_exhaustive()
    }
}

/// Shared by both ends of a queue.
#[derive(Debug, Default)]
pub(super) struct Shared {
    lost: AtomicU64,
    bytes: AtomicUsize,
    is_dropped: AtomicBool,
}

impl Shared {
    fn take_lost(&self) -> Option<PageEvent> {
        let count = self.lost.swap(0, Ordering::AcqRel);
        (count > 0).then_some(PageEvent::Lost { count })
    }

    fn taken(&self, (generation, event): (u64, Event)) -> PageEvent {
        self.bytes.fetch_sub(event.params().len(), Ordering::Relaxed);
        PageEvent::Event { generation, event }
    }
}

/// The supervisor's end of a queue.
#[derive(Debug)]
pub(super) struct Producer {
    sender: Sender<(u64, Event)>,
    /// Another receiver of the queue, to drop the oldest event when it is full.
    oldest: Receiver<(u64, Event)>,
    pub(super) shared: Arc<Shared>,
    limit: usize,
}

impl Producer {
    /// Whether the receiver was dropped.
    pub(super) fn is_over(&self) -> bool {
        self.shared.is_dropped.load(Ordering::Acquire)
    }

    /// Records events that were lost before the queue.
    pub(super) fn lose(&self, count: u64) {
        self.shared.lost.fetch_add(count, Ordering::AcqRel);
    }

    /// Queues an event. Called by the supervisor's thread only.
    pub(super) fn offer(&self, generation: u64, event: &Event) {
        let bytes = event.params().len();
        while self.shared.bytes.load(Ordering::Relaxed) + bytes > self.limit && self.drop_oldest() {}
        self.shared.bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut next = (generation, event.clone());
        while let Err(TrySendError::Full(back)) = self.sender.try_send(next) {
            self.drop_oldest();
            next = back;
        }
    }

    fn drop_oldest(&self) -> bool {
        let Ok((_, event)) = self.oldest.try_recv() else { return false };
        self.shared.bytes.fetch_sub(event.params().len(), Ordering::Relaxed);
        self.lose(1);
        true
    }
}

impl Supervisor {
    /// Subscribes to protocol events of a page, its cross-process frames and its workers. Continues over reconnects and
    /// process changes of frames; events during a lost connection are missing. The browser sends the events of enabled
    /// domains only: `Page` and `Runtime` are enabled, [`watch_network`](Self::watch_network) enables `Network`, and
    /// [`set_persistent_command`](Self::set_persistent_command) can send the `enable` command of another domain to each
    /// session of the page.
    ///
    /// ```no_run
    /// # use cdpilot::{browser::LaunchOptions, sync::Deadline};
    /// # use cdpilot::supervisor::{EventFilter, PageEvent, Supervisor, SupervisorOptions};
    /// # let supervisor = Supervisor::launch(&LaunchOptions::new(), SupervisorOptions::default())?;
    /// # let page = supervisor.view().pages[0].target_id.clone();
    /// let events = supervisor.subscribe(&page, EventFilter::methods(&["Page.loadEventFired"]), Deadline::after_secs(2))?;
    /// while let Ok(next) = events.next(Deadline::after_secs(10)) {
    ///     match next {
    ///         PageEvent::Event { generation, event } => println!("{generation}: {}", event.method()),
    ///         PageEvent::Lost { count } => println!("{count} events are missing"),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok::<(), cdpilot::supervisor::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::PageNotFound`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn subscribe(&self, page: &TargetId, filter: EventFilter, deadline: Deadline<'_>) -> Result<PageEvents, Error> {
        let (sender, events) = crossbeam_channel::bounded(filter.capacity.events.max(1));
        let shared = Arc::new(Shared::default());
        let limit = filter.capacity.bytes.max(1);
        let queue = Producer { sender, oldest: events.clone(), shared: Arc::clone(&shared), limit };
        let (page, methods) = (page.clone(), filter.methods.into());
        self.ask("subscribing", deadline, |reply| Request::Subscribe { page, methods, queue, reply })?;
        Ok(PageEvents { events, shared, requests: self.requests.clone() })
    }
}
