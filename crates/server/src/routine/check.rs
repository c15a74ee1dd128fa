//! All rules of a routine.

use super::events::StepEvents;
use super::model::Routine;
use super::parse::{Reading, read};
use super::problem::{Problem, Problems};
use super::{element_ids, events, keyword, placeholders, starting_url};

/// What a routine is checked against.
#[derive(Clone, Copy)]
pub struct Context<'c> {
    /// The navigation policy: why it refuses an address, as a clause without a period.
    pub admits: &'c dyn Fn(&str) -> Result<(), String>,
    /// Events of a recording, for a text that was made from one.
    pub events: Option<&'c StepEvents>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("events", &self.events).finish_non_exhaustive()
    }
}

/// Parses a routine and checks all rules.
///
/// # Errors
/// All problems of the text, by line, at most [`MAX_PROBLEMS`](super::MAX_PROBLEMS).
pub fn check(text: &str, context: &Context<'_>) -> Result<Routine, Vec<Problem>> {
    let Reading { routine, url_line, mut problems } = read(text);
    let Some(routine) = routine else { return Err(problems.sorted()) };
    rules(&routine, url_line, context, &mut problems);
    if problems.is_empty() { Ok(routine) } else { Err(problems.sorted()) }
}

fn rules(routine: &Routine, url_line: Option<usize>, context: &Context<'_>, problems: &mut Problems) {
    if let Some(line) = url_line {
        starting_url::check(routine, line, context.admits, problems);
    }
    for step in &routine.steps {
        keyword::check(step, context.events, problems);
    }
    element_ids::check(routine, problems);
    placeholders::check(routine, problems);
    if let Some(events) = context.events {
        events::check(&routine.steps, events, problems);
    }
}
