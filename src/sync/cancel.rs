//! A wish to end that can be handed around.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says that nobody waits for the outcome any more. Clones share one flag.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    set: Arc<AtomicBool>,
}

impl Cancel {
    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets it, for good.
    pub fn set(&self) {
        self.set.store(true, Ordering::Release);
    }

    /// Whether it is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Runs `work` under this flag.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }
}
