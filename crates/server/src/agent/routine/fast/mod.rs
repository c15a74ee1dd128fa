//! Steps that the program does without a model: it calls the tools by itself, with what was recorded.
//!
//! A recorded action is one call, with the intents, approvals, pause, secrets and crash rules of any other call. The element is
//! looked for until the page has it; what the recording says to follow from it has to follow. What does not resolve is handed to the
//! model for the rest of the step, or ends a run without a model.
//!
//! | file | contents |
//! |---|---|
//! | `state` | what is stored: the plan, the action in progress |
//! | `act` | calling the tool |
//! | `filled` | fields that still hold what was filled in |
//! | `find` | looking for the element |
//! | `list` | the entries of a list |
//! | `read` | values that are read from pages |
//! | `call` | the tool and its arguments |
//! | `effects` | whether the recorded effects followed |
//! | `heal` | recording what the model does in place of the program |
//! | `end` | ends of steps and of the run |

mod act;
mod call;
mod effects;
mod end;
mod filled;
mod find;
mod heal;
mod list;
mod read;
mod state;

use super::report::RunCause;
use crate::agent::turn::{End, Turn};
use crate::agent::{Error, routine::Ending};
pub(super) use state::FastRun;
use state::Todo;

/// What becomes of the next step of a turn.
#[derive(Debug)]
pub(in crate::agent) enum Fast {
    /// The model is asked.
    Model,
    /// The program did something; the turn goes on.
    Next,
    /// The turn ends.
    End(End),
}

/// Code of a step that needs a model.
const NO_MODEL: &str = "NO_MODEL";
const TARGET_AMBIGUOUS: &str = "TARGET_AMBIGUOUS";
const NOT_ACTIONABLE: &str = "NOT_ACTIONABLE";
const APPROVAL_REFUSED: &str = "APPROVAL_REFUSED";
const INTERRUPTED: &str = "INTERRUPTED";

fn cause(code: &str, sought: impl Into<String>, found: impl Into<String>) -> RunCause {
    RunCause { code: code.to_owned(), sought: sought.into(), found: found.into() }
}

impl Turn<'_> {
    /// Does the next part of a routine without the model, if it can be done so.
    pub(in crate::agent) fn fast(&mut self) -> Result<Fast, Error> {
        self.end_healing();
        let Some(run) = &mut self.routine else { return Ok(Fast::Model) };
        match run.todo() {
            Todo::Model => Ok(Fast::Model),
            Todo::Settle(call) => self.settle_fast(call),
            Todo::Begin(n) => self.begin_fast(n),
            Todo::HandOver(cause) => self.hand_over(cause),
            Todo::Survey(n, at, is_closing) => self.survey_fast(n, at, is_closing),
            Todo::Act(n, at, action) => self.act_fast(n, at, &action),
            Todo::Read(n, name, places) => self.read_fast(n, &name, &places),
            Todo::EndStep(n) => self.end_fast(n),
            Todo::Finish => self.finish_fast(),
        }
    }

    /// Ends a run without a model.
    fn fail_fast(&mut self, cause: RunCause) -> Fast {
        let n = self.routine.as_ref().and_then(|run| run.report.pinned).unwrap_or_default();
        let code = super::ends::known_code(&cause.code);
        let advice = match &*cause.code {
            INTERRUPTED | APPROVAL_REFUSED | super::ends::POSTCONDITION_FAILED => "",
            _ => "; a run with a model can do this step, or change the routine",
        };
        let problem = format!("step {n}: sought: {}; found: {}{advice}", cause.sought, cause.found);
        if let Some(run) = &mut self.routine {
            run.note_cause(Some(cause));
        }
        Fast::End(End::Routine(Ending { code, problem }))
    }
}
