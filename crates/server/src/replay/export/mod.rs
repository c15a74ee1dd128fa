//! Routines as scripts of other programs: a test of Playwright, a script that uses the HTTP API.
//!
//! Both are made from the plan of a run without a model, so that they do what such a run does: the element by frame, role, name and
//! container, and it alone; then the recorded effect. What needs a model is marked in the script, which stops there.
//!
//! | file | contents |
//! |---|---|
//! | `script` | the steps, with inputs and secrets as parts of texts |
//! | `acts`, `variables` | what a step does; inputs and secrets |
//! | `words` | literals, names of variables and comments; texts of pages are untrusted |
//! | `playwright`, `locators`, `helpers.ts` | the test of Playwright |
//! | `http`, `runtime.py` | the script |

mod acts;
mod http;
mod locators;
mod playwright;
mod script;
#[cfg(test)]
mod tests;
mod variables;
mod words;

use super::steps::Recorded;
use crate::record::Event;
use crate::routine::Routine;

/// What a routine is exported as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A test of Playwright in TypeScript.
    Playwright,
    /// A Python script that uses the HTTP API.
    Http,
}

/// A routine and its recording.
#[derive(Debug, Clone, Copy)]
pub struct Source<'s> {
    /// Its name.
    pub name: &'s str,
    /// The version of its text.
    pub version: u64,
    /// The text.
    pub routine: &'s Routine,
    /// Which recorded events belong to which step.
    pub recorded: &'s Recorded,
    /// The recording.
    pub events: &'s [Event],
}

/// A script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Its text.
    pub text: String,
    /// What it does not do.
    pub omitted: Vec<Omitted>,
}

/// A part of a routine that a script does not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omitted {
    /// Number of the step.
    pub step: u32,
    /// Its title.
    pub title: String,
    /// Why, as a part of a sentence.
    pub why: String,
}

/// A routine as a script.
#[must_use]
pub fn export(source: &Source<'_>, target: Target) -> Exported {
    let script = script::Script::of(source);
    let text = match target {
        Target::Playwright => playwright::text(&script),
        Target::Http => http::text(&script),
    };
    Exported { text, omitted: script.omitted() }
}
