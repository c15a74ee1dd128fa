//! Actions in the event log: an entry when an action starts and one when it ends, with its element and outcome. Typed text is
//! never logged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::super::error::Shown;
use super::super::{Error, Tab};
use super::{Act, ActKind, Locator, Outcome};
use crate::code::Code;
use crate::supervisor::{Action, LogEvent, Secrets};

/// Maximum length of a logged name, in characters.
const NAME: usize = 200;

/// Actions are numbered across all tabs of the process.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Tab {
    /// Runs an action and logs its start and its end.
    pub(super) fn logged(
        &self,
        act: &Act,
        actor: Option<&str>,
        run: impl FnOnce() -> Result<Outcome, Error>,
    ) -> Result<Outcome, Error> {
        let began = Instant::now();
        let mut action = Action::new(NEXT.fetch_add(1, Ordering::Relaxed), act.kind.name());
        action.actor = actor.map(Arc::from);
        let at = element_of(&act.kind);
        action.reference = at.and_then(|at| at.reference.as_deref()).map(Arc::from);
        let shown = at.and_then(|at| self.shown_as(at));
        self.describe_element(&mut action, act, shown.as_ref());
        self.supervisor.note(&self.target, LogEvent::ActionStarted(action.clone()));
        let outcome = run();
        let (code, settled, element) = match &outcome {
            Ok(done) => {
                (first_failure(done).unwrap_or("ok"), Some(Arc::from(done.settled.as_str())), done.element.as_ref())
            }
            Err(error) => (error.code(), None, None),
        };
        self.describe_element(&mut action, act, element);
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.supervisor
            .note(&self.target, LogEvent::ActionFinished { action, outcome: code.into(), settled, duration_ms });
        outcome
    }

    fn shown_as(&self, at: &Locator) -> Option<Shown> {
        self.resolve(at.reference.as_deref()?).ok().map(|(_, shown)| shown)
    }

    fn describe_element(&self, action: &mut Action, act: &Act, shown: Option<&Shown>) {
        let Some(shown) = shown.filter(|shown| !shown.role.is_empty()) else { return };
        let usual = Secrets::default();
        let name = act.redact.as_ref().unwrap_or(&usual).cover(&shown.name);
        action.role = Some(shown.role.as_str().into());
        action.name = Some(name.chars().take(NAME).collect::<String>().into());
    }
}

/// The element of an action; `None` for a form with several fields.
fn element_of(kind: &ActKind) -> Option<&Locator> {
    match kind {
        ActKind::Fill { fields, .. } if fields.len() != 1 => None,
        kind => kind.locator(),
    }
}

/// The error code of the first failed action of a batch.
fn first_failure(outcome: &Outcome) -> Option<&str> {
    let mut results = outcome.results.iter().flatten();
    results
        .find(|result| result["ok"] == false)
        .map(|failed| failed["code"].as_str().unwrap_or(Code::Internal.as_str()))
}
