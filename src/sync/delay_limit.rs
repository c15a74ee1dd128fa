//! How long the calls under a deadline may be delayed, in total.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// A limit for the calls of one step that something else delays, such as a navigation that waits for its server. Bound to a
/// deadline ([`Deadline::delayed_at_most`](super::Deadline::delayed_at_most)), it counts from when their delay began, and
/// begins anew when they are no longer delayed.
#[derive(Debug)]
pub struct DelayLimit {
    after: Duration,
    since: Mutex<Option<Instant>>,
}

impl DelayLimit {
    /// A limit that is exceeded when calls are delayed for longer than `after`.
    #[must_use]
    pub fn new(after: Duration) -> Self {
        Self { after, since: Mutex::new(None) }
    }

    /// How long calls have been delayed, if that exceeds the limit. `is_delayed`: whether they are now.
    pub(crate) fn exceeded(&self, is_delayed: bool) -> Option<Duration> {
        let mut since = self.since.lock();
        if !is_delayed {
            *since = None;
            return None;
        }
        let delayed = since.get_or_insert_with(Instant::now).elapsed();
        Some(delayed).filter(|delayed| *delayed >= self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_while_calls_are_delayed() {
        let none = DelayLimit::new(Duration::ZERO);
        assert!(none.exceeded(true).is_some());
        assert_eq!(none.exceeded(false), None);
        let long = DelayLimit::new(Duration::from_secs(3600));
        assert_eq!(long.exceeded(true), None);
        assert!(long.since.lock().is_some());
        assert_eq!(long.exceeded(false), None);
        assert_eq!(*long.since.lock(), None, "the next delay begins anew");
    }
}
