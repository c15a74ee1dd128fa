//! Actions in the event log: each begins and ends there, with what it was done to and what it came to, never with what was typed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::super::error::Shown;
use super::super::{Error, Tab};
use super::{Act, Locator, Outcome};
use crate::supervisor::{Action, Event, Secrets};

/// Characters of a name at most.
const NAME: usize = 200;

/// Actions are numbered for all tabs together.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Tab {
    /// Does it, and notes before and after that it is done.
    pub(super) fn logged(
        &self,
        act: &Act,
        actor: Option<&str>,
        run: impl FnOnce() -> Result<Outcome, Error>,
    ) -> Result<Outcome, Error> {
        let began = Instant::now();
        let mut action = Action::new(NEXT.fetch_add(1, Ordering::Relaxed), act.kind.name());
        action.actor = actor.map(Arc::from);
        action.reference = act.kind.locator().and_then(|at| at.reference.as_deref()).map(Arc::from);
        let shown = act.kind.locator().and_then(|at| self.shown_as(at));
        self.describe_element(&mut action, act, shown.as_ref());
        self.supervisor.note(&self.target, Event::ActionStarted(action.clone()));
        let outcome = run();
        let (code, settled, element) = match &outcome {
            Ok(told) => ("ok", Some(Arc::from(told.settled.as_str())), told.element.as_ref()),
            Err(error) => (error.code(), None, None),
        };
        self.describe_element(&mut action, act, element);
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.supervisor
            .note(&self.target, Event::ActionFinished { action, outcome: code.into(), settled, duration_ms });
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
