//! One time budget, passed down through nested steps.

use std::time::{Duration, Instant};

use super::Cancel;

/// The instant at which a wait gives up.
///
/// A caller creates one `Deadline` and every nested step shares it, so that a chain of waits never takes longer than
/// requested. Copying is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    at: Instant,
}

/// Far enough to stand for "no limit", near enough that adding to it never overflows.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);

impl Deadline {
    /// A deadline `after` from now. Values above one year are cut to one year.
    #[must_use]
    pub fn after(after: Duration) -> Self {
        let now = Instant::now();
        let at = now.checked_add(after.min(FAR)).unwrap_or(now);
        Self { at }
    }

    /// A deadline `seconds` from now.
    #[must_use]
    pub fn after_secs(seconds: u64) -> Self {
        Self::after(Duration::from_secs(seconds))
    }

    /// A deadline `millis` milliseconds from now.
    #[must_use]
    pub fn after_millis(millis: u64) -> Self {
        Self::after(Duration::from_millis(millis))
    }

    /// A deadline at a given instant.
    #[must_use]
    pub fn at(at: Instant) -> Self {
        Self { at }
    }

    /// The instant of the deadline, for waits that take an [`Instant`]. They do not observe a [`Cancel`].
    #[must_use]
    pub fn instant(self) -> Instant {
        self.at
    }

    /// The remaining time; zero when the deadline has passed or the calling thread's [`Cancel`] is set.
    #[must_use]
    pub fn left(self) -> Duration {
        if Cancel::is_current_set() {
            return Duration::ZERO;
        }
        self.at.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed, or the calling thread's [`Cancel`] is set.
    #[must_use]
    pub fn passed(self) -> bool {
        self.left().is_zero()
    }

    /// The earlier of two deadlines: a step may have less time than its caller, never more.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }

    /// This deadline, but no later than `limit` from now.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        self.min(Self::after(limit))
    }
}
