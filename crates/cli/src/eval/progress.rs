//! Progress: bars on a terminal, lines elsewhere.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use parking_lot::Mutex;

use super::super::output::Out;
use super::plan::Job;
use super::record::{Record, Status};

/// How often the time of a running bar is drawn.
const TICK: Duration = Duration::from_millis(200);

pub(super) struct Progress<'a> {
    out: &'a Out,
    bars: Option<(MultiProgress, ProgressBar)>,
    total: usize,
    done: Mutex<usize>,
}

/// The bar of a run. Dropping it removes it.
pub(super) struct Running(Option<(MultiProgress, ProgressBar)>);

impl Running {
    /// Shows what the run is doing.
    pub(super) fn says(&self, text: String) {
        if let Some((_, bar)) = &self.0 {
            bar.set_message(text);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some((bars, bar)) = self.0.take() {
            bar.finish_and_clear();
            bars.remove(&bar);
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl<'a> Progress<'a> {
    pub(super) fn new(out: &'a Out, done: usize, total: usize) -> Self {
        let is_terminal = std::io::stderr().is_terminal() && !out.quiet;
        let bars = is_terminal.then(|| {
            let bars = MultiProgress::new();
            let bar = ProgressBar::new(total as u64).with_style(style("{bar:30} {pos} of {len} runs, {elapsed}"));
            let bar = bars.add(bar);
            bar.set_position(done as u64);
            (bars, bar)
        });
        Self { out, bars, total, done: Mutex::new(done) }
    }

    /// Shows a run that begins.
    pub(super) fn begin(&self, job: &Job) -> Running {
        Running(self.bars.as_ref().map(|(bars, _)| {
            let bar = ProgressBar::new_spinner().with_style(style("  {spinner} {prefix}  {elapsed}  {msg}"));
            let bar = bars.add(bar.with_prefix(format!("{} {}", job.test, job.model)));
            bar.enable_steady_tick(TICK);
            (bars.clone(), bar)
        }))
    }

    /// Prints the line of a run that has ended.
    pub(super) fn end(&self, record: &Record) {
        let done = {
            let mut done = self.done.lock();
            *done += 1;
            *done
        };
        let line = format!("[{done}/{}] {}", self.total, line(record));
        match &self.bars {
            Some((bars, bar)) => {
                bar.set_position(done as u64);
                let _ = bars.println(line);
            }
            None => self.out.aside(&line),
        }
    }

    /// Removes the bars.
    pub(super) fn finish(&self) {
        if let Some((_, bar)) = &self.bars {
            bar.finish_and_clear();
        }
    }
}

/// A run in a line.
fn line(record: &Record) -> String {
    let verdict = match record.status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Error => "error ",
    };
    let repeat = if record.repeat > 1 { format!(" ({})", record.repeat) } else { String::new() };
    let cost = record
        .facts
        .cost
        .as_ref()
        .map_or_else(|| "cost unknown".to_owned(), |cost| format!("{:.4} {}", cost.amount, cost.currency));
    let cause = record.cause.as_ref().map_or_else(String::new, |cause| format!("; {cause}"));
    format!(
        "{verdict}  {}{repeat}  {}  {} of {} points, {:.1} s, {} steps, {cost}{cause}",
        record.id, record.model, record.score.score, record.score.max, record.facts.seconds, record.steps
    )
}
