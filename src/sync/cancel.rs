//! Cancellation: ending work whose client no longer waits for the result.
//!
//! An entry point binds the deadline of its work to the flag: the server for each request and event stream, MCP for
//! each call, `Page::cancelled_by` for embedders. The deadline is passed down as an argument, so every wait below
//! observes the flag; calls fail with `Cancelled`.
//!
//! - A step with a time limit of its own derives its deadline: `within` (less time), `earlier_by` (time to report),
//!   `renewed` (time of its own, also beyond the deadline of the caller). `Deadline::after` in the middle of a call
//!   would lose the cancellation.
//! - Work that must be done regardless has a deadline without a flag, fresh or by `uncancelled`: releasing a mouse
//!   button, closing a background tab, ending a script, a command or a browser. So have requests that only the
//!   supervisor's thread answers, and probes of the call watchdog.
//! - A TCP connection attempt is the one wait that does not check the flag; it ends at its deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ends the waits of work whose result is no longer wanted. Clones are the same flag.
///
/// It reaches a wait through the deadline: [`Deadline::cancelled_by`](super::Deadline::cancelled_by) binds a deadline to
/// it. Once the flag is set, that deadline has passed, and waits of this crate until that deadline end within 100 ms. Work
/// that is handed to another thread takes a clone and binds its own deadline there.
///
/// ```
/// use cdpilot::sync::{Cancel, Deadline};
///
/// let cancel = Cancel::new();
/// let deadline = Deadline::after_secs(60).cancelled_by(&cancel);
/// assert!(!deadline.passed());
/// cancel.set();
/// assert!(deadline.passed() && deadline.is_cancelled());
/// assert!(!deadline.uncancelled().passed());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    /// The flag that this one is a part of.
    parent: Option<Arc<AtomicBool>>,
}

impl Cancel {
    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag for a part of the work: set by itself, or when this one is. Of a part, the part of the same whole.
    #[must_use]
    pub fn part(&self) -> Self {
        Self { flag: Arc::default(), parent: Some(Arc::clone(self.parent.as_ref().unwrap_or(&self.flag))) }
    }

    /// Whether it is a clone of another flag.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.flag, &other.flag)
    }

    /// Sets the flag, permanently.
    pub fn set(&self) {
        self.flag.store(true, Ordering::Release);
    }

    /// Whether the flag is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Acquire) || self.parent.as_ref().is_some_and(|parent| parent.load(Ordering::Acquire))
    }
}
