//! Runs the tests: each in its own process, several at a time, with a browser that it may lease.
//!
//! ```text
//! cargo test --workspace --no-run --message-format=json | testkit [FILTER]...
//! ```
//!
//! Only tests whose name contains one of the filters are run. See CONTRIBUTING.md for the environment variables.
//!
//! | file | content |
//! |---|---|
//! | `tests` | test binaries and the tests in them |
//! | `pool` | browsers of each worker |
//! | `full` | tests that need the full browser |
//! | `run` | workers: run tests, keep time, retry failed tests once |
//! | `usage` | CPU time, by control group |
//! | `report` | what is printed at the end |

#![allow(clippy::print_stdout, clippy::print_stderr)] // It reports to a person.

mod full;
mod pool;
mod report;
mod run;
mod tests;
mod usage;

use std::process::ExitCode;

/// More browsers than this in a complete run fail it: each costs a second of CPU time. Tests lease one instead.
const MOST_LAUNCHES: usize = 220;
/// Failed tests are run once more, alone, unless there are more of them than this.
const MOST_RETRIES: usize = 8;

fn main() -> ExitCode {
    let filters: Vec<String> = std::env::args().skip(1).collect();
    match run_all(&filters) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("testkit: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all tests passed.
fn run_all(filters: &[String]) -> Result<bool, String> {
    let mut tests = tests::list(std::io::stdin().lock())?;
    let is_complete = filters.is_empty();
    tests.retain(|test| is_complete || filters.iter().any(|filter| test.name.contains(filter.as_str())));
    if tests.is_empty() {
        return Err(format!("no test has a name that contains {}", filters.join(" or ")));
    }
    let settings = run::Settings::read();
    println!("running {} tests, {} at a time, CDPILOT_TEST_SEED={}", tests.len(), settings.workers, settings.seed);
    let mut outcome = run::all(&tests, &settings)?;
    let failed: Vec<tests::Test> = outcome.failed().map(|result| result.test.clone()).collect();
    if !failed.is_empty() && failed.len() <= MOST_RETRIES {
        println!("\nrunning the failed tests once more, alone");
        outcome.retried = run::all(&failed, &run::Settings { workers: 1, ..settings.clone() })?.results;
    }
    report::print(&outcome);
    let mut passed = report::verdict(&outcome);
    if is_complete && !settings.is_thorough && outcome.launches.len() > MOST_LAUNCHES {
        println!(
            "FAILED: {} browsers were launched; {MOST_LAUNCHES} are allowed: lease one instead",
            outcome.launches.len()
        );
        passed = false;
    }
    Ok(passed)
}
