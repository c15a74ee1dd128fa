//! A numbered, bounded log of events that any thread can follow.

use std::collections::VecDeque;
use std::ops::Deref;

use parking_lot::{Condvar, Mutex};

use super::Deadline;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 10_000;
/// Maximum size, as reported by [`Bytes`].
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The size that an event takes of a [`Log`]'s limit.
pub trait Bytes {
    /// An estimate in bytes: the texts of the event, plus its size without them.
    fn bytes(&self) -> usize;
}

/// An entry of a [`Log`]: an event with number and time. Its fields are those of the event when serialised.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Logged<E> {
    /// The sequence number, from 1.
    pub seq: u64,
    /// The time, in Unix seconds.
    pub ts: f64,
    /// The event as it was appended.
    pub what: E,
}

impl<E> Deref for Logged<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.what
    }
}

/// A part of a log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Tail<E> {
    /// The requested entries, oldest first.
    pub entries: Vec<Logged<E>>,
    /// Number of entries after the requested one that are no longer kept.
    pub lost: u64,
}

/// A log: appended to by producers, read by any thread. It keeps the newest 10,000 entries and 4 MiB.
#[derive(Debug)]
pub struct Log<E> {
    inner: Mutex<Inner<E>>,
    grown: Condvar,
}

#[derive(Debug)]
struct Inner<E> {
    entries: VecDeque<Logged<E>>,
    bytes: usize,
    last: u64,
    ended: bool,
}

impl<E> Default for Log<E> {
    fn default() -> Self {
        let inner = Inner { entries: VecDeque::new(), bytes: 0, last: 0, ended: false };
        Self { inner: Mutex::new(inner), grown: Condvar::new() }
    }
}

impl<E: Clone + Bytes> Log<E> {
    /// The number of the newest entry; 0 when there is none.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.inner.lock().last
    }

    /// Entries newer than `seq`, at most `max`.
    #[must_use]
    pub fn since(&self, seq: u64, max: usize) -> Tail<E> {
        self.inner.lock().since(seq, max)
    }

    /// Entries newer than `seq`, waiting until there is one. Empty at the deadline, also when it is cancelled, and at once
    /// when the log has ended.
    #[must_use]
    pub fn wait_since(&self, seq: u64, max: usize, deadline: Deadline<'_>) -> Tail<E> {
        let mut inner = self.inner.lock();
        while inner.last <= seq && !inner.ended {
            let timed_out = self.grown.wait_until(&mut inner, deadline.next_check()).timed_out();
            if timed_out && deadline.passed() {
                break;
            }
        }
        inner.since(seq, max)
    }

    /// Whether the log has ended: nothing more will be appended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.inner.lock().ended
    }

    /// Appends events, each with its time in Unix seconds; the log numbers them. A log that has ended ignores them.
    pub fn append(&self, new: impl IntoIterator<Item = (f64, E)>) {
        self.append_with(new, || ());
    }

    /// Like [`append`](Self::append), and runs `publish` before anybody can read the new entries. Whoever reads one of them, finds
    /// what `publish` has published, and whoever finds that and then reads the log, finds the entries. `publish` must be short and must
    /// not use the log; it also runs if the log has ended.
    pub(crate) fn append_with(&self, new: impl IntoIterator<Item = (f64, E)>, publish: impl FnOnce()) {
        // Measured before the lock is taken: iterator and events belong to the caller.
        let new: Vec<_> = new.into_iter().map(|(ts, what)| (ts, what.bytes(), what)).collect();
        let mut inner = self.inner.lock();
        publish();
        if inner.ended {
            return;
        }
        for (ts, bytes, what) in new {
            inner.last += 1;
            inner.bytes += bytes;
            let seq = inner.last;
            inner.entries.push_back(Logged { seq, ts, what });
        }
        while inner.entries.len() > MAX_ENTRIES || inner.bytes > MAX_BYTES {
            let Some(old) = inner.entries.pop_front() else { break };
            inner.bytes -= old.what.bytes();
        }
        drop(inner);
        self.grown.notify_all();
    }

    /// Ends the log: nothing more can be appended, and waits return.
    pub fn end(&self) {
        self.inner.lock().ended = true;
        self.grown.notify_all();
    }
}

impl<E: Clone> Inner<E> {
    fn since(&self, seq: u64, max: usize) -> Tail<E> {
        let first = self.last + 1 - self.entries.len() as u64;
        let lost = first.saturating_sub(seq + 1);
        let skip = usize::try_from((seq + 1).saturating_sub(first)).unwrap_or(usize::MAX);
        Tail { entries: self.entries.iter().skip(skip).take(max).cloned().collect(), lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Bytes for String {
        fn bytes(&self) -> usize {
            self.len()
        }
    }

    fn numbers(tail: &Tail<String>) -> Vec<u64> {
        tail.entries.iter().map(|entry| entry.seq).collect()
    }

    #[test]
    fn entries_are_numbered_and_read_from_any_place() {
        let log = Log::default();
        assert_eq!((log.last(), numbers(&log.since(0, 9))), (0, vec![]));
        log.append(["a", "b", "c"].map(|text| (1.0, text.to_owned())));
        assert_eq!(numbers(&log.since(0, 9)), [1, 2, 3]);
        assert_eq!(numbers(&log.since(1, 1)), [2]);
        assert_eq!((numbers(&log.since(3, 9)), log.since(9, 9).lost), (vec![], 0));
        assert_eq!(log.since(0, 1).entries[0].as_str(), "a", "an entry reads as its event");
    }

    #[test]
    fn old_entries_are_dropped_by_number_and_by_bytes_and_counted() {
        let log = Log::default();
        log.append((0..MAX_ENTRIES + 5).map(|_| (1.0, "x".to_owned())));
        let tail = log.since(2, 1);
        assert_eq!((numbers(&tail), tail.lost), (vec![6], 3));
        log.append([(1.0, "y".repeat(MAX_BYTES))]);
        let tail = log.since(0, 9);
        assert_eq!((tail.entries.len(), tail.lost), (1, log.last() - 1));
        log.append([(1.0, "z".to_owned())]);
        assert_eq!(numbers(&log.since(0, 9)), [log.last()], "the large one went");
    }

    #[test]
    fn who_waits_is_told_of_growth_and_of_the_end() {
        let log = std::sync::Arc::new(Log::default());
        let follower = std::sync::Arc::clone(&log);
        let (sender, receiver) = crossbeam_channel::bounded(4);
        let thread = crate::sync::spawn("log-test", move || {
            let mut seen = 0;
            loop {
                let ended = follower.has_ended();
                let tail: Tail<String> = follower.wait_since(seen, 1, Deadline::after_secs(60));
                match tail.entries.first() {
                    Some(entry) => {
                        seen = entry.seq;
                        sender.send(seen).unwrap();
                    }
                    None if ended => return,
                    None => {}
                }
            }
        });
        log.append([(1.0, "a".to_owned())]);
        assert_eq!(receiver.recv().unwrap(), 1);
        log.append([(1.0, "b".to_owned())]);
        log.end();
        assert_eq!(receiver.recv().unwrap(), 2);
        assert!(receiver.recv().is_err(), "it has left");
        drop(thread);
    }
}
