//! Whether a waiting caller spins before it sleeps, and for how long.
//!
//! Waking a sleeping thread takes longer than most answers, so spinning helps on a quiet machine. On a busy one it
//! takes CPU time from the browser and delays answers. Which case applies is measured: average answer times with and
//! without spinning are tracked separately, the faster mode is used, and the other one is tried occasionally.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::connect::Latency;

/// Maximum spin in `balanced`, in microseconds.
const MAX_SPIN_BALANCED_US: u32 = 400;
/// Maximum spin in `low`, in microseconds.
const MAX_SPIN_LOW_US: u32 = 5_000;
/// The first calls alternate between both modes.
const TRIAL_CALLS: u32 = 16;
/// One call in this many uses the mode that was slower so far.
const PROBE_EVERY: u32 = 32;

/// Moving averages of answer times in microseconds; zero without a measurement.
#[derive(Debug)]
pub(super) struct Spin {
    latency: Latency,
    /// False with a single processor, where spinning keeps the browser from answering.
    possible: bool,
    spun: AtomicU32,
    slept: AtomicU32,
    calls: AtomicU32,
}

impl Spin {
    pub(super) fn new(latency: Latency) -> Self {
        Self {
            latency,
            possible: std::thread::available_parallelism().is_ok_and(|n| n.get() > 1),
            spun: AtomicU32::new(0),
            slept: AtomicU32::new(0),
            calls: AtomicU32::new(0),
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
        let spun = self.spun.load(Ordering::Relaxed);
        let slept = self.slept.load(Ordering::Relaxed);
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        // Spinning costs CPU time, so it must save time.
        let pays = spun + spun / 16 <= slept;
        let spin = if call < TRIAL_CALLS { call.is_multiple_of(2) } else { pays != call.is_multiple_of(PROBE_EVERY) };
        let usual = match (spun, slept) {
            (0, 0) => 100,
            (0, one) | (one, 0) => one,
            both => both.0.min(both.1),
        };
        (spin && usual <= MAX_SPIN_BALANCED_US).then_some((usual * 2 + 20).min(MAX_SPIN_BALANCED_US))
    }

    /// Records an answer time.
    pub(super) fn answered(&self, spun: bool, after: Duration) {
        let average = if spun { &self.spun } else { &self.slept };
        let old = average.load(Ordering::Relaxed);
        let now = u32::try_from(after.as_micros()).unwrap_or(u32::MAX).clamp(1, 100_000);
        // Limits the effect of one slow answer.
        let new = if old == 0 { now } else { (old * 7 + now.min(old * 4 + 50)) / 8 };
        average.store(new.max(1), Ordering::Relaxed);
    }
}
