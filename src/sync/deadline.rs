//! One time budget, passed down through nested steps, and the cancellation that can end it early.

use std::time::{Duration, Instant};

use super::{Cancel, DelayLimit};

/// The instant at which a wait gives up, and the [`Cancel`] that ends it earlier, if it is bound to one.
///
/// A caller creates one `Deadline` and every nested step shares it, so that a chain of waits never takes longer than
/// requested and ends as a whole when it is cancelled. A step with less time derives its deadline from that of its caller
/// ([`within`](Self::within)); a new deadline is not cancelled by anything. Copying is free.
#[derive(Debug, Clone, Copy)]
pub struct Deadline<'c> {
    at: Instant,
    cancel: Option<&'c Cancel>,
    delays: Option<&'c DelayLimit>,
}

/// Far enough to stand for "no limit", near enough that adding to it never overflows.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);
/// How often a wait that can be cancelled checks its flag.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

impl Deadline<'static> {
    /// A deadline `after` from now, without cancellation. Values above one year are cut to one year.
    #[must_use]
    pub fn after(after: Duration) -> Self {
        let now = Instant::now();
        Self::at(now.checked_add(after.min(FAR)).unwrap_or(now))
    }

    /// A deadline `seconds` from now, without cancellation.
    #[must_use]
    pub fn after_secs(seconds: u64) -> Self {
        Self::after(Duration::from_secs(seconds))
    }

    /// A deadline `millis` milliseconds from now, without cancellation.
    #[must_use]
    pub fn after_millis(millis: u64) -> Self {
        Self::after(Duration::from_millis(millis))
    }

    /// A deadline at a given instant, without cancellation.
    #[must_use]
    pub fn at(at: Instant) -> Self {
        Self { at, cancel: None, delays: None }
    }
}

impl<'c> Deadline<'c> {
    /// The same instant, but it has passed as soon as the flag is set. The flag replaces one that the deadline is bound to.
    #[must_use]
    pub fn cancelled_by<'n>(self, cancel: &'n Cancel) -> Deadline<'n> {
        Deadline { cancel: Some(cancel), ..Deadline::at(self.at) }
    }

    /// The same deadline for calls that fail once something has delayed them for longer than the limit.
    pub fn delayed_at_most<'n>(self, limit: &'n DelayLimit) -> Deadline<'n>
    where
        'c: 'n,
    {
        Deadline { delays: Some(limit), ..self }
    }

    /// How long the calls under this deadline have been delayed, if that exceeds their limit. `is_delayed`, which is called
    /// only if there is one: whether they are delayed now.
    pub(crate) fn delayed_for(self, is_delayed: impl FnOnce() -> bool) -> Option<Duration> {
        self.delays?.exceeded(is_delayed())
    }

    /// The same instant without cancellation: for cleanup that has to run to its end, and for work that outlives the wait.
    #[must_use]
    pub fn uncancelled(self) -> Deadline<'static> {
        Deadline::at(self.at)
    }

    /// Whether the flag that it is bound to is set.
    #[must_use]
    pub fn is_cancelled(self) -> bool {
        self.cancel.is_some_and(Cancel::is_set)
    }

    /// The flag that it is bound to: for work on another thread, which binds its own deadline to a clone of the flag.
    #[must_use]
    pub fn cancel(self) -> Option<&'c Cancel> {
        self.cancel
    }

    /// The instant of the deadline, for waits that take an [`Instant`]. They do not observe the [`Cancel`].
    #[must_use]
    pub fn instant(self) -> Instant {
        self.at
    }

    /// The remaining time; zero when the deadline has passed or its [`Cancel`] is set.
    #[must_use]
    pub fn left(self) -> Duration {
        if self.is_cancelled() {
            return Duration::ZERO;
        }
        self.at.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed, or its [`Cancel`] is set.
    #[must_use]
    pub fn passed(self) -> bool {
        self.left().is_zero()
    }

    /// The earlier of two instants: a step may have less time than its caller, never more. The result is bound to the
    /// [`Cancel`] of this deadline, or to that of the other one if this one has none.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        let (cancel, delays) = (self.cancel.or(other.cancel), self.delays.or(other.delays));
        Self { at: self.at.min(other.at), cancel, delays }
    }

    /// This deadline with its cancellation, but no later than `limit` from now.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        self.min(Deadline::after(limit))
    }

    /// This deadline with its cancellation, but `reserve` earlier, which leaves time to report what was reached.
    #[must_use]
    pub fn earlier_by(self, reserve: Duration) -> Self {
        Self { at: self.at.checked_sub(reserve).unwrap_or(self.at), ..self }
    }

    /// A deadline `after` from now with the same cancellation, also a later one: for a step that has time of its own.
    #[must_use]
    pub fn renewed(self, after: Duration) -> Self {
        Self { at: Deadline::after(after).at, ..self }
    }

    /// The instant until which a wait may block before it checks whether the deadline has [passed](Self::passed): the
    /// deadline itself, or earlier if it can be cancelled.
    pub fn next_check(self) -> Instant {
        match self.cancel {
            Some(_) => self.within(CHECK_INTERVAL).at,
            None => self.at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long() -> Deadline<'static> {
        Deadline::after_secs(60)
    }

    #[test]
    fn a_deadline_has_passed_once_its_flag_is_set() {
        let (cancel, other) = (Cancel::new(), Cancel::new());
        let bound = long().cancelled_by(&cancel);
        assert!(!bound.passed() && !bound.is_cancelled());
        cancel.set();
        assert!(bound.passed() && bound.is_cancelled() && bound.left().is_zero());
        assert!(!bound.uncancelled().passed() && !bound.uncancelled().is_cancelled());
        assert!(!bound.cancelled_by(&other).passed(), "the new flag replaces the old one");
        assert!(Deadline::after(Duration::ZERO).passed());
    }

    #[test]
    fn derived_deadlines_keep_the_flag() {
        let cancel = Cancel::new();
        cancel.set();
        let bound = long().cancelled_by(&cancel);
        let second = Duration::from_secs(1);
        for derived in [bound.within(second), bound.min(long()), long().min(bound), bound.earlier_by(second)] {
            assert!(derived.is_cancelled(), "{derived:?}");
        }
        let renewed = bound.renewed(Duration::from_secs(120));
        assert!(renewed.is_cancelled() && renewed.instant() > bound.instant());
        let soon = bound.within(second);
        assert_eq!((long().min(soon).instant(), soon.min(long()).instant()), (soon.instant(), soon.instant()));
    }

    #[test]
    fn a_wait_checks_its_flag_in_slices() {
        let (cancel, deadline) = (Cancel::new(), long());
        assert_eq!(deadline.next_check(), deadline.instant());
        assert!(deadline.cancelled_by(&cancel).next_check() <= Instant::now() + CHECK_INTERVAL);
    }
}
