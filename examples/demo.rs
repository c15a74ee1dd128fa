//! Shows dialogs and frames in a real browser, step by step.
//!
//! `make demo`, or `cargo run --example demo`

// Shared with `cdpilot demo`.
#[path = "../crates/cli/src/demo/show/mod.rs"]
#[allow(dead_code)]
mod show;
#[path = "../crates/cli/src/style.rs"]
#[allow(dead_code)]
mod style;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use cdpilot::browser::{Switch, find};

fn main() -> ExitCode {
    let executable = match find::find(None) {
        Ok(found) => found.path,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "{problem}");
            return ExitCode::FAILURE;
        }
    };
    let write = |text: &str| {
        let mut out = std::io::stdout();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    };
    let options = show::Options { executable, headless: Switch::On, screenshot: None, timeout: None };
    let style = style::Style::of(std::io::stdout().is_terminal());
    let report = show::run(&options, &show::Screen { write: &write, style, quiet: false });
    if report.failure.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
