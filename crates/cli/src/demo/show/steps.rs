//! The demo's progress: numbered lines while it runs, records for the report.

use std::time::Instant;

use serde::Serialize;

use super::{Problem, Screen};
use crate::style::Style;

/// The outcome of a step.
#[derive(Debug, Serialize)]
pub(crate) struct Step {
    id: &'static str,
    ok: bool,
    ms: u64,
    detail: String,
}

/// Runs and records steps.
pub(crate) struct Steps<'a> {
    screen: &'a Screen<'a>,
    total: usize,
    number: usize,
    pub(crate) done: Vec<Step>,
    pub(crate) failure: Option<Problem>,
}

/// Output of a step: one line for the record, more lines for the terminal.
#[derive(Default)]
pub(crate) struct StepOutput {
    detail: String,
    lines: Vec<String>,
}

impl StepOutput {
    /// Output of one line.
    pub(crate) fn of(detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { lines: vec![detail.clone()], detail }
    }

    /// Output with further lines for the terminal.
    pub(crate) fn long(detail: impl Into<String>, lines: Vec<String>) -> Self {
        Self { detail: detail.into(), lines }
    }
}

impl<'a> Steps<'a> {
    pub(crate) fn new(screen: &'a Screen<'a>, total: usize) -> Self {
        Self { screen, total, number: 0, done: Vec::new(), failure: None }
    }

    /// Skips to the last step.
    pub(crate) fn leave_out_all_but_the_last(&mut self) {
        self.number = self.total - 1;
    }

    /// Style of the terminal.
    pub(crate) fn style(&self) -> Style {
        self.screen.style
    }

    /// Runs, times and prints a step. `None` when it failed; the first failure is kept.
    pub(crate) fn run<T>(
        &mut self,
        id: &'static str,
        title: &str,
        step: impl FnOnce() -> Result<(T, StepOutput), Problem>,
    ) -> Option<T> {
        let screen = self.screen;
        self.number += 1;
        if !screen.quiet {
            (screen.write)(&format!("[{}/{}] {title} ... ", self.number, self.total));
        }
        let began = Instant::now();
        let outcome = step();
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (value, ok, output) = match outcome {
            Ok((value, output)) => (Some(value), true, output),
            Err(failure) => {
                let output = StepOutput::of(failure.to_string());
                self.failure.get_or_insert(failure);
                (None, false, output)
            }
        };
        if !screen.quiet {
            let style = screen.style;
            let mark = if ok { style.green(style.pick("✓", "ok")) } else { style.red(style.pick("✗", "FAILED")) };
            (screen.write)(&format!("{mark} {}\n", style.dim(&format!("{ms} ms"))));
            output.lines.iter().for_each(|line| (screen.write)(&format!("      {line}\n")));
        }
        self.done.push(Step { id, ok, ms, detail: output.detail });
        value
    }
}
