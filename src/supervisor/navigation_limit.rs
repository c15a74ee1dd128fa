//! Reads that do not wait for a document whose server is slow: Chromium holds back every command to a page that is on its
//! way to another document, until that document is there.

use std::cell::Cell;
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
struct Limit {
    after: Duration,
    /// Since when calls have been held back.
    since: Option<Instant>,
}

thread_local! {
    static LIMIT: Cell<Option<Limit>> = const { Cell::new(None) };
}

/// Puts back what held before, however the work ends.
struct Scope(Option<Limit>);

impl Drop for Scope {
    fn drop(&mut self) {
        LIMIT.set(self.0);
    }
}

/// Runs some work. Calls that it makes on this thread fail with [`Error::Navigating`](super::Error::Navigating) once a
/// navigation has held them back for so long altogether.
pub(crate) fn with_navigation_limit<T>(after: Duration, work: impl FnOnce() -> T) -> T {
    let _scope = Scope(LIMIT.replace(Some(Limit { after, since: None })));
    work()
}

/// For how long a navigation has held back the calls of this thread, when that is beyond their limit.
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
