//! How a run ends: its limits, login pages, the final answer.

use std::time::Instant;

use serde_json::Value;

use super::RoutineRun;
use super::report::{RunCause, RunResult, StepStatus};
use crate::control::Profile;
use crate::store::RunStatus;
use cdpilot::fields::{self, Style};
use cdpilot::supervisor::LogEvent;
use cdpilot::sync::Deadline;
use std::time::Duration;

pub(in crate::agent) const LOGIN_REQUIRED: &str = "LOGIN_REQUIRED";
pub(super) const LIMIT_REACHED: &str = "LIMIT_REACHED";
pub(super) const POSTCONDITION_FAILED: &str = "POSTCONDITION_FAILED";
/// Limits of a run that sets none.
const SECONDS: f64 = 3_600.0;
const MODEL_STEPS: u32 = 60;
/// How often a model is reminded that its answer is not the end.
const MOST_REMINDERS: u32 = 3;
/// Time limit for looking for a field for passwords.
const LOOK: Duration = Duration::from_secs(3);
/// Words of steps that expect a login page.
const LOGIN_WORDS: [&str; 6] = ["log in", "login", "sign in", "password", "passcode", "credentials"];
/// Most events and downloads that are looked at, and the longest name of a file, in characters.
const MOST_EVENTS: usize = 10_000;
const MOST_DOWNLOADS: usize = 100;
const MOST_FILE_NAME: usize = 200;
/// Longest address in a report, in characters.
const MOST_ADDRESS: usize = 500;

/// Why a run ends before all its steps are done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::agent) struct Ending {
    /// The code of the reason.
    pub(in crate::agent) code: &'static str,
    /// What happened and what to do, as a sentence.
    pub(in crate::agent) problem: String,
}

/// Codes of runs that were not done.
const CODES: [&str; 9] = [
    LOGIN_REQUIRED,
    LIMIT_REACHED,
    POSTCONDITION_FAILED,
    "TARGET_NOT_FOUND",
    "TARGET_AMBIGUOUS",
    "NOT_ACTIONABLE",
    "APPROVAL_REFUSED",
    "NO_MODEL",
    "INTERRUPTED",
];

/// A code of a run as a constant.
pub(super) fn known_code(code: &str) -> &'static str {
    CODES.into_iter().find(|known| *known == code).unwrap_or(POSTCONDITION_FAILED)
}

/// What a final answer leads to.
#[derive(Debug)]
pub(in crate::agent) enum Answered {
    /// The run is done.
    Done,
    /// The model gets this notice, and continues.
    Continue(String),
    /// The run has failed.
    Failed(Ending),
}

impl RoutineRun {
    /// Adds a request to the model and its cost to the step in progress.
    pub(in crate::agent) fn count_request(&mut self, cost: f64) {
        self.report.model_requests += 1;
        self.report.requests_since += 1;
        self.report.cost += cost;
        if let Some(state) = self.report.current() {
            state.step.model_requests += 1;
            state.step.cost += cost;
        }
        self.count_time();
    }

    /// Adds the time since the last call of this.
    pub(in crate::agent) fn count_time(&mut self) {
        let passed = self.counted.elapsed().as_secs_f64();
        self.counted = Instant::now();
        self.report.seconds += passed;
        if let Some(state) = self.report.current() {
            state.step.seconds += passed;
        }
        self.is_changed = true;
    }

    /// The limit that the run has reached.
    pub(in crate::agent) fn limit(&self) -> Option<Ending> {
        let limits = &self.report.limits;
        let seconds = limits.seconds.unwrap_or(SECONDS);
        let steps = limits.model_steps.unwrap_or(MODEL_STEPS);
        let place = self.report.pinned.map_or_else(|| "before its first step".to_owned(), |n| format!("in step {n}"));
        let problem = if self.report.seconds > seconds {
            format!("the run has taken more than {seconds} s (limits.seconds), {place}")
        } else if limits.cost.is_some_and(|cost| self.report.cost > cost) {
            format!("the run has cost {:.4}, more than limits.cost, {place}", self.report.cost)
        } else if self.report.requests_since >= steps {
            format!("{steps} requests to the model did not end the step (limits.model_steps), {place}")
        } else {
            return None;
        };
        Some(Ending { code: LIMIT_REACHED, problem })
    }

    /// Whether the page asks for a login that the routine does not expect: it shows a field for passwords, and neither the step in
    /// progress nor the next one is about one.
    pub(in crate::agent) fn login_wall(&mut self, pages: &Profile) -> Option<Ending> {
        if self.expects_login() {
            return None;
        }
        let handle = pages.tab_to_read(None).ok()?;
        let found = handle.tab.find("css=input[type=password]", None, Some(5), Deadline::after(LOOK)).ok()?;
        if !found.matches.iter().any(|field| field.visible) {
            return None;
        }
        let address: String = address_of(&handle.info.url);
        let place = self.report.pinned.map_or_else(|| "its start".to_owned(), |n| format!("step {n}"));
        if let Some(state) = self.report.current() {
            let cause =
                RunCause { code: LOGIN_REQUIRED.to_owned(), sought: state.step.title.clone(), found: address.clone() };
            state.step.cause = Some(cause);
        }
        let problem = format!(
            "{address} asks for a login, but {place} expects another page; log in there in the profile of the run, and then resume \
             the run"
        );
        Some(Ending { code: LOGIN_REQUIRED, problem })
    }

    fn expects_login(&self) -> bool {
        let from = self.report.pinned.unwrap_or(1);
        let mut near = self.routine.steps.iter().filter(|step| step.n == from || step.n == from + 1);
        let is_about = |text: &str| {
            let text = text.to_lowercase();
            text.contains("{{secret:") || LOGIN_WORDS.iter().any(|word| text.contains(word))
        };
        near.any(|step| is_about(&step.title) || step.instructions.iter().any(|one| is_about(&one.text)))
    }

    /// Leaves the time since the last count out: the run was paused.
    pub(in crate::agent) fn skip_time(&mut self) {
        self.counted = Instant::now();
    }

    /// Names of the files that were downloaded since the turn began.
    pub(super) fn downloads(&self, pages: &Profile) -> Vec<String> {
        let tail = pages.events().since(self.events, MOST_EVENTS);
        let names = tail.entries.iter().filter_map(|entry| match &*entry.event {
            LogEvent::Download(download) if pages.targets().iter().any(|own| *own == *download.target_id.as_str()) => {
                Some(download.suggested_filename.chars().take(MOST_FILE_NAME).collect())
            }
            _ => None,
        });
        names.take(MOST_DOWNLOADS).collect()
    }

    /// Marks the step in progress, and what comes after it, when the run ends before.
    pub(in crate::agent) fn end_early(&mut self, ending: &Ending) {
        self.count_time();
        if let Some(state) = self.report.current() {
            state.step.status = StepStatus::Failed;
            let (sought, found) = (state.step.title.clone(), ending.problem.clone());
            state.step.cause.get_or_insert(RunCause { code: ending.code.to_owned(), sought, found });
        }
        self.end(RunStatus::Failed, Some(ending.code));
    }

    /// What a final answer of the model leads to.
    pub(in crate::agent) fn answered(&mut self, text: &str, pages: &Profile) -> Answered {
        self.count_time();
        let open: Vec<String> = self
            .report
            .steps
            .iter()
            .filter(|state| state.step.status == StepStatus::Pending)
            .map(|state| state.step.n.to_string())
            .collect();
        if let Some(first) = open.first() {
            let problem = format!(
                "The routine is not done: open are the steps {}. Go on with step {first}; if it cannot be done, call routine_step \
                 with command blocked.",
                open.join(", ")
            );
            return self.reminded(problem, || "the model ended although steps of the routine are not done".to_owned());
        }
        let data = match self.routine.result.as_ref().and_then(|result| result.schema.as_ref()) {
            None => None,
            Some(schema) => match fitted(text, schema) {
                Ok(data) => Some(data),
                Err(problem) => {
                    let notice = format!(
                        "The final answer needs one ```json block with data that fits the schema of the routine: {problem}. Give it \
                         again."
                    );
                    return self
                        .reminded(notice, || format!("the result does not fit the schema of the routine: {problem}"));
                }
            },
        };
        let final_url = pages.tab_to_read(None).map(|handle| address_of(&handle.info.url)).unwrap_or_default();
        self.end(RunStatus::Done, None);
        self.report.result =
            Some(RunResult { text: text.to_owned(), data, downloads: self.downloads(pages), final_url });
        Answered::Done
    }

    fn reminded(&mut self, notice: String, why: impl FnOnce() -> String) -> Answered {
        self.report.reminders += 1;
        if self.report.reminders <= MOST_REMINDERS {
            return Answered::Continue(notice);
        }
        for state in &mut self.report.steps {
            if state.step.status == StepStatus::Pending && Some(state.step.n) != self.report.pinned {
                state.step.status = StepStatus::Skipped;
            }
        }
        Answered::Failed(Ending { code: POSTCONDITION_FAILED, problem: why() })
    }
}

/// An address without query and fragment, which may contain secrets, shortened.
pub(super) fn address_of(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    url.get(..end).unwrap_or(url).chars().take(MOST_ADDRESS).collect()
}

/// The data in an answer, if it fits a schema.
fn fitted(text: &str, schema: &Value) -> Result<Value, String> {
    let block = text.split_once("```json").and_then(|(_, rest)| rest.split_once("```")).map(|(block, _)| block);
    let data: Value = serde_json::from_str(block.unwrap_or(text).trim()).map_err(|problem| match block {
        Some(_) => format!("its json block cannot be read ({problem})"),
        None => "it has no json block".to_owned(),
    })?;
    fields::fit(data, schema, Style::Exact).map_err(|misfit| misfit.to_string())
}
