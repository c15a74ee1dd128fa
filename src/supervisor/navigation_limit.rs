//! Reads that do not wait for a slow server: Chromium delays all commands to a navigating page until its next document
//! is committed.

use std::cell::Cell;
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
struct Limit {
    after: Duration,
    /// Since when calls have been delayed.
    since: Option<Instant>,
}

thread_local! {
    static LIMIT: Cell<Option<Limit>> = const { Cell::new(None) };
}

/// Restores the outer limit on drop.
struct Scope(Option<Limit>);

impl Drop for Scope {
    fn drop(&mut self) {
        LIMIT.set(self.0);
    }
}

/// Runs `work`. Its calls on this thread fail with [`Error::Navigating`](super::Error::Navigating) once navigations
/// have delayed them for `after` in total.
pub(crate) fn with_navigation_limit<T>(after: Duration, work: impl FnOnce() -> T) -> T {
    let _scope = Scope(LIMIT.replace(Some(Limit { after, since: None })));
    work()
}

/// How long a navigation has delayed the calls of this thread, if that exceeds their limit.
pub(super) fn exceeded(is_held: impl FnOnce() -> bool) -> Option<Duration> {
    let limit = LIMIT.get()?;
    if !is_held() {
        LIMIT.set(Some(Limit { since: None, ..limit }));
        return None;
    }
    let since = limit.since.unwrap_or_else(Instant::now);
    LIMIT.set(Some(Limit { since: Some(since), ..limit }));
    Some(since.elapsed()).filter(|held| *held >= limit.after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_while_calls_are_held_back_and_ends_with_its_work() {
        assert_eq!(exceeded(|| true), None, "without a limit");
        with_navigation_limit(Duration::ZERO, || {
            assert!(exceeded(|| true).is_some());
            assert_eq!(exceeded(|| false), None);
            with_navigation_limit(Duration::from_secs(3600), || assert_eq!(exceeded(|| true), None));
            assert!(exceeded(|| true).is_some());
        });
        assert_eq!(exceeded(|| true), None);
    }
}
