//! How often and after which pauses a failed request is sent again.

use std::time::{Duration, SystemTime};

use cdpilot::setters;

/// The shortest pause that an endpoint can request: some request 0 seconds while they are overloaded.
const SHORTEST_REQUESTED: Duration = Duration::from_secs(1);
/// The longest pause that an endpoint can request; with a longer one, the request fails.
const LONGEST_REQUESTED: Duration = Duration::from_secs(120);

/// How a request is repeated after a failure that may pass: refused connections, 429, 5xx, cut streams, empty answers.
///
/// The pause doubles after each attempt. A pause that the endpoint requests (`Retry-After`) takes its place: at least 1 second,
/// and at most 120 seconds. The request fails if the endpoint requests a longer one, or if the deadline comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Maximum number of attempts, the first included.
    pub tries: u32,
    /// The pause before the second attempt.
    pub first: Duration,
    /// The longest pause, unless the endpoint requests another one.
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
            Some(pause) => (pause <= LONGEST_REQUESTED).then(|| pause.max(SHORTEST_REQUESTED)),
            None => Some(self.first.saturating_mul(2_u32.saturating_pow(tries - 1)).min(self.longest)),
        }
    }
}

setters! { Patience:
    tries(u32),
    first(Duration),
    longest(Duration),
}

/// The pause that a `Retry-After` requests, in seconds or as a date; `None` if it is neither.
pub(super) fn requested_pause(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if value.starts_with(|c: char| c.is_ascii_digit()) && value.chars().all(|c| c.is_ascii_digit() || c == '.') {
        let seconds: f64 = value.parse().ok()?;
        return Some(Duration::try_from_secs_f64(seconds.ceil()).unwrap_or(Duration::from_secs(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

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
        for patience in [Patience::long(), Patience::short()] {
            let after =
                |seconds| patience.pause_after(1, Some(Duration::from_secs(seconds))).map(|pause| pause.as_secs());
            assert_eq!([0, 1, 65, 120, 121].map(after), [Some(1), Some(1), Some(65), Some(120), None]);
            assert_eq!(patience.pause_after(5, Some(Duration::ZERO)), None);
        }
    }

    #[test]
    fn requested_pauses_are_seconds_or_a_date() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777); // 1994-11-06 08:49:37
        for (value, pause) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("1.2", Some(2)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sun, 06 Nov 1994 08:48:37 GMT", Some(0)),
            ("Thu, 29 Feb 1996 00:00:00 GMT", Some(41_440_223)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(252_618_189_022)),
            ("99999999999999999999", Some(u64::MAX)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60)),
            ("Sun Nov  6 08:50:37 1994", Some(60)),
            ("Sun, 06 Nov 1994 25:49:37 GMT", None),
            ("06 Nov 1994", None),
            ("-1", None),
            ("1e99", None),
            ("NaN", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(requested_pause(value, now).map(|pause| pause.as_secs()), pause, "{value}");
        }
    }
}
