//! Follows the event log and records dialogs: the log itself keeps only the newest entries.

use std::sync::Arc;

use cdpilot::supervisor::{EventKind, EventLog};
use cdpilot::sync::{Deadline, Thread, spawn};
use parking_lot::Mutex;
use serde_json::Value;

/// Opened and closed dialogs, in order.
#[derive(Debug, Clone, Default)]
pub struct Book {
    pub opened: Vec<String>,
    pub closed: Vec<(String, Value)>,
    /// The newest log entry that is included.
    seen: u64,
}

impl Book {
    /// Panics unless every opened dialog was closed exactly once, and no other.
    pub fn assert_balanced(&self) {
        let mut opened = self.opened.clone();
        let mut closed: Vec<String> = self.closed.iter().map(|(id, _)| id.clone()).collect();
        opened.sort();
        closed.sort();
        assert_eq!(opened, closed, "one record for each dialog");
        let count = opened.len();
        opened.dedup();
        assert_eq!(opened.len(), count, "no id is used twice");
    }
}

/// A thread that reads the log until the log ends or this is dropped.
pub struct Ledger {
    book: Arc<Mutex<Book>>,
    log: Arc<EventLog>,
    stop: crossbeam_channel::Sender<()>,
    _thread: Thread,
}

impl Ledger {
    pub fn follow(log: &Arc<EventLog>) -> Self {
        let book = Arc::<Mutex<Book>>::default();
        let (stop, stopped) = crossbeam_channel::bounded::<()>(0);
        let (inner, read) = (Arc::clone(&book), Arc::clone(log));
        let mut seen = 0;
        let body = move || {
            while stopped.try_recv() != Err(crossbeam_channel::TryRecvError::Disconnected) {
                let tail = read.wait_since(seen, 1000, Deadline::after_millis(50));
                assert_eq!(tail.lost, 0, "the reader is too slow");
                seen = tail.entries.last().map_or(seen, |entry| entry.seq);
                let mut book = inner.lock();
                book.seen = seen;
                for entry in &tail.entries {
                    let data: Value = serde_json::to_value(&*entry.event).unwrap();
                    let id = data["id"].as_str().unwrap_or_default().to_owned();
                    match entry.kind() {
                        EventKind::DialogOpened => book.opened.push(id),
                        EventKind::DialogClosed => book.closed.push((id, data)),
                        _ => {}
                    }
                }
                if tail.entries.is_empty() && read.has_ended() {
                    return;
                }
            }
        };
        Self { book, log: Arc::clone(log), stop, _thread: spawn("site-ledger", body).unwrap() }
    }

    /// The dialogs, once every entry of the log so far is included.
    pub fn book(&self) -> Book {
        let deadline = super::chrome::soon();
        let last = self.log.last();
        loop {
            let book = self.book.lock().clone();
            if book.seen >= last {
                return book;
            }
            assert!(!deadline.passed(), "the ledger does not come to an end");
            cdpilot::sync::pause(std::time::Duration::from_millis(5)); // its thread tells nobody
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        // Its end is what the thread looks for.
        let (closed, _) = crossbeam_channel::bounded(0);
        drop(std::mem::replace(&mut self.stop, closed));
    }
}

/// A number from the environment, for longer runs.
pub fn count(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
