//! Rate limit for listing the tools of a server again after it reported a change.

use std::time::{Duration, Instant};

/// Pause between two lists of a server whose tools change occasionally.
const MIN_PAUSE: Duration = Duration::from_millis(500);
/// Pause between two lists of a server that reports changes all the time.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Spaces out lists of a server. Reports during a pause are combined into one list, so that the last one is never lost.
#[derive(Debug, Default)]
pub(super) struct Relist {
    /// Time of the last list, and the pause after it.
    last: Option<(Instant, Duration)>,
}

impl Relist {
    /// The earliest time of the next list.
    pub(super) fn due(&self, now: Instant) -> Instant {
        self.last.map_or(now, |(last, pause)| last + pause)
    }

    /// Records a list. A report during the pause doubles the next pause; after a quiet period it is reset.
    pub(super) fn listed(&mut self, now: Instant) {
        let pause = match self.last {
            Some((last, pause)) if now.saturating_duration_since(last) < pause * 2 => (pause * 2).min(MAX_PAUSE),
            _ => MIN_PAUSE,
        };
        self.last = Some((now, pause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_reports_is_listed_ever_more_rarely() {
        let mut relist = Relist::default();
        let start = Instant::now();
        assert_eq!(relist.due(start), start, "the first report is followed at once");
        let (mut now, mut lists) = (start, 0);
        while now < start + Duration::from_secs(600) {
            relist.listed(now);
            lists += 1;
            now = relist.due(now);
        }
        assert!(lists < 30, "{lists} lists in ten minutes");
        // After a quiet period changes are followed as before.
        now += MAX_PAUSE * 3;
        relist.listed(now);
        assert_eq!(relist.due(now), now + MIN_PAUSE);
    }
}
