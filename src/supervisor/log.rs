//! The event log: one numbered, bounded list of what happened, for everybody who wants to follow.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::cdp::protocol::target::TargetId;
use crate::sync::{Cancel, Deadline};

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A page came in.
    TabOpened,
    /// A page is gone.
    TabClosed,
    /// A page opened another one beyond the limit of pages, which was closed at once. It is about the opener.
    PopupBlocked,
    /// A frame came, moved between processes, or went.
    Frame,
    /// A frame shows another document or address.
    Navigated,
    /// A page or frame was kept from going somewhere by the [navigation policy](super::NavigationPolicy).
    NavigationBlocked,
    /// A dialog opened.
    DialogOpened,
    /// A dialog closed.
    DialogClosed,
    /// A console message or uncaught exception.
    Console,
    /// A page opened a file chooser.
    FileChooser,
    /// A download began or ended.
    Download,
    /// A renderer crashed.
    Crashed,
    /// A page does not answer, or answers again.
    Responsiveness,
    /// Events were lost and the state was read anew.
    Resync,
    /// The dialog bridge was turned on, or failed in a frame.
    Bridge,
    /// A page's running script was ended, because a call waited and the page did not answer.
    Rescued,
    /// The connection was lost.
    Disconnected,
    /// There is a new connection and the pages are attached again.
    Reconnected,
    /// The supervisor ended.
    Ended,
}

/// One entry. `data` is a JSON object whose fields depend on the kind.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// Its number, counted from 1.
    pub seq: u64,
    /// When, Unix seconds.
    pub ts: f64,
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The page, if it is about one.
    #[serde(rename = "targetId", skip_serializing_if = "Option::is_none")]
    pub target_id: Option<TargetId>,
    /// The rest.
    pub data: Arc<RawValue>,
}

/// A part of the log.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    /// Entries, oldest first.
    pub entries: Vec<Entry>,
    /// Entries between the asked-for number and the first one here that are no longer kept.
    pub lost: u64,
}

/// Entries kept at most.
const MAX_ENTRIES: usize = 10_000;
/// Bytes of their data kept at most.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The log. Appended to by the supervisor's thread, read by anybody.
#[derive(Debug, Default)]
pub struct EventLog {
    inner: Mutex<Inner>,
    grown: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    entries: VecDeque<Entry>,
    bytes: usize,
    last: u64,
    ended: bool,
}

impl EventLog {
    /// The number of the newest entry, 0 when there is none.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.inner.lock().last
    }

    /// Entries newer than `seq`, at most `max`.
    #[must_use]
    pub fn since(&self, seq: u64, max: usize) -> Tail {
        self.inner.lock().since(seq, max)
    }

    /// Entries newer than `seq`, waiting until there is one. Empty at the deadline, when the calling
    /// thread's [`Cancel`] is set, or at once when the log has ended.
    #[must_use]
    pub fn wait_since(&self, seq: u64, max: usize, deadline: Deadline) -> Tail {
        let mut inner = self.inner.lock();
        while inner.last <= seq && !inner.ended {
            let timed_out = self.grown.wait_until(&mut inner, Cancel::until(deadline).instant()).timed_out();
            if timed_out && deadline.passed() {
                break;
            }
        }
        inner.since(seq, max)
    }

    /// Whether nothing will be added any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.inner.lock().ended
    }

    /// Adds entries; their numbers are given here.
    pub(crate) fn append(&self, new: impl IntoIterator<Item = (Kind, f64, Option<TargetId>, Arc<RawValue>)>) {
        let mut inner = self.inner.lock();
        for (kind, ts, target_id, data) in new {
            inner.last += 1;
            inner.bytes += data.get().len();
            let seq = inner.last;
            inner.entries.push_back(Entry { seq, ts, kind, target_id, data });
        }
        while inner.entries.len() > MAX_ENTRIES || inner.bytes > MAX_BYTES {
            let Some(old) = inner.entries.pop_front() else { break };
            inner.bytes -= old.data.get().len();
        }
        drop(inner);
        self.grown.notify_all();
    }

    /// Nothing will be added any more.
    pub(crate) fn end(&self) {
        self.inner.lock().ended = true;
        self.grown.notify_all();
    }
}

impl Inner {
    fn since(&self, seq: u64, max: usize) -> Tail {
        let first = self.last + 1 - self.entries.len() as u64;
        let lost = first.saturating_sub(seq + 1);
        let skip = usize::try_from((seq + 1).saturating_sub(first)).unwrap_or(usize::MAX);
        Tail { entries: self.entries.iter().skip(skip).take(max).cloned().collect(), lost }
    }
}
