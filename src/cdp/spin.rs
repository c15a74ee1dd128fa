//! Whether a waiting caller spins before it sleeps, and for how long.
//!
//! Waking a sleeping thread takes longer than most answers, so spinning helps on a quiet machine. On a busy one it
//! takes CPU time from the browser and delays answers. Which case applies is measured: average answer times with and
//! without spinning are tracked separately, the faster mode is used, and the other one is tried occasionally, for a few calls in a
//! row: a processor that was idle answers late, so that single calls would not show what spinning saves.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use super::connect::Latency;

/// Maximum spin in `balanced`, in microseconds.
const MAX_SPIN_BALANCED_US: u32 = 400;
/// Maximum spin in `low`, in microseconds.
const MAX_SPIN_LOW_US: u32 = 5_000;
/// The first calls sleep, the next ones spin, as many of each.
const TRIAL_CALLS: u32 = 8;
/// How many of them are too early to be measured: a new connection and a change of mode are slow at first.
const TRIAL_IGNORED: u32 = 4;
/// Of this many calls, the first ones use the mode that was slower so far.
const PROBE_EVERY: u32 = 128;
const PROBE_CALLS: u32 = 4;
/// How many calls after a change of mode are not measured: what an idle or a busy processor adds to them belongs to the mode before.
const IGNORED: u32 = 2;

/// Moving averages of answer times in microseconds; zero without a measurement.
#[derive(Debug)]
pub(super) struct Spin {
    latency: Latency,
    /// False with a single processor, where spinning keeps the browser from answering.
    possible: bool,
    spun: AtomicU32,
    slept: AtomicU32,
    calls: AtomicU32,
    /// Whether spinning is the faster mode, as far as it was measured.
    pays: AtomicBool,
}

impl Spin {
    pub(super) fn new(latency: Latency) -> Self {
        Self {
            latency,
            possible: std::thread::available_parallelism().is_ok_and(|n| n.get() > 1),
            spun: AtomicU32::new(0),
            slept: AtomicU32::new(0),
            calls: AtomicU32::new(0),
            pays: AtomicBool::new(false),
        }
    }

    /// How long after sending to spin, if at all. Only for a single call in flight: with more, the CPU is better left
    /// to the browser.
    pub(super) fn budget(&self, in_flight: usize) -> Option<Duration> {
        if !self.possible || in_flight > 1 {
            return None;
        }
        let micros = match self.latency {
            Latency::Quiet => return None,
            Latency::Low => MAX_SPIN_LOW_US,
            Latency::Balanced => self.balanced()?,
        };
        Some(Duration::from_micros(u64::from(micros)))
    }

    fn balanced(&self) -> Option<u32> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let (spun, slept) = (self.spun.load(Ordering::Relaxed), self.slept.load(Ordering::Relaxed));
        let spin = match Turn::of(call) {
            Turn::Trial { spins, .. } => spins,
            Turn::Probe { .. } => !self.pays.load(Ordering::Relaxed),
            Turn::Usual { since } => {
                if since == 0 {
                    // Spinning costs CPU time, so it must save time.
                    self.pays.store(spun + spun / 16 <= slept, Ordering::Relaxed);
                }
                self.pays.load(Ordering::Relaxed)
            }
        };
        let usual = match (spun, slept) {
            (0, 0) => 100,
            (0, one) | (one, 0) => one,
            both => both.0.min(both.1),
        };
        (spin && usual <= MAX_SPIN_BALANCED_US).then_some((usual * 2 + 20).min(MAX_SPIN_BALANCED_US))
    }

    /// Records an answer time.
    pub(super) fn answered(&self, spun: bool, after: Duration) {
        if !Turn::of(self.calls.load(Ordering::Relaxed).wrapping_sub(1)).is_measured() {
            return;
        }
        let average = if spun { &self.spun } else { &self.slept };
        let old = average.load(Ordering::Relaxed);
        let now = u32::try_from(after.as_micros()).unwrap_or(u32::MAX).clamp(1, 100_000);
        // Limits the effect of one slow answer. A mode that is not in use is measured rarely.
        let new = if old == 0 { now } else { (old * 3 + now.min(old * 4 + 50)) / 4 };
        average.store(new.max(1), Ordering::Relaxed);
    }
}

/// What a call is for.
enum Turn {
    /// One of the first calls of a connection.
    Trial { spins: bool, at: u32 },
    /// Measures the mode that is not in use.
    Probe { at: u32 },
    /// Uses the faster mode; `since` calls after the last probe.
    Usual { since: u32 },
}

impl Turn {
    fn of(call: u32) -> Self {
        if call < 2 * TRIAL_CALLS {
            return Self::Trial { spins: call >= TRIAL_CALLS, at: call % TRIAL_CALLS };
        }
        match call % PROBE_EVERY {
            at if at < PROBE_CALLS => Self::Probe { at },
            at if call < PROBE_EVERY => Self::Usual { since: at - 2 * TRIAL_CALLS },
            at => Self::Usual { since: at - PROBE_CALLS },
        }
    }

    fn is_measured(&self) -> bool {
        match self {
            Self::Trial { at, .. } => *at >= TRIAL_IGNORED,
            Self::Probe { at } => *at >= IGNORED,
            Self::Usual { since } => *since >= IGNORED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls one after the other; how many of the last 64 did spin.
    fn spins(spin: &Spin, calls: u32, after: impl Fn(u32, bool) -> u64) -> usize {
        let mut spun = Vec::new();
        for call in 0..calls {
            let spins = spin.budget(1).is_some();
            spin.answered(spins, Duration::from_micros(after(call, spins)));
            spun.push(spins);
        }
        spun.iter().rev().take(64).filter(|spins| **spins).count()
    }

    fn balanced() -> Spin {
        Spin { possible: true, ..Spin::new(Latency::Balanced) }
    }

    #[test]
    fn slow_first_answers_do_not_keep_it_from_spinning() {
        let usual = |spins: bool| if spins { 200 } else { 300 };
        assert!(spins(&balanced(), 100, |_, spins| usual(spins)) >= 60);
        assert!(spins(&balanced(), 100, |call, spins| if call < 4 { 5_000 } else { usual(spins) }) >= 60);
        // What alternating calls would not show: spinning is faster only after a few calls.
        let begun = std::cell::Cell::new(0);
        let sustained = |_, spins: bool| {
            begun.set(if spins { begun.get() + 1 } else { 0 });
            if begun.get() > 2 { 200 } else { 300 }
        };
        assert!(spins(&balanced(), 1_000, sustained) >= 60);
    }

    #[test]
    fn it_spins_only_while_that_is_faster() {
        let spin = balanced();
        assert!(spins(&spin, 100, |_, spins| if spins { 300 } else { 200 }) <= 4, "slower");
        assert!(spins(&spin, 1_000, |_, spins| if spins { 150 } else { 300 }) >= 60, "then faster");
        assert!(spins(&spin, 1_000, |_, spins| if spins { 300 } else { 200 }) <= 4, "and slower again");
        assert_eq!(spins(&Spin { possible: false, ..balanced() }, 100, |_, _| 200), 0);
    }
}
