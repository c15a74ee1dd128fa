//! Cancellation: ending work whose client no longer waits for the result.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Deadline;

/// How often a cancellable wait checks its flag.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

thread_local! {
    static CURRENT: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

/// A flag that ends the waits of work whose result is no longer wanted.
///
/// It is not passed as an argument: [`run`](Self::run) sets it for the calling thread for a while. Once the flag is
/// set, every [`Deadline`] that is checked meanwhile has passed, and every wait of this crate ends within 100 ms.
/// Clones are the same flag.
///
/// ```
/// use cdpilot::sync::{Cancel, Deadline};
///
/// let cancel = Cancel::new();
/// cancel.set();
/// assert!(cancel.run(|| Deadline::after_secs(60).passed()));
/// assert!(!Deadline::after_secs(60).passed());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
}

impl Cancel {
    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag, permanently.
    pub fn set(&self) {
        self.flag.store(true, Ordering::Release);
    }

    /// Whether the flag is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// Runs `work` under this flag: waits of the calling thread end when it is set. It replaces an outer flag.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let _scope = Scope::enter(Some(self.clone()));
        work()
    }

    /// Runs `work` to its end, whatever the calling thread's flag says: for cleanup after a cancellation.
    pub fn shielded<T>(work: impl FnOnce() -> T) -> T {
        let _scope = Scope::enter(None);
        work()
    }

    /// Whether the work of the calling thread is cancelled.
    #[must_use]
    pub fn is_current_set() -> bool {
        // A thread that is ending has no flag.
        CURRENT.try_with(|current| current.borrow().as_ref().is_some_and(Self::is_set)).unwrap_or(false)
    }

    /// The calling thread's flag, to pass it to another thread.
    #[must_use]
    pub fn of_thread() -> Option<Self> {
        CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
    }

    /// How long the calling thread may wait before it checks its flag.
    pub(crate) fn until(deadline: Deadline) -> Deadline {
        let has_flag = CURRENT.try_with(|current| current.borrow().is_some()).unwrap_or(false);
        if has_flag { deadline.within(CHECK_INTERVAL) } else { deadline }
    }
}

/// Restores the outer flag, also after a panic.
struct Scope {
    before: Option<Cancel>,
}

impl Scope {
    fn enter(cancel: Option<Cancel>) -> Self {
        Self { before: CURRENT.try_with(|current| current.replace(cancel)).ok().flatten() }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let before = self.before.take();
        let _ = CURRENT.try_with(|current| current.replace(before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_counts_for_its_scope_alone() {
        let (outer, inner) = (Cancel::new(), Cancel::new());
        outer.set();
        assert!(!Cancel::is_current_set());
        outer.run(|| {
            assert!(Cancel::is_current_set());
            assert!(Deadline::after_secs(60).passed());
            assert!(Deadline::after_secs(60).left().is_zero());
            inner.run(|| assert!(!Cancel::is_current_set()));
            Cancel::shielded(|| assert!(!Deadline::after_secs(60).passed()));
            assert!(Cancel::of_thread().is_some_and(|cancel| cancel.is_set()));
        });
        assert!(!Cancel::is_current_set());
        assert!(Cancel::of_thread().is_none());
    }
}
