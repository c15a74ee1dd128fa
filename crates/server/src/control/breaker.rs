//! Circuit breaker: pauses after repeated failed starts of a browser.

use std::time::{Duration, Instant};

use super::Error;

/// Number of failures in a row that causes a pause.
const FAILURES: u32 = 3;
/// Length of the first pause; each further failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
/// Maximum length of a pause.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// Failed starts in a row.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    until: Option<Instant>,
    last: String,
}

impl Breaker {
    /// Fails during a pause.
    pub(super) fn check(&self, now: Instant) -> Result<(), Error> {
        let Some(left) = self.until.and_then(|until| until.checked_duration_since(now)).filter(|left| !left.is_zero())
        else {
            return Ok(());
        };
        let wait_s = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        Err(Error::Resting { failures: self.failures, wait_s, last: self.last.clone() })
    }

    /// Records a failed start.
    pub(super) fn failed(&mut self, why: String, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.last = why;
        if let Some(more) = self.failures.checked_sub(FAILURES) {
            self.until = Some(now + FIRST_PAUSE.saturating_mul(1 << more.min(8)).min(MAX_PAUSE));
        }
    }

    /// Resets the count, after a success or on request.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_make_a_pause_that_doubles() {
        let (mut breaker, mut now) = (Breaker::default(), Instant::now());
        let mut pauses = Vec::new();
        for n in 1..=8 {
            breaker.check(now).unwrap();
            breaker.failed(format!("failure {n}"), now);
            if let Err(Error::Resting { failures, wait_s, last }) = breaker.check(now) {
                assert_eq!((failures, last), (n, format!("failure {n}")));
                pauses.push(wait_s);
                assert!(breaker.check(now + Duration::from_secs(wait_s - 1)).is_err());
                now += Duration::from_secs(wait_s);
            }
        }
        assert_eq!(pauses, [30, 60, 120, 240, 300, 300]);
        breaker.reset();
        breaker.failed(String::new(), now);
        breaker.check(now).unwrap();
    }
}
