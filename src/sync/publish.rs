//! A value with one writer and any number of readers, published in frozen versions.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::Deadline;

/// A value together with the version it was published under.
///
/// Versions start at 1 and grow by one with every publication.
#[derive(Debug)]
#[non_exhaustive]
pub struct Versioned<T> {
    /// The value, which never changes.
    pub value: Arc<T>,
    /// The version it was published under, from 1.
    pub version: u64,
}

impl<T> Clone for Versioned<T> {
    fn clone(&self) -> Self {
        Self { value: Arc::clone(&self.value), version: self.version }
    }
}

/// A cell that holds the latest frozen value.
///
/// The writer builds a new value outside and swaps it in; readers take an [`Arc`]. The lock is held for a pointer copy
/// only, never while building or for I/O.
#[derive(Debug)]
pub struct Published<T> {
    slot: Mutex<Versioned<T>>,
    changed: Condvar,
}

impl<T> Published<T> {
    /// A cell whose first value has version 1.
    pub fn new(value: T) -> Self {
        Self { slot: Mutex::new(Versioned { value: Arc::new(value), version: 1 }), changed: Condvar::new() }
    }

    /// The latest value. Waits for nothing.
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.slot.lock().value)
    }

    /// The latest value and its version.
    pub fn latest(&self) -> Versioned<T> {
        self.slot.lock().clone()
    }

    /// Publishes a new value and wakes all waiting threads. Returns its version.
    pub fn publish(&self, value: Arc<T>) -> u64 {
        let (old, version) = {
            let mut slot = self.slot.lock();
            slot.version += 1;
            (std::mem::replace(&mut slot.value, value), slot.version)
        };
        self.changed.notify_all();
        drop(old); // freed outside the lock
        version
    }

    /// Waits until there is a version newer than `seen`. `None` at the deadline, also when it is cancelled.
    pub fn wait_newer(&self, seen: u64, deadline: Deadline<'_>) -> Option<Versioned<T>> {
        let mut slot = self.slot.lock();
        while slot.version <= seen {
            let timed_out = self.changed.wait_until(&mut slot, deadline.next_check()).timed_out();
            if timed_out && deadline.passed() {
                return (slot.version > seen).then(|| slot.clone());
            }
        }
        Some(slot.clone())
    }

    /// Waits until `accept` holds for the latest value, checking the current one first.
    ///
    /// `accept` runs without the lock, on every version that it sees: versions published while it runs may be skipped,
    /// the newest never is. `None` at the deadline.
    pub fn wait_until(&self, deadline: Deadline<'_>, mut accept: impl FnMut(&T) -> bool) -> Option<Arc<T>> {
        let mut seen = self.latest();
        loop {
            if accept(&seen.value) {
                return Some(seen.value);
            }
            seen = self.wait_newer(seen.version, deadline)?;
        }
    }
}
