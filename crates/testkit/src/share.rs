//! Exhaustive loops: `make test` runs a share of each, `make test-all` runs them as a whole.
//!
//! The share depends on `CDPILOT_TEST_SEED`, so that every part gets its turn over many runs. The runner prints the seed of a run, a
//! loop prints it when it takes its share: with the same seed it takes the same.

/// Whether loops run as a whole: `CDPILOT_TEST_ALL=1`.
pub fn is_whole() -> bool {
    std::env::var("CDPILOT_TEST_ALL").is_ok_and(|value| value == "1")
}

/// The seed of this run.
pub fn seed() -> u64 {
    static SEED: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let given = || std::env::var("CDPILOT_TEST_SEED").ok()?.parse().ok();
    let seed = *SEED.get_or_init(|| given().unwrap_or_else(|| fastrand::u64(0..1_000_000)));
    println!("CDPILOT_TEST_SEED={seed}");
    seed
}

/// All items, or `few` of them that the seed selects, in their order.
pub fn share<T>(all: impl IntoIterator<Item = T>, few: usize) -> Vec<T> {
    let all: Vec<T> = all.into_iter().collect();
    if is_whole() || all.len() <= few {
        return all;
    }
    let mut chosen = fastrand::Rng::with_seed(seed()).choose_multiple(0..all.len(), few);
    chosen.sort_unstable();
    all.into_iter().enumerate().filter(|(at, _)| chosen.binary_search(at).is_ok()).map(|(_, item)| item).collect()
}

/// How often a loop without items runs: the value of an environment variable, else `few`, or `whole` with `CDPILOT_TEST_ALL=1`.
pub fn rounds(variable: &str, few: usize, whole: usize) -> usize {
    let given = std::env::var(variable).ok().map(|count| count.parse().unwrap());
    given.unwrap_or(if is_whole() { whole } else { few })
}
