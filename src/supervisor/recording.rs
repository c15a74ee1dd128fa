//! The feed of a recording: what happens in some pages, in one order.
//!
//! A script of the caller runs in the isolated world `cdpilot` of every document of these pages, before scripts of the page.
//! It reports by a binding that exists in that world only, so that no page can call it. Its reports and the entries of the
//! event log that belong to these pages arrive in one bounded queue, in the order in which the browser sent them. The queue
//! drops what does not fit and counts it; a script therefore repeats what was not acknowledged.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::error::Error;
use super::handle::Supervisor;
use super::log::EventRecord;
use super::state::Request;
use crate::cdp::RecvError;
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::runtime::{CallArgument, CallFunctionOn, ExecutionContextId};
use crate::cdp::protocol::target::TargetId;
use crate::sync::Deadline;

/// Most items that wait, and their size in bytes.
const MOST_ITEMS: usize = 8_192;
const MOST_BYTES: usize = 32 << 20;

/// What is recorded, and by which script.
#[derive(Clone)]
pub(crate) struct RecordingSpec {
    /// The script, which is a secret: it contains the name of the binding.
    pub(crate) source: Arc<str>,
    /// A function that begins again in a document that shares its window, and the script in it, with the one before.
    pub(crate) again: Arc<str>,
    /// Name of the binding: random, so that no page can guess it.
    pub(crate) binding: Arc<str>,
    /// The pages. Those that they open join them.
    pub(crate) pages: Vec<TargetId>,
    /// Whether file choosers stay intercepted. If not, a person sees and uses them.
    pub(crate) keeps_choosers: bool,
}

impl fmt::Debug for RecordingSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingSpec").field("pages", &self.pages).finish_non_exhaustive()
    }
}

/// Where a report of the script comes from.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// The page.
    pub(crate) page: TargetId,
    /// The frame; `None` if it is not known any more.
    pub(crate) frame: Option<FrameId>,
    session: Arc<str>,
    context: ExecutionContextId,
}

/// An item of the feed.
#[derive(Debug, Clone)]
pub(crate) enum Evidence {
    /// A report of the script.
    Report { origin: Origin, payload: Arc<str> },
    /// An entry of the event log, with its time in Unix seconds: of one of the pages, of the browser, or a new page.
    Event { at: f64, record: EventRecord },
    /// A page joined.
    Joined { page: TargetId, opener: Option<TargetId> },
    /// The text of a prompt that was accepted; the dialog's `DialogClosed` follows.
    PromptText { page: TargetId, text: Arc<str> },
}

/// A request about a recording.
#[derive(Debug)]
pub(super) enum Order {
    /// Begin.
    Begin { spec: RecordingSpec, feed: FeedEnd },
    /// Another page is recorded too.
    Join { page: TargetId },
    /// A feed was dropped.
    End,
}

/// Shared by both ends.
#[derive(Debug, Default)]
struct Counts {
    lost: AtomicU64,
    bytes: AtomicUsize,
    is_over: AtomicBool,
}

/// The supervisor's end of a feed.
#[derive(Debug)]
pub(super) struct FeedEnd {
    sender: Sender<Evidence>,
    counts: Arc<Counts>,
}

impl FeedEnd {
    /// Queues an item; one that does not fit is counted.
    pub(super) fn offer(&self, item: Evidence) {
        let bytes = item.bytes();
        let fits = self.counts.bytes.load(Ordering::Relaxed).saturating_add(bytes) <= MOST_BYTES;
        if fits {
            self.counts.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        if !fits || self.sender.try_send(item).is_err() {
            if fits {
                self.counts.bytes.fetch_sub(bytes, Ordering::Relaxed);
            }
            self.counts.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether the receiver is gone.
    pub(super) fn is_over(&self) -> bool {
        self.counts.is_over.load(Ordering::Acquire)
    }
}

impl Evidence {
    pub(super) fn report(
        page: TargetId,
        frame: Option<FrameId>,
        session: Arc<str>,
        context: ExecutionContextId,
        payload: &str,
    ) -> Self {
        Self::Report { origin: Origin { page, frame, session, context }, payload: payload.into() }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Report { payload, .. } => payload.len(),
            Self::PromptText { text, .. } => text.len(),
            Self::Event { .. } | Self::Joined { .. } => 512,
        }
    }
}

/// The feed of a recording. Dropping it ends the recording.
pub(crate) struct RecordingFeed {
    items: Receiver<Evidence>,
    counts: Arc<Counts>,
    requests: Sender<Request>,
}

impl RecordingFeed {
    /// Waits for the next item until the deadline.
    ///
    /// # Errors
    /// [`RecvError::Timeout`]; [`RecvError::Closed`] once the supervisor has ended and all earlier items were received.
    pub(crate) fn next(&self, deadline: Deadline<'_>) -> Result<Evidence, RecvError> {
        loop {
            match self.items.recv_deadline(deadline.next_check()) {
                Ok(item) => {
                    self.counts.bytes.fetch_sub(item.bytes(), Ordering::Relaxed);
                    return Ok(item);
                }
                Err(RecvTimeoutError::Timeout) if deadline.passed() => return Err(RecvError::Timeout),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(RecvError::Closed),
            }
        }
    }

    /// Number of items lost since the last call.
    pub(crate) fn lost(&self) -> u64 {
        self.counts.lost.swap(0, Ordering::AcqRel)
    }
}

impl Drop for RecordingFeed {
    fn drop(&mut self) {
        self.counts.is_over.store(true, Ordering::Release);
        // If there is no room, the next item detects it.
        let _ = self.requests.try_send(Request::Recording { order: Order::End, reply: None });
    }
}

impl Supervisor {
    /// Begins to record pages. A supervisor has one recording.
    ///
    /// # Errors
    /// [`Error::AlreadyRecorded`], [`Error::Timeout`], [`Error::NotActive`].
    pub(crate) fn record(&self, spec: RecordingSpec, deadline: Deadline<'_>) -> Result<RecordingFeed, Error> {
        let (sender, items) = crossbeam_channel::bounded(MOST_ITEMS);
        let counts = Arc::new(Counts::default());
        let end = FeedEnd { sender, counts: Arc::clone(&counts) };
        // Dropped when no answer comes in time: what begins later is over then.
        let feed = RecordingFeed { items, counts, requests: self.requests.clone() };
        self.ask("beginning to record", deadline, |reply| Request::Recording {
            order: Order::Begin { spec, feed: end },
            reply: Some(reply),
        })?;
        Ok(feed)
    }

    /// Records another page too. Does nothing if it is recorded already.
    ///
    /// # Errors
    /// [`Error::PageNotFound`], [`Error::Timeout`], [`Error::NotActive`].
    pub(crate) fn record_page(&self, page: &TargetId, deadline: Deadline<'_>) -> Result<(), Error> {
        let page = page.clone();
        self.ask("recording a page", deadline, |reply| Request::Recording {
            order: Order::Join { page },
            reply: Some(reply),
        })
    }

    /// Calls a function in the document of a report, without waiting for its answer. Does nothing if the document is gone.
    pub(crate) fn post_to(&self, origin: &Origin, function: &str, argument: &impl serde::Serialize) {
        let mut call = CallFunctionOn::new(function);
        call.execution_context_id = Some(origin.context);
        let value = serde_json::value::to_raw_value(argument).ok();
        call.arguments = Some(vec![CallArgument { value, ..CallArgument::default() }]);
        call.silent = Some(true);
        let (_, connection) = self.current_connection.current();
        drop(connection.session(Arc::clone(&origin.session)).send(&call));
    }
}
