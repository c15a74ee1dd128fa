//! How often and after which pauses a failed request is sent again.

use std::time::Duration;

use crate::setters::setters;

/// How a request is repeated after a failure that may pass: refused connections, 429, 5xx, cut streams, empty answers.
///
/// The pause doubles after each attempt. A pause that the endpoint requests (`Retry-After`) takes its place, unless it is
/// longer than [`longest`](Self::longest): then the request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patience {
    /// Maximum number of attempts, the first included.
    pub tries: u32,
    /// The pause before the second attempt.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Patience {
    /// For a call that somebody waits for: 4 attempts within seconds.
    #[must_use]
    pub const fn short() -> Self {
        Self { tries: 4, first: Duration::from_millis(500), longest: Duration::from_secs(60) }
    }

    /// For work without a person who waits: 5 attempts, with pauses of 8 to 64 seconds.
    #[must_use]
    pub const fn long() -> Self {
        Self { tries: 5, first: Duration::from_secs(8), longest: Duration::from_secs(64) }
    }

    /// The pause after an attempt, counted from 1; `None` if there is no further one.
    pub(super) fn pause_after(&self, tries: u32, requested: Option<Duration>) -> Option<Duration> {
        if tries >= self.tries {
            return None;
        }
        match requested {
            Some(pause) => (pause <= self.longest).then_some(pause),
            None => Some(self.first.saturating_mul(2_u32.saturating_pow(tries - 1)).min(self.longest)),
        }
    }
}

setters! { Patience:
    tries(u32),
    first(Duration),
    longest(Duration),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_one() {
        let pauses = |patience: Patience| {
            (1..=patience.tries).map(|tries| patience.pause_after(tries, None).map(|pause| pause.as_millis())).collect()
        };
        let long: Vec<_> = pauses(Patience::long());
        assert_eq!(long, [Some(8_000), Some(16_000), Some(32_000), Some(64_000), None]);
        let short: Vec<_> = pauses(Patience::short());
        assert_eq!(short, [Some(500), Some(1_000), Some(2_000), None]);
    }

    #[test]
    fn a_requested_pause_is_kept_unless_it_is_too_long() {
        let long = Patience::long();
        let after = |seconds| long.pause_after(1, Some(Duration::from_secs(seconds)));
        assert_eq!((after(0), after(64), after(65)), (Some(Duration::ZERO), Some(Duration::from_secs(64)), None));
        assert_eq!(long.pause_after(5, Some(Duration::ZERO)), None);
    }
}
